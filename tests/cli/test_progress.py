"""The library reports its stages to a listener."""

from __future__ import annotations

import pytest

from hetdp import progress


@pytest.fixture
def reported_stages():
    words = []
    before = progress.set_listener(words.append)
    yield words
    progress.set_listener(before)


def test_a_listener_is_optional():
    assert progress.set_listener(None) is None
    progress.report_stage("searching")


@pytest.mark.parametrize(
    ("words", "stages"),
    [
        ("boundary poll.json", ["reading", "building"]),
        ("check poll.json", ["reading", "building", "loading", "searching"]),
        ("extend poll.json", ["reading", "building", "loading", "searching", "proving"]),
        ("extend poll.json -o mechanism.json", ["reading", "building", "loading", "searching", "proving", "writing"]),
        ("explain poll.json 1", ["reading", "building", "loading", "searching", "proving"]),
    ],
)
def test_every_verb_reports_its_stages(hetdp, reported_stages, words, stages):
    hetdp(*words.split())
    assert [stage.partition(" ")[0] for stage in reported_stages] == stages

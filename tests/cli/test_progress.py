"""What the library says it is doing, to whoever listens."""

from __future__ import annotations

import pytest

from hetdp import progress


@pytest.fixture
def heard():
    words = []
    before = progress.set_listener(words.append)
    yield words
    progress.set_listener(before)


def test_nobody_needs_to_listen():
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
def test_every_verb_says_what_it_goes_through(hetdp, heard, words, stages):
    hetdp(*words.split())
    assert [stage.partition(" ")[0] for stage in heard] == stages

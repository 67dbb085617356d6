"""What the command line writes."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_a_repaired_problem_can_be_a_folder(hetdp):
    assert hetdp("check", "too-much.json", "--repair", "repaired").code == 4
    assert hetdp("extend", "repaired").code == 0


@pytest.mark.parametrize("name", ["repaired.csv", "repaired.parquet"])
def test_a_problem_is_not_one_table(hetdp, name):
    ended = hetdp("check", "too-much.json", "--repair", name)
    assert ended.code == 2
    assert ended.err == (
        f"hetdp: no format is known for {name!r}; the name after --repair ends in .json, (a folder).\n"
    )


def test_labels_that_fit_in_no_table_are_refused_and_nothing_is_left(hetdp):
    before = sorted(Path().iterdir())
    ended = hetdp("extend", "grid.json", "-o", "mechanism.csv")
    assert ended.code == 2
    assert "Hint: a .json file holds any labels" in ended.err
    assert sorted(Path().iterdir()) == before

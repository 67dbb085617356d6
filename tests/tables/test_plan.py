"""Plans: how they differ, where they are written, and what they declare."""

from __future__ import annotations

from typing import Any

import pytest

from hetdp.errors import UsageError
from hetdp.tables import plan
from tests.tables.tables import request_of


def test_differences_of_plans_are_named_by_their_places():
    before = {"a": {"x": 1, "y": [1, 2]}, "b": [1], "c_sha256": "0" * 64, "d": "z" * 300, "e": True}
    now = {"a": {"x": 1, "y": [1, 3], "z": 0}, "b": [1, 2], "c_sha256": "1" * 64, "d": "", "e": 1}
    assert list(plan._differences("plan", before, now)) == [
        ("plan.a.y[1]", "2", "3"),
        ("plan.a.z", "null", "0"),
        ("plan.b", "[1]", "[1, 2]"),
        ("plan.c_sha256", f'"{"0" * 16}…"', f'"{"1" * 16}…"'),
        ("plan.d", f'"{"z" * 199}…', '""'),
        ("plan.e", "true", "1"),
    ]
    assert len(plan._shorten_part(list(range(500)), 16)) == 201
    assert plan._shorten_part("x" * 198, 200) == '"' + "x" * 198 + '"'


def test_a_plan_is_a_json_file_beside_the_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert plan.read_approved_plan(None, "t.csv") is None
    assert plan.read_approved_plan("new.JSON", "t.csv") is None
    for path, words in (
        (7, "it is the name of a .json file"),
        ("-", "saved in a file"),
        ("plan.txt", "ends in .json"),
        ("t.json", "would replace the table"),
        (tmp_path / "t.json", "would replace the table"),
        ("nowhere/plan.json", "is not a folder"),
    ):
        with pytest.raises(UsageError, match=words):
            plan.read_approved_plan(path, "t.json")
    with pytest.raises(UsageError, match=r"there is no plan 'new\.json'"):
        plan.read_approved_plan("new.json", "t.csv", releases=True)


def test_nothing_is_written_into_a_folder_that_is_a_table(tmp_path):
    inside, beside = tmp_path / "table" / "deep" / "plan.json", tmp_path / "plan.json"
    inside.parent.mkdir(parents=True)
    table = tmp_path / "table"
    plan.require_outside_table(table, [beside, None, 7])
    plan.require_outside_table(tmp_path / "t.csv", [inside])
    for places in ([inside], [beside, str(inside)]):
        with pytest.raises(UsageError, match="lies in the folder"):
            plan.require_outside_table(str(table), places)


def test_how_cells_are_compared_is_declared_only_where_it_matters():
    def meaning(counted: str, **more: Any) -> str:
        return plan.meaning_of_missing(request_of(counted=counted, **more))

    assert plan.FOLDED_COMPARISON in meaning("vote = 'yes'")
    assert plan.EXACT_COMPARISON in meaning("vote = 'yes'", exact_text=True)
    for counted in ("age > 3", "ok = TRUE", "day < '2024-01-31'"):
        assert plan.FOLDED_COMPARISON not in meaning(counted)
        assert ("any other cell, such as 2,5, counts as missing" in meaning(counted)) is (counted == "age > 3")
        assert ("compared with a date" in meaning(counted)) is (counted.startswith("day"))
    assert "compared with a date" not in meaning("day = '2024-01-31'")

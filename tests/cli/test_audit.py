"""hetdp audit: whether many draws contradict what is promised."""

from __future__ import annotations

from pathlib import Path

import pytest

from hetdp.cli import (
    audit,
)
from hetdp.errors import UsageError
from tests.cli.test_verify import save_changed_mechanism

DRAWS = ("--draws", "5000")


def test_a_sound_mechanism_is_not_contradicted_and_this_is_not_called_a_proof(hetdp):
    hetdp("extend", "poll.json", "-o", "mechanism.json")
    result = hetdp("audit", "poll.json", "mechanism.json", *DRAWS)
    assert result.code == 0
    assert result.out.startswith("no contradiction found, which proves nothing (5,000 draws at each of 5 datasets,")
    assert "read poll.json: 5 datasets, 4 edges" in result.err


def test_a_mechanism_that_is_not_private_ends_with_5(hetdp):
    save_changed_mechanism(hetdp, z=9.0)
    result = hetdp("audit", "poll.json", "mechanism.json", *DRAWS, "-q")
    assert result == (5, result.out, "")
    assert result.out.startswith(
        "CONTRADICTED: the loss exceeds the promise in 1 of 8 directions, most of all from 3 to 4"
    )


def test_the_document_has_every_number(hetdp):
    save_changed_mechanism(hetdp, z="inf")
    result = hetdp("audit", "poll.json", "mechanism.json", *DRAWS, "--edges", "1", "--confidence", "0.99", "--json")
    assert result.code == 5
    document = result.document
    assert (document["contradicted"], document["draws"], document["datasets"]) == (True, 5000, 2)
    assert document["confidence"] == 0.99
    worst = next(edge for edge in document["edges"] if edge["contradicted"])
    assert (worst["source"], worst["target"], worst["answer"], worst["observed"]) == (3, 4, 2, "inf")
    assert worst["target_count"] == 0
    assert worst["at_least"] > worst["promised"] == 1.0


def test_numbers_out_of_range_are_wrong_usage(hetdp):
    hetdp("extend", "poll.json", "-o", "mechanism.json")
    result = hetdp("audit", "poll.json", "mechanism.json", "--draws", "0")
    assert (result.code, result.err.splitlines()[-1]) == (
        2,
        "hetdp: --draws 0; it must be a whole number ≥ 1 and ≤ 100,000,000.",
    )
    assert hetdp("audit", "poll.json", "mechanism.json", "--confidence", "2").code == 2
    assert hetdp("audit", "-", "-").code == 2


def test_auditing_the_plan_of_a_table_is_refused(hetdp):
    Path("plan.json").write_text('{"kind": "plan"}')
    result = hetdp("audit", "plan.json", "record.json")
    assert result.code == 2
    assert "'plan.json' is the plan of a table; an audit draws at the datasets of a problem" in result.err


def test_the_plan_of_a_table_is_not_audited(tmp_path, monkeypatch):
    plan, other = tmp_path / "plan.JSON", tmp_path / "p.json"
    plan.write_text('{"kind": "plan"}')
    other.write_text('{"kind": "problem"}')
    for path in ("-", str(tmp_path), str(tmp_path / "nothing.json"), str(other)):
        audit._refuse_plan(path)
    other.write_text("[")
    audit._refuse_plan(str(other))
    with pytest.raises(UsageError, match="is the plan of a table"):
        audit._refuse_plan(str(plan))
    monkeypatch.setattr(audit, "LARGEST_PLAN", plan.stat().st_size)
    with pytest.raises(UsageError, match="is the plan of a table"):
        audit._refuse_plan(str(plan))
    monkeypatch.setattr(audit, "LARGEST_PLAN", plan.stat().st_size - 1)
    audit._refuse_plan(str(plan))

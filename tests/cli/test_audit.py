"""hetdp audit: whether many draws contradict what is promised."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_verify import changed

DRAWS = ("--draws", "5000")


def test_a_sound_mechanism_is_not_contradicted_and_nobody_says_that_this_is_a_proof(hetdp):
    hetdp("extend", "poll.json", "-o", "mechanism.json")
    ended = hetdp("audit", "poll.json", "mechanism.json", *DRAWS)
    assert ended.code == 0
    assert ended.out.startswith("no contradiction found, which proves nothing (5,000 draws at each of 5 datasets,")
    assert "read poll.json: 5 datasets, 4 edges" in ended.err


def test_a_mechanism_that_is_not_private_ends_with_5(hetdp):
    changed(hetdp, z=9.0)
    ended = hetdp("audit", "poll.json", "mechanism.json", *DRAWS, "-q")
    assert ended == (5, ended.out, "")
    assert ended.out.startswith("CONTRADICTED: more is lost than promised in 1 of 8 directions, most from 3 to 4")


def test_the_document_has_every_number(hetdp):
    changed(hetdp, z="inf")
    ended = hetdp("audit", "poll.json", "mechanism.json", *DRAWS, "--edges", "1", "--confidence", "0.99", "--json")
    assert ended.code == 5
    document = ended.document
    assert (document["contradicted"], document["draws"], document["datasets"]) == (True, 5000, 2)
    assert document["confidence"] == 0.99
    worst = next(edge for edge in document["edges"] if edge["contradicted"])
    assert (worst["source"], worst["target"], worst["answer"], worst["observed"]) == (3, 4, 2, "inf")
    assert worst["target_count"] == 0
    assert worst["at_least"] > worst["promised"] == 1.0


def test_numbers_out_of_range_are_wrong_usage(hetdp):
    hetdp("extend", "poll.json", "-o", "mechanism.json")
    ended = hetdp("audit", "poll.json", "mechanism.json", "--draws", "0")
    assert (ended.code, ended.err.splitlines()[-1]) == (
        2,
        "hetdp: --draws 0; it is a whole number ≥ 1 and ≤ 100,000,000.",
    )
    assert hetdp("audit", "poll.json", "mechanism.json", "--confidence", "2").code == 2
    assert hetdp("audit", "-", "-").code == 2


def test_the_plan_of_a_table_cannot_be_audited_and_that_is_said(hetdp):
    Path("plan.json").write_text('{"kind": "plan"}')
    said = hetdp("audit", "plan.json", "record.json")
    assert said.code == 2
    assert "'plan.json' is the plan of a table; an audit draws at the datasets of a problem" in said.err

"""hetdp check: whether the given values can be private together."""

from __future__ import annotations

import json
from pathlib import Path

REFUSAL = """\
no private extension exists: p(1) = 0.2 allows at most p(2) = 0.329744 (1 step away), but p(2) is pinned at 0.8.

Step by step:
  p(1) = 0.2 is given
  over ε = 0.5: p(2) at most 0.329744
  but p(2) is pinned at 0.8

These values would work (p, one for each pin):
  1  0.435128
  2  0.564872
"""


def test_values_that_extend_are_reported_in_a_line(hetdp):
    result = hetdp("check", "poll.json")
    assert result == (0, "a private extension exists\n", "read poll.json: 5 datasets, 4 edges, 2 pinned\n")


def test_values_that_do_not_extend_are_refused_with_a_path_and_a_repair(hetdp):
    result = hetdp("check", "too-much.json", "--engine", "reference")
    assert (result.code, result.out) == (4, REFUSAL)


def test_the_repair_can_be_written_and_extends(hetdp):
    result = hetdp("check", "too-much.json", "--repair", "repaired.json")
    assert (result.code, result.out) == (4, REFUSAL)
    assert result.err.endswith("wrote repaired.json\n")
    assert [sorted(row) for row in json.loads(Path("repaired.json").read_text())["datasets"]][1] == [
        "dataset",
        "query",
        "z",
    ]
    assert hetdp("check", "repaired.json").code == 0
    assert hetdp("extend", "repaired.json").code == 0


def test_on_standard_output_there_is_only_the_repaired_problem(hetdp):
    result = hetdp("check", "too-much.json", "--repair", "-")
    assert result.code == 4
    assert result.document["kind"] == "problem"
    assert REFUSAL in result.err
    assert hetdp("extend", "-", stdin=result.out).code == 0


def test_nothing_is_written_where_nothing_needs_repair(hetdp):
    result = hetdp("check", "poll.json", "--repair", "repaired.json")
    assert result.code == 0
    assert "there is nothing to repair, so repaired.json was not written" in result.err
    assert not Path("repaired.json").exists()


def test_pins_can_come_from_another_file(hetdp):
    Path("pins.csv").write_text("dataset,p\n1,0.1\n2,0.9\n")
    result = hetdp("check", "poll.json", "--pins", "pins.csv")
    assert result.code == 4
    assert result.err == "read poll.json: 5 datasets, 4 edges, 2 pinned by pins.csv\n"


def test_a_boundary_without_values_is_mentioned(hetdp):
    result = hetdp("check", "unpinned.json")
    assert result.code == 0
    assert "1 of 2 boundary datasets have no value; extend needs all of them" in result.err


def test_values_that_miss_by_a_rounding_are_mentioned(hetdp):
    result = hetdp("check", "near-miss.json")
    assert result.code == 0
    assert "the given values are incompatible by a rounding error; extend moves them by at most" in result.err


def test_only_the_first_twenty_of_many_repaired_values_are_shown(hetdp):
    edges = [{"source": at, "target": at + 1, "epsilon": 0.1} for at in range(24)]
    datasets = [{"dataset": at, "query": 1 + at % 2, "p": 0.9 - 0.8 * (at % 2)} for at in range(25)]
    Path("many.json").write_text(json.dumps({"schema_version": 1, "datasets": datasets, "edges": edges}))
    lines = hetdp("check", "many.json").out.splitlines()
    assert lines[-1] == "  and 5 more"
    assert lines[-2].startswith("  19  0.")


def test_no_message_suggests_less_privacy(hetdp):
    result = hetdp("check", "too-much.json")
    assert not {"increase", "larger", "raise", "relax", "weaken"} & set((result.out + result.err).lower().split())


def test_two_documents_do_not_fit_on_standard_output(hetdp):
    result = hetdp("check", "too-much.json", "--repair", "-", "--json")
    assert result.code == 2
    assert result.err == (
        "hetdp: --repair - together with --json; standard output holds one document. Hint: name a file after --repair\n"
    )

"""hetdp design: the best mechanism when no values are given, or only some."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_a_design_ignores_the_problems_values_on_request(hetdp):
    result = hetdp("design", "poll.json", "--free", "--json")
    assert result.code == 0
    assert result.document["objective"] == "fair"
    assert result.document["verb"] == "design"
    worst = max(row["error"] for row in result.document["datasets"])
    balanced = hetdp("design", "poll.json", "--free", "--objective", "balanced", "--json").document
    assert abs(max(row["error"] for row in balanced["datasets"]) - worst) < 1e-12


def test_the_problems_values_are_kept(hetdp):
    result = hetdp("design", "poll.json", "--json")
    rows = result.document["datasets"]
    assert [row.pop("given") for row in rows] == [row["pinned"] for row in rows]
    assert rows == hetdp("extend", "poll.json", "--json").document["datasets"]


def test_a_design_can_be_written_and_verified(hetdp):
    assert hetdp("design", "poll.json", "--free", "-o", "m.csv").code == 0
    result = hetdp("verify", "poll.json", "m.csv")
    assert result.code == 0
    assert "optimal" in result.out
    assert Path("m.csv.meta.json").exists()


def test_values_that_cannot_be_private_together_end_with_4(hetdp):
    result = hetdp("design", "too-much.json")
    assert result.code == 4
    assert result.err.count("no private extension exists") == 1


def test_free_and_pins_exclude_each_other(hetdp):
    Path("pins.csv").write_text("dataset,p\n1,0.4\n")
    for engine in ((), ("--engine", "dask", "-o", "designed")):
        result = hetdp("design", "poll.json", "--free", "--pins", "pins.csv", *engine)
        assert (result.code, result.out) == (2, "")
        assert "--free together with --pins; values are ignored, or given. Hint: leave one of them out" in result.err


def test_the_average_uses_the_prior_and_reports_its_gap(hetdp):
    words = ("design", "poll.json", "--free", "--objective", "average")
    result = hetdp(*words)
    assert result.code == 0
    assert "no private mechanism has a mean accuracy larger by more than" in result.err
    uniform = hetdp(*words, "--prior", "uniform", "--json").document
    assert uniform["objective"] == "average"
    assert uniform["objective_gap"] < 1e-9
    assert hetdp(*words, "--prior", "weight").code == 2  # it has none
    assert hetdp("design", "poll.json", "--free", "--prior", "uniform").code == 2


def test_a_largest_error_that_cannot_be_reached_ends_with_3(hetdp):
    result = hetdp("design", "poll.json", "--free", "--objective", "average", "--max-error", "0.1")
    assert (result.code, result.out) == (3, "")
    assert "the smallest possible worst error is 0.377541" in result.err
    assert hetdp("design", "poll.json", "--free", "--max-error", "0.377541").code == 0


@pytest.mark.parametrize("verb", ["design", "accuracy"])
def test_the_objective_vote_is_refused_for_a_file(hetdp, verb):
    result = hetdp(verb, "poll.json", "--objective", "weighted-vote")
    assert (result.code, result.out) == (2, "")
    assert "the objective weighted-vote on a problem file; this vote counts people" in result.err
    assert "hetdp ask TABLE --design weighted-vote" in result.err

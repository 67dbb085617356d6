"""hetdp design: the best mechanism when no values are given, or only some."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_a_design_leaves_the_problems_values_aside_if_asked_to(hetdp):
    ended = hetdp("design", "poll.json", "--free", "--json")
    assert ended.code == 0
    assert ended.document["objective"] == "fair"
    assert ended.document["verb"] == "design"
    worst = max(row["error"] for row in ended.document["datasets"])
    balanced = hetdp("design", "poll.json", "--free", "--objective", "balanced", "--json").document
    assert abs(max(row["error"] for row in balanced["datasets"]) - worst) < 1e-12


def test_the_problems_values_are_kept(hetdp):
    ended = hetdp("design", "poll.json", "--json")
    rows = ended.document["datasets"]
    assert [row.pop("given") for row in rows] == [row["pinned"] for row in rows]
    assert rows == hetdp("extend", "poll.json", "--json").document["datasets"]


def test_a_design_can_be_written_and_verified(hetdp):
    assert hetdp("design", "poll.json", "--free", "-o", "m.csv").code == 0
    ended = hetdp("verify", "poll.json", "m.csv")
    assert ended.code == 0
    assert "optimal" in ended.out
    assert Path("m.csv.meta.json").exists()


def test_values_that_cannot_be_private_together_end_with_4(hetdp):
    ended = hetdp("design", "too-much.json")
    assert ended.code == 4
    assert ended.err.count("no private extension exists") == 1


def test_free_and_pins_exclude_each_other(hetdp):
    Path("pins.csv").write_text("dataset,p\n1,0.4\n")
    for engine in ((), ("--engine", "dask", "-o", "designed")):
        ended = hetdp("design", "poll.json", "--free", "--pins", "pins.csv", *engine)
        assert (ended.code, ended.out) == (2, "")
        assert "--free beside --pins; values are ignored, or given. Hint: leave one of them out" in ended.err


def test_the_average_counts_as_the_prior_says_and_names_its_gap(hetdp):
    words = ("design", "poll.json", "--free", "--objective", "average")
    ended = hetdp(*words)
    assert ended.code == 0
    assert "no private mechanism has a mean accuracy larger by more than" in ended.err
    uniform = hetdp(*words, "--prior", "uniform", "--json").document
    assert uniform["objective"] == "average"
    assert uniform["objective_gap"] < 1e-9
    assert hetdp(*words, "--prior", "weight").code == 2  # it has none
    assert hetdp("design", "poll.json", "--free", "--prior", "uniform").code == 2


def test_a_largest_error_that_cannot_be_had_ends_with_3(hetdp):
    ended = hetdp("design", "poll.json", "--free", "--objective", "average", "--max-error", "0.1")
    assert (ended.code, ended.out) == (3, "")
    assert "the smallest possible worst error is 0.377541" in ended.err
    assert hetdp("design", "poll.json", "--free", "--max-error", "0.377541").code == 0


@pytest.mark.parametrize("verb", ["design", "accuracy"])
def test_a_file_has_no_people_who_could_vote(hetdp, verb):
    ended = hetdp(verb, "poll.json", "--objective", "weighted-vote")
    assert (ended.code, ended.out) == (2, "")
    assert "the objective weighted-vote on a problem file; a problem file has datasets and edges" in ended.err
    assert "hetdp ask TABLE --design weighted-vote" in ended.err

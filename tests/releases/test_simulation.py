"""simulate: seeded answers that cannot be mistaken for a release."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hetdp
from hetdp.releases import draw as bernoulli
from hetdp.releases.simulation import check_whole
from tests.loops import for_each

GRAPH = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
PROBLEM = hetdp.Problem(GRAPH, {"a": 1, "b": 1, "c": 2})
MECHANISM = hetdp.extend(PROBLEM, {"b": 0.7, "c": 0.3})


def test_the_same_seed_gives_the_same_answers_and_another_seed_others():
    first, again, other = (hetdp.simulate(MECHANISM, "b", seed=seed, runs=200) for seed in (5, 5, 6))
    assert first.answers.tolist() == again.answers.tolist()
    assert first.answers.tolist() != other.answers.tolist()
    assert set(first.answers.tolist()) == {1, 2}


@pytest.mark.parametrize("notion", ["pure", "bounded-range", "gaussian"])
def test_answers_have_the_probability_of_the_mechanism(notion):
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], **({"mu": 1.0} if notion == "gaussian" else {"epsilon": 1.0}))
    mechanism = hetdp.design(hetdp.Problem(graph, {"a": 1, "b": 2}, notion=notion))
    runs = 40_000
    for dataset in ("a", "b"):
        p = mechanism[dataset]
        ones = hetdp.simulate(mechanism, dataset, seed=1, runs=runs).ones
        assert abs(ones - runs * p) < 6 * math.sqrt(runs * p * (1 - p))


def test_a_simulation_is_labelled_and_read_only():
    simulation = hetdp.simulate(MECHANISM, "b", seed=1)
    assert str(simulation) == repr(simulation)
    assert str(simulation).startswith("SIMULATED, not a release: answer 1 in ")
    with pytest.raises(ValueError, match="read-only"):
        simulation.answers[0] = 1


@pytest.mark.parametrize("name", ["s.json", "s.csv", "s.parquet", "folder", "-"])
def test_a_simulation_cannot_be_saved(tmp_path, name):
    simulation = hetdp.simulate(MECHANISM, "b", seed=1)
    with pytest.raises(hetdp.UsageError, match="cannot be saved; only a Problem or a Mechanism can be saved"):
        hetdp.save(simulation, name if name == "-" else tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_simulation_does_not_use_the_bits_of_a_release(monkeypatch):
    monkeypatch.setattr(bernoulli.os, "urandom", lambda count: pytest.fail("bits of a release were drawn"))
    assert len(hetdp.simulate(MECHANISM, "a", seed=2, runs=10).answers) == 10


@for_each(
    ("given", "words"),
    [
        ({"seed": -1}, r"seed=-1; it must be a whole number ≥ 0\."),
        ({"seed": True}, r"seed=True; it must be a whole number ≥ 0\."),
        ({"seed": 1, "runs": 0}, r"runs=0; it must be a whole number ≥ 1 and ≤ 100,000,000\."),
        ({"seed": 1, "runs": 1.5}, r"runs=1.5; it must be"),
        ({"seed": 1, "runs": np.int64(10**9)}, r"runs=1000000000; it must be"),
    ],
)
def test_invalid_seeds_and_numbers_of_runs_are_refused(given, words):
    with pytest.raises(hetdp.UsageError, match=words):
        hetdp.simulate(MECHANISM, "a", **given)


def test_arguments_that_are_not_mechanisms_or_datasets_are_refused():
    with pytest.raises(hetdp.UsageError, match=r"expected a Mechanism, got a float; the first argument is a Mechanism"):
        hetdp.simulate(0.5, "a", seed=1)
    with pytest.raises(hetdp.UnknownDatasetError):
        hetdp.simulate(MECHANISM, "z", seed=1)


def test_a_whole_number_may_be_the_least_or_the_most_and_is_a_plain_one():
    assert [check_whole("n", number, 1, 3) for number in (1, 3, np.int64(2))] == [1, 3, 2]
    assert type(check_whole("n", np.int64(2), 0)) is int
    for wrong in (0, 4, "2", 2.0, None):
        with pytest.raises(hetdp.UsageError, match="it must be a whole number ≥ 1 and ≤ 3"):
            check_whole("n", wrong, 1, 3)

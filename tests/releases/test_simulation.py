"""simulate: seeded answers that cannot be mistaken for a release."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hetdp
from hetdp.releases import draw as bernoulli

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


def test_it_says_what_it_is_and_cannot_be_written_to():
    simulation = hetdp.simulate(MECHANISM, "b", seed=1)
    assert str(simulation) == repr(simulation)
    assert str(simulation).startswith("SIMULATED, no release: answer 1 in ")
    with pytest.raises(ValueError, match="read-only"):
        simulation.answers[0] = 1


@pytest.mark.parametrize("name", ["s.json", "s.csv", "s.parquet", "folder", "-"])
def test_it_cannot_be_saved(tmp_path, name):
    simulation = hetdp.simulate(MECHANISM, "b", seed=1)
    with pytest.raises(hetdp.UsageError, match="cannot be saved; a Problem or a Mechanism can"):
        hetdp.save(simulation, name if name == "-" else tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_it_does_not_touch_the_bits_of_a_release(monkeypatch):
    monkeypatch.setattr(bernoulli.os, "urandom", lambda count: pytest.fail("bits of a release were drawn"))
    assert len(hetdp.simulate(MECHANISM, "a", seed=2, runs=10).answers) == 10


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"seed": -1}, r"seed=-1; it is a whole number ≥ 0\."),
        ({"seed": True}, r"seed=True; it is a whole number ≥ 0\."),
        ({"seed": 1, "runs": 0}, r"runs=0; it is a whole number ≥ 1 and ≤ 100,000,000\."),
        ({"seed": 1, "runs": 1.5}, r"runs=1.5; it is"),
        ({"seed": 1, "runs": np.int64(10**9)}, r"runs=1000000000; it is"),
    ],
)
def test_what_is_no_seed_or_number_of_runs_is_refused(given, words):
    with pytest.raises(hetdp.UsageError, match=words):
        hetdp.simulate(MECHANISM, "a", **given)


def test_what_is_no_mechanism_or_dataset_is_refused():
    with pytest.raises(hetdp.UsageError, match=r"expected a Mechanism, got 0\.5; the first argument is a Mechanism"):
        hetdp.simulate(0.5, "a", seed=1)
    with pytest.raises(hetdp.UnknownDatasetError):
        hetdp.simulate(MECHANISM, "z", seed=1)

"""explain: a chain from a pinned dataset, edge by edge, that ends at the value itself."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

import hetdp
from tests.mechanism.problems import cases
from tests.oracle.literal import neighbourhoods
from tests.oracle.paths import along
from tests.oracle.random_problems import compatible_problems
from tests.paper.library import problem_of


def test_the_path_starts_at_a_pin_follows_edges_and_ends_at_the_value():
    explained = 0
    for small in compatible_problems(seed=61, count=120):
        mechanism, near = hetdp.extend(problem_of(small), small.pins), neighbourhoods(small)
        for v in small.free:
            path = mechanism.explain(v)
            assert path.datasets[-1] == v
            assert path.bounds[-1] == mechanism[v]
            assert path.upper == (small.answers[v] == 1)
            if len(path.datasets) > 1:
                explained += 1
                assert path.datasets[0] in small.pins
                assert not set(path.datasets[1:]) & small.pins.keys()
                assert path.epsilons == [near[u][w] for u, w in pairwise(path.datasets)]
                side = (lambda p: p) if path.upper else (lambda p: 1 - p)
                steps = [side(along(side(path.bounds[0]), path.epsilons[:i])) for i in range(len(path.datasets))]
                assert path.bounds == pytest.approx(steps, abs=1e-12)
            else:
                assert mechanism[v] in (0.0, 1.0)
    assert explained > 60


@given(cases())
@settings(max_examples=50)
def test_every_dataset_can_be_explained_and_the_bounds_never_get_worse(case):
    mechanism = case.extended()
    for dataset in range(len(case.answers)):
        path = mechanism.explain(dataset)
        assert len(path.datasets) == len(path.bounds) == len(path.coordinates) == len(path.epsilons) + 1
        assert path.coordinates == [mechanism.coordinates[v] for v in path.datasets]
        sign = 1 if path.upper else -1
        assert all(sign * one <= sign * other for one, other in pairwise(path.coordinates))
        assert len(path.datasets) == 1 or not np.isnan(case.pins[path.datasets[0]])


def test_a_pinned_dataset_explains_itself():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0), [1, 1, 2])
    path = hetdp.extend(problem, {"b": 0.7, "c": 0.3}).explain("b")
    assert (path.datasets, path.epsilons, path.bounds) == (["b"], [], [pytest.approx(0.7)])
    assert str(path) == "p(b) = 0.7 is given"


def test_an_unbound_dataset_does_not_claim_to_be_given():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], math.inf), [1, 2])
    mechanism = hetdp.extend(problem, {})
    for dataset, p in (("a", 1.0), ("b", 0.0)):
        path = mechanism.explain(dataset)
        assert (path.datasets, path.bounds) == ([dataset], [p])
        assert "given" not in str(path)


def test_upper_and_lower_bounds_read_differently():
    graph = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], [0.1, 1.0, 0.1])
    mechanism = hetdp.extend(hetdp.Problem(graph, [1, 1, 2, 2]), {"b": 0.6, "c": 0.4})
    assert str(mechanism.explain("a")) == "p(b) = 0.6 is given\nover ε = 0.1: p(a) at most 0.638065"
    assert str(mechanism.explain("d")) == "p(c) = 0.4 is given\nover ε = 0.1: p(d) at least 0.361935"


def test_the_strongest_path_is_not_the_one_with_the_least_sum():
    """ε 0.11 then 1 binds more than 1 then 0.1: order matters where a path crosses ½."""
    graph = hetdp.DatasetGraph.from_edges(["s", "x", "s", "y"], ["x", "v", "y", "v"], [0.11, 1.0, 1.0, 0.1])
    mechanism = hetdp.extend(hetdp.Problem(graph, dict.fromkeys("sxvy", 1)), {"s": 0.4})
    assert mechanism.explain("v").datasets == ["s", "x", "v"]
    assert mechanism.explain("v").epsilons == [0.11, 1.0]


def test_a_long_chain_is_explained_without_recursion():
    size = 30_000
    graph = hetdp.DatasetGraph.from_edges(np.arange(size - 1), np.arange(1, size), 0.001)
    path = hetdp.extend(hetdp.Problem(graph, np.full(size, 2)), {0: 0.9}).explain(size - 1)
    assert path.datasets == list(range(size))
    assert not path.upper


@pytest.mark.parametrize("links", [[1, 0, -1], [2, -1, -1], [0, -1, -1], [-1, -1, -1]])
def test_links_in_circles_or_to_strangers_or_to_nobody_explain_nothing(links):
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
    problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    claimed = hetdp.Mechanism(problem, np.array([0.5, 0.1, -0.1]), np.array([False, True, True]), np.array(links))
    with pytest.raises(hetdp.InputError, match=r"not the best one: .*; only the best private mechanism is explained"):
        claimed.explain("a")

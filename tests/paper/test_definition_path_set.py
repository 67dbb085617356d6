"""Definition 1: P(u, v), all the (u, v)-paths."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.oracle.literal import neighbourhoods
from tests.oracle.paths import along, simple_paths
from tests.oracle.random_problems import SmallProblem, compatible_problems
from tests.paper.library import mechanism_of


def explanations(seed: int):
    """Every free dataset that could be answered better if it were not for some pin, with its explanation."""
    for small in compatible_problems(seed=seed, count=80):
        mechanism = mechanism_of(small)
        for v, error in zip(small.datasets, mechanism.errors, strict=True):
            if v not in small.pins and error > 0:
                yield small, v, mechanism[v], mechanism.explain(v)


def test_the_oracle_lists_every_path_of_a_square_with_one_diagonal():
    edges = (("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0), ("d", "a", 1.0), ("a", "c", 1.0))
    near = neighbourhoods(SmallProblem(edges, dict.fromkeys("abcd", 1)))
    from_a_to_c = {path for path in simple_paths(near, ("a",)) if path[-1] == "c"}
    assert from_a_to_c == {("a", "c"), ("a", "b", "c"), ("a", "d", "c")}


def test_an_explanation_is_a_path_of_the_graph_from_a_pinned_dataset():
    for small, v, _, why in explanations(seed=21):
        near = neighbourhoods(small)
        assert why.datasets[0] in small.pins
        assert why.datasets[-1] == v
        assert why.epsilons == [near[x][y] for x, y in pairwise(why.datasets)]


def test_the_path_of_an_explanation_imposes_the_value():
    explained = 0
    for small, v, p, why in explanations(seed=22):
        start = small.pins[why.datasets[0]]
        if small.answers[v] == 1:
            assert along(start, why.epsilons) == pytest.approx(p, abs=1e-12)
        else:
            assert along(1 - start, why.epsilons) == pytest.approx(1 - p, abs=1e-12)
        explained += 1
    assert explained > 50


def test_the_bounds_of_an_explanation_lead_from_the_pin_to_the_value_and_never_turn_back():
    for small, v, p, why in explanations(seed=23):
        assert why.bounds[0] == pytest.approx(small.pins[why.datasets[0]], abs=1e-12)
        assert why.bounds[-1] == p
        direction = 1 if small.answers[v] == 1 else -1
        assert all(direction * (y - x) >= 0 for x, y in pairwise(why.bounds))

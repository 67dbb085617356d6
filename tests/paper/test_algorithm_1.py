"""Algorithm 1: the construction of A_{u,α}, against the same algorithm taken literally."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import hetdp
from tests.oracle.literal import algorithm_1
from tests.oracle.random_problems import SmallProblem, compatible_problems
from tests.paper.library import graph_of, induced_bounds_of, largest_difference


def test_the_library_finds_what_the_literal_algorithm_finds():
    rng = random.Random(191)
    for small in compatible_problems(seed=191, count=150, max_size=12):
        for alpha in (0.0, 0.02, 0.5, rng.random(), 1.0):
            u = rng.choice(small.datasets)
            assert largest_difference(induced_bounds_of(small, u, alpha), algorithm_1(small, u, alpha)) < 1e-12


def test_the_algorithm_settles_the_datasets_in_the_order_of_their_bounds():
    """The property that makes one pass enough: the order in which bounds are found is the order of the bounds."""
    for small in compatible_problems(seed=192, count=60):
        found = algorithm_1(small, small.datasets[0], 0.2)
        assert all(x <= y + 1e-15 for x, y in pairwise(found.values()))


def test_the_bound_at_the_start_is_the_given_value():
    for small in compatible_problems(seed=193, count=30):
        assert abs(induced_bounds_of(small, small.datasets[-1], 0.3)[small.datasets[-1]] - 0.3) < 1e-15


def test_datasets_that_cannot_be_reached_are_bounded_by_one():
    small = SmallProblem((("a", "b", 0.5), ("b", "c", math.inf)), dict.fromkeys("abcd", 1))
    bounds = induced_bounds_of(small, "a", 0.1)
    assert bounds["c"] == bounds["d"] == 1.0
    assert bounds["b"] < 0.2


def test_the_bounds_come_in_the_order_of_the_datasets_of_the_graph():
    small = SmallProblem((("c", "b", 0.5), ("b", "a", 0.5)), dict.fromkeys("cab", 1))
    graph = graph_of(small)
    assert list(graph.datasets) == ["c", "a", "b"]
    start, last, middle = hetdp.induced_bounds(graph, "c", 0.2)
    assert start < middle < last

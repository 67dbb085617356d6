"""Theorem 4: Algorithm 1 finds the least bound over all paths."""

from __future__ import annotations

import random

from tests.oracle import paths, shortest_paths
from tests.oracle.literal import algorithm_1
from tests.oracle.random_problems import compatible_problems
from tests.paper.library import induced_bounds_of, largest_difference


def random_starts(count: int):
    rng = random.Random(171)
    for small in compatible_problems(seed=171, count=count):
        yield small, rng.choice(small.datasets), rng.choice([0.0, 1.0, 0.5, rng.random(), rng.random()])


def test_the_library_finds_the_least_bound_over_all_simple_paths():
    for small, u, alpha in random_starts(200):
        assert largest_difference(induced_bounds_of(small, u, alpha), paths.induced_bounds(small, u, alpha)) < 1e-12


def test_the_literal_algorithm_finds_the_least_bound_over_all_simple_paths():
    for small, u, alpha in random_starts(200):
        assert largest_difference(algorithm_1(small, u, alpha), paths.induced_bounds(small, u, alpha)) < 1e-12


def test_plain_shortest_paths_run_twice_find_the_same_bounds():
    for small, u, alpha in random_starts(200):
        found = shortest_paths.upper_bounds(small, {u: alpha})
        assert largest_difference(found, paths.induced_bounds(small, u, alpha)) < 1e-12

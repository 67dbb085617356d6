"""Lemma 2: bounds compose along a path, and never shrink on the way."""

from __future__ import annotations

import random
from itertools import pairwise

from tests.oracle.paths import along
from tests.paper.library import induced_bounds_of, path


def random_path(rng: random.Random) -> tuple[float, list[float]]:
    return rng.random(), [rng.choice([0.0, rng.uniform(0, 2)]) for _ in range(rng.randint(2, 9))]


def test_the_bound_over_a_path_is_the_bound_over_its_second_part_of_the_bound_over_its_first():
    rng = random.Random(101)
    for _ in range(100):
        alpha, epsilons = random_path(rng)
        cut = rng.randint(1, len(epsilons) - 1)
        whole = induced_bounds_of(path(epsilons, alpha), 0, alpha)
        at_middle = whole[cut]
        second = induced_bounds_of(path(epsilons[cut:], at_middle), 0, at_middle)
        assert abs(second[len(epsilons) - cut] - whole[len(epsilons)]) < 1e-12
        assert abs(along(along(alpha, epsilons[:cut]), epsilons[cut:]) - along(alpha, epsilons)) < 1e-12


def test_the_bound_never_shrinks_along_a_path_and_never_exceeds_one():
    rng = random.Random(102)
    for _ in range(100):
        alpha, epsilons = random_path(rng)
        bounds = list(induced_bounds_of(path(epsilons, alpha), 0, alpha).values())
        assert all(x <= y for x, y in pairwise(bounds))
        assert alpha - 1e-12 <= bounds[0]
        assert bounds[-1] <= 1.0


def test_the_bound_is_strictly_larger_only_where_epsilon_is_positive_and_p_is_not_certain():
    assert along(0.3, [0.0, 0.0]) == 0.3
    assert along(0.3, [0.1]) > 0.3
    assert along(0.0, [5.0]) == 0.0
    assert along(1.0, [5.0]) == 1.0


def test_a_larger_start_never_gives_a_smaller_bound():
    rng = random.Random(103)
    for _ in range(100):
        alpha, epsilons = random_path(rng)
        more = alpha + (1 - alpha) * rng.random()
        low, high = (induced_bounds_of(path(epsilons, a), 0, a) for a in (alpha, more))
        assert all(low[i] <= high[i] for i in low)

"""Definition 8: the four initial DP conditions, which are two upper bounds in each direction."""

from __future__ import annotations

import math
import random

from tests.oracle.literal import one_edge, worst_violation
from tests.oracle.random_problems import SmallProblem, compatible_problems, random_epsilon
from tests.paper.library import extension_of, induced_bounds_of


def test_an_extension_satisfies_all_four_conditions_on_every_edge():
    for small in compatible_problems(seed=91, count=150):
        assert worst_violation(small, extension_of(small)) < 1e-12


def test_the_four_conditions_hold_exactly_where_the_upper_bounds_hold_both_ways():
    rng = random.Random(92)
    outcomes = []
    for _ in range(2000):
        x, y, epsilon = rng.random(), rng.random(), rng.choice([0.0, rng.uniform(0, 2)])
        edge = SmallProblem((("u", "v", epsilon),), {"u": 1, "v": 1})
        four = worst_violation(edge, {"u": x, "v": y}) <= 0
        assert four == (y <= one_edge(x, epsilon) and x <= one_edge(y, epsilon))
        outcomes.append(four)
    assert 200 < sum(outcomes) < 1800


def test_the_lower_bound_is_the_mirrored_upper_bound_and_its_inverse():
    rng = random.Random(93)
    for _ in range(500):
        x, epsilon = rng.uniform(0.01, 0.99), rng.uniform(0, 3)
        lower = max(x / math.exp(epsilon), 1 - math.exp(epsilon) * (1 - x))
        assert abs(lower - (1 - one_edge(1 - x, epsilon))) < 1e-12
        assert abs(one_edge(lower, epsilon) - x) < 1e-12


def test_the_library_bounds_a_neighbour_by_the_smaller_of_the_two_upper_bounds():
    rng = random.Random(94)
    for _ in range(200):
        alpha, epsilon = rng.random(), random_epsilon(rng)
        edge = SmallProblem((("u", "v", epsilon),), {"u": 1, "v": 1})
        expected = 1.0 if epsilon == math.inf else one_edge(alpha, epsilon)
        assert abs(induced_bounds_of(edge, "u", alpha)["v"] - expected) < 1e-12


def test_epsilon_zero_means_equal_and_certainty_spreads_over_finite_epsilon():
    chain = SmallProblem((("u", "v", 0.0), ("v", "w", 50.0)), dict.fromkeys("uvw", 1))
    assert induced_bounds_of(chain, "u", 0.3)["v"] == induced_bounds_of(chain, "u", 0.3)["u"]
    assert set(induced_bounds_of(chain, "u", 0.0).values()) == {0.0}
    assert set(induced_bounds_of(chain, "u", 1.0).values()) == {1.0}

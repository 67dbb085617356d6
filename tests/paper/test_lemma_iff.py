"""Lemma 3: e^ε·x is the smaller bound exactly where x ≤ 1/(1 + e^ε)."""

from __future__ import annotations

import math
import random

from tests.paper.library import induced_bounds_of, path


def test_the_first_bound_is_the_smaller_one_exactly_up_to_the_threshold():
    rng = random.Random(111)
    seen = set()
    for _ in range(2000):
        x, epsilon = rng.random(), rng.uniform(0.01, 3)
        w = math.exp(epsilon)
        first, second, threshold = w * x, (x - 1 + w) / w, 1 / (w + 1)
        if abs(x - threshold) > 1e-9:
            assert (min(first, second) == first) == (x <= threshold)
            seen.add(x <= threshold)
    assert seen == {True, False}


def test_the_library_changes_from_one_bound_to_the_other_at_the_threshold():
    rng = random.Random(112)
    for _ in range(100):
        epsilon = rng.uniform(0.01, 3)
        w = math.exp(epsilon)
        threshold = 1 / (w + 1)
        for x in (0.9 * threshold, threshold, threshold + 0.1 * (1 - threshold)):
            bound = induced_bounds_of(path([epsilon], x), 0, x)[1]
            expected = w * x if x <= threshold else (x - 1 + w) / w
            assert abs(bound - expected) < 1e-12


def test_at_the_threshold_both_bounds_are_the_mirror_of_the_start():
    for epsilon in (0.1, 1.0, 3.0):
        w = math.exp(epsilon)
        x = 1 / (w + 1)
        assert math.isclose(w * x, 1 - x)
        assert math.isclose((x - 1 + w) / w, 1 - x)


def test_with_epsilon_zero_the_two_bounds_are_equal_so_the_condition_is_not_necessary():
    x = 0.75  # above 1/(1 + e⁰) = ½, and still the first bound is (also) the smaller one
    assert min(1 * x, (x - 1 + 1) / 1) == 1 * x

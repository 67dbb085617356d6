"""The weights of the ε-weighted vote, and the probabilities of sampling by ε."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hetdp.theory.voting import (
    contribution,
    keep_probability,
    kept_distribution,
    mean_epsilon,
    shift,
    threshold_share,
    weights,
)
from tests.loops import for_each

ALL, NONE = np.array([True] * 3), np.array([False] * 3)


def test_people_without_a_promise_weigh_as_much_as_the_most_of_the_others():
    units, some = np.array([3, 5, 9]), np.array([True, True, False])
    assert weights(units, some, ALL, 1).tolist() == [3, 5, 5]
    assert weights(units, ALL, np.array([True, False, True]), 1).tolist() == [3, 0, 9]
    assert weights(units, NONE, ALL, 2).tolist() == [2, 2, 2]
    assert weights(np.array([0, 0, 7]), some, ALL, 2).tolist() == [0, 0, 0]


def test_no_change_of_score_counts_more_than_the_weight():
    for weight in (0, 1, 7, 10, 2**50 + 1):
        counted = contribution(weight, np.arange(6), 5).tolist()
        assert counted == [weight * score // 5 for score in range(6)]
        assert counted == sorted(counted)


def test_the_shift_is_the_same_part_of_the_weights_as_the_threshold_is_of_the_scores():
    assert [shift(30, threshold, 3) for threshold in (1, 2, 3)] == [5, 15, 25]
    assert shift(7, 1, 1) == 3
    assert shift(10, 1, 0) == 10
    assert threshold_share(3, 5) == 0.5


def test_the_mean_epsilon_is_that_of_all_people_and_floored_to_units():
    assert mean_epsilon(np.array([2, 3]), np.array([1, 1]), 0.25) == 0.5
    assert mean_epsilon(np.array([7, 7]), np.array([2, 5]), 0.25) == 1.75
    assert mean_epsilon(np.array([1, 9]), np.array([3, 1]), 1.0) == 3.0


@pytest.mark.parametrize(("epsilon", "limit"), [(0.1, 1.0), (1e-9, 2.0), (0.999, 1.0), (3.0, 700.0)])
def test_sampling_keeps_a_person_with_the_probability_that_costs_no_more_than_their_epsilon(epsilon, limit):
    kept, dropped = keep_probability(epsilon, limit)
    assert math.log1p(kept * math.expm1(limit)) == pytest.approx(epsilon)
    assert kept + dropped == pytest.approx(1.0)
    assert keep_probability(limit, limit) == keep_probability(limit + 1.0, limit) == (1.0, 0.0)


@for_each("people", [0, 1, 2, 3, 6, 7])
def test_the_number_of_people_that_sampling_keeps_is_binomial(people):
    exact = [math.comb(people, k) * 0.25**k * 0.75 ** (people - k) for k in range(people + 1)]
    assert kept_distribution(people, 0.25, 0.75).tolist() == pytest.approx(exact)

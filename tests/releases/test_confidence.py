"""Confidence bounds, against exact sums of fractions and another library's quantiles."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy import stats

from hetdp.releases.audit import bounds_of, log_tail, lower_bound
from tests.loops import for_each


def chance_of_more(count: int, draws: int, p: Fraction) -> Fraction:
    """The exact probability of `count` or more."""
    return sum(
        (math.comb(draws, seen) * p**seen * (1 - p) ** (draws - seen) for seen in range(count, draws + 1)), Fraction(0)
    )


@for_each("doubt", [0.2, 1e-3, 1e-9])
@for_each("draws", [1, 2, 7, 30])
def test_bounds_are_conservative_and_close_to_the_exact_ones(draws, doubt):
    for count in range(1, draws + 1):
        low = lower_bound(count, draws, doubt)
        assert chance_of_more(count, draws, Fraction(low)) <= Fraction(doubt)
        assert chance_of_more(count, draws, Fraction(low * (1 + 1e-4))) > Fraction(doubt)
        high = bounds_of(draws - count, draws, doubt)[0][1]
        assert chance_of_more(count, draws, 1 - Fraction(high)) <= Fraction(doubt)
    assert lower_bound(0, draws, doubt) == 0.0
    assert bounds_of(draws, draws, doubt)[0][1] == 1.0
    assert bounds_of(0, draws, doubt)[1][1] == 1.0


def test_over_all_outcomes_bounds_fail_no_more_often_than_they_say():
    draws, doubt = 12, 0.05
    lows = [lower_bound(count, draws, doubt) for count in range(draws + 1)]
    highs = [bounds_of(count, draws, doubt)[0][1] for count in range(draws + 1)]
    for p in (Fraction(at, 40) for at in range(1, 40)):
        law = [math.comb(draws, seen) * p**seen * (1 - p) ** (draws - seen) for seen in range(draws + 1)]
        assert sum(weight for weight, low in zip(law, lows, strict=True) if low > p) <= Fraction(doubt)
        assert sum(weight for weight, high in zip(law, highs, strict=True) if high < p) <= Fraction(doubt)


@for_each("doubt", [1e-2, 1e-8, 1e-12])
@for_each(("count", "draws"), [(1, 10**5), (37_000, 10**5), (99_999, 10**5), (10**5, 10**5), (5000, 10**7)])
def test_large_counts_agree_with_quantiles_of_the_beta_law(count, draws, doubt):
    expected = stats.beta.ppf(doubt, count, draws - count + 1)
    low = lower_bound(count, draws, doubt)
    assert low == pytest.approx(expected, rel=1e-6)
    assert low <= expected


def test_the_bounds_of_the_opposite_are_those_of_the_counts_exchanged():
    (low, high), opposite = bounds_of(30, 100, 1e-4)
    assert bounds_of(70, 100, 1e-4) == (opposite, (low, high))
    assert 0.0 < low < 0.3 < high < 1.0


@pytest.mark.parametrize("p", [1e-12, 1e-5, 0.01, 0.25])
def test_the_tail_of_the_binomial_law_is_never_too_small(p):
    exactly = chance_of_more(10, 40, Fraction(p))
    found = log_tail(10, 40, p)
    assert found == pytest.approx(math.log(exactly), abs=1e-9)
    assert log_tail(10, 40, 0.0) == -math.inf
    assert log_tail(10, 10, 1.0) == 0.0

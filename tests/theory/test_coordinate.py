"""The Laplace coordinate, both ways and at both tails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from hetdp.theory.coordinate import LAPLACE as coordinate
from tests.theory.exact import precision

PROBABILITY = st.floats(0.0, 1.0)
Z = st.floats(allow_nan=False)


def test_certain_and_even_probabilities_are_exact():
    assert coordinate.from_probability([0.0, 0.5, 1.0]).tolist() == [-math.inf, 0.0, math.inf]
    assert coordinate.probability([-math.inf, -0.0, 0.0, math.inf]).tolist() == [0.0, 0.5, 0.5, 1.0]


@given(PROBABILITY)
def test_z_of_p_is_right_to_a_few_floats(p):
    z = float(coordinate.from_probability(p))
    if p in (0.0, 0.5, 1.0):
        return
    with precision(400):
        exact = (2 * arb(p)).log() if p < 0.5 else -(2 * (1 - arb(p))).log()
        assert float(abs(exact - arb(z)).upper()) <= 4 * math.ulp(z)


@given(PROBABILITY)
def test_p_comes_back_from_z(p):
    back = float(coordinate.probability(coordinate.from_probability(p)))
    assert back == pytest.approx(p, rel=1e-12, abs=1e-322)


@given(st.floats(-700.0, 700.0))
def test_z_comes_back_from_the_error_however_small_it_is(z):
    answers = np.array([1 if z > 0 else 2])
    error = coordinate.error(np.array([z]), answers)
    assert float(coordinate.from_error(error, answers)[0]) == pytest.approx(z, rel=1e-13, abs=1e-15)


@given(Z)
def test_swapping_the_answers_is_a_change_of_sign(z):
    smaller = min(coordinate.probability(z), coordinate.probability(-z))
    assert smaller == 0.5 * np.exp(-abs(z))
    least = 0.0 if np.isinf(z) else np.finfo(np.float64).smallest_subnormal  # only what is certain has no error
    assert coordinate.error(z, 1) == coordinate.error(-z, 2) == max(coordinate.probability(-z), least)


@given(PROBABILITY)
def test_the_error_is_pinned_on_the_side_of_the_true_answer(error):
    z = coordinate.from_error([error, error], [1, 2])
    assert z[0] == -z[1]
    assert z[1] == coordinate.from_probability(error)


def test_both_tails_are_kept_far_beyond_what_p_can_hold():
    z = np.array([-600.0, -40.0, 40.0, 600.0])
    assert coordinate.probability(z).tolist()[2:] == [1.0, 1.0]
    tails = coordinate.error(z, np.array([2, 2, 1, 1]))
    assert tails.tolist() == pytest.approx([0.5 * math.exp(-abs(x)) for x in z], rel=1e-14)
    assert coordinate.from_error(tails, np.array([2, 2, 1, 1])) == pytest.approx(z, rel=1e-14)


@given(PROBABILITY, PROBABILITY)
def test_p_grows_with_z_and_z_with_p(p, other):
    low, high = sorted([p, other])
    assert coordinate.from_probability(low) <= coordinate.from_probability(high)


@given(PROBABILITY, PROBABILITY)
def test_the_middle_is_the_mean_in_p(p, other):
    middle = coordinate.middle(coordinate.from_probability([p]), coordinate.from_probability([other]))
    assert float(coordinate.probability(middle)[0]) == pytest.approx((p + other) / 2, rel=1e-12, abs=1e-15)


@given(st.floats(-700, 700), st.floats(-700, 700))
def test_the_middle_lies_between_and_keeps_the_tails(z, other):
    low, high = sorted([z, other])
    middle = float(coordinate.middle(np.array([z]), np.array([other]))[0])
    assert low - 1e-12 * (1 + abs(low)) <= middle <= high + 1e-12 * (1 + abs(high))
    if low == high:
        assert middle == pytest.approx(z, rel=1e-13, abs=1e-15)


def test_no_coordinate_is_minus_zero():
    from_errors = coordinate.from_error([0.5, 0.5], [1, 2])
    middle = coordinate.middle(np.array([-np.inf, -0.0]), np.array([np.inf, 0.0]))
    assert not np.signbit(np.concatenate([coordinate.from_probability([0.5]), from_errors, middle])).any()

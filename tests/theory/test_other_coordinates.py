"""The probit and logit coordinates, both ways and at both tails, against balls and closed forms."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flint import arb

from hetdp.theory.bounded_range import LOGIT
from hetdp.theory.gaussian import PROBIT
from tests.theory.exact import precision

COORDINATE = pytest.mark.parametrize("coordinate", [PROBIT, LOGIT], ids=lambda coordinate: coordinate.name)


def exact_p(coordinate, z):
    """p of z, as a ball."""
    if coordinate is PROBIT:
        return (arb(-z) / arb(2).sqrt()).erfc() / 2
    return 1 / (1 + arb(-z).exp())


def probabilities() -> np.ndarray:
    rng = random.Random(21)
    drawn = [rng.random() for _ in range(300)] + [10 ** rng.uniform(-300, 0) for _ in range(300)]
    return np.array([*drawn, 1e-16, 0.5, math.nextafter(0.5, 0), math.nextafter(0.5, 1), 1 - 2.0**-53, 5e-324])


@COORDINATE
def test_the_corners_are_exact(coordinate):
    assert coordinate.from_probability([0.0, 0.5, 1.0]).tolist() == [-math.inf, 0.0, math.inf]
    assert coordinate.probability([-math.inf, -0.0, 0.0, math.inf]).tolist() == [0.0, 0.5, 0.5, 1.0]


@COORDINATE
def test_p_of_z_is_right_to_a_few_floats(coordinate):
    z = np.concatenate([np.linspace(-37.0, 37.0, 400), np.geomspace(1e-18, 1.0, 60)])
    with precision(300):
        for value, p in zip(z.tolist(), coordinate.probability(z).tolist(), strict=True):
            assert p == pytest.approx(float(exact_p(coordinate, value)), rel=1e-12)


@COORDINATE
def test_p_comes_back_from_z(coordinate):
    p = probabilities()
    tiny = p < 1e-290
    back = coordinate.probability(coordinate.from_probability(p))
    assert back[~tiny].tolist() == pytest.approx(p[~tiny].tolist(), rel=1e-12)
    assert back[tiny].tolist() == pytest.approx(p[tiny].tolist(), rel=0.05)


@COORDINATE
def test_z_comes_back_from_the_error_however_small_it_is(coordinate):
    z = np.linspace(-37.0, 37.0, 371)
    answers = np.where(z > 0, 1, 2)
    assert coordinate.from_error(coordinate.error(z, answers), answers) == pytest.approx(z, rel=1e-12, abs=1e-14)


@COORDINATE
def test_swapping_the_answers_is_a_change_of_sign(coordinate):
    z = np.linspace(-30.0, 30.0, 301)
    smaller = np.minimum(coordinate.probability(z), coordinate.probability(-z))
    assert smaller.tolist() == coordinate.tail(-np.abs(z)).tolist()
    assert coordinate.error(z, 1).tolist() == coordinate.error(-z, 2).tolist()


@COORDINATE
def test_p_grows_with_z_and_z_with_p(coordinate):
    p = np.sort(probabilities())
    assert (np.diff(coordinate.from_probability(p)) >= 0.0).all()
    z = np.linspace(-40.0, 40.0, 5001)
    assert (np.diff(coordinate.probability(z)) >= 0.0).all()


@COORDINATE
def test_the_middle_is_the_mean_in_p(coordinate):
    p = probabilities()
    other = p[::-1]
    middle = coordinate.middle(coordinate.from_probability(p), coordinate.from_probability(other))
    assert coordinate.probability(middle).tolist() == pytest.approx(((p + other) / 2).tolist(), rel=1e-11, abs=1e-300)


@COORDINATE
def test_the_middle_lies_between_even_where_no_float_holds_the_tails(coordinate):
    z = np.array([-800.0, 800.0, -800.0, -math.inf, 750.0, -0.0, -37.0])
    other = np.array([-800.0, 801.0, 800.0, math.inf, math.inf, 0.0, 36.0])
    middle = coordinate.middle(z, other)
    assert (middle >= np.minimum(z, other)).all()
    assert (middle <= np.maximum(z, other)).all()
    assert middle[[0, 2, 3, 5]].tolist() == [-800.0, 0.0, 0.0, 0.0]
    assert not np.signbit(middle[[2, 3, 5]]).any()


def test_known_values_are_reproduced():
    assert PROBIT.probability([-1.959963984540054])[0] == pytest.approx(0.025, rel=1e-14)
    assert PROBIT.from_probability([0.841344746068543])[0] == pytest.approx(1.0, rel=1e-14)
    assert LOGIT.probability([math.log(3.0)])[0] == pytest.approx(0.75, rel=1e-15)
    assert LOGIT.from_probability([0.2])[0] == pytest.approx(math.log(0.25), rel=1e-15)


@COORDINATE
def test_the_logarithm_of_p_is_right_however_small_p_is(coordinate):
    z = [-math.inf, -1e5, -200.0, -37.0, -30.5, -30.0, -29.5, -1.0, 0.0, 1.0, 20.0]
    found = coordinate.log_probability(z).tolist()
    assert found[0] == -math.inf
    with precision(3000):
        for value, log in zip(z[1:], found[1:], strict=True):
            assert log == pytest.approx(float(exact_p(coordinate, value).log()), rel=1e-7)


def test_the_middle_of_two_far_labels_is_the_one_nearer_to_a_half():
    z, other = np.array([-800.0, -801.0, 800.0, 801.0]), np.array([-801.0, -800.0, 801.0, 800.0])
    assert PROBIT.middle(z, other).tolist() == [-800.0, -800.0, 800.0, 800.0]
    assert PROBIT.middle(np.array([-1.5]), np.array([-1.5])).tolist() == [-1.5]

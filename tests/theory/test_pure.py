"""The rounded step against exact arithmetic: the whole promise of exact privacy rests on these four properties."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from hetdp.theory.pure import PURE, across, meet, step
from hetdp.theory.rounding import LARGEST, NEGLIGIBLE, add_down
from tests.loops import for_each
from tests.theory.exact import crosses, decide_sign, is_at_most_bound, precision, ulps_below_bound
from tests.theory.step_points import EPSILONS, POINTS, nudge

AT_ALL_POINTS = pytest.mark.parametrize("points", POINTS.values(), ids=POINTS.keys())
FINITE = st.floats(allow_nan=False, allow_infinity=False)
EPSILON = st.floats(0.0, LARGEST)
MEETINGS = [
    *EPSILONS[:-1],  # next to the largest float, `add_down` leaves the floats
    *np.geomspace(1e-12, 1e3, 200).tolist(),
    *(count * math.ulp(0.0) for count in range(1, 12)),
    *(nudge(epsilon, k) for epsilon in (NEGLIGIBLE, 2.0**-1022, 1e-16, 1.0, math.log(2), 36.7) for k in range(-3, 4)),
]


def around_the_meeting(epsilon: float) -> list[float]:
    """Labels at both sides of the point where two neighbours meet: next to it, far away, and worse than a coin."""
    at = meet(epsilon)
    near = [nudge(at, k) for k in range(-9, 10)]
    return [
        *near,
        *(at * factor for factor in (0.0, 0.5, 0.9, 1 - 1e-9, 1 + 1e-9, 1.1, 3.0)),
        -at,
        -3.0 * at,
        -math.inf,
    ]


def test_more_than_twenty_thousand_points_are_tested_and_many_cross_a_half():
    points = [point for group in POINTS.values() for point in group]
    assert len(points) > 20_000
    assert sum(crosses(z, epsilon) for z, epsilon in points if math.isfinite(z)) > 8_000


@AT_ALL_POINTS
def test_the_step_is_never_above_the_exact_bound(points):
    assert [(z, epsilon) for z, epsilon in points if not is_at_most_bound(step(z, epsilon), z, epsilon)] == []


@AT_ALL_POINTS
def test_the_step_is_never_below_its_argument(points):
    assert [(z, epsilon) for z, epsilon in points if not step(z, epsilon) >= z] == []


@AT_ALL_POINTS
def test_the_step_grows_with_the_label(points):
    def falls(z, epsilon):
        values = [step(nudge(z, k), epsilon) for k in (-64, -2, -1, 0, 1, 2, 64)]
        return any(later < earlier for earlier, later in pairwise(values))

    assert [(z, epsilon) for z, epsilon in points if falls(z, epsilon)] == []


@AT_ALL_POINTS
def test_the_step_grows_with_epsilon(points):
    def falls(z, epsilon):
        values = [step(z, epsilon), step(z, nudge(epsilon, 1)), step(z, nudge(epsilon, 2))]
        return epsilon < nudge(LARGEST, -2) and any(b < a for a, b in pairwise(values))

    assert [(z, epsilon) for z, epsilon in points if falls(z, epsilon)] == []


@AT_ALL_POINTS
def test_the_step_stays_within_64_floats_of_the_exact_bound_where_it_crosses_a_half(points):
    crossing = [(z, epsilon) for z, epsilon in points if math.isfinite(z) and crosses(z, epsilon)]
    assert [point for point in crossing if ulps_below_bound(step(*point), *point) > 64.0] == []


@AT_ALL_POINTS
def test_where_the_step_does_not_cross_it_is_the_largest_float_below_the_exact_sum(points):
    plain = [(z, epsilon) for z, epsilon in points if math.isfinite(z) and not crosses(z, epsilon)]
    assert [point for point in plain if is_at_most_bound(nudge(step(*point), 1), *point)] == []


@AT_ALL_POINTS
def test_a_quick_guess_above_a_label_means_that_the_step_cannot_improve_it(points):
    guesses = 0
    for z, epsilon in points:
        guess = PURE.quick(z, epsilon)
        if guess > -math.inf:
            guesses += 1
            label = math.nextafter(guess, -math.inf)  # the largest label that the guess exceeds
            assert step(z, epsilon) >= label
    assert guesses > len(points) // 10


@given(FINITE, EPSILON)
def test_the_step_is_exact_at_any_float(z, epsilon):
    assert z <= step(z, epsilon) <= LARGEST
    assert is_at_most_bound(step(z, epsilon), z, epsilon)


@given(FINITE, FINITE, EPSILON)
def test_the_step_is_monotone_over_any_distance(z, other, epsilon):
    assert step(min(z, other), epsilon) <= step(max(z, other), epsilon)


@given(st.floats(-50, 50), st.floats(0, 50), st.floats(0, 50))
def test_the_step_is_monotone_in_epsilon_over_any_distance(z, epsilon, other):
    assert step(z, min(epsilon, other)) <= step(z, max(epsilon, other))


@given(FINITE)
def test_epsilon_zero_changes_nothing(z):
    assert step(z, 0.0) == z


@for_each("epsilon", EPSILONS)
def test_certainty_stays_certain(epsilon):
    assert step(math.inf, epsilon) == math.inf
    assert step(-math.inf, epsilon) == -math.inf


def test_no_finite_label_becomes_certain():
    assert step(LARGEST, LARGEST) == LARGEST
    assert step(1e308, 1e308) == LARGEST


def test_no_step_returns_minus_zero():
    for z, epsilon in ((-0.0, 0.0), (0.0, 0.0), (-0.5, 0.5), (-5e-324, 5e-324)):
        assert math.copysign(1.0, step(z, epsilon)) == 1.0


def test_the_two_regimes_meet_without_a_jump_at_a_half():
    below, above = step(-0.5, math.nextafter(0.5, 0.0)), step(-0.5, math.nextafter(0.5, 1.0))
    assert below < 0.0 < above < 1e-15


@given(FINITE, FINITE)
def test_add_down_is_the_largest_float_not_above_the_exact_sum(z, epsilon):
    exact, total = Fraction(z) + Fraction(epsilon), add_down(z, epsilon)
    if exact < -Fraction(LARGEST):
        assert total in (-math.inf, -LARGEST)
    else:
        assert Fraction(total) <= exact
        assert total == LARGEST or Fraction(math.nextafter(total, math.inf)) > exact


def room_above_meeting(epsilon: float, found: float) -> arb:
    """log((1 + e^ε)/2) − found."""
    return (arb(-epsilon).exp() + 1).log() - arb(2).log() + arb(epsilon) - arb(found)


def test_the_meeting_point_is_rounded_down_and_close():
    assert meet(0.0) == 0.0
    for epsilon in [*EPSILONS, *np.geomspace(1e-12, 1e3, 400).tolist(), 0.999999, 1.0000001]:
        if epsilon > 0.0:
            found = meet(epsilon)
            room = partial(room_above_meeting, epsilon, found)
            assert found <= math.ulp(0.0) * 2 or decide_sign(room), epsilon
            with precision(2400):
                assert float((room() / arb(math.ulp(found))).upper()) <= 64.0, epsilon


def test_two_neighbours_at_their_meeting_point_are_private():
    for epsilon in np.geomspace(1e-12, 600.0, 500).tolist():
        at = meet(epsilon)
        assert is_at_most_bound(at, -at, epsilon)
        assert not is_at_most_bound(at * (1 + 1e-12), -at * (1 + 1e-12), epsilon)


def test_the_label_at_which_two_meet_is_never_above_the_exact_one_and_close_to_it():
    assert PURE.meet is meet
    for epsilon in MEETINGS:
        if epsilon > 0.0:
            found = meet(epsilon)
            room = partial(room_above_meeting, epsilon, found)
            assert decide_sign(room), epsilon
            with precision(2400):
                assert float((room() / arb(math.ulp(found))).upper()) <= 24.0, epsilon
            assert Fraction(found) >= Fraction(epsilon) / 2 - Fraction(math.ulp(0.0)) / 2, epsilon


def test_the_bound_across_the_answers_is_never_above_the_exact_one():
    assert PURE.across is across
    for epsilon in MEETINGS:
        for label in around_the_meeting(epsilon):
            assert is_at_most_bound(across(label, epsilon), -label, epsilon), (label, epsilon)


def test_a_search_across_the_answers_never_turns_back():
    for epsilon in MEETINGS:
        at = meet(epsilon)
        assert across(at, epsilon) == at, epsilon
        for label in around_the_meeting(epsilon):
            assert across(label, epsilon) >= (at if label <= at else step(-label, epsilon)), (label, epsilon)


def test_a_quick_guess_from_the_other_side_shows_what_is_not_worth_computing():
    for epsilon in MEETINGS:
        for label in around_the_meeting(epsilon):
            guess = PURE.quick(-label, epsilon)
            below = math.nextafter(guess, -math.inf)  # the largest label that the guess exceeds
            assert not below > label or across(label, epsilon) >= below, (label, epsilon)
            assert not guess > label or meet(epsilon) >= label, (label, epsilon)


@for_each("z", [-8.988465674311563e307, -1.7976931348623157e308, -1e300, 0.0, 1e300])
@for_each("epsilon", [1.7976931348623157e308, 1.2e308, 8.98846567431158e307])
def test_a_sum_next_to_the_largest_float_is_not_above_the_exact_one(z, epsilon):
    assert Fraction(add_down(z, epsilon)) <= Fraction(z) + Fraction(epsilon)

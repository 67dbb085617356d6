"""Probabilities as text: accuracies are rounded down, errors up, and only certainty is printed as certain."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hetdp.mechanism import formatting as digits
from hetdp.mechanism.odds import describe_frequency, runs_of
from hetdp.theory.catalogue import NOTIONS
from tests.loops import for_each

ERRORS = st.one_of(
    st.floats(0.0, 1.0, allow_subnormal=True),
    st.floats(-320.0, 0.0).map(lambda power: 10.0**power),
    st.floats(-16.0, 0.0).map(lambda power: 1.0 - 10.0**power),
)
SLACK = 2 * Decimal(digits.SLACK)


def parse_number(text: str) -> Decimal:
    """The number that a text means, exactly."""
    text = text.removeprefix("more than ").removeprefix("less than ")
    return 1 - Decimal(text[4:]) if text.startswith("1 − ") else Decimal(text)


@given(ERRORS, st.integers(2, 12))
def test_accuracies_are_rounded_down_and_errors_up(error: float, number: int) -> None:
    exact = Decimal(error)
    assert parse_number(digits.format_error(error, number)) >= exact * (1 - SLACK)
    assert parse_number(digits.format_accuracy(error, number)) <= (1 - exact) * (1 + SLACK) + Decimal("1e-16")
    assert parse_number(digits.format_promise(error)) <= 1 - exact + Decimal("1e-16")
    assert parse_number(digits.format_accuracy_limit(error, number)) >= (1 - exact) * (1 - SLACK) - Decimal("1e-16")


@given(ERRORS)
def test_only_certain_values_are_printed_as_certain(error: float) -> None:
    for text in (digits.format_accuracy(error), digits.format_promise(error), digits.format_percentage(error)):
        assert (text in ("1", "1.000000", "100", "100.0")) == (error == 0.0)
    assert (digits.format_error(error) == "0") == (error == 0.0)


@given(ERRORS, st.integers(0, 4))
def test_a_percentage_is_rounded_down(error: float, decimals: int) -> None:
    text, exact = digits.format_percentage(error, decimals), 100 * (1 - Decimal(error))
    if text.startswith("less than"):
        assert parse_number(text) > exact
    else:
        assert parse_number(text) <= exact * (1 + SLACK) + Decimal("1e-13")
    if text.startswith("more than"):
        assert error > 0.0


def test_a_percentage_of_one_unit_is_shown_and_less_is_not() -> None:
    assert [digits.format_percentage(0.999, right=0.001), digits.format_percentage(0.001)] == ["0.1", "99.9"]
    below = np.nextafter(0.001, 0.0)
    assert digits.format_percentage(0.999, right=below) == "less than 0.1"
    assert digits.format_percentage(below) == "more than 99.9"


@for_each("notion", list(NOTIONS))
@for_each("z", [-1e6, -8192.0, -746.0, -40.0, 40.0, 746.0, 8192.0, 1e6])
def test_an_error_is_zero_only_where_the_coordinate_is_infinite(notion: str, z: float) -> None:
    coordinate = NOTIONS[notion].coordinate
    for answer in (1, 2):
        assert float(coordinate.error(z, answer)) > 0.0
        assert 0.0 in (float(coordinate.error(np.inf, answer)), float(coordinate.error(-np.inf, answer)))
    p, complement = float(coordinate.probability(z)), float(coordinate.probability(-z))
    assert digits.format_exact(p, complement, z) not in ("0", "1")
    assert digits.format_compact(float(digits.clip_uncertain(p, z))) not in ("0", "1")


def test_certain_values_are_marked_as_certain() -> None:
    assert digits.format_exact(1.0, 0.0, math.inf) == digits.format_compact(1.0) == "1"
    assert digits.format_exact(0.0, 1.0, -math.inf) == digits.format_compact(0.0) == "0"
    assert digits.clip_uncertain([0.0, 1.0], [-math.inf, math.inf]).tolist() == [0.0, 1.0]


@given(ERRORS, ERRORS)
def test_counts_of_runs_are_rounded_outward_and_never_to_all_or_none(one: float, other: float) -> None:
    low, high = sorted((one, other))
    runs, most, least = runs_of(low, high)
    assert most >= high * runs - 1e-6
    assert least <= low * runs + 1e-6
    text = describe_frequency(low, max(high, 1e-300))
    assert not re.search(rf"at most {runs:,} of {runs:,} |at most 0 of|instead of 0$", text)


def test_a_probability_next_to_one_is_shown_by_its_complement_from_a_limit_on() -> None:
    assert digits.format_probability(0.9999, 1e-4) == "0.9999"
    assert digits.format_probability(0.99991, 9e-5) == "1 − 9e-05"
    assert digits.format_probability(1.0, 0.0) == "1"
    assert digits.format_accuracy(1e-4) == "0.9999"
    assert digits.format_accuracy(9e-5) == "1 − 9e-05"
    assert digits.format_accuracy_limit(1e-4) == "0.9999"
    assert digits.format_accuracy_limit(9e-5) == "1 − 9e-05"
    assert digits.format_accuracy_limit(0.0) == "1"


def test_two_neighbouring_floats_are_told_apart() -> None:
    assert digits.format_apart((0.1, 0.9), (math.nextafter(0.1, 1.0), 0.9)) == (
        "0.10000000000000001",
        "0.10000000000000002",
    )
    assert digits.format_apart((0.25, 0.75), (0.5, 0.5)) == ("0.25", "0.5")


def test_a_promise_is_rounded_down_and_short_errors_are_named() -> None:
    assert [digits.format_promise(error) for error in (1e-5, 0.1, 0.1000001, 0.5)] == [
        "0.999990", "0.900000", "0.899999", "0.500000"
    ]  # fmt: skip
    assert digits.format_promise(math.nextafter(1e-5, 0.0)) == "1 − 1e-05"


def test_the_smallest_numbers_keep_their_digits() -> None:
    assert digits.format_accuracy(1.0, right=5e-324) == "4.94065e-324"
    assert digits.format_error(5e-324) == "4.94066e-324"
    assert digits.format_percentage(0.711, right=0.289) == "28.9"


def test_only_certain_probabilities_stay_at_the_ends() -> None:
    clipped = digits.clip_uncertain([1.0, 0.5, 0.0, 0.0, 1.0], [800.0, 0.0, -800.0, -math.inf, math.inf]).tolist()
    assert clipped == [math.nextafter(1.0, 0.0), 0.5, 5e-324, 0.0, 1.0]
    assert [digits.format_compact(p) for p in (0.9994, 0.9996, 1.0, 0.0)] == ["0.999", ">0.999", "1", "0"]

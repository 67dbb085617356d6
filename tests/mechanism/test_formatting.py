"""Probabilities as text: what is right is rounded down, what is wrong up, and only certainty is printed as such."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetdp.mechanism import formatting as digits
from hetdp.mechanism.odds import describe_frequency, runs_of
from hetdp.theory.catalogue import NOTIONS

ERRORS = st.one_of(
    st.floats(0.0, 1.0, allow_subnormal=True),
    st.floats(-320.0, 0.0).map(lambda power: 10.0**power),
    st.floats(-16.0, 0.0).map(lambda power: 1.0 - 10.0**power),
)
SLACK = 2 * Decimal(digits.SLACK)


def read(text: str) -> Decimal:
    """The number that a text means, exactly."""
    text = text.removeprefix("more than ").removeprefix("less than ")
    return 1 - Decimal(text[4:]) if text.startswith("1 − ") else Decimal(text)


@given(ERRORS, st.integers(2, 12))
def test_accuracies_are_rounded_down_and_errors_up(error: float, number: int) -> None:
    exact = Decimal(error)
    assert read(digits.format_error(error, number)) >= exact * (1 - SLACK)
    assert read(digits.format_accuracy(error, number)) <= (1 - exact) * (1 + SLACK) + Decimal("1e-16")
    assert read(digits.format_promise(error)) <= 1 - exact + Decimal("1e-16")
    assert read(digits.format_accuracy_limit(error, number)) >= (1 - exact) * (1 - SLACK) - Decimal("1e-16")


@given(ERRORS)
def test_only_what_is_certain_is_printed_as_certain(error: float) -> None:
    for text in (digits.format_accuracy(error), digits.format_promise(error), digits.format_percentage(error)):
        assert (text in ("1", "1.000000", "100", "100.0")) == (error == 0.0)
    assert (digits.format_error(error) == "0") == (error == 0.0)


@given(ERRORS, st.integers(0, 4))
def test_a_percentage_is_rounded_down(error: float, decimals: int) -> None:
    text, exact = digits.format_percentage(error, decimals), 100 * (1 - Decimal(error))
    if text.startswith("less than"):
        assert read(text) > exact
    else:
        assert read(text) <= exact * (1 + SLACK) + Decimal("1e-13")
    if text.startswith("more than"):
        assert error > 0.0


@pytest.mark.parametrize("notion", list(NOTIONS))
@pytest.mark.parametrize("z", [-1e6, -8192.0, -746.0, -40.0, 40.0, 746.0, 8192.0, 1e6])
def test_an_error_is_nought_only_where_the_coordinate_is_infinite(notion: str, z: float) -> None:
    coordinate = NOTIONS[notion].coordinate
    for answer in (1, 2):
        assert float(coordinate.error(z, answer)) > 0.0
        assert 0.0 in (float(coordinate.error(np.inf, answer)), float(coordinate.error(-np.inf, answer)))
    p, complement = float(coordinate.probability(z)), float(coordinate.probability(-z))
    assert digits.format_exact(p, complement, z) not in ("0", "1")
    assert digits.format_compact(float(digits.clip_uncertain(p, z))) not in ("0", "1")


def test_values_that_are_certain_are_told_so() -> None:
    assert digits.format_exact(1.0, 0.0, math.inf) == digits.format_compact(1.0) == "1"
    assert digits.format_exact(0.0, 1.0, -math.inf) == digits.format_compact(0.0) == "0"
    assert digits.clip_uncertain([0.0, 1.0], [-math.inf, math.inf]).tolist() == [0.0, 1.0]


@given(ERRORS, ERRORS)
def test_runs_are_rounded_outward_and_never_all_or_none(one: float, other: float) -> None:
    low, high = sorted((one, other))
    runs, most, least = runs_of(low, high)
    assert most >= high * runs - 1e-6
    assert least <= low * runs + 1e-6
    said = describe_frequency(low, max(high, 1e-300))
    assert not re.search(rf"at most {runs:,} of {runs:,} |at most 0 of|instead of 0$", said)

"""Amounts as integers: spends are rounded up and caps down from the written decimal, never from its float."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetdp.errors import UsageError
from hetdp.releases.ledger.amounts import (
    INFINITE,
    LARGEST,
    add_units,
    currency_of,
    format_units,
    units_of_cap,
    units_spent,
    units_spent_each,
    units_squared_each,
)
from hetdp.releases.ledger.amounts import _product as exact_product
from tests.loops import for_each

NANO, ATTO, PICO = 10**9, 10**18, 10**12
WHOLE = st.integers(0, 10**12).map(lambda units: units / NANO)  # of units, or the next float above or below
NEARLY = WHOLE.flatmap(lambda x: st.sampled_from([x, math.nextafter(x, 9e9), math.nextafter(x, 0)]))
LONG = st.decimals(0, 10**9, places=9).map(float) | st.decimals(0, 1, places=18).map(float)
AMOUNTS = st.floats(min_value=0, allow_nan=False) | NEARLY | LONG


def ceiling(value: Fraction) -> int:
    return min(math.ceil(value), INFINITE) if value < LARGEST else INFINITE


@given(st.lists(AMOUNTS, min_size=1, max_size=20), st.sampled_from([NANO, ATTO]))
def test_many_floats_are_rounded_up_from_the_decimals_that_were_written(values, scale):
    expected = [INFINITE if math.isinf(value) else ceiling(Fraction(repr(value)) * scale) for value in values]
    assert units_spent_each(values, scale).tolist() == expected == [units_spent(value, scale) for value in values]


@given(st.lists(st.floats(1e-18, 1e9), min_size=1, max_size=20), st.sampled_from([NANO, ATTO]))
def test_a_product_and_what_its_rounding_left_out_are_exact(values, scale):
    for value, product, rest in zip(values, *exact_product(np.array(values), float(scale)), strict=True):
        assert Fraction(product) + Fraction(rest) == Fraction(value) * scale


@given(st.lists(AMOUNTS, min_size=1, max_size=5))
def test_squares_are_rounded_up_from_the_decimals_that_were_written(values):
    expected = [INFINITE if value >= 2**31 else ceiling(Fraction(repr(value)) ** 2 * PICO) for value in values]
    assert units_squared_each(values, PICO).tolist() == expected


@given(st.integers(0, 10**13))
def test_a_decimal_of_nine_digits_is_itself_as_a_spend_and_as_a_cap(units):
    text = str(Decimal(units) / NANO)
    assert units_spent(text, NANO) == units_of_cap(text, NANO) == units
    assert Decimal(format_units(units, NANO)) == Decimal(text)
    floored = math.nextafter(float(text), 0) if Fraction(float(text)) > Fraction(text) else float(text)
    assert units_spent_each([floored], NANO).tolist() == [units], "ε as hetdp keeps it: never above what was written"


def test_the_written_decimal_counts():
    assert units_spent(0.1, NANO) == units_spent("0.1", NANO) == units_spent(Decimal("0.1"), NANO) == 10**8
    assert units_spent(Fraction(1, 3), NANO) == 333333334
    assert units_of_cap(Fraction(1, 3), NANO) == 333333333
    assert units_spent(np.float64(0.3), NANO) == 3 * 10**8
    assert units_spent("0.1", PICO, squared=True) == 10**10


@for_each("tiny", [1e-12, "1e-12", 5e-324, "1e-5000", 1e-9, Decimal("1e-100")])
def test_a_tiny_spend_costs_one_unit_and_a_tiny_cap_allows_none(tiny):
    assert units_spent(tiny, NANO) == 1
    assert units_of_cap(tiny, NANO) == (1 if float(tiny) == 1e-9 else 0)
    if isinstance(tiny, float) and tiny != 1e-9:  # that float is above the decimal
        assert units_spent_each([tiny], NANO).tolist() == [1]


@for_each("large", ["inf", math.inf, 1e300, "1e99999", 2**80, LARGEST])
def test_amounts_that_are_too_large_are_infinite(large):
    assert units_spent(large, NANO) == units_of_cap(large, NANO) == INFINITE


def test_half_of_what_an_integer_holds_is_infinite_and_one_unit_less_is_not():
    for make in (Fraction, str, Decimal):
        assert units_spent(make(LARGEST), 1) == units_spent(make(Decimal(LARGEST) / NANO), NANO) == INFINITE
        assert units_spent(make(LARGEST - 1), 1) == units_of_cap(make(LARGEST - 1), 1) == LARGEST - 1


def test_zero_costs_nothing_however_it_is_written():
    assert [units_spent(zero, NANO) for zero in ("0e-500", "0.000", Fraction(0), 0, -0.0)] == [0] * 5
    assert units_spent(Fraction(1, 2), PICO, squared=True) == units_of_cap(Fraction(1, 2), PICO, True) == PICO // 4


def test_an_infinite_cap_means_no_limit():
    assert units_of_cap("inf", NANO) == units_of_cap(math.inf, NANO) == INFINITE
    assert format_units(INFINITE, NANO) == "inf"


@for_each("wrong", [-1, "-0.1", "nan", math.nan, Fraction(-1, 3), "one", "", None, True, [1], "1" * 1000])
def test_invalid_amounts_are_refused(wrong):
    with pytest.raises(UsageError, match="is not an amount; an amount of privacy is a number, 0 or larger, or inf"):
        units_spent(wrong, NANO)


@pytest.mark.parametrize("wrong", [-1e-300, math.nan])
def test_an_array_with_invalid_amounts_is_refused(wrong):
    for convert in (units_spent_each, units_squared_each):
        with pytest.raises(UsageError, match="negative or not a number"):
            convert([1.0, wrong], NANO)


@given(st.integers(0, INFINITE), st.integers(0, INFINITE))
def test_sums_stop_at_infinity(left, right):
    assert add_units(np.array([left]), np.array([right])).tolist() == [min(left + right, INFINITE)]


def test_an_unknown_currency_is_refused():
    with pytest.raises(
        UsageError, match="there is no currency 'rho'; it must be one of epsilon, epsilon-delta, gaussian"
    ):
        currency_of("rho")

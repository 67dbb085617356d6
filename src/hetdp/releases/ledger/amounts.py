"""Amounts of privacy as whole numbers: ε in 10⁻⁹, δ in 10⁻¹⁸, μ² in 10⁻¹², spends rounded up and caps down."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError
from hetdp.numbers import EXACT, parse_decimal
from hetdp.text import did_you_mean, format_value
from hetdp.theory.catalogue import currency_names, find_currency
from hetdp.theory.notion import Currency

INFINITE = 2**63 - 1  # as a spend: everything; as a cap: no limit
LARGEST = 2**62  # what is not below this counts as infinite
SPLIT = 2.0**27 + 1
DIGITS = 15  # decimals of so many digits are the shortest ones of their floats


DELTA_SCALE = 10**18


def currency_of(name: str) -> Currency:
    """The currency of that name; each notion has one.

    >>> currency_of("epsilon").scale
    1000000000
    """
    found = find_currency(name)
    if found is None:
        known = currency_names()
        rule = f"it must be one of {', '.join(known)}"
        raise UsageError(f"there is no currency {format_value(name)}", rule, did_you_mean(name, known))
    return found


def units_spent(value: Any, scale: int, squared: bool = False) -> int:
    """An amount in whole units, rounded up.

    >>> [units_spent(amount, 10**9) for amount in ("0.1", 1e-12, 0)], units_spent("inf", 10**9) == INFINITE
    ([100000000, 1, 0], True)
    """
    return _units(value, scale, squared, ROUND_CEILING)


def units_of_cap(value: Any, scale: int, squared: bool = False) -> int:
    """A cap in whole units, rounded down; infinity is no limit.

    >>> units_of_cap(0.3, 10**9), units_of_cap("inf", 10**9) == INFINITE
    (300000000, True)
    """
    return _units(value, scale, squared, ROUND_FLOOR)


def _units(value: Any, scale: int, squared: bool, rounding: str) -> int:
    if isinstance(value, Fraction) and value >= 0:
        exact = value * value * scale if squared else value * scale
        whole = -(-exact.numerator // exact.denominator) if rounding == ROUND_CEILING else int(exact)
        return whole if whole < LARGEST else INFINITE
    number = _decimal(value)
    if number == Decimal("inf") or number >= LARGEST:  # the second keeps the product small
        return INFINITE
    if number.adjusted() < -400:
        return int(rounding == ROUND_CEILING and number > 0)
    product = EXACT.multiply(EXACT.multiply(number, number) if squared else number, Decimal(scale))
    units = int(product.to_integral_value(rounding, EXACT))
    return units if units < LARGEST else INFINITE


def _decimal(value: Any) -> Decimal:
    """A number as the decimal that was written; for a float the shortest that means it."""
    rule = "an amount of privacy is a number, 0 or larger, or inf"
    if isinstance(value, np.generic):
        value = value.item()
    number = parse_decimal(value)
    if number is None or number < 0:
        raise UsageError(f"{format_value(value)} is not an amount", rule)
    return number


def units_spent_each(values: Any, scale: int) -> NDArray[np.int64]:
    """Many floats in whole units, each rounded up from the decimal that was written, as `units_spent` does.

    That decimal is the shortest one that means the float. Where a whole number of units means the float, too, and has
    no more than 15 digits, it is this decimal. Where none does, none lies between the decimal and the float's exact
    value, and so both are rounded up to the same one; the exact product is taken without an error.

    >>> units_spent_each([0.1, 1e-300, 0.0, float("inf")], 10**9).tolist() == [100000000, 1, 0, INFINITE]
    True
    """
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    if bool((np.isnan(given) | (given < 0)).any()):
        raise UsageError("an amount is negative or not a number", "an amount of privacy is 0 or larger, or inf")
    is_infinite, is_tiny = given >= LARGEST / scale, given < 0.5 / scale
    inner = np.where(is_infinite | is_tiny, 1.0, given)
    product, rest = _product(inner, float(scale))
    whole = np.floor(product) == product
    units = np.where(whole, product, np.ceil(product)).astype(np.int64)
    units += np.where(whole, np.ceil(rest), 0.0).astype(np.int64)
    nearest = np.rint(product)
    units = np.where(nearest / scale == inner, nearest.astype(np.int64), units)
    units = np.where(is_tiny, (given > 0).astype(np.int64), units)
    units = np.where(is_infinite | (units >= LARGEST), INFINITE, units)
    is_long = (nearest >= 10.0**DIGITS) & ~is_infinite
    if bool(is_long.any()):
        units[is_long] = _one_by_one(given[is_long], scale, False)
    return units


def units_squared_each(values: Any, scale: int) -> NDArray[np.int64]:
    """The same for the squares of the floats."""
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    units_spent_each(given, 1)  # refuses what is not an amount
    return _one_by_one(given, scale, True)


def _one_by_one(given: NDArray[np.float64], scale: int, squared: bool) -> NDArray[np.int64]:
    """The units of each number, computed once for equal ones."""
    different, where = np.unique(given, return_inverse=True)
    units = np.array([units_spent(value, scale, squared) for value in different.tolist()], np.int64)
    return units[where.reshape(-1)]


def _product(left: NDArray[np.float64], right: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A product as rounded, and what the rounding left out, exactly (Dekker)."""
    product = left * right
    left_high, right_high = _high(left), _high(right)
    left_low, right_low = left - left_high, right - right_high
    rest = ((left_high * right_high - product) + left_high * right_low + left_low * right_high) + left_low * right_low
    return product, rest


def _high(value: Any) -> Any:
    large = value * SPLIT
    return large - (large - value)


def add_units(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums that saturate at infinity.

    >>> add_units(np.array([1, INFINITE]), np.array([2, 5])).tolist() == [3, INFINITE]
    True
    """
    is_too_much = left > INFINITE - right
    found: NDArray[np.int64] = np.where(is_too_much, INFINITE, left + np.where(is_too_much, 0, right))
    return found


def format_units(units: int, scale: int) -> str:
    """Units as a decimal.

    >>> format_units(300000000, 10**9), format_units(INFINITE, 10**9)
    ('0.3', 'inf')
    """
    if units >= INFINITE:
        return "inf"
    number = EXACT.divide(Decimal(units), Decimal(scale))
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text

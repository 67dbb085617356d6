"""ε as written, and as used: floored to a multiple of 2⁻⁴⁰, so that every sum of them is exact."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError
from hetdp.numbers import EXACT, comma_hint, parse_decimal
from hetdp.problem.decimals import GRID
from hetdp.text import format_value

UNBOUNDED = 1 << 62  # in units of the grid: no protection is promised
LARGEST = 1 << 52  # in units of the grid; a finite ε above it (4,096) is lowered to it, which a float holds exactly
RULE = 'ε is a decimal number ≥ 0, or "inf" where no protection is promised'

Units = NDArray[np.int64]


def parse_epsilon(epsilon: Any) -> Decimal:
    """An ε exactly as it was written; a float stands for its shortest decimal.

    Args:
        epsilon: a number, a Decimal, or a text such as ``"0.30"`` or ``"inf"``.

    Raises:
        UsageError: that is not an ε.

    >>> parse_epsilon(0.3), parse_epsilon("0.30"), parse_epsilon(float("inf"))
    (Decimal('0.3'), Decimal('0.30'), Decimal('Infinity'))
    """
    written = parse_decimal(epsilon)
    if written is None or written.is_signed():
        raise UsageError(f"ε is {format_value(epsilon)}", RULE, comma_hint(epsilon))
    if written.is_finite() and math.isinf(float(written)):  # it must not become a promise of nothing
        raise UsageError(f"ε is {format_value(epsilon)}", f"{RULE}; this number is too large")
    return written


def parse_argument(argument: str, epsilon: Any, group: Any = None) -> Decimal:
    """Does the same for an argument, or its entry for a group, which the message names.

    Raises:
        UsageError: that is not an ε.
    """
    try:
        return parse_epsilon(epsilon)
    except UsageError as refusal:
        of_group = "" if group is None else f" for {format_value(group)}"
        raise UsageError(f"{argument}={format_value(epsilon)}{of_group}", refusal.rule, refusal.hint) from None


def epsilon_to_units(epsilon: Any) -> int:
    """Converts an ε to units of 2⁻⁴⁰, rounded down; infinity becomes 2⁶², which is larger than any other.

    Args:
        epsilon: a number, a Decimal, or a text such as ``"0.30"`` or ``"inf"``.

    Raises:
        UsageError: that is not an ε.

    >>> epsilon_to_units(1) == 2**40, epsilon_to_units(0.1), epsilon_to_units("inf") == 2**62
    (True, 109951162777, True)
    """
    written = parse_epsilon(epsilon)
    if written.is_infinite():
        return UNBOUNDED
    fraction = Fraction(written)
    return min(fraction.numerator * (1 << GRID) // fraction.denominator, LARGEST)


def shortest_decimal(units: int) -> Decimal:
    """The shortest decimal that becomes so many units, which are finite: ε as it was written, unless it was longer.

    >>> shortest_decimal(epsilon_to_units("0.1")), shortest_decimal(2**41)
    (Decimal('0.1'), Decimal('2'))
    """
    numerator, places = -(-units >> GRID), 0
    while (numerator << GRID) // 10**places != units:
        places += 1
        numerator = -(-units * 10**places >> GRID)
    return Decimal(numerator).scaleb(-places, EXACT)


def units_to_floats(units: Units) -> NDArray[np.float64]:
    """Units of the grid as floats, exactly; infinity for `UNBOUNDED`.

    >>> units_to_floats(np.array([2**39, UNBOUNDED]))
    array([0.5, inf])
    """
    return np.where(units == UNBOUNDED, np.inf, np.ldexp(units.astype(np.float64), -GRID))


def epsilon_in_words(epsilon: Decimal) -> str:
    """An ε in a sentence."""
    return "no protection promised" if epsilon.is_infinite() else str(epsilon)


def epsilon_for_document(epsilon: Decimal) -> str:
    """An ε in a document: as a text, so that it stays as written."""
    return "inf" if epsilon.is_infinite() else str(epsilon)


def format_epsilon(value: float) -> str:
    """A parameter as it was written: the shortest decimal that means the float.

    >>> format_epsilon(0.1), format_epsilon(2.0), format_epsilon(float("inf")), format_epsilon(1e-09)
    ('0.1', '2', 'inf', '1e-09')
    """
    return "inf" if math.isinf(value) else repr(float(value)).removesuffix(".0")

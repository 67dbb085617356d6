"""The grid of spaces made from people: multiples of 2^-40, on which sums of ε are exact (docs/theory/products.md)."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from hetdp.problem.space import Floats

UNIT = 2.0**-40
NAME = "2^-40"  # what files of problems made from people call it
LARGEST_EXACT = 2.0**13  # below it, every multiple of the unit is a float, so every sum of such numbers is exact


def round_down_to_grid(number: Any) -> float:
    """The largest multiple of 2^-40 that is a float and not above the number; a float counts as its shortest decimal.

    >>> round_down_to_grid(0.5), round_down_to_grid(float("inf"))
    (0.5, inf)
    >>> round_down_to_grid("0.1") == round_down_to_grid(0.1) < 0.1
    True
    """
    if float(number) == math.inf:
        return math.inf
    meant = as_fraction(number)
    found = float(Fraction(math.floor(meant * 2**40), 2**40))
    return found if found <= meant else math.nextafter(found, 0.0)  # from 2^13 on, a float may lie above


def as_fraction(number: Any) -> Fraction:
    """A finite number exactly as it was written; a float counts as its shortest decimal.

    >>> as_fraction(0.1), as_fraction("0.30"), as_fraction(2)
    (Fraction(1, 10), Fraction(3, 10), Fraction(2, 1))
    """
    if isinstance(number, (Fraction, Decimal)):
        return Fraction(number)
    return Fraction(repr(float(number)) if isinstance(number, (float, np.floating)) else str(number))


def round_labels_down(labels: Floats) -> Floats:
    """Rounds labels or ε down to the grid; infinite ones stay."""
    with np.errstate(over="ignore"):
        scaled = labels / UNIT
    return np.where(np.abs(labels) < LARGEST_EXACT, np.floor(scaled) * UNIT, labels)


def are_on_grid(numbers: Floats) -> bool:
    """True if all numbers are multiples of 2^-40 below 2^13, or +inf."""
    scaled = numbers / UNIT
    return bool(np.all((numbers == np.inf) | ((np.abs(numbers) < LARGEST_EXACT) & (np.rint(scaled) == scaled))))

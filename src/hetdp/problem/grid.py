"""The grid of spaces made from people: multiples of 2^-40, on which sums of ε are exact (docs/theory/products.md)."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from hetdp.problem.space import Floats

UNIT = 2.0**-40
LARGEST_EXACT = 2.0**13  # below it, every multiple of the unit is a float, so every sum of such numbers is exact


def floored(number: Any) -> float:
    """The largest multiple of 2^-40 that is a float and not above the number; a float is its shortest decimal.

    >>> floored(0.5), floored("0.1") == floored(0.1) < 0.1, floored(float("inf"))
    (0.5, True, inf)
    """
    written = repr(float(number)) if isinstance(number, (float, np.floating)) else str(number)
    if written in ("inf", "Infinity"):
        return math.inf
    exact = Fraction(number) if isinstance(number, (Fraction, Decimal)) else Fraction(written)
    found = float(Fraction(math.floor(exact * 2**40), 2**40))
    return found if found <= exact else math.nextafter(found, 0.0)  # from 2^13 on, a float may lie above


def floored_labels(labels: Floats) -> Floats:
    """Labels of float arithmetic, brought down to the grid; infinite ones stay."""
    with np.errstate(over="ignore"):
        scaled = labels / UNIT
    return np.where(np.abs(labels) < LARGEST_EXACT, np.floor(scaled) * UNIT, labels)


def are_on_grid(numbers: Floats) -> bool:
    """Whether all numbers are multiples of 2^-40 below 2^13, or +inf."""
    scaled = numbers / UNIT
    return bool(np.all((numbers == np.inf) | ((np.abs(numbers) < LARGEST_EXACT) & (np.rint(scaled) == scaled))))

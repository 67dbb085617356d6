"""The ε a mechanism may use: the largest float not above the decimal that was written.

The float nearest to 0.1 is larger than 0.1, so a mechanism that used it would spend a little more than was promised. A
float is taken to have been written as its shortest decimal, the one that `repr` prints.

While a graph is built, an ε is stored as a *mark*: twice the bits of the float that is used, plus one if that was
lowered. Marks are in the order of the numbers as written. `scale_of` and `mark_of` compute marks; the same source runs
on arrays with NumPy and, compiled (`compiled.py`), on the numbers of a large graph one by one.

Spaces made from people use multiples of 2^-40, on which sums of ε are exact (docs/theory/products.md).
"""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.compilation import BUILDING, uses_compiled
from hetdp.interrupts import delay_interrupts
from hetdp.problem.space import SMALL_SPACE, Floats, Mask
from hetdp.threads import run_in_threads, slices

Marks = NDArray[np.uint64]

DIGITS = 15  # every decimal of up to 15 digits is the shortest one of its float
EXACT_POWERS: Floats = np.array([float(10**power) for power in range(23)])  # the powers of ten that are floats
SPLITTER = 2.0**27 + 1.0
BLOCK = 1 << 16  # small enough to stay in the cache; a small graph is one block, and needs no threads
EXPONENT_SHIFT = 52  # where the exponent of a float begins, in its bits
UNBOUNDED = np.uint64(0x7FF0000000000000 << 1)  # the mark of infinity
MARK_OF_ONE = np.uint64(0x3FF0000000000000 << 1)  # the mark of 1

# A number of size 10^k, −8 ≤ k < 15, has its 15 digits before the point if multiplied by 10^(14 − k), an exact power.
# Two numbers between the same two powers of two have at most one power of ten between them: NEXT_SIZE, by exponent.
_SIZES = np.array([*(float(f"1e{size}") for size in range(-8, DIGITS + 1)), np.inf])
_SMALLER = np.searchsorted(_SIZES[:-1], [0.0, *np.ldexp(1.0, np.arange(-1022, 1024)), np.inf], side="right")
_SCALES = np.array([np.nan, *EXACT_POWERS[::-1], np.nan, np.nan])
NEXT_SIZE: Floats = _SIZES[_SMALLER]
SCALES: Floats = np.stack([_SCALES[_SMALLER], _SCALES[_SMALLER + 1]], axis=1).ravel()


def raise_to_written(floored: Floats, lowered: Mask) -> Floats:
    """The numbers as written, from the floats that are used and the bits that tell which were lowered."""
    with np.errstate(over="ignore"):  # the largest float has none above it; where that is so, nothing was lowered
        return np.where(lowered, np.nextafter(floored, np.inf), floored)


def marks_of(written: Floats) -> Marks:
    """Computes the marks of many ε.

    Decimals of up to 15 digits are floored to the largest float not above them. Longer ones, and those below 1e-8, are
    always lowered by one float.

    >>> floored, lowered = unpack_marks(marks_of(np.array([0.1, 0.3, 0.5, np.inf])))
    >>> float(floored[0]), np.unpackbits(lowered, count=4)
    (0.09999999999999999, array([1, 0, 0, 0], dtype=uint8))
    """
    bits, marks = written.view(np.int64), np.empty(len(written), dtype=np.int64)
    mark: Any = mark_all
    if len(written) > SMALL_SPACE and uses_compiled(BUILDING, len(written)):
        with delay_interrupts():
            from hetdp.problem import compiled

        mark = compiled.mark_each

    def work(piece: slice) -> None:
        with np.errstate(all="ignore"):
            mark(written[piece], bits[piece], np.empty(piece.stop - piece.start), marks[piece])

    run_in_threads(work, slices(len(written), BLOCK), len(written))
    return marks.view(np.uint64)


def unpack_marks(marks: Marks) -> tuple[Floats, NDArray[np.uint8]]:
    """The floats that are used, and one bit each that tells whether it was lowered. The marks are overwritten."""
    lowered = np.empty(-(-len(marks) // 8), dtype=np.uint8)

    def work(piece: slice) -> None:
        lowered[piece.start // 8 : -(-piece.stop // 8)] = np.packbits(marks[piece].astype(np.uint8) & 1)
        marks[piece] >>= np.uint64(1)

    run_in_threads(work, slices(len(marks), BLOCK), len(marks))
    return marks.view(np.float64), lowered


def mark_all(written: Floats, bits: Any, scales: Floats, marks: Any) -> None:
    """Sets the marks with NumPy."""
    scales[:] = scale_of(written, bits)
    marks[:] = mark_of(written, bits, scales)


def mark_each(written: Floats, bits: Any, scales: Floats, marks: Any) -> None:
    """Sets the marks one by one; for numba."""
    for at in range(len(written)):
        scales[at] = scale_of(written[at], bits[at])
    for at in range(len(written)):  # on its own, so that several go through it at once
        marks[at] = mark_of(written[at], bits[at], scales[at])


def scale_of(x: Any, bits: Any) -> Any:
    """The power of ten that moves 15 digits of a number before the point; NaN if that power is not exact."""
    exponent = bits >> EXPONENT_SHIFT
    return SCALES[2 * exponent + (x >= NEXT_SIZE[exponent])]


def mark_of(x: Any, bits: Any, scale: Any) -> Any:
    """The mark of a number, by comparing its first 15 digits with its decimal."""
    product = x * scale
    digits = np.rint(product)
    x_high, scale_high = SPLITTER * x - (SPLITTER * x - x), SPLITTER * scale - (SPLITTER * scale - scale)
    x_low, scale_low = x - x_high, scale - scale_high
    rest = ((x_high * scale_high - product) + x_high * scale_low + x_low * scale_high) + x_low * scale_low
    is_exact_or_below = (product - digits) + rest <= 0.0  # Dekker's product: the sign of x · scale − digits is exact
    short = (digits < 10.0**DIGITS) & (digits / scale == x) & is_exact_or_below
    whole = (x == np.floor(x)) & ((x < 2.0**53) | (x == np.inf))
    above = 1 - (short | whole)
    return (bits - above) << 1 | above


# The grid of spaces made from people ----------------------------------------------------------------------------------


GRID = 40  # ε and labels of spaces made from people are multiples of 2 to the power of minus this
UNIT = 2.0**-GRID
NAME = f"2^-{GRID}"  # what files of problems made from people call it
LARGEST = Fraction(sys.float_info.max)
MOST_SORTED, MOST_EXACT = 1 << 22, 1 << 16  # numbers, and different numbers, that are multiplied as decimals
FLOATS_BELOW = 5  # more than the rounding of two factors, a product and its decimal
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
    found = float(Fraction(math.floor(meant * 2**GRID), 2**GRID))
    return found if found <= meant else math.nextafter(found, 0.0)  # from 2^13 on, a float may lie above


def as_fraction(number: Any) -> Fraction:
    """A finite number exactly as it was written; a float counts as its shortest decimal.

    >>> as_fraction(0.1), as_fraction("0.30"), as_fraction(2)
    (Fraction(1, 10), Fraction(3, 10), Fraction(2, 1))
    """
    if isinstance(number, (Fraction, Decimal)):
        return Fraction(number)
    return Fraction(repr(float(number)) if isinstance(number, (float, np.floating)) else str(number))


def exact_amount(value: Any) -> Any:
    """A number ≥ 0 exactly as it was written, as a Fraction or infinity; None for anything else.

    >>> exact_amount(0.1), exact_amount(math.inf), exact_amount(-1), exact_amount("1")
    (Fraction(1, 10), inf, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Real | Decimal) or math.isnan(value) or value < 0:
        return None
    return math.inf if value == math.inf else as_fraction(value)


def lower_to_written(number: Any) -> float:
    """The largest float whose shortest decimal is not above a number, which is written in its place.

    >>> lower_to_written(Fraction(1, 10)), lower_to_written("0.30"), lower_to_written(Fraction(1, 3))
    (0.1, 0.3, 0.3333333333333333)
    """
    found = float(number)
    if not 0.0 < found < math.inf or Fraction(repr(found)) <= as_fraction(number):
        return found
    return math.nextafter(found, 0.0)


def multiply_down(written: Floats, multiple: Any) -> Floats:
    """Multiplies numbers as written by a number ≥ 0; no resulting decimal is above the exact product. Infinity stays.

    Each result is the largest float whose decimal is not above the product of the decimals; if there are very many
    different numbers, it may be up to five floats below that.

    >>> multiply_down(np.array([0.1, 1e308, np.inf]), 3.0).tolist()
    [0.3, 1.7976931348623157e+308, inf]
    """
    factor = as_fraction(multiple)
    if factor == 1:
        return written
    if len(written) <= MOST_SORTED:
        distinct, where = np.unique(written, return_inverse=True)
        if len(distinct) <= MOST_EXACT:
            products = [x if x == math.inf else _times(x, factor) for x in distinct.tolist()]
            return np.array(products, dtype=np.float64)[where]
    floored = unpack_marks(marks_of(written))[0]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        product = floored * float(factor)
        for _ in range(FLOATS_BELOW):
            product = np.nextafter(product, 0.0)
    return np.where(np.isinf(written), written, product)


def _times(number: float, factor: Fraction) -> float:
    return lower_to_written(min(as_fraction(number) * factor, LARGEST))


def round_labels_down(labels: Floats) -> Floats:
    """Rounds labels or ε down to the grid; infinite ones stay."""
    with np.errstate(over="ignore"):
        scaled = labels / UNIT
    return np.where(np.abs(labels) < LARGEST_EXACT, np.floor(scaled) * UNIT, labels)


def are_on_grid(numbers: Floats) -> bool:
    """True if all numbers are multiples of 2^-40 below 2^13, or +inf."""
    scaled = numbers / UNIT
    return bool(np.all((numbers == np.inf) | ((np.abs(numbers) < LARGEST_EXACT) & (np.rint(scaled) == scaled))))

"""The ε a mechanism may use: the largest float not above the decimal that was written.

"0.1" as a float is larger than 0.1, so a mechanism that used it would spend a little more than was promised. What a
float was written as is taken to be its shortest decimal, the one that `repr` prints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hetdp.problem.space import Floats, Mask

DIGITS = 15  # every decimal of up to 15 digits is the shortest one of its float
EXACT_POWERS: Floats = 10.0 ** np.arange(23, dtype=np.float64)  # the powers of ten that are floats
SPLITTER = 2.0**27 + 1.0
BLOCK = 1 << 14  # small enough to stay in the cache


def floor_to_decimals(written: Floats) -> tuple[Floats, Mask]:
    """Floats not above the written decimals, and which of them were lowered.

    Decimals of up to 15 digits get the largest such float. Longer ones, and those below 1e-8, go down by one float
    whether or not they need to.

    >>> floored, lowered = floor_to_decimals(np.array([0.1, 0.3, 0.5, np.inf]))
    >>> lowered
    array([ True, False, False, False])
    >>> float(floored[0])
    0.09999999999999999
    """
    floored, lowered = np.empty_like(written), np.empty(len(written), dtype=np.bool_)
    for start in range(0, len(written), BLOCK):
        piece = slice(start, start + BLOCK)
        lowered[piece] = ~_not_above_decimal(written[piece])
        floored[piece] = np.where(lowered[piece], np.nextafter(written[piece], 0.0), written[piece])
    return floored, lowered


def raise_to_written(floored: Floats, lowered: Mask) -> Floats:
    """What was written, from what `floor_to_decimals` made of it."""
    with np.errstate(over="ignore"):  # the largest float has none above it; where that is so, nothing was lowered
        return np.where(lowered, np.nextafter(floored, np.inf), floored)


def _not_above_decimal(x: Floats) -> Mask:
    whole = np.isinf(x) | ((x < 2.0**53) & (x == np.floor(x)))
    x = np.where(whole, 1.0, x)
    power = DIGITS - 1 - _leading_digit(x)
    in_range = (power >= 0) & (power < len(EXACT_POWERS))
    scale: Floats = EXACT_POWERS[np.where(in_range, power, 0)]
    x = np.where(in_range, x, 0.5)
    digits = np.rint(x * scale)
    is_short = in_range & (digits < 10.0**DIGITS) & (digits / scale == x)
    return np.asarray(whole | (is_short & (_exact_product_minus(x, scale, digits) <= 0.0)))


def _leading_digit(x: Floats) -> NDArray[np.int64]:
    """The power of ten of the first digit; log10 may be off by one next to a power of ten."""
    power = np.floor(np.log10(x))
    with np.errstate(over="ignore"):
        power -= 10.0**power > x
        power += 10.0 ** (power + 1.0) <= x
    return power.astype(np.int64)


def _exact_product_minus(x: Floats, y: Floats, z: Floats) -> Floats:
    """The sign of x·y − z, where x·y is within a few floats of z (Dekker's product)."""
    product = x * y
    x_high, y_high = _high_half(x), _high_half(y)
    x_low, y_low = x - x_high, y - y_high
    rest = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    return np.asarray((product - z) + rest)


def _high_half(x: Floats) -> Floats:
    scaled = SPLITTER * x
    return np.asarray(scaled - (scaled - x))

"""Sums and halves of floats, rounded toward privacy, and constants that several notions need."""

from __future__ import annotations

import math

LARGEST = 1.7976931348623157e308
LN2_HI = 0.6931471805599453
LN2_LO = 2.3190468138462996e-17
LN2_REST = 1e-32  # more than what LN2_HI + LN2_LO lacks, which is amplified next to ln 2
EIGHT_ULPS_DOWN = 1.0 - 2.0**-49  # more than the error of the five roundings of any formula that it lowers
NEGLIGIBLE = 1e-290  # below it ulps are soon no longer relative, and formulas take the limit at 0


def add_down(z: float, epsilon: float) -> float:
    """The largest float not above the exact sum z + ε."""
    total = z + epsilon
    shift = total - z
    error = (z - (total - shift)) + (epsilon - shift)
    if error >= 0.0:
        return total
    if error < 0.0:
        return math.nextafter(total, -math.inf)
    if z == math.inf or z == -math.inf:
        return z
    if total == math.inf:
        return LARGEST  # the sum left the floats; the exact one did not
    return math.nextafter(total, -math.inf)  # only what measures the error did


def half_down(epsilon: float) -> float:
    """The largest float not above ε/2."""
    half = 0.5 * epsilon
    return half if half + half <= epsilon else math.nextafter(half, 0.0)


def beyond_meeting(label: float, least: float, bound: float) -> float:
    """What an edge between the answers allows, from its rounded bound and the rounded point where its ends meet.

    Never below that point as long as the given label is not above it, so that a search by labels never turns back
    (docs/theory/fair-search.md).
    """
    if label == least:
        return least
    return bound if label > least else max(bound, least)

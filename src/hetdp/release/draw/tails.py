"""Enclosures of the smaller tail of p, as whole numbers over a power of two. Written from the definitions alone.

    Laplace  ½·e^(−|z|)        probit  Φ(−|z|) = ½·erfc(|z|/√2)        logit  1/(1 + e^|z|) = e^(−|z|)/(1 + e^(−|z|))

Neither theory/ nor certificate/ is imported, so that a slip there cannot be repeated here unseen.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb, ctx, fmpz

from hetdp.errors import UsageError
from hetdp.precision import at_precision

GUARD = 32  # bits beyond those asked for: more than what the few operations below lose
ONE = fmpz(1)
LARGEST = 1.7976931348623157e308


def _laplace(size: arb) -> arb:
    return (-size).exp() / 2


def _probit(size: arb) -> arb:
    return (size / arb(2).sqrt()).erfc() / 2


def _logit(size: arb) -> arb:
    odds = (-size).exp()
    return odds / (1 + odds)


TAILS: dict[str, Callable[[arb], arb]] = {"Laplace": _laplace, "probit": _probit, "logit": _logit}


def tail_bounds(coordinate: str, z: float, bits: int) -> tuple[int, int]:
    """Whole numbers low ≤ 2^bits · tail ≤ high, next to each other or nearly so.

    An infinite z is given the tail 0 at the end, after the same work as for any other.

    Args:
        coordinate: the name of the coordinate.
        z: the coordinate of p, not NaN; the sign does not matter.
        bits: how fine the bounds are.

    Raises:
        UsageError: a coordinate nobody knows, or z is not a number.

    >>> tail_bounds("Laplace", 0.0, 8), tail_bounds("logit", 1.0, 8), tail_bounds("probit", float("-inf"), 8)
    ((128, 128), (68, 69), (0, 0))
    """
    tail = TAILS.get(coordinate)
    if tail is None:
        raise UsageError(f"no draw is known for the coordinate {coordinate!r}", f"it is one of {', '.join(TAILS)}")
    if math.isnan(z):
        raise UsageError("a coordinate is not a number", "an answer is drawn at a number, or at ±inf")
    size = abs(float(z))
    low, high = at_precision(ctx, bits + GUARD, _enclosed, tail, min(size, LARGEST), bits)
    possible = size <= LARGEST  # where it is not, the tail is nothing at all
    return low * possible, high * possible


def _enclosed(tail: Callable[[arb], arb], size: float, bits: int) -> tuple[int, int]:
    """The bounds for a finite z. What cannot be told at the precision found here is bounded by 0 and 1."""
    scaled = tail(arb(size)) * (ONE << bits)
    low, high = scaled.lower().floor().unique_fmpz(), scaled.upper().ceil().unique_fmpz()
    return 0 if low is None else max(0, int(low)), 1 << bits if high is None else int(high)

"""The exact draw: compares a uniform random number, read bit by bit from the operating system, with the tail of p.

The smaller tail of p is enclosed by whole numbers over a power of two, written from the definitions alone:

    Laplace  ½·e^(−|z|)        probit  Φ(−|z|) = ½·erfc(|z|/√2)        logit  1/(1 + e^|z|) = e^(−|z|)/(1 + e^(−|z|))

Neither theory/ nor certificate/ is imported, so that a slip there cannot be repeated here unseen.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import partial

from flint import arb, ctx, fmpz

from hetdp.errors import UsageError
from hetdp.precision import compute_at_precision

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
    """Whole numbers low ≤ 2^bits · tail ≤ high, equal or nearly so.

    An infinite z gets the tail 0 at the end, after the same work as any other.

    Args:
        coordinate: the name of the coordinate.
        z: the coordinate of p, not NaN; the sign does not matter.
        bits: how fine the bounds are.

    Raises:
        UsageError: the coordinate is unknown, or z is not a number.

    >>> tail_bounds("Laplace", 0.0, 8), tail_bounds("logit", 1.0, 8), tail_bounds("probit", float("-inf"), 8)
    ((128, 128), (68, 69), (0, 0))
    """
    tail = TAILS.get(coordinate)
    if tail is None:
        raise UsageError(
            f"no draw is known for the coordinate {coordinate!r}", f"it must be one of {', '.join(sorted(TAILS))}"
        )
    if math.isnan(z):
        raise UsageError("a coordinate is not a number", "an answer is drawn at a number, or at ±inf")
    size = abs(float(z))
    low, high = compute_at_precision(ctx, bits + GUARD, _enclose, tail, min(size, LARGEST), bits)
    possible = size <= LARGEST  # otherwise the tail is exactly 0
    return low * possible, high * possible


def _enclose(tail: Callable[[arb], arb], size: float, bits: int) -> tuple[int, int]:
    """The bounds for a finite z; 0 and 1 if the precision does not tell."""
    scaled = tail(arb(size)) * (ONE << bits)
    low, high = scaled.lower().floor().unique_fmpz(), scaled.upper().ceil().unique_fmpz()
    return 0 if low is None else max(0, int(low)), 1 << bits if high is None else int(high)


CHUNK = 128  # bits of every draw; more only if these do not decide

Bits = Callable[[int], int]


def system_bits(count: int) -> int:
    """A whole number of that many bits from the operating system's generator, by one call."""
    return int.from_bytes(os.urandom(count // 8), "big")


def draw(coordinate: str, z: float, bits: Bits = system_bits) -> bool:
    """True, which is answer 1, with probability exactly p(z).

    Every draw computes one enclosure, asks once for 128 bits and compares twice, whatever z is and however it ends; at
    most one draw in 2^127 asks for more. ±inf always gives the same answer.

    Args:
        coordinate: the name of the coordinate that z is in: that of the notion (`notion.coordinate.name`).
        z: the coordinate of p at the true dataset.
        bits: returns that many random bits; only tests give another one.

    Raises:
        UsageError: the coordinate is unknown, or z is not a number; neither message contains z.

    >>> draw("Laplace", float("inf")), draw("probit", float("-inf"))
    (True, False)
    """
    return Coin(coordinate, z).toss(bits)


class Coin:
    """Many draws at one z: the first enclosure is computed once. It holds no randomness.

    Args:
        coordinate: the name of the coordinate that z is in.
        z: the coordinate of p.

    Raises:
        UsageError: as for `draw`.
    """

    __slots__ = ("_bounds", "_first", "_turned")

    def __init__(self, coordinate: str, z: float) -> None:
        self._bounds = partial(tail_bounds, coordinate, z)
        self._first = self._bounds(CHUNK)
        self._turned = bool(z > 0.0)  # the tail is then that of answer 2

    def toss(self, bits: Bits = system_bits) -> bool:
        """True, which is answer 1, with probability exactly p(z); each toss asks for its own bits."""
        return is_below(self._bounds, self._first, bits) != self._turned


def is_below(bounds: Callable[[int], tuple[int, int]], first: tuple[int, int], bits: Bits, chunk: int = CHUNK) -> bool:
    """True if a uniform number in [0, 1) is below a number that is known only by its bounds.

    Args:
        bounds: for a number of bits n, whole numbers low ≤ 2^n · x ≤ high.
        first: the bounds for one chunk.
        bits: what gives random bits.
        chunk: how many of them at a time.

    >>> is_below(lambda known: (1 << known >> 1, 1 << known >> 1), (1, 1), lambda count: 1, chunk=1)
    False
    """
    known, (low, high) = chunk, first
    number = bits(chunk)
    while low <= number < high:  # the uniform number, times 2^known, is in [number, number + 1), and so may x be
        known += chunk
        low, high = bounds(known)
        number = number << chunk | bits(chunk)
    return number < low

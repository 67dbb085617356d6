"""The draw itself: is a uniform number, read from the operating system bit by bit, below the tail of p?

docs/theory/exact-draw.md proves that the probability is exactly p, and counts the bits. No bits are kept between draws,
so threads share nothing and a forked child repeats nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from hetdp.release.draw.tails import tail_bounds

CHUNK = 128  # bits for each draw, always; more only where these leave it open

Bits = Callable[[int], int]


def system_bits(count: int) -> int:
    """That many bits of the operating system's generator, by one call, as a whole number."""
    return int.from_bytes(os.urandom(count // 8), "big")


def draw(coordinate: str, z: float, bits: Bits = system_bits) -> bool:
    """True, which is answer 1, with probability exactly p(z).

    Every draw computes one enclosure, asks once for 128 bits and compares twice, whatever z is and however it ends; at
    most one draw in 2^127 asks for more. ±inf always gives the same answer.

    Args:
        coordinate: the name of the coordinate that z is in: that of the notion (`notion.coordinate.name`).
        z: the coordinate of p at the true dataset.
        bits: what gives as many random bits as it is asked for; another one is for tests only.

    Raises:
        UsageError: a coordinate nobody knows, or z is not a number; neither message contains z.

    >>> draw("Laplace", float("inf")), draw("probit", float("-inf"))
    (True, False)
    """
    return Coin(coordinate, z).toss(bits)


class Coin:
    """The same for many draws at one z: what does not need the bits is computed once. It holds no randomness.

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
    """Whether a uniform number in [0, 1) is below one that is only known by its bounds.

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

"""Exact confidence bounds on a probability that was seen `count` times in `draws` (Clopper and Pearson, 1934)."""

from __future__ import annotations

import math

CAREFUL = 1.0 - 1e-6  # more than what the rounding of the logarithms below can amount to
NEAR = 1e-9  # how near to the exact bound, in proportion, is near enough
SMALL = 1e-18  # what is left of a series, in proportion, when it is left off


def at_least(count: int, draws: int, doubt: float) -> float:
    """A bound that the probability is below only with a chance of `doubt`, whatever the probability is.

    It is the p at which `count` or more of `draws` would be seen with that chance, rounded down.

    Args:
        count: how often it was seen.
        draws: how often it could have been.
        doubt: the chance to be wrong, below ½.

    >>> at_least(0, 100, 0.01), round(at_least(100, 100, 0.01), 4), round(at_least(60, 100, 0.01), 4)
    (0.0, 0.955, 0.4789)
    """
    if count == 0:
        return 0.0
    low, high = 0.0, count / draws
    while high - low > NEAR * high:
        middle = 0.5 * (low + high)
        if log_tail(count, draws, middle) <= math.log(doubt * CAREFUL):
            low = middle
        else:
            high = middle
    return low


def bounds_of(count: int, draws: int, doubt: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """What the probability is at least and at most, and the same for the opposite; all four with the same doubt.

    >>> bounds_of(100, 100, 0.01)[0][1], round(bounds_of(100, 100, 0.01)[1][1], 4)
    (1.0, 0.045)
    """
    seen, missed = at_least(count, draws, doubt), at_least(draws - count, draws, doubt)
    return (seen, _rest(missed)), (missed, _rest(seen))


def _rest(p: float) -> float:
    """1 − p, rounded up."""
    return min(1.0, math.nextafter(1.0 - p, 2.0))


def log_tail(count: int, draws: int, p: float) -> float:
    """The logarithm of the chance to see `count` ≥ 1 or more of `draws`, for p ≤ count / draws; a little too large.

    The terms of the binomial law from `count` on: each is the one before it times a factor that is below 1 and falls.
    """
    if p <= 0.0:
        return -math.inf
    if p >= 1.0:
        return 0.0
    others = draws - count
    first = math.lgamma(draws + 1) - math.lgamma(count + 1) - math.lgamma(others + 1)
    first += count * math.log(p) + others * math.log1p(-p)
    odds, total, term = p / (1.0 - p), 1.0, 1.0
    for step in range(1, others + 1):
        factor = odds * (others - step + 1) / (count + step)
        term *= factor
        total += term
        if term < SMALL * total * (1.0 - factor):
            total += term / (1.0 - factor)  # more than all that follow
            break
    return first + math.log(total)

"""Coordinates in which engines work, and the Laplace coordinate: z keeps both tails of p, so that p never collapses.

    z = log(2p) for p ≤ ½,  −log(2(1 − p)) for p > ½;  the smaller tail is ½·e^(−|z|).

All functions take numbers or arrays. Swapping the two answers is z → −z.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
LEAST = float(np.finfo(np.float64).smallest_subnormal)


@dataclass(frozen=True)
class Coordinate:
    """A way to write p as a number z that grows with p, in which swapping the two answers is z → −z.

    Attributes:
        name: what files call it.
        of_tail: z ≤ 0 of p ≤ ½; −inf of 0.
        tail: p ≤ ½ of z ≤ 0.
        log_tail: log p of z ≤ 0, which never underflows.
        middle: z of the mean of two probabilities.
    """

    name: str
    of_tail: Callable[[Floats], Floats]
    tail: Callable[[Floats], Floats]
    log_tail: Callable[[Floats], Floats]
    middle: Callable[[Floats, Floats], Floats]

    def from_probability(self, p: ArrayLike) -> Floats:
        """z of p.

        >>> LAPLACE.from_probability([0.0, 0.5, 1.0])
        array([-inf,   0.,  inf])
        """
        p = np.asarray(p, dtype=np.float64)
        z = self.of_tail(np.minimum(p, 1.0 - p))
        return np.where(p > 0.5, -z, z) + 0.0

    def from_error(self, error: ArrayLike, answers: ArrayLike) -> Floats:
        """z from the probability of the wrong answer, which keeps the tail that p near 1 would lose."""
        z = self.from_probability(error)
        return np.asarray(np.where(np.asarray(answers) == 1, -z, z) + 0.0)

    def probability(self, z: ArrayLike) -> Floats:
        """p = Pr[answer 1], for people to read; it rounds to 1.0 where 1 − p is below 1e-16.

        >>> LAPLACE.probability([-np.inf, 0.0, np.log(2)])
        array([0.  , 0.5 , 0.75])
        """
        z = np.asarray(z, dtype=np.float64)
        tail = self.tail(-np.abs(z))
        return np.asarray(np.where(z > 0.0, 1.0 - tail, tail))

    def error(self, z: ArrayLike, answers: ArrayLike) -> Floats:
        """The probability of the wrong answer: 1 − p where the answer is 1, p where it is 2.

        It is 0 only where z is infinite; what is too small for a float is the smallest one.

        >>> LAPLACE.error([np.inf, 1000.0, 0.0], 1) > 0.0
        array([False,  True,  True])
        """
        z = np.asarray(z, dtype=np.float64)
        error = self.probability(np.where(np.asarray(answers) == 1, -z, z))
        return np.where((error == 0.0) & np.isfinite(z), LEAST, error)

    def log_probability(self, z: ArrayLike) -> Floats:
        """log p, also where p is too small for a float.

        >>> LAPLACE.log_probability([-1000.0, 0.0]).round(3)
        array([-1.000693e+03, -6.930000e-01])
        """
        z = np.asarray(z, dtype=np.float64)
        tail = self.tail(-np.abs(z))
        return np.asarray(np.where(z > 0.0, np.log1p(-tail), self.log_tail(-np.abs(z))))


def middle(z: Floats, other: Floats) -> Floats:
    """z of the mean of two probabilities, from the mean of whichever tail is the smaller one.

    >>> middle(np.array([-np.inf, 40.0, -800.0]), np.array([np.inf, 40.0, -800.0]))
    array([   0.,   40., -800.])
    """
    ones = np.logaddexp(_log_twice_probability(z), _log_twice_probability(other)) - np.log(2.0)
    twos = np.logaddexp(_log_twice_probability(-z), _log_twice_probability(-other)) - np.log(2.0)
    return np.asarray(np.where(z == other, z, np.where(ones > 0.0, -twos, ones)) + 0.0)


def _log_twice_probability(z: Floats) -> Floats:
    """log(2p), from whichever tail is kept."""
    return np.where(z > 0.0, np.log1p(-np.expm1(-np.maximum(z, 0.0))), z)


def _of_tail(tail: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(2.0 * tail))


def _tail(z: Floats) -> Floats:
    return np.asarray(0.5 * np.exp(z))


def _log_tail(z: Floats) -> Floats:
    return np.asarray(z - np.log(2.0))


LAPLACE = Coordinate("Laplace", _of_tail, _tail, _log_tail, middle)

"""Bounded range ε(u,v): the privacy losses of the two answers differ by at most ε, as under the exponential mechanism.

For two answers that says logit p(v) ≤ logit p(u) + ε, both ways: plain addition on the logit coordinate
z = log(p / (1 − p)). docs/theory/other-notions.md has the statement and its proof.
"""

from __future__ import annotations

import math

import numpy as np

from hetdp.theory.additive import additive, difference_in, mean_by_tails
from hetdp.theory.coordinate import Coordinate, Floats
from hetdp.theory.pure import BY_EPSILON, EPSILON


def tail(z: Floats) -> Floats:
    """p = 1/(1 + e^(−z)), for z ≤ 0.

    >>> tail(np.array([0.0, -np.log(3.0)]))
    array([0.5 , 0.25])
    """
    odds = np.exp(z)
    return np.asarray(odds / (1.0 + odds))


def of_tail(p: Floats) -> Floats:
    """log(p / (1 − p)), for p ≤ ½.

    >>> of_tail(np.array([0.0, 0.5]))
    array([-inf,   0.])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(p) - np.log1p(-p))


def log_tail(z: Floats) -> Floats:
    """log p, for z ≤ 0.

    >>> log_tail(np.array([-1000.0]))
    array([-1000.])
    """
    return np.asarray(z - np.log1p(np.exp(z)))


def middle(z: Floats, other: Floats) -> Floats:
    """z of the mean of two probabilities."""
    return mean_by_tails(LOGIT, z, other)


def log_slope(z: Floats, epsilon: Floats) -> Floats:
    """log f′."""
    return np.asarray(epsilon - 2.0 * (np.logaddexp(0.0, z + epsilon) - np.logaddexp(0.0, z)))


LOGIT = Coordinate("logit", of_tail, tail, log_tail, middle)
BOUNDED_RANGE = additive(
    "bounded-range",
    EPSILON,
    LOGIT,
    description="bounded range, with an ε of its own for each pair of neighbours; it implies pure differential privacy"
    " with the same ε",
    currency=BY_EPSILON,
    loss=difference_in(lambda p: math.log(p) - math.log1p(-p)),
    log_slope=log_slope,
    bounds_ratios=True,
)

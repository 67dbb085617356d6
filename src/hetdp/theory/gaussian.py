"""Gaussian privacy μ(u,v): telling two neighbours apart is as hard as telling N(0, 1) from N(μ, 1).

For two answers that says Φ⁻¹(p(v)) ≤ Φ⁻¹(p(u)) + μ, both ways: plain addition on the probit coordinate z = Φ⁻¹(p).
docs/theory/other-notions.md has the statement and its proof.
"""

from __future__ import annotations

import math

import numpy as np

from hetdp.theory.additive import additive, mean_by_tails
from hetdp.theory.coordinate import Coordinate, Floats

ROOT_2 = math.sqrt(2.0)


def tail(z: Floats) -> Floats:
    """Φ(z), for z ≤ 0.

    >>> tail(np.array([0.0, -1.0])).round(4)
    array([0.5   , 0.1587])
    """
    return np.asarray(0.5 * np.asarray(np.frompyfunc(math.erfc, 1, 1)(-np.asarray(z) / ROOT_2), dtype=np.float64))


def of_tail(p: Floats) -> Floats:
    """Φ⁻¹(p), for p ≤ ½.

    >>> of_tail(np.array([0.0, 0.5, 0.158655254])).round(6)
    array([-inf,   0.,  -1.])
    """
    from statistics import NormalDist  # it loads a good deal, which other notions do not need

    inverse = NormalDist().inv_cdf
    return np.asarray(np.frompyfunc(lambda x: inverse(x) if x > 0.0 else -math.inf, 1, 1)(p), dtype=np.float64)


def middle(z: Floats, other: Floats) -> Floats:
    """z of the mean of two probabilities."""
    return mean_by_tails(PROBIT, z, other)


PROBIT = Coordinate("probit", of_tail, tail, middle)
GAUSSIAN = additive("gaussian", "mu", PROBIT)

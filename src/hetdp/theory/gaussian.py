"""Gaussian privacy μ(u,v): telling two neighbours apart is as hard as telling N(0, 1) from N(μ, 1).

For two answers that says Φ⁻¹(p(v)) ≤ Φ⁻¹(p(u)) + μ, both ways: plain addition on the probit coordinate z = Φ⁻¹(p).
docs/theory/other-notions.md has the statement and its proof.
"""

from __future__ import annotations

import math

import numpy as np

from hetdp.theory.additive import additive, difference_in, mean_by_tails
from hetdp.theory.coordinate import Coordinate, Floats
from hetdp.theory.notion import Currency, Parameter

ROOT_2 = math.sqrt(2.0)
SERIES_FROM = 30.0  # from where on the series has seven digits and more


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
    return np.asarray(np.frompyfunc(lambda x: probit(x) if x > 0.0 else -math.inf, 1, 1)(p), dtype=np.float64)


def log_tail(z: Floats) -> Floats:
    """log Φ(z), for z ≤ 0; from the asymptotic series where Φ(z) is too small for a float.

    >>> log_tail(np.array([-1.0, -100.0])).round(3)
    array([-1.841000e+00, -5.005524e+03])
    """
    z = np.asarray(z, dtype=np.float64)
    far = np.minimum(z, -SERIES_FROM)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        series = -0.5 * far * far - np.log(-far) - 0.5 * math.log(2.0 * math.pi) + np.log1p(-1.0 / (far * far))
        near = np.log(tail(np.maximum(z, -SERIES_FROM)))
    return np.asarray(np.where(z < -SERIES_FROM, np.where(np.isinf(z), -np.inf, series), near))


def middle(z: Floats, other: Floats) -> Floats:
    """z of the mean of two probabilities."""
    return mean_by_tails(PROBIT, z, other)


def probit(p: float) -> float:
    """Φ⁻¹(p), for 0 < p < 1."""
    from statistics import NormalDist  # it loads a good deal, which other notions do not need

    return NormalDist().inv_cdf(p)


def log_slope(z: Floats, mu: Floats) -> Floats:
    """log f′, which is the logarithm of φ(z + μ)/φ(z)."""
    return np.asarray(-mu * (z + 0.5 * mu))


PROBIT = Coordinate("probit", of_tail, tail, log_tail, middle)
MU = Parameter("mu", "μ", "μ is a number ≥ 0")
GAUSSIAN = additive(
    "gaussian",
    MU,
    PROBIT,
    description="Gaussian differential privacy, with a μ of its own for each pair of neighbours",
    currency=Currency(
        "gaussian", "μ²", 10**12, "For each account, the μ² used by all its releases add up.", squared=True
    ),
    loss=difference_in(probit),
    log_slope=log_slope,
)

"""Notions whose rule is plain addition in their own coordinate: z(v) ≤ z(u) + parameter.

Letters: z is the label at u, shift is the edge's parameter.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hetdp.theory.coordinate import Coordinate, Floats
from hetdp.theory.notion import Currency, Curve, Loss, Notion, Parameter
from hetdp.theory.rounding import add_down, beyond_meeting, half_down


def quick(z: float, shift: float) -> float:
    """Plain addition: the step is at most one float below it, never more."""
    return z + shift


def across(label: float, shift: float) -> float:
    """The largest label next to a dataset of the other answer whose label is given, rounded toward privacy.

    >>> across(0.0, 1.0), across(0.5, 1.0), across(0.75, 1.0)
    (1.0, 0.5, 0.25)
    """
    return beyond_meeting(label, half_down(shift), add_down(-label, shift))


def reach(z: Floats, shift: Floats) -> Floats:
    """The bound in ordinary floats."""
    return np.asarray(z + shift)


def difference_in(coordinate: Callable[[float], float]) -> Loss:
    """The loss that is a difference in a coordinate, which is −inf at 0 and inf at 1."""

    def loss(high: float, low: float, _: float) -> float:
        above, below = (-math.inf if p <= 0.0 else math.inf if p >= 1.0 else coordinate(p) for p in (high, low))
        return -math.inf if above == -math.inf or below == math.inf else above - below

    return loss


def additive(
    name: str,
    parameter: Parameter,
    coordinate: Coordinate,
    *,
    description: str,
    currency: Currency,
    loss: Loss,
    log_slope: Callable[[Floats, Floats], Floats],
    bounds_ratios: bool = False,
) -> Notion:
    """The notion that adds this parameter to this coordinate; two that meet share the parameter evenly."""
    return Notion(
        name=name,
        columns=(parameter,),
        coordinate=coordinate,
        step=add_down,
        quick=quick,
        meet=half_down,
        across=across,
        description=description,
        currency=currency,
        loss=loss,
        curve=Curve(reach, log_slope),
        adds=True,
        bounds_ratios=bounds_ratios,
        fair_grows=True,
    )


def mean_by_tails(coordinate: Coordinate, z: Floats, other: Floats) -> Floats:
    """z of the mean of two probabilities; where the tails are too small for a float, the one nearer to ½."""
    ones, twos = (0.5 * (coordinate.probability(s * z) + coordinate.probability(s * other)) for s in (1.0, -1.0))
    mean = np.where(ones <= 0.5, coordinate.of_tail(np.minimum(ones, 0.5)), -coordinate.of_tail(np.minimum(twos, 0.5)))
    nearer = np.where(np.abs(z) < np.abs(other), z, other)
    return np.asarray(np.where((z == other) | np.isinf(mean), nearer, mean) + 0.0)

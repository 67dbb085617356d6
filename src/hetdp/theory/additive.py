"""Notions whose rule is plain addition in their own coordinate: z(v) ≤ z(u) + parameter.

Letters: z is the label at u, shift is the edge's parameter.
"""

from __future__ import annotations

import numpy as np

from hetdp.theory.coordinate import Coordinate, Floats
from hetdp.theory.notion import Notion
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


def additive(name: str, parameter: str, coordinate: Coordinate) -> Notion:
    """The notion that adds this parameter to this coordinate; two that meet share the parameter evenly."""
    return Notion(name, (parameter,), coordinate, step=add_down, quick=quick, meet=half_down, across=across)


def mean_by_tails(coordinate: Coordinate, z: Floats, other: Floats) -> Floats:
    """z of the mean of two probabilities; where the tails are too small for a float, the one nearer to ½."""
    ones, twos = (0.5 * (coordinate.probability(s * z) + coordinate.probability(s * other)) for s in (1.0, -1.0))
    mean = np.where(ones <= 0.5, coordinate.of_tail(np.minimum(ones, 0.5)), -coordinate.of_tail(np.minimum(twos, 0.5)))
    nearer = np.where(np.abs(z) < np.abs(other), z, other)
    return np.asarray(np.where((z == other) | np.isinf(mean), nearer, mean) + 0.0)

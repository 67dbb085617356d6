"""Directed ε: Pr at u ≤ e^ε(u→v) · Pr at v, and another ε, or none (∞), from v to u.

An edge bounds p(v) twice: by p(v) ≤ e^ε(v→u) · p(u), the *rise*, and by 1 − p(u) ≤ e^ε(u→v) · (1 − p(v)), the *fall* of
the other answer. Letters: z is the label at u, in the Laplace coordinate; epsilon is ε(u→v), epsilon_back is ε(v→u).
docs/theory/other-notions.md has the proofs of the roundings.
"""

from __future__ import annotations

import math

from hetdp.theory.coordinate import LAPLACE
from hetdp.theory.notion import Notion, Parameter, log_ratio
from hetdp.theory.pure import BY_EPSILON, EPSILON, promises
from hetdp.theory.pure import meet as meet_both_ways
from hetdp.theory.rounding import (
    EIGHT_ULPS_DOWN,
    LN2_HI,
    LN2_LO,
    LN2_REST,
    NEGLIGIBLE,
    add_down,
    beyond_meeting,
    exp_pair,
    minus_log_of_rest,
    sum_pair,
)

MARGIN = 2.0**-48  # more than the relative errors of what `fall_below` adds up
SMALL_LOSS = 1e-15  # less is not known well enough to say what is left
FOUR_ULPS_UP = 1.0 + 2.0**-50
FOUR_ULPS_DOWN = 1.0 - 2.0**-50
BELOW_LN_2 = 0.6931471805599  # just below ln 2: where `gain` changes its formula, and so never turns back


def rise(z: float, epsilon: float) -> float:
    """A float just below the exact bound of p(v) ≤ e^ε p(u)."""
    if epsilon == math.inf:
        return math.inf
    low = rise_below(min(z, 0.0), epsilon)
    if z < 0.0 or low == math.inf:
        return low
    return max(low, add_down(z, epsilon), rise_above(z, epsilon, 0.0))


def rise_below(z: float, epsilon: float) -> float:
    """The same from z ≤ 0."""
    added = add_down(z, epsilon)
    if added <= 0.0:
        return added
    t = z + epsilon
    shift = t - z
    rest = (z - (t - shift)) + (epsilon - shift)  # t + rest is the exact sum
    if t <= 0.5:
        return max(added, -math.log1p(-math.expm1(t)) * EIGHT_ULPS_DOWN)
    if t >= 1.0:
        return math.inf
    d = (((LN2_HI - t) - rest) + LN2_LO) + LN2_REST  # 2 − e^t = 2(1 − e^(−d))
    return math.inf if d <= 0.0 else -(LN2_HI + math.log(-math.expm1(-d))) * EIGHT_ULPS_DOWN


def rise_above(z: float, epsilon: float, delta: float) -> float:
    """The bound of p(v) ≤ e^ε p(u) + δ from z ≥ 0: 1 − p(v) is at least e^ε (1 − p(u)) − (e^ε − 1) − δ."""
    if epsilon > LN2_HI:
        return math.inf
    kept = math.exp(-z)
    lost = (math.expm1(epsilon) * (2.0 - kept) + 2.0 * delta) * FOUR_ULPS_DOWN * FOUR_ULPS_DOWN
    bound = gain(z, kept, lost)
    if bound == math.inf or lost < SMALL_LOSS:
        return bound
    whole, rest = exp_pair(epsilon)
    high, low = sum_pair(whole - 1.0, delta)
    high, low = sum_pair(high, low + rest)
    return max(bound, minus_log_of_rest(2.0 * high, 2.0 * low, epsilon, z))


def gain(z: float, kept: float, lost: float) -> float:
    """−log(kept − lost), rounded down, for kept = e^(−z): from 1 − kept + lost while that is small."""
    if lost < NEGLIGIBLE:
        return z
    gone = lost - math.expm1(-z)
    if gone < 0.5:
        return min(-math.log1p(-gone) * EIGHT_ULPS_DOWN, BELOW_LN_2)
    left = (kept * FOUR_ULPS_UP - lost) * FOUR_ULPS_UP
    return math.inf if left <= 0.0 else max(-math.log(left) * EIGHT_ULPS_DOWN, BELOW_LN_2)


def fall(z: float, epsilon: float) -> float:
    """A float just below the exact bound of 1 − p(u) ≤ e^ε (1 − p(v))."""
    if epsilon == math.inf:
        return math.inf
    return add_down(z, epsilon) if z >= 0.0 else fall_below(z, epsilon, 0.0)


def fall_below(z: float, epsilon: float, delta: float) -> float:
    """The bound of 1 − p(u) ≤ e^ε (1 − p(v)) + δ from z ≤ 0, on whichever side of ½ it lies."""
    if epsilon < NEGLIGIBLE and delta < NEGLIGIBLE:
        return z
    tail = math.exp(z)
    left = (1.0 + (-math.expm1(z) - 2.0 * delta)) + MARGIN * 4.0  # twice what of 1 − p(u) is not covered by δ
    if left <= 0.0:
        return math.inf
    below = (-2.0 * math.expm1(-epsilon) + math.exp(-epsilon) * (tail + 2.0 * delta)) * FOUR_ULPS_DOWN * FOUR_ULPS_DOWN
    if below < 1.0:
        bound = math.log(below) if below > 0.0 else -math.inf
        return bound - MARGIN * abs(bound)
    return max(0.0, epsilon - math.log(left) - MARGIN * (1.0 + epsilon))


def step(z: float, epsilon: float, epsilon_back: float) -> float:
    """The upper bound that label z imposes over an edge, rounded toward privacy.

    >>> step(0.5, 0.25, 1.0), step(-1.0, 1.0, 0.25)
    (0.75, -0.75)
    """
    return max(z, min(rise(z, epsilon_back), fall(z, epsilon)))


def quick(z: float, epsilon: float, epsilon_back: float) -> float:
    """The label itself: no step leads below it."""
    return z


def meet(epsilon: float, epsilon_back: float) -> float:
    """The point where the two ends of an edge between the answers meet: the smaller ε decides."""
    return meet_both_ways(min(epsilon, epsilon_back))


def across(label: float, epsilon: float, epsilon_back: float) -> float:
    """The largest label next to a dataset of the other answer whose label is given, rounded toward privacy."""
    return beyond_meeting(label, meet(epsilon, epsilon_back), step(-label, epsilon, epsilon_back))


EPSILON_BACK = Parameter("epsilon_back", "ε back", "ε is a number ≥ 0")
DIRECTED = Notion(
    name="directed",
    columns=(EPSILON, EPSILON_BACK),
    coordinate=LAPLACE,
    step=step,
    quick=quick,
    meet=meet,
    across=across,
    description="pure differential privacy, with an ε of its own for each pair of neighbours and each direction",
    currency=BY_EPSILON,
    loss=log_ratio,
    promises=promises,
)

"""Directed (ε, δ): Pr at u ≤ e^ε(u→v) · Pr at v + δ(u→v), and another pair from v to u.

As in `directed.py`, an edge bounds p(v) by a rise and by a fall, each with its δ. Letters: z is the label at u, in the
Laplace coordinate; epsilon and delta belong to u→v, epsilon_back and delta_back to v→u.
docs/theory/other-notions.md has the proofs of the roundings.
"""

from __future__ import annotations

import math

from hetdp.theory.coordinate import LAPLACE, Floats
from hetdp.theory.directed import EPSILON_BACK, FOUR_ULPS_DOWN, FOUR_ULPS_UP, fall_below, gain, rise_above
from hetdp.theory.directed import fall as fall_without
from hetdp.theory.directed import rise as rise_without
from hetdp.theory.notion import Currency, Notion, Parameter, Promises, log_ratio
from hetdp.theory.pure import BY_EPSILON, EPSILON
from hetdp.theory.pure import meet as meet_without
from hetdp.theory.rounding import (
    EIGHT_ULPS_DOWN,
    NEGLIGIBLE,
    add_down,
    beyond_meeting,
    minus_log_of_less,
    minus_log_of_rest,
    sum_pair,
)


def rise(z: float, epsilon: float, delta: float) -> float:
    """A float just below the exact bound of p(v) ≤ e^ε p(u) + δ; δ never makes it smaller."""
    if delta >= 1.0:
        return math.inf
    without = rise_without(z, epsilon)
    if delta < NEGLIGIBLE or without == math.inf:
        return without
    low = rise_below(min(z, 0.0), epsilon, delta)
    if z < 0.0 or low == math.inf:
        return max(without, low)
    return max(without, low, rise_above(z, epsilon, delta))


def rise_below(z: float, epsilon: float, delta: float) -> float:
    """The same from z ≤ 0, for δ that counts."""
    t = add_down(z, epsilon)
    if t >= 1.0:
        return math.inf
    if delta >= 0.5:
        return remaining_log_below(z, epsilon, delta)
    twice = (math.exp(t) + 2.0 * delta) * FOUR_ULPS_DOWN
    if twice >= 2.0:
        return math.inf
    if twice > 1.0:
        return max(-math.log(2.0 - twice) * EIGHT_ULPS_DOWN, remaining_log_below(z, epsilon, delta))
    return math.log(twice) * (2.0 - EIGHT_ULPS_DOWN)


def remaining_log_below(z: float, epsilon: float, delta: float) -> float:
    """−log(2(1 − δ) − e^(z + ε)), rounded down, for z ≤ 0; any negative result means that the bound is negative."""
    t = add_down(z, epsilon)
    rest = 0.0
    kept = 1.0 - delta
    lost = (1.0 - kept) - delta  # 1 − δ is kept + lost, exactly
    bound = -math.inf
    if delta >= 0.5:
        left = (2.0 * kept - math.exp(t) * FOUR_ULPS_DOWN) * FOUR_ULPS_UP  # at most 1, up to a rounding
        if left <= 0.0:
            return math.inf
        bound = -math.log(left) * EIGHT_ULPS_DOWN if left < 1.0 else 0.0
    if kept < 0.25:  # then |log 2(1 − δ)| is above ½
        t, rest = sum_pair(z, epsilon)
    if t == -math.inf:
        return bound
    return max(bound, minus_log_of_less(2.0 * kept, 2.0 * lost, t, rest))


def fall(z: float, epsilon: float, delta: float) -> float:
    """A float just below the exact bound of 1 − p(u) ≤ e^ε (1 − p(v)) + δ; δ never makes it smaller."""
    if delta >= 1.0:
        return math.inf
    without = fall_without(z, epsilon)
    if delta < NEGLIGIBLE or without == math.inf:
        return without
    low = fall_below(min(z, 0.0), epsilon, delta)
    left = remaining_log_below(min(z, 0.0), 0.0, delta)
    if left >= 0.0:
        low = max(low, add_down(left, epsilon))
    if z < 0.0:
        return max(without, low)
    left = gain(z, math.exp(-z), 2.0 * delta)
    if left < math.inf:
        left = max(left, minus_log_of_rest(2.0 * delta, 0.0, 0.0, z))
    return max(without, low, add_down(left, epsilon))


def step(z: float, epsilon: float, epsilon_back: float, delta: float, delta_back: float) -> float:
    """The upper bound that label z imposes over an edge, rounded toward privacy.

    >>> round(step(-math.inf, 1.0, 1.0, 0.01, 0.01), 4) == round(math.log(0.02), 4)
    True
    """
    return max(z, min(rise(z, epsilon_back, delta_back), fall(z, epsilon, delta)))


def quick(z: float, epsilon: float, epsilon_back: float, delta: float, delta_back: float) -> float:
    """The label itself: no step leads below it."""
    return z


def meet(epsilon: float, epsilon_back: float, delta: float, delta_back: float) -> float:
    """The point where the ends of an edge between the answers meet: error (1 − δ)/(1 + e^ε) in one direction.

    >>> round(meet(1.0, 1.0, 0.5, 0.5), 4) == round(meet_without(1.0) + math.log(2.0), 4)
    True
    """
    return min(meet_one_way(epsilon, delta), meet_one_way(epsilon_back, delta_back))


def meet_one_way(epsilon: float, delta: float) -> float:
    """The same for one direction."""
    if delta < NEGLIGIBLE:
        return meet_without(epsilon)
    if epsilon == math.inf or delta >= 1.0:
        return math.inf
    return (meet_without(epsilon) - math.log1p(-delta)) * EIGHT_ULPS_DOWN


def across(label: float, epsilon: float, epsilon_back: float, delta: float, delta_back: float) -> float:
    """The largest label next to a dataset of the other answer whose label is given, rounded toward privacy."""
    least = meet(epsilon, epsilon_back, delta, delta_back)
    return beyond_meeting(label, least, step(-label, epsilon, epsilon_back, delta, delta_back))


def promises(parameters: tuple[Floats, ...]) -> Promises:
    """ε and δ of each arc."""
    return parameters[0], parameters[2]


DELTA = Parameter("delta", "δ", "δ is a number from 0 to 1", most=1.0, scales=False)
DELTA_BACK = Parameter("delta_back", "δ back", "δ is a number from 0 to 1", most=1.0, scales=False)
BY_EPSILON_AND_DELTA = Currency(
    "epsilon-delta",
    "ε",
    10**9,
    "For each account, the ε used by all its releases add up, and so do the δ.",
    has_delta=True,
    includes=BY_EPSILON.name,
)
APPROXIMATE = Notion(
    name="approximate",
    columns=(EPSILON, EPSILON_BACK, DELTA, DELTA_BACK),
    coordinate=LAPLACE,
    step=step,
    quick=quick,
    meet=meet,
    across=across,
    description="(ε, δ)-differential privacy, with an ε and a δ for each pair of neighbours and each direction",
    currency=BY_EPSILON_AND_DELTA,
    loss=log_ratio,
    promises=promises,
)

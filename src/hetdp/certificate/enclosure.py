"""Edges that cross p = ½, decided by ball arithmetic. Written from the definition of privacy, not from theory/.

An arc from u to v crosses upward when z(u) < 0 < z(v). Its tails are p(u) = ½e^z(u) and q(v) = ½e^−z(v), so that the
two upper bounds of the definition, p(v) ≤ e^ε p(u) and q(u) ≤ e^ε q(v), read

    2 − e^−z(v) ≤ e^(z(u) + ε)    and    2 − e^z(u) ≤ e^(ε − z(v)).

Neither can be an equality (a sum of two exponentials of rationals, not both zero, is never 2): some precision decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, ctx

from hetdp.problem.space import Floats, Indices, Mask

FILTER = 1e-9  # far more than the rounding of the four functions in `crossing_slack`
FIRST_PRECISION = 80
LARGEST_PRECISION = 1 << 13  # more than any two floats can need


def crossing_slack(z_source: Floats, z_target: Floats, epsilon: Floats) -> Floats:
    """ε minus the privacy loss, in ordinary floats: for reports, and to pick out the arcs that need no enclosure."""
    with np.errstate(invalid="ignore"):
        ones = np.log1p(-np.expm1(-z_target)) - z_source
        twos = np.log1p(-np.expm1(z_source)) + z_target
    return np.asarray(epsilon - np.maximum(ones, twos))


def crossing_holds(z_source: Floats, z_target: Floats, epsilon: Floats) -> tuple[Mask, Floats]:
    """Which crossing arcs are private, exactly, and their slack."""
    slack = crossing_slack(z_source, z_target, epsilon)
    holds = slack > 0.0
    scale = 1.0 + np.abs(z_source) + np.abs(z_target) + epsilon
    close = np.flatnonzero(np.abs(slack) <= FILTER * scale)
    like = _first_alike(slack, close, z_source, z_target, epsilon)
    leaders = np.flatnonzero(like == np.arange(len(close)))
    chosen = close[leaders]
    arcs = zip(z_source[chosen].tolist(), z_target[chosen].tolist(), epsilon[chosen].tolist(), strict=True)
    holds[chosen] = [_holds(*arc) for arc in arcs]
    holds[close] = holds[close[like]]
    return holds, slack


def _first_alike(slack: Floats, close: Indices, *columns: Floats) -> Indices:
    """For each close arc one with the very same numbers: people often share an ε, and datasets a value."""
    _, first, group = np.unique(slack[close], return_index=True, return_inverse=True)
    like = first[group]
    same = np.logical_and.reduce([column[close] == column[close[like]] for column in columns])
    return np.where(same, like, np.arange(len(close)))


def _holds(z_source: float, z_target: float, epsilon: float) -> bool:
    ones = _not_negative(lambda: (arb(z_source) + arb(epsilon)).exp() - (2 - (-arb(z_target)).exp()))
    if z_target == -z_source:
        return ones  # the two conditions are the same
    return ones and _not_negative(lambda: (arb(epsilon) - arb(z_target)).exp() - (2 - arb(z_source).exp()))


def _not_negative(difference: Callable[[], Any]) -> bool:
    precision = FIRST_PRECISION
    before = ctx.prec
    try:
        while True:
            ctx.prec = precision
            value = difference()
            if value > 0:
                return True
            if value < 0:
                return False
            precision *= 2
    finally:
        ctx.prec = before


def crossing_gap(parent: float, child: float, epsilon: float, parent_gap: float) -> float:
    """How far the child stays below the exact bound of a crossing link whose parent may be raised by its own gap."""
    precision, before = 2 * FIRST_PRECISION, ctx.prec
    try:
        while precision <= LARGEST_PRECISION:
            ctx.prec = precision
            gap = _bound(arb(parent) + arb(parent_gap), arb(epsilon)) - arb(child)
            if gap.is_finite() and gap.rad() < math.ulp(child) / 16:
                return max(0.0, math.nextafter(float(gap.upper()), math.inf))
            precision *= 2
        return math.inf
    finally:
        ctx.prec = before


def _bound(start: arb, epsilon: arb) -> arb:
    """The largest z that p = ½e^start < ½ allows over an edge, where it lies above 0."""
    twos = epsilon - (2 - start.exp()).log()
    room = 2 - (start + epsilon).exp()
    return (-room.log()).min(twos) if room > 0 else twos

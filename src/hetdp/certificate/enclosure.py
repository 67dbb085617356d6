"""Edges that cross p = ½, decided by ball arithmetic. Written from the definition of privacy, not from theory/.

An arc from u to v crosses upward when z(u) < 0 < z(v). Its tails are p(u) = ½e^z(u) and q(v) = ½e^−z(v), so that the
two upper bounds of the definition, p(v) ≤ e^ε p(u) and q(u) ≤ e^ε q(v), read

    2 − e^−z(v) ≤ e^(z(u) + ε)    and    2 − e^z(u) ≤ e^(ε − z(v)).

Neither can be an equality (a sum of two exponentials of rationals, not both zero, is never 2): some precision decides.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager

import numpy as np
from flint import arb, ctx

from hetdp.precision import restore_precision
from hetdp.problem.space import Floats, Indices, Mask

FILTER = 1e-9  # far more than the rounding of the four functions in `crossing_slack`
FIRST_PRECISION = 80
FINER = tuple(160 << doubled for doubled in range(7))  # the last is more than any floats can need


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
    with np.errstate(over="ignore"):  # an infinite scale leaves every arc to the enclosures
        scale = 1.0 + np.abs(z_source) + np.abs(z_target) + epsilon
    close = np.flatnonzero(np.abs(slack) <= FILTER * scale)
    like = first_alike(slack, close, z_source, z_target, epsilon)
    leaders = np.flatnonzero(like == np.arange(len(close)))
    chosen = close[leaders]
    arcs = zip(z_source[chosen].tolist(), z_target[chosen].tolist(), epsilon[chosen].tolist(), strict=True)
    with precision():
        holds[chosen] = [_holds(*arc) for arc in arcs]
    holds[close] = holds[close[like]]
    return holds, slack


def first_alike(slack: Floats, close: Indices, *columns: Floats) -> Indices:
    """For each close arc one with the very same numbers: people often share an ε, and datasets a value."""
    _, first, group = np.unique(slack[close], return_index=True, return_inverse=True)
    like = first[group]
    same = np.logical_and.reduce([column[close] == column[close[like]] for column in columns])
    return np.where(same, like, np.arange(len(close)))


def _holds(z_source: float, z_target: float, epsilon: float) -> bool:
    """Both conditions, at finer and finer precision until they are decided."""
    for bits in (FIRST_PRECISION, *FINER):
        ctx.prec = bits
        least = (arb(z_source) + epsilon).exp() + arb(-z_target).exp()
        if z_target != -z_source:  # otherwise the two are the same
            least = least.min((arb(epsilon) - z_target).exp() + arb(z_source).exp())
        if least > 2:
            return True
        if least < 2:
            return False
    return False  # never seen; what cannot be proved is not private


def crossing_gap(parent: float, child: float, epsilon: float, parent_gap: float) -> float:
    """How far the child stays below the exact bound of a crossing link whose parent may be raised by its own gap."""
    with precision():
        for bits in FINER:
            ctx.prec = bits
            gap = _bound(arb(parent) + parent_gap, arb(epsilon)) - child
            if gap.is_finite() and gap.rad() < math.ulp(child) / 16:
                return max(0.0, math.nextafter(float(gap.upper()), math.inf))
    return math.inf


def _bound(start: arb, epsilon: arb) -> arb:
    """The largest z that p = ½e^start < ½ allows over an edge, where it lies above 0."""
    twos = epsilon - (2 - start.exp()).log()
    room = 2 - (start + epsilon).exp()
    return (-room.log()).min(twos) if room > 0 else twos


def precision() -> AbstractContextManager[None]:
    """The library's precision is one for all threads: one of them sets it at a time, and puts it back."""
    return restore_precision(ctx)

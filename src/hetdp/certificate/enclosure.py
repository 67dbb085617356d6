"""Edges that cross p = ½, and bounds along paths, decided by ball arithmetic.

Written from the definition of privacy, not from theory/. An arc from u to v crosses upward when z(u) < 0 < z(v). Its
tails are p(u) = ½e^z(u) and q(v) = ½e^−z(v), so that the two upper bounds of the definition, p(v) ≤ e^ε p(u) and
q(u) ≤ e^ε q(v), read

    2 − e^−z(v) ≤ e^(z(u) + ε)    and    2 − e^z(u) ≤ e^(ε − z(v)).

Neither can be an equality (a sum of two exponentials of rationals, not both zero, is never 2): some precision decides.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager

import numpy as np
from flint import arb, ctx

from hetdp.certificate.rule import Steps
from hetdp.precision import restore_precision
from hetdp.problem.space import Floats, Indices, Mask

FILTER_WIDTH = 1e-9  # far more than the rounding of the four functions in `crossing_slack`
FIRST_PRECISION = 80
FINER_PRECISIONS = tuple(160 << doubled for doubled in range(7))  # the last is more than any floats can need


def crossing_slack(z_source: Floats, z_target: Floats, epsilon: Floats) -> Floats:
    """ε minus the privacy loss, in ordinary floats: for reports, and to pick out the arcs that need no enclosure."""
    with np.errstate(invalid="ignore"):
        ones = np.log1p(-np.expm1(-z_target)) - z_source
        twos = np.log1p(-np.expm1(z_source)) + z_target
    return np.asarray(epsilon - np.maximum(ones, twos))


def crossing_holds(z_source: Floats, z_target: Floats, epsilon: Floats) -> tuple[Mask, Floats]:
    """Marks the crossing arcs that are private, exactly, and computes their slack."""
    starts, which = _repeats(z_source, z_target, epsilon)
    columns = z_source[starts], z_target[starts], epsilon[starts]
    slack = crossing_slack(*columns)
    holds = slack > 0.0
    with np.errstate(over="ignore"):  # an infinite scale leaves every arc to the enclosures
        scale = 1.0 + np.abs(columns[0]) + np.abs(columns[1]) + columns[2]
    close = np.flatnonzero(np.abs(slack) <= FILTER_WIDTH * scale)
    if not len(close):
        return holds[which], slack[which]
    like = first_alike(slack, close, *columns)
    leaders = np.flatnonzero(like == np.arange(len(close)))
    chosen = close[leaders]
    arcs = zip(*(column[chosen].tolist() for column in columns), strict=True)
    with precision():
        holds[chosen] = [_holds(*arc) for arc in arcs]
    holds[close] = holds[close[like]]
    return holds[which], slack[which]


def _repeats(*columns: Floats) -> tuple[Indices, Indices]:
    """Marks where a row of numbers differs from the row before, and maps each arc to its distinct row."""
    new = np.ones(len(columns[0]), dtype=np.bool_)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(new), np.cumsum(new) - 1


def first_alike(slack: Floats, close: Indices, *columns: Floats) -> Indices:
    """For each close arc one with the very same numbers: people often share an ε, and datasets a value."""
    _, first, group = np.unique(slack[close], return_index=True, return_inverse=True)
    like = first[group]
    same = np.logical_and.reduce([column[close] == column[close[like]] for column in columns])
    return np.where(same, like, np.arange(len(close)))


def _holds(z_source: float, z_target: float, epsilon: float) -> bool:
    """Both conditions, at finer and finer precision until they are decided."""
    for bits in (FIRST_PRECISION, *FINER_PRECISIONS):
        ctx.prec = bits
        least = (arb(z_source) + epsilon).exp() + arb(-z_target).exp()
        if z_target != -z_source:  # otherwise the two are the same
            least = least.min((arb(epsilon) - z_target).exp() + arb(z_source).exp())
        if least > 2:
            return True
        if least < 2:
            return False
    return False  # never observed; an undecided arc counts as a violation


def crossing_gap(parent: float, child: float, epsilon: float, parent_gap: float) -> float:
    """The distance of the child below the exact bound of a crossing link whose parent may be raised by its own gap."""
    with precision():
        for bits in FINER_PRECISIONS:
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
    """Sets flint's precision, which all threads share, and restores it; one thread at a time."""
    return restore_precision(ctx)


# Paths ----------------------------------------------------------------------------------------------------------------
#
# The exact bound along a path of Laplace coordinates, with an ε, or an ε and a δ, for each direction of each edge. Each
# step is bounded with p and 1 − p side by side, so that neither tail is lost.

Tails = tuple[arb, arb]  # twice p and twice 1 − p


def path_is_below(first: float, steps: Steps, last: float) -> bool | None:
    """True if a path allows less than z = `last` at its end; None where the balls do not decide."""
    bound = tails_of(first)
    for step in steps:
        bound = _step_bound(bound, step)
    given = tails_of(last)
    if bound[0] < given[0] or bound[1] > given[1]:
        return True
    return False if bound[0] >= given[0] or bound[1] <= given[1] else None


def tails_of(z: float) -> Tails:
    """Twice p, and twice 1 − p, of a Laplace coordinate."""
    if math.isinf(z):
        return (arb(2), arb(0)) if z > 0.0 else (arb(0), arb(2))
    tail = arb(-abs(z)).exp()
    return (tail, 2 - tail) if z <= 0.0 else (2 - tail, tail)


def _step_bound(source: Tails, step: dict[str, float]) -> Tails:
    """The largest p over an edge, with the ε and δ from its start and those back to it."""
    epsilon = step["epsilon"]
    back, delta = step.get("epsilon_back", epsilon), step.get("delta", 0.0)
    delta_back = step.get("delta_back", delta)
    ones, twos = source
    most, least = arb(2), arb(0)
    if back < math.inf and delta_back < 1.0:  # p at the end is at most e^back · p + δ back
        factor, share = arb(back).exp(), 2 * arb(delta_back)
        rest = _narrower_of(2 - share - factor * ones, factor * twos - 2 * (factor - 1) - share)
        most, least = most.min(factor * ones + share), least.max(rest)
    if epsilon < math.inf and delta < 1.0:  # 1 − p at the start is at most e^ε · (1 − p at the end) + δ
        factor, share = (-arb(epsilon)).exp(), 2 * arb(delta)
        rest = factor * _narrower_of(twos - share, 2 - ones - share)
        most = most.min(_narrower_of(2 - rest, 2 * (1 - factor) + factor * (ones + share)))
        least = least.max(rest)
    return most, least


def _narrower_of(one: arb, other: arb) -> arb:
    """Of two enclosures of the same number the narrower one."""
    return one if one.rad() <= other.rad() else other

"""Arcs with an ε, and perhaps a δ, for each direction: directed and approximate privacy, from the definition.

An arc from u to v asks of both answers: Pr at u ≤ e^ε · Pr at v + δ, with the ε and δ of this direction. Let A(z) be
the probability of answer 1, so that A(−z) is that of answer 2. Both are one comparison, A(a) ≤ e^ε A(b) + δ, with
(a, b) = (z(u), z(v)) and with (−z(u), −z(v)). It is settled in three ways, cheapest first:

1. a ≤ b + ε is enough, since log A never grows faster than z; with δ = 0 it is the whole condition if a ≤ 0 or ε = 0.
   The sum is exact: the error of a float sum is a float.
2. ordinary floats, where the two sides differ by far more than these round;
3. balls, at finer and finer precision. The two sides can be equal (p = 0, ½ or 1 and δ = ½); then all numbers that are
   rounded elsewhere are whole, and the balls are points. docs/theory/other-notions-certificate.md has the proof.

The slack of an arc is ε minus the least ε' that would do in its place with the same δ: log((A(a) − δ) / A(b)).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from flint import arb, ctx

from hetdp.certificate.edges import Survey, pick
from hetdp.certificate.enclosure import FILTER, FINER, FIRST_PRECISION, first_alike, precision
from hetdp.interrupts import import_uninterrupted
from hetdp.problem.space import SMALL, EdgeBlock, Floats, Indices, Mask, Space
from hetdp.threads import run_in_threads

TINY = np.finfo(np.float64).tiny


class Judgement(NamedTuple):
    """What was found on some comparisons.

    Attributes:
        holds: which of them hold, exactly.
        slack: for reading; its sign is right, and where nothing is asked it is infinite.
        plain: which of them the sum settled.
    """

    holds: Mask
    slack: Floats
    plain: Mask


def survey_directed(space: Space, z: Floats, links: Indices, better: Floats, gaps: Callable[..., Floats]) -> Survey:
    """Looks at every arc of the space, and notes the four parameters of every dataset's link.

    Args:
        space: whose arcs they are.
        z: the values.
        links: for each free dataset the neighbour that holds it down.
        better: the values, signed so that larger is better.
        gaps: how much each of some links leaves open, given both values and the four parameters; of parallel edges the
            one that leaves least is the link.
    """
    seen = Survey(links=np.full((4, space.size), np.nan))
    sift = import_uninterrupted("hetdp.certificate.compiled").sift_arcs if space.arc_count > SMALL else None

    def look(block: EdgeBlock) -> None:
        count, below = len(block.source), seen.slack
        if sift is None:
            linked, doubtful = np.flatnonzero(links[block.source] == block.target), np.arange(count)
        else:
            linked, doubtful = np.empty((2, count), dtype=np.int64)
            with np.errstate(all="ignore"):  # matters only where the compiler is switched off
                least = max(below, 0.0)
                some = sift(block.source, block.target, block.parameters[0], z, links, least, linked, doubtful)
            linked, doubtful = linked[: some[0]], doubtful[: some[1]]
        noted = pick(block, linked)
        if (noted.source[1:] == noted.source[:-1]).any():  # a dataset has one link, so these are parallel
            room = gaps(better[noted.target], better[noted.source], *_four(noted))
            order = np.lexsort((room, noted.source))
            noted = pick(noted, order[np.diff(noted.source[order], prepend=-1) != 0])
        seen.links[:, noted.source] = _four(noted)
        _look_closely(pick(block, doubtful), z, below, seen)
        seen.add(count, 0, 0)

    run_in_threads(look, space.edge_blocks(), space.arc_count)
    return seen


def _look_closely(block: EdgeBlock, z: Floats, below: float, seen: Survey) -> None:
    """Decides arcs of which none is to be left out."""
    if not len(block.source):
        return
    epsilon, _, delta, _ = _four(block)
    source, target = z[block.source], z[block.target]
    ones, twos = judge(source, target, epsilon, delta, below), judge(-source, -target, epsilon, delta, below)
    seen.add(0, int(np.count_nonzero(~(ones.plain & twos.plain))), int(np.count_nonzero(~(ones.holds & twos.holds))))
    slack = np.minimum(ones.slack, twos.slack)
    least = int(np.argmin(slack))
    if slack[least] < np.inf:
        seen.offer(block, least, float(slack[least]))


def _four(block: EdgeBlock) -> tuple[Floats, Floats, Floats, Floats]:
    """ε, ε back, δ and δ back of each arc; without δ, δ is 0."""
    epsilon, back, *deltas = block.parameters
    delta, delta_back = deltas or (np.zeros(len(epsilon)),) * 2
    return epsilon, back, delta, delta_back


def judge(a: Floats, b: Floats, epsilon: Floats, delta: Floats, below: float = np.inf) -> Judgement:
    """Decides A(a) ≤ e^ε A(b) + δ for many arcs; a slack that is certainly above `below` may be reported too low."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = b + epsilon
        part = total - b
        error = (b - (total - part)) + (epsilon - part)
        room = total - a
        nothing = (a == -np.inf) | (epsilon == np.inf) | (delta >= 1.0)
        plain = nothing | (a <= b) | (room > 0.0) | ((room == 0.0) & (error >= 0.0))
        summed = (a <= 0.0) & ((room < 0.0) | (error < 0.0))
        refuted = ~plain & (delta == 0.0) & (summed | (epsilon == 0.0))
        least = np.where(nothing, np.inf, np.where(a <= b, epsilon, room))  # no slack is below it, but for a rounding
        least = np.where(np.isnan(least), -np.inf, least)
        margin = FILTER * (1.0 + np.abs(a) + np.abs(b))
        look = np.flatnonzero(~plain | ~(least - margin > below))
    holds, slack = plain.copy(), least
    open_ = ~(plain | refuted)[look]
    holds[look], slack[look] = _by_formula(a[look], b[look], epsilon[look], delta[look], open_, holds[look])
    return Judgement(holds, np.where(holds, np.maximum(slack, 0.0), np.minimum(slack, -TINY)), plain | refuted)


def log_twice(z: Floats) -> Floats:
    """log(2 A(z)): z itself up to 0, then log(2 − e^−z)."""
    return np.where(z > 0.0, np.log1p(-np.expm1(-np.maximum(z, 0.0))), z)


def _by_formula(
    a: Floats, b: Floats, epsilon: Floats, delta: Floats, undecided: Mask, holds: Mask
) -> tuple[Mask, Floats]:
    """The slack by ordinary floats, and with it the verdict on what is undecided; balls where it is close."""
    with np.errstate(all="ignore"):
        high, low = log_twice(a), log_twice(b)
        share = np.where(delta > 0.0, np.exp(np.log(2.0 * delta) - high), 0.0)  # δ / A(a)
        rest = 1.0 - share
        slack = ((epsilon + low) - high) - np.log1p(-share)
        scale = 1.0 + np.abs(high) + np.abs(low) + epsilon
        near = (np.abs(rest) <= FILTER * (1.0 + np.abs(high))) | (
            (rest > 0.0) & ~(np.abs(slack) * rest > FILTER * scale)
        )
    slack = np.where((a == -np.inf) | (epsilon == np.inf) | (delta >= 1.0) | (rest <= 0.0), np.inf, slack)
    slack = np.where(np.isnan(slack), 0.0, slack)
    holds = np.where(undecided, slack > 0.0, holds)
    close = np.flatnonzero(undecided & near)
    like = first_alike(slack, close, a, b, epsilon, delta)
    chosen = close[like == np.arange(len(close))]
    columns = [column[chosen].tolist() for column in (a, b, epsilon, delta)]
    with precision():
        holds[chosen] = [_holds(*arc) for arc in zip(*columns, strict=True)]
    holds[close] = holds[close[like]]
    return holds, slack


def _holds(a: float, b: float, epsilon: float, delta: float) -> bool:
    """A(a) ≤ e^ε A(b) + δ for finite ε, in logarithms of twice both sides, which cannot overflow."""
    for bits in (FIRST_PRECISION, *FINER):
        ctx.prec = bits
        needed = _twice(a) - 2 * arb(delta)
        if needed <= 0:
            return True
        if needed > 0 and b == -np.inf:
            return False
        if needed > 0:
            given = arb(epsilon) + (arb(b) if b <= 0.0 else _twice(b).log())
            room = given - (arb(a) if a <= 0.0 and delta == 0.0 else needed.log())
            if room >= 0 or (a > 0.0 and given >= (2 - 2 * arb(delta)).log()):  # the latter: no A is above 1
                return True
            if room < 0:
                return False
    return False  # never seen; what cannot be proved is not private


def _twice(z: float) -> arb:
    """2 A(z)."""
    if z in (np.inf, -np.inf):
        return arb(2 if z > 0.0 else 0)
    return arb(z).exp() if z <= 0.0 else 2 - arb(-z).exp()

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

A mechanism is optimal if from every free dataset a chain of tight links leads to a pinned one. Over a link from a
parent with probability x of its right answer to its child, the definition allows at most

    f(x) = min( 1, e^ε x + δ, 1 − e^−ε' (1 − x − δ') )      ε, δ from child to parent, ε', δ' from parent to child.

A link is tight if the child, raised by a few floats, would break it; that is decided in both tails, since z keeps both.
What a parent lacks is passed on: f is concave, so its slope at the parent bounds by how much more the child could have.
For chains, all values are signed so that larger is better: z where the answer is 1, −z where it is 2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from flint import arb, ctx

from hetdp.certificate.additive import RATIOS
from hetdp.certificate.enclosure import (
    FILTER_WIDTH,
    FINER_PRECISIONS,
    FIRST_PRECISION,
    first_alike,
    path_is_below,
    precision,
)
from hetdp.certificate.rule import Losses, Rule, Survey, WorstApproximateEdge, WorstDirectedEdge, follow_chains, pick
from hetdp.certificate.scan import sift_arcs_by_numpy
from hetdp.compilation import DIRECTIONS, uses_compiled
from hetdp.interrupts import delay_interrupts
from hetdp.problem.space import SMALL_SPACE, EdgeBlock, Floats, Indices, Mask, Space
from hetdp.threads import run_in_threads

TINY = np.finfo(np.float64).tiny


class Judgement(NamedTuple):
    """The findings about some comparisons.

    Attributes:
        holds: which of them hold, exactly.
        slack: for reading; its sign is right, and where nothing is asked it is infinite.
        plain: which of them the sum settled.
    """

    holds: Mask
    slack: Floats
    plain: Mask


def survey_directed(space: Space, z: Floats, links: Indices, better: Floats) -> Survey:
    """Looks at every arc of the space, and notes the four parameters of every dataset's link.

    Args:
        space: whose arcs they are.
        z: the values.
        links: for each free dataset the neighbour that holds it down.
        better: the values, signed so that larger is better; of parallel edges the one that leaves least is the link.
    """
    seen = Survey(links=np.full((4, space.size), np.nan))
    sift: Callable[..., Any] = sift_arcs_by_numpy
    if space.arc_count > SMALL_SPACE and uses_compiled(DIRECTIONS, space.arc_count):
        with delay_interrupts():
            from hetdp.certificate.compiled import sift_arcs as sift

    def look(block: EdgeBlock) -> None:
        count, below = len(block.source), seen.slack
        linked, doubtful = np.empty((2, count), dtype=np.int64)
        with np.errstate(all="ignore"):
            least = max(below, 0.0)
            some = sift(block.source, block.target, block.parameters[0], z, links, least, linked, doubtful)
        linked, doubtful = linked[: some[0]], doubtful[: some[1]]
        noted = pick(block, linked)
        if (noted.source[1:] == noted.source[:-1]).any():  # a dataset has one link, so these are parallel
            room, _ = link_gaps(better[noted.target], better[noted.source], *_four(noted))
            order = np.lexsort((room, noted.source))
            noted = pick(noted, order[np.diff(noted.source[order], prepend=-1) != 0])
        seen.links[:, noted.source] = _four(noted)
        _look_closely(pick(block, doubtful), z, below, seen)
        seen.add(count, 0, 0)

    run_in_threads(look, space.edge_blocks(), space.arc_count)
    return seen


def _look_closely(block: EdgeBlock, z: Floats, below: float, seen: Survey) -> None:
    """Decides every given arc, without skipping any."""
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
        margin = FILTER_WIDTH * (1.0 + np.abs(a) + np.abs(b))
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
        near = (np.abs(rest) <= FILTER_WIDTH * (1.0 + np.abs(high))) | (
            (rest > 0.0) & ~(np.abs(slack) * rest > FILTER_WIDTH * scale)
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
    for bits in (FIRST_PRECISION, *FINER_PRECISIONS):
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
    return False  # never observed; an undecided arc counts as a violation


def _twice(z: float) -> arb:
    """2 A(z)."""
    if z in (np.inf, -np.inf):
        return arb(2 if z > 0.0 else 0)
    return arb(z).exp() if z <= 0.0 else 2 - arb(-z).exp()


# Optimality.


LINK_ROOM = 2.0**-44  # of 1 + |z|: by how much a child may stay below the exact bound of its link
ROUNDING = 2.0**-49  # more than the relative error of each formula below
CURVATURE_FACTOR = 1.0 + 2.0**-19  # slopes and tails change by less where a parent lacks less than 1e-9
TIE_WIDTH = 1e-12  # relative; where the two terms of f are so close, the steeper one counts


def link_gaps(
    parent: Floats, child: Floats, epsilon: Floats, epsilon_back: Floats, delta: Floats, delta_back: Floats
) -> tuple[Floats, Floats]:
    """For each link an upper bound on the exact bound minus the child, in z, and on the slope; ∞ if it is not tight."""
    edge = epsilon, epsilon_back, delta, delta_back
    with np.errstate(all="ignore"):
        gaps = np.where(child <= 0.0, _below_half(parent, child, *edge), _above_half(parent, child, *edge))
        gaps = np.where(np.isnan(gaps), np.inf, np.maximum(gaps, 0.0))
        slopes = _slopes(parent, child, *edge)
        room = LINK_ROOM * (1.0 + np.abs(child))
    same = (parent == child) & (((epsilon == 0.0) & (delta == 0.0)) | ((epsilon_back == 0.0) & (delta_back == 0.0)))
    gaps = np.where(same, 0.0, gaps)
    look = np.flatnonzero(gaps > np.where(np.isfinite(room), room, 0.0))
    if len(look):
        tight = _is_tight(parent[look], child[look], room[look], *(column[look] for column in edge))
        gaps[look] = np.where(tight, room[look], np.inf)
    return gaps, slopes


def _is_tight(
    parent: Floats,
    child: Floats,
    room: Floats,
    epsilon: Floats,
    epsilon_back: Floats,
    delta: Floats,
    delta_back: Floats,
) -> Mask:
    """True if the child, raised by this amount, would break the link; exact."""
    known = np.flatnonzero(np.isfinite(child))
    found = np.zeros(
        len(child), dtype=np.bool_
    )  # p = 0 is optimal only if f is 0, which the float test has already found
    with np.errstate(over="ignore"):  # beyond the largest float, all that is asked breaks the link or holds for ever
        low, high = parent[known], child[known] + room[known]
    ones = judge(high, low, epsilon[known], delta[known], -np.inf).holds
    twos = judge(-low, -high, epsilon_back[known], delta_back[known], -np.inf).holds
    found[known] = ~(ones & twos)
    return found


def _below_half(
    parent: Floats, child: Floats, epsilon: Floats, epsilon_back: Floats, delta: Floats, delta_back: Floats
) -> Floats:
    """log f(x) − log p(child), rounded up: all terms are sums of positive numbers. It is in z where p(child) ≤ ½."""
    low = log_twice(parent)
    ones = np.where(epsilon < np.inf, np.logaddexp(epsilon + low, np.log(2.0 * delta)), np.inf)
    kept = np.where(epsilon_back < np.inf, np.logaddexp(low, np.log(2.0 * delta_back)) - epsilon_back, -np.inf)
    twos = np.logaddexp(np.log(-2.0 * np.expm1(-epsilon_back)), kept)
    bound = np.minimum(np.minimum(ones, twos), np.log(2.0))
    gaps = ((bound - child) + ROUNDING * (1.0 + np.abs(bound))) * CURVATURE_FACTOR
    total = parent + epsilon
    part = total - parent
    error = (parent - (total - part)) + (epsilon - part)
    exact = np.abs((total - child) + error) * (1.0 + ROUNDING)
    sums = (delta == 0.0) & (parent <= 0.0) & (total <= 0.0) & np.isfinite(exact)  # then the sum is the bound
    gaps = np.where(sums, np.minimum(gaps, exact), gaps)
    return np.where((child == -np.inf) & (bound == -np.inf), 0.0, gaps)


def _above_half(
    parent: Floats, child: Floats, epsilon: Floats, epsilon_back: Floats, delta: Floats, delta_back: Floats
) -> Floats:
    """log of the wrong answer's probability at the child minus that of the least one, 1 − f(x), rounded up."""
    tail = np.exp(-np.abs(parent))  # twice the smaller one
    is_low = parent <= 0.0
    more, less = np.exp(epsilon), np.exp(-epsilon_back)
    given = np.where(is_low, 2.0 * (1.0 - delta), more * tail)
    taken = np.where(is_low, more * tail, 2.0 * np.expm1(epsilon) + 2.0 * delta)
    rise = np.where(epsilon < np.inf, (given - taken) - ROUNDING * (given + taken), -np.inf)
    given = np.where(is_low, 2.0 * (1.0 - delta_back), tail)
    taken = np.where(is_low, tail, 2.0 * delta_back)
    fall = np.where(epsilon_back < np.inf, less * ((given - taken) - ROUNDING * (given + taken)), -np.inf)
    least = np.maximum(rise, fall)
    gaps = (-child - np.log(least)) + ROUNDING * (1.0 + np.abs(child))
    total = parent + epsilon_back
    part = total - parent
    error = (parent - (total - part)) + (epsilon_back - part)
    exact = np.abs((total - child) + error) * (1.0 + ROUNDING)
    sums = (delta_back == 0.0) & (parent >= 0.0) & np.isfinite(exact)  # then the sum bounds the child
    return np.where(sums, np.minimum(np.where(least > 0.0, gaps, np.inf), exact), np.where(least > 0.0, gaps, np.inf))


def _slopes(
    parent: Floats, child: Floats, epsilon: Floats, epsilon_back: Floats, delta: Floats, delta_back: Floats
) -> Floats:
    """An upper bound on the increase of the child's z per unit that the parent lacks; 0 where the parent is certain.

    In z, dz is dx over the smaller tail; and f grows by e^ε or by e^−ε' for each x, whichever term is the smaller one.
    """
    low = log_twice(parent)
    ones = np.where(epsilon < np.inf, np.logaddexp(epsilon + low, np.log(2.0 * delta)), np.inf)
    kept = np.where(epsilon_back < np.inf, np.logaddexp(low, np.log(2.0 * delta_back)) - epsilon_back, -np.inf)
    twos = np.logaddexp(np.log(-2.0 * np.expm1(-epsilon_back)), kept)
    steep = ones <= twos + TIE_WIDTH * (1.0 + np.abs(twos))
    exponent = np.where(steep, epsilon, -epsilon_back) + np.abs(child) - np.abs(parent)
    return np.where(np.isfinite(parent) & np.isfinite(child), np.exp(exponent) * CURVATURE_FACTOR, 0.0)


def _rule(worst: Callable[..., Any], losses: Losses | None) -> Rule:
    follow = partial(follow_chains, gaps_of=link_gaps)
    return Rule(survey_directed, follow, worst, path_is_below, losses, gaps=link_gaps)


DIRECTED = _rule(WorstDirectedEdge, RATIOS)
APPROXIMATE = _rule(WorstApproximateEdge, None)

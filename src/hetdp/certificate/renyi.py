"""Rényi privacy of order α, from the definition.

An arc from u to v asks, with p at u and q at v, for

    log( p^α q^(1−α) + (1−p)^α (1−q)^(1−α) ) ≤ (α − 1) ε;

both directions of each edge are arcs. The left side over α − 1 is the loss of the arc. Ordinary floats settle what is
clear, and balls what is close. For α > 1 and ε = 0 the two sides are equal only if p = q, which is seen at once.

The set of pairs (q, p) that an edge allows is convex, so the largest p next to q is a concave function f of q, and its
slope at the parent of a link bounds what more the parent could give. docs/theory/renyi.md has the proofs.

Letters: L = log p/q and M = log (1−q)/(1−p) for p ≥ q; both are at least 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from hetdp.certificate.directed import log_twice
from hetdp.certificate.enclosure import FINER_PRECISIONS, FIRST_PRECISION, Tails, first_alike, precision, tails_of
from hetdp.certificate.products import list_arcs
from hetdp.certificate.rule import LARGEST_GAP, Losses, Rule, Steps, Survey, WorstEdge, follow_chains
from hetdp.problem.space import EdgeBlock, Floats, Indices, Mask, Space
from hetdp.threads import run_in_threads

TINY = np.finfo(np.float64).tiny
DEEPEST_Z = 690.0  # a z beyond it has a tail that may underflow
COARSEST_FACTOR = 2e4  # at α = 1.00005; closer to 1, a mechanism may be optimal without a proof
SERIES_TERMS = 20  # terms, for arguments below a half
LARGE_EXPONENT = 600.0  # exponents from which on powers may leave the floats
CURVATURE_FACTOR = 1.0 + 2.0**-10  # slopes change by less where a parent lacks less than LARGEST_GAP
NEAR_KINK = 1e-6  # nearer to p + q = 1 the steeper of both slopes counts
GAP_TRIES = 8  # to find a gap, each four times the one before
FINEST_PRECISION = 640  # bits; a path that is not decided with these proves nothing


class WorstRenyiEdge(WorstEdge):
    """The direction with the least slack."""

    __slots__ = ()
    place = ""


def losses_between(a: Floats, b: Floats, alpha: float) -> Floats:
    """The Rényi divergence of A(a) from A(b), where A(z) is the probability of answer 1, in ordinary floats."""
    with np.errstate(all="ignore"):
        up = a >= b
        high, low = np.where(up, a, -a), np.where(up, b, -b)  # swapping the answers changes nothing
        gained, lost = ratios_of(high, low)
        q = np.where(low > 0.0, 1.0 - 0.5 * np.exp(-np.abs(low)), 0.5 * np.exp(-np.abs(low)))
        rest = np.where(low > 0.0, 0.5 * np.exp(-np.abs(low)), 1.0 - 0.5 * np.exp(-np.abs(low)))
        log_q = log_twice(low) - math.log(2.0)
        ones = log_q + alpha * gained
        raised = np.exp(ones) - alpha * np.exp(log_q + gained) + (alpha - 1.0) * q  # q times the excess
        raised = np.where(alpha * gained > LARGE_EXPONENT, raised, q * _excess(gained, alpha))
        excess = raised + rest * _excess(-lost, alpha)
        twos = log_twice(-low) - math.log(2.0) - alpha * lost
        large = np.maximum(ones, twos) + np.log1p(np.exp(-np.abs(ones - twos)))
        found = np.where(ones > LARGE_EXPONENT, large, np.log1p(excess)) / (alpha - 1.0)
    return np.where(a == b, 0.0, np.where(np.isnan(found), np.inf, np.maximum(found, TINY)))


def ratios_of(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """L and M for p = A(high) ≥ q = A(low), each with nearly all its digits."""
    difference = np.where(high == low, 0.0, high - low)
    shrunk = -np.expm1(-difference)
    below = 0.5 * np.exp(np.minimum(high, 0.0))  # p, where that is the smaller tail
    above = 0.5 * np.exp(-np.maximum(low, 0.0))  # 1 − q, where that is
    gained = np.where(high <= 0.0, difference, np.where(low >= 0.0, np.log1p(above * shrunk / (1.0 - above)), np.nan))
    lost = np.where(low >= 0.0, difference, np.where(high <= 0.0, np.log1p(below * shrunk / (1.0 - below)), np.nan))
    across = (low < 0.0) & (high > 0.0)
    return np.where(across, log_twice(high) - low, gained), np.where(across, log_twice(-low) + high, lost)


def _excess(exponent: Floats, alpha: float) -> Floats:
    """e^(αL) − 1 − α (e^L − 1), which is never negative; by its series where αL is small."""
    small = np.abs(exponent) * alpha < 0.5
    near = np.where(small, exponent, 0.0)
    power, total = near, np.zeros_like(near)
    for k in range(2, SERIES_TERMS):
        power = power * near / k
        total = total + power * alpha * math.expm1((k - 1) * math.log(alpha))
    return np.where(small, total, np.expm1(alpha * exponent) - alpha * np.expm1(exponent))


def coarse_of(alpha: float) -> float:
    """The multiple of LARGEST_GAP that a chain may lack: near α = 1 the bound is known less well.

    It is limited, so that nothing is called optimal that lacks more than a hundred-thousandth in z.
    """
    return min(1.0 + 1.0 / (alpha - 1.0), COARSEST_FACTOR)


def margin_of(alpha: float) -> float:
    """Many times the relative error of `losses_between`."""
    return 1e-11 * (1.0 + 1.0 / (alpha - 1.0)) * (1.0 + min(math.log(alpha), 50.0))


# Privacy.


def survey(space: Space, z: Floats, links: Indices, better: Floats, alpha: float) -> Survey:
    """Looks at every arc of the space, and notes the ε of every dataset's link; of parallel edges the least."""
    seen = Survey(links=np.full((1, space.size), np.nan))
    pieces, arcs_of = list_arcs(space)

    def look(piece: Any) -> None:
        block = arcs_of(piece)
        if not len(block.source):
            return
        linked = np.flatnonzero(links[block.source] == block.target)
        with seen.lock:
            np.fmin.at(seen.links[0], block.source[linked], block.parameters[0][linked])
        _judge_block(block, z, seen, alpha)

    run_in_threads(look, pieces, space.arc_count)
    return seen


def _judge_block(block: EdgeBlock, z: Floats, seen: Survey, alpha: float) -> None:
    source, target, epsilon = z[block.source], z[block.target], block.parameters[0]
    holds, slack, enclosed = judge(source, target, epsilon, alpha)
    seen.add(len(slack), int(np.count_nonzero(enclosed)), int(np.count_nonzero(~holds)))
    least = int(np.argmin(slack))
    if slack[least] < np.inf:
        seen.offer(block, least, float(slack[least]))


def judge(a: Floats, b: Floats, epsilon: Floats, alpha: float) -> tuple[Mask, Floats, Mask]:
    """Marks the arcs that hold, exactly, with their slack, and marks those that needed balls."""
    with np.errstate(all="ignore"):
        loss = losses_between(a, b, alpha)
        slack = np.where(epsilon == np.inf, np.inf, epsilon - loss)
        holds = (a == b) | (slack > 0.0)
        deepest = np.maximum(np.abs(a), np.abs(b))
        underflows = (deepest > DEEPEST_Z) & (deepest < np.inf)  # tails that a float cannot hold: the loss is not known
        clear = (np.abs(slack) > margin_of(alpha) * (loss + epsilon) + 2.0 * TINY) & ~underflows
        close = (a != b) & (epsilon < np.inf) & ~clear
    near = np.flatnonzero(close)
    like = first_alike(loss, near, a, b, epsilon)
    chosen = near[like == np.arange(len(near))]
    with precision():
        arcs = zip(a[chosen].tolist(), b[chosen].tolist(), epsilon[chosen].tolist(), strict=True)
        holds[chosen] = [arc_holds(*arc, alpha) for arc in arcs]
    holds[near] = holds[near[like]]
    return holds, np.where(holds, np.maximum(slack, 0.0), np.minimum(slack, -TINY)), close


def arc_holds(a: float, b: float, epsilon: float, alpha: float) -> bool:
    """The condition of one arc with a finite ε, at finer and finer precision until it is decided."""
    if a == b:
        return True
    if math.isinf(b):
        return False
    for bits in (FIRST_PRECISION, *FINER_PRECISIONS):
        ctx.prec = bits
        room = (arb(alpha) - 1) * arb(epsilon) - log_moment(tails_of(a), tails_of(b), alpha)
        if room >= 0:
            return True
        if room < 0:
            return False
    return False  # never observed; an undecided arc counts as a violation


def log_moment(one: Tails, other: Tails, alpha: float) -> arb:
    """log( p^α q^(1−α) + (1−p)^α (1−q)^(1−α) ) from twice p and 1 − p and twice q and 1 − q; q is neither 0 nor 1."""
    order = arb(alpha)
    terms = [
        order * own.log() + (1 - order) * its.log() for own, its in zip(one, other, strict=True) if not own.is_zero()
    ]
    largest = max(terms, key=lambda term: float(term.mid()))
    return largest + sum(((term - largest).exp() for term in terms), arb(0)).log() - arb(2).log()


# Optimality.


def link_gaps(parent: Floats, child: Floats, epsilon: Floats, *, alpha: float) -> tuple[Floats, Floats]:
    """For each link an upper bound on the exact bound minus the child, in z, and on the slope; ∞ if it is not tight."""
    slopes = slopes_of(parent, child, alpha)
    with np.errstate(all="ignore"):
        spare = epsilon - np.maximum(losses_between(parent, child, alpha), losses_between(child, parent, alpha))
        guess = np.maximum(spare, 0.0) / _steepness(parent, child, alpha)
    same = (parent == child) & ((epsilon == 0.0) | np.isinf(parent))
    gaps = np.where(same, 0.0, np.inf)
    open_ = np.flatnonzero(~same & np.isfinite(child) & np.isfinite(parent) & (epsilon < np.inf))
    with precision():
        for at in open_.tolist():
            gaps[at] = _gap(float(parent[at]), float(child[at]), float(epsilon[at]), float(guess[at]), alpha)
    return gaps, slopes


def _gap(parent: float, child: float, epsilon: float, guess: float, alpha: float) -> float:
    """The first of some gaps by which the child, raised, would break the link; ∞ if none does."""
    least = 2.0**-48 * (1.0 + abs(child))
    gap = max(least, 1.001 * guess) if math.isfinite(guess) else least
    for _ in range(GAP_TRIES):
        if not gap <= coarse_of(alpha) * LARGEST_GAP * (1.0 + abs(child)):
            break
        raised = child + gap
        if not (arc_holds(raised, parent, epsilon, alpha) and arc_holds(parent, raised, epsilon, alpha)):
            return raised - child + 2.0**-50 * abs(child)
        gap *= 4.0
    return math.inf


def _steepness(parent: Floats, child: Floats, alpha: float) -> Floats:
    """The approximate slope of the loss in the child's z."""
    step = 1e-6 * (1.0 + np.abs(child))
    more, less = (
        np.maximum(losses_between(parent, child + by, alpha), losses_between(child + by, parent, alpha))
        for by in (step, -step)
    )
    return (more - less) / (2.0 * step)


def slopes_of(parent: Floats, child: Floats, alpha: float) -> Floats:
    """An upper bound on the increase of the child's z per unit that the parent lacks; 0 where the parent is certain.

    In z, dz is dp over the smaller tail. With w = L + M, f grows by (α−1)/α · e^L (1 − e^(−αw)) / (1 − e^(−(α−1)w))
    for each q where p + q ≤ 1, and by the mirror image of that where p + q ≥ 1.
    """
    with np.errstate(all="ignore"):
        gained, lost = ratios_of(np.maximum(parent, child), np.minimum(parent, child))
        both = gained + lost
        turned = np.where(both > 0.0, np.expm1(-alpha * both) / np.expm1(-(alpha - 1.0) * both), alpha / (alpha - 1.0))
        turned = np.log(turned * ((alpha - 1.0) / alpha))
        rising, falling = gained + turned, -lost - turned
        middle = parent + child
        slope = np.where(middle < 0.0, rising, falling)
        slope = np.where(np.abs(middle) <= NEAR_KINK * (1.0 + np.abs(child)), np.maximum(rising, falling), slope)
        found = np.exp(slope + np.abs(child) - np.abs(parent)) * CURVATURE_FACTOR
    return np.where(np.isfinite(parent) & np.isfinite(child), np.where(np.isnan(found), np.inf, found), 0.0)


# Contradiction.


def path_is_below(first: float, steps: Steps, last: float, alpha: float) -> bool | None:
    """True if a path allows less than z = `last` at its end; None where this precision does not decide."""
    epsilons = [step["epsilon"] for step in steps]
    if math.inf in (first, -last) or math.inf in epsilons or ctx.prec > FINEST_PRECISION:
        return False
    if -math.inf in (first, -last):
        return True
    least = most = arb(first)
    for epsilon in epsilons:
        if epsilon > 0.0:
            least, most = _bound(least, epsilon, alpha)[0], _bound(most, epsilon, alpha)[1]
    return True if most < arb(last) else False if least >= arb(last) else None


def _bound(z: arb, epsilon: float, alpha: float) -> tuple[arb, arb]:
    """A number that an edge allows next to z, and a larger one that it does not, close to each other."""
    limit = (arb(alpha) - 1) * arb(epsilon)
    here = _tails(z)

    def breaks(other: arb) -> bool:
        there = _tails(other)
        return bool(log_moment(there, here, alpha) > limit or log_moment(here, there, alpha) > limit)

    low, width = z, arb(1)
    while not breaks(high := z + width):
        low, width = high, 2 * width
    for _ in range(ctx.prec // 2):
        middle = ((low + high) / 2).mid()
        low, high = (low, middle) if breaks(middle) else (middle, high)
    return low - (high - low), high


def _tails(z: arb) -> Tails:
    """Twice p and 1 − p of a Laplace coordinate that need not be a float."""
    tail = (-abs(z)).exp()
    return (tail, 2 - tail) if z <= 0 else (2 - tail, tail)


# Losses.


def loss_is_at_most(low: float, high: float, bound: Fraction, alpha: float) -> bool:
    """True if neither direction loses more than the given amount."""
    if low == high:
        return True
    limit = (arb(alpha) - 1) * arb(fmpq(bound.numerator, bound.denominator))
    one, other = tails_of(low), tails_of(high)
    return bool(log_moment(one, other, alpha) <= limit and log_moment(other, one, alpha) <= limit)


@cache
def renyi(alpha: float) -> Rule:
    """The proof for Rényi privacy of this order."""

    def estimate(one: Floats, other: Floats) -> Floats:
        return np.maximum(losses_between(one, other, alpha), losses_between(other, one, alpha))

    gaps: Callable[..., tuple[Floats, Floats]] = partial(link_gaps, alpha=alpha)
    return Rule(
        survey=partial(survey, alpha=alpha),
        follow=partial(follow_chains, gaps_of=gaps, coarse=coarse_of(alpha)),
        worst=WorstRenyiEdge,
        is_below=partial(path_is_below, alpha=alpha),
        losses=Losses(estimate, margin_of(alpha), partial(loss_is_at_most, alpha=alpha)),
        gaps=gaps,
        coarse=coarse_of(alpha),
    )

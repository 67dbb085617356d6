"""Proof that nothing can be raised, for directed and approximate privacy: chains of links, with their gaps in z.

Over a link from a parent with probability x of its right answer to its child v, the definition allows at most

    f(x) = min( 1, e^ε x + δ, 1 − e^−ε' (1 − x − δ') )      ε, δ from child to parent, ε', δ' from parent to child.

A link is tight if the child, raised by a few floats, would break it; that is decided in both tails, since z keeps both.
What a parent lacks is passed on: f is concave, so its slope at the parent bounds by how much more the child could have.
docs/theory/other-notions-certificate.md has the proof.

All values here are signed so that larger is better: z where the answer is 1, −z where it is 2.
"""

from __future__ import annotations

import numpy as np

from hetdp.certificate.directed import judge, log_twice
from hetdp.certificate.links import Chains
from hetdp.problem.space import Floats, Indices, Mask

LOOSE = "a link is not tight"
ADDED_UP = "what roundings leave open adds up along a chain"
ROOM = 2.0**-44  # of 1 + |z|: by how much a child may stay below the exact bound of its link
LARGEST_GAP = 1e-9  # at the end of a chain; times |z| where that is above 1, since floats lie further apart there
ROUNDING = 2.0**-49  # more than the relative error of each formula below
CURVED = 1.0 + 2.0**-19  # slopes and tails change by less where a parent lacks less than 1e-9
TIED = 1e-12  # relative; where the two terms of f are so close, the steeper one counts


def follow_directed(better: Floats, pinned: Mask, links: Indices, parameters: Floats) -> Chains:
    """Bounds the gap of every link, follows the links to where they end, and adds up the gaps on the way.

    Args:
        better: the values, signed so that larger is better.
        pinned: where chains may end; they may also end where the right answer is certain.
        links: for each free dataset the neighbour that holds it down.
        parameters: ε, ε', δ and δ' of each dataset's link, NaN where the space has no such edge.
    """
    size = len(better)
    held = np.flatnonzero(~pinned & (better < np.inf))
    missing = held[np.isnan(parameters[0, held])]
    if len(missing):
        return Chains("a link is missing or follows no edge", int(missing[0]))
    gaps, slopes, ends = np.zeros(size + 1), np.zeros(size + 1), np.full(size + 1, size)
    gaps[held], slopes[held] = link_gaps(better[links[held]], better[held], *parameters[:, held])
    ends[held] = links[held]
    if np.isinf(gaps).any():
        return Chains(LOOSE, int(np.argmax(np.isinf(gaps))))
    depths = np.append(depth_of(better), 1.0)
    for _ in range(size.bit_length() + 1):
        on = np.flatnonzero(ends < size)
        if not len(on):
            break
        joined_chains(gaps, slopes, depths, on, ends[on])
        ends[on] = ends[ends[on]]
    if (ends < size).any():
        return Chains("links form a cycle", int(np.argmax(ends < size)))
    wide = np.flatnonzero(too_wide(gaps, depths))
    if len(wide):
        return Chains(ADDED_UP, int(wide[0]))
    return Chains("", gap=float(np.max(gaps)) * (1.0 + 2.0**-20))  # more than the rounding of the sums


def joined_chains(gaps: Floats, slopes: Floats, depths: Floats, on: Indices, ends: Indices) -> None:
    """Lengthens chains by those that begin where they end: what is lacking there counts times the slope."""
    with np.errstate(over="ignore", invalid="ignore"):
        gaps[on] += np.where(gaps[ends] > 0.0, slopes[on] * gaps[ends], 0.0)
        slopes[on] = np.where(slopes[ends] > 0.0, slopes[on] * slopes[ends], 0.0)
    depths[on] = np.maximum(depths[on], depths[ends])


def depth_of(better: Floats) -> Floats:
    """|z|, at least 1; of 0 and 1, which are exact, it is 1."""
    return np.where(np.isfinite(better), np.maximum(1.0, np.abs(better)), 1.0)


def too_wide(gaps: Floats, depths: Floats) -> Mask:
    """Which gaps are more than roundings may leave."""
    return ~(gaps <= LARGEST_GAP * depths)


def link_gaps(
    parent: Floats, child: Floats, epsilon: Floats, epsilon_back: Floats, delta: Floats, delta_back: Floats
) -> tuple[Floats, Floats]:
    """For each link an upper bound on the exact bound minus the child, in z, and on the slope; ∞ if it is not tight."""
    edge = epsilon, epsilon_back, delta, delta_back
    with np.errstate(all="ignore"):
        gaps = np.where(child <= 0.0, _below_half(parent, child, *edge), _above_half(parent, child, *edge))
        gaps = np.where(np.isnan(gaps), np.inf, np.maximum(gaps, 0.0))
        slopes = _slopes(parent, child, *edge)
        room = ROOM * (1.0 + np.abs(child))
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
    """Whether the child, raised by so much, would break the link; exactly."""
    known = np.flatnonzero(np.isfinite(child))
    found = np.zeros(len(child), dtype=np.bool_)  # 0 is the best only where f is 0, which floats have seen
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
    gaps = ((bound - child) + ROUNDING * (1.0 + np.abs(bound))) * CURVED
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
    """How much more of z the child could have for what the parent lacks, at most; 0 where the parent is certain.

    In z, dz is dx over the smaller tail; and f grows by e^ε or by e^−ε' for each x, whichever term is the smaller one.
    """
    low = log_twice(parent)
    ones = np.where(epsilon < np.inf, np.logaddexp(epsilon + low, np.log(2.0 * delta)), np.inf)
    kept = np.where(epsilon_back < np.inf, np.logaddexp(low, np.log(2.0 * delta_back)) - epsilon_back, -np.inf)
    twos = np.logaddexp(np.log(-2.0 * np.expm1(-epsilon_back)), kept)
    steep = ones <= twos + TIED * (1.0 + np.abs(twos))
    exponent = np.where(steep, epsilon, -epsilon_back) + np.abs(child) - np.abs(parent)
    return np.where(np.isfinite(parent) & np.isfinite(child), np.exp(exponent) * CURVED, 0.0)

"""Proof that nothing can be raised, for directed and approximate privacy: chains of links, with their gaps in log p.

Over a link from a parent with probability x of its right answer to its child v, the definition allows at most

    f(x) = min( 1, e^ε x + δ, 1 − e^−ε' (1 − x − δ') )      ε, δ from child to parent, ε', δ' from parent to child.

A link has the gap log f(x) − log p(v). Since f(c·x) ≤ c·f(x) for c ≥ 1, gaps add up along a chain, and no more: the
best private p(v) is at most e^gap times the p(v) at hand. docs/theory/other-notions-certificate.md has the proof.

All values here are signed so that larger is better: z where the answer is 1, −z where it is 2.
"""

from __future__ import annotations

import numpy as np

from hetdp.certificate.directed import log_twice
from hetdp.certificate.links import Chains
from hetdp.problem.space import Floats, Indices, Mask

LARGEST_GAP = 1e-9  # at the end of a chain; times |z| where that is above 1, since floats lie further apart there
ROUNDING = 2.0**-49  # more than the relative error of each formula below


def follow_directed(better: Floats, pinned: Mask, links: Indices, parameters: Floats) -> Chains:
    """Bounds the gap of every link, follows the links to where they end, and adds up the gaps on the way.

    Args:
        better: the values, signed so that larger is better.
        pinned: where chains may end; they may also end where the right answer is certain.
        links: for each free dataset the neighbour that holds it down.
        parameters: ε, ε', δ and δ' of each dataset's link, NaN where the space has no such edge.
    """
    held = np.flatnonzero(~pinned & (better < np.inf))
    missing = held[np.isnan(parameters[0, held])]
    if len(missing):
        return Chains("a link is missing or follows no edge", int(missing[0]))
    gaps, ends = np.zeros(len(better) + 1), np.full(len(better) + 1, len(better))
    gaps[held], ends[held] = link_gaps(better[links[held]], better[held], *parameters[:, held]), links[held]
    deepest = np.append(np.where(better > -np.inf, better, 0.0), 0.0)
    for _ in range(len(better).bit_length() + 1):
        on = np.flatnonzero(ends < len(better))
        if not len(on):
            break
        gaps[on] += gaps[ends[on]]
        deepest[on] = np.minimum(deepest[on], deepest[ends[on]])
        ends[on] = ends[ends[on]]
    if (ends < len(better)).any():
        return Chains("links form a cycle", int(np.argmax(ends < len(better))))
    loose = np.flatnonzero(~(gaps <= LARGEST_GAP * np.maximum(1.0, -deepest)))
    if len(loose):
        return Chains("a link is not tight", int(loose[0]))
    return Chains("", gap=float(np.max(gaps)) * (1.0 + 2.0**-20))  # more than the rounding of the sums


def link_gaps(
    parent: Floats, child: Floats, epsilon: Floats, epsilon_back: Floats, delta: Floats, delta_back: Floats
) -> Floats:
    """Upper bounds on log f(x) − log p(child), one for each link; infinite where p(child) is 0 and f(x) is not."""
    low, high = log_twice(parent), log_twice(child)
    with np.errstate(all="ignore"):
        share, share_back = np.log(2.0 * delta), np.log(2.0 * delta_back)
        ones = np.where(epsilon < np.inf, np.logaddexp(epsilon + low, share), np.inf)
        kept = np.where(epsilon_back < np.inf, np.logaddexp(low, share_back) - epsilon_back, -np.inf)
        twos = np.logaddexp(np.log(-2.0 * np.expm1(-epsilon_back)), kept)
        bound = np.minimum(np.minimum(ones, twos), np.log(2.0))
        gaps = (bound - high) + ROUNDING * (1.0 + np.abs(bound))
        total = parent + epsilon
        part = total - parent
        error = (parent - (total - part)) + (epsilon - part)
        exact = np.abs((total - child) + error) * (1.0 + ROUNDING)
    sums = (delta == 0.0) & (child <= 0.0) & np.isfinite(exact)  # then p(parent) ≤ p(child) ≤ ½: the sum is the bound
    gaps = np.where(sums & (parent <= 0.0), np.minimum(gaps, exact), gaps)
    same = (parent == child) & (((epsilon == 0.0) & (delta == 0.0)) | ((epsilon_back == 0.0) & (delta_back == 0.0)))
    nought = (child == -np.inf) & (bound == -np.inf)
    return np.where(same | nought, 0.0, np.where(np.isnan(gaps), np.inf, np.maximum(gaps, 0.0)))

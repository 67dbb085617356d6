"""Proof that nothing can be raised: from every free dataset a chain of tight links to a pinned one.

"Some neighbour is tight" would not do, since two datasets can hold each other up; so the links must form no cycle.
All values here are signed so that larger is better: z where the answer is 1, −z where it is 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetdp.certificate.enclosure import crossing_gap
from hetdp.problem.space import Floats, Indices, Mask

CROSSING_ULPS = 128.0  # how far below its exact bound a label on a crossing edge may be rounded


@dataclass(frozen=True)
class Chains:
    """What the links prove.

    Attributes:
        fault: why they prove nothing; empty if they hold.
        dataset: where the fault is, −1 if nowhere.
        gap: how far, at most, any free dataset stays below the exact bound along its chain.
    """

    fault: str
    dataset: int
    gap: float


def follow(better: Floats, pinned: Mask, links: Indices, epsilon: Floats) -> Chains:
    """Checks every link by itself, then that all chains end at pinned datasets, then adds up the gaps along them.

    Args:
        better: the values, signed so that larger is better.
        pinned: where chains may end.
        links: for each free dataset the neighbour that holds it down.
        epsilon: ε of each dataset's link, NaN where the space has no such edge.
    """
    held = ~pinned & (better < np.inf)  # a free dataset at +inf is as good as can be and needs no chain
    child = np.flatnonzero(held)
    if (broken := _first(child, np.isnan(epsilon[child]))) >= 0:
        return Chains("a link is missing or follows no edge", broken, np.inf)
    parent = links[child]
    crossing = (better[parent] < 0.0) & (better[child] > 0.0)
    own, loose = _plain_gaps(better[parent], better[child], epsilon[child])
    for at in np.flatnonzero(crossing).tolist():
        own[at] = crossing_gap(better[parent[at]], better[child[at]], epsilon[child[at]], 0.0)
        loose[at] = own[at] > CROSSING_ULPS * np.spacing(better[child[at]])
    if (broken := _first(child, loose)) >= 0:
        return Chains("a link is not tight", broken, np.inf)
    pointer = np.arange(len(better))
    pointer[child] = parent
    return _add_up(better, pointer, child, own, crossing, epsilon)


def _add_up(better: Floats, pointer: Indices, child: Indices, own: Floats, crossing: Mask, epsilon: Floats) -> Chains:
    """Gaps add along a chain, except over the one link that may cross ½, where they pass through the bound itself."""
    gaps = np.zeros(len(better))
    gaps[child] = own
    if crossing.any():
        above = child[crossing]
        below = pointer.copy()
        below[above] = above
        start, _ = _totals(below, np.where(np.isin(np.arange(len(better)), above), 0.0, gaps))
        for dataset in above.tolist():
            parent = pointer[dataset]
            gaps[dataset] = (
                crossing_gap(better[parent], better[dataset], epsilon[dataset], start[parent]) - start[parent]
            )
    totals, ends = _totals(pointer, gaps)
    ends_at_pin = np.ones(len(better), dtype=np.bool_)
    ends_at_pin[child] = False
    if (broken := _first(child, ~ends_at_pin[ends[child]])) >= 0:
        return Chains("links form a cycle", broken, np.inf)
    return Chains("", -1, float(totals.max(initial=0.0)))


def _plain_gaps(parent: Floats, child: Floats, epsilon: Floats) -> tuple[Floats, Mask]:
    """Exact bound minus label on links that do not cross ½, and which links leave room for a larger float."""
    with np.errstate(invalid="ignore"):
        total = parent + epsilon
        part = total - parent
        error = (parent - (total - part)) + (epsilon - part)
        gap = (total - child) + error
        above = np.nextafter(child, np.inf)
        loose = (total > above) | ((total == above) & (error >= 0.0)) | (gap < 0.0)
    stuck = (child == -np.inf) & (parent == -np.inf)
    gap = np.where(np.isnan(gap), np.inf, gap)  # the exact sum lies beyond the largest float
    return np.where(stuck, 0.0, gap), np.asarray(loose & ~stuck)


def _totals(pointer: Indices, gaps: Floats) -> tuple[Floats, Indices]:
    """Sums of the gaps from each dataset to the end of its chain, and that end, by pointer doubling."""
    totals, ends = gaps.copy(), pointer
    for _ in range(len(pointer).bit_length() + 1):
        further = ends[ends]
        if np.array_equal(further, ends):
            break
        totals += totals[ends]  # a chain's end has no gap of its own
        ends = further
    return totals, ends


def _first(child: Indices, mask: Mask) -> int:
    at = np.flatnonzero(mask)
    return int(child[at[0]]) if len(at) else -1

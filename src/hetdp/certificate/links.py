"""Proof that nothing can be raised: from every free dataset a chain of tight links to a pinned one.

"Some neighbour is tight" would not do, since two datasets can hold each other up; so the links must form no cycle.
All values here are signed so that larger is better: z where the answer is 1, −z where it is 2. Values never fall along
a link, so a cycle could only run through links between equal values.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np

from hetdp.certificate.enclosure import crossing_gap
from hetdp.certificate.workers import share
from hetdp.problem.space import Floats, Indices, Mask

CROSSING_ULPS = 128.0  # how far below its exact bound a label on a crossing edge may be rounded
BLOCK = 1 << 15


@dataclass(frozen=True)
class Chains:
    """What the links prove.

    Attributes:
        fault: why they prove nothing; empty if they hold.
        dataset: where the fault is, −1 if nowhere.
        gap: a bound on how far any free dataset stays below the exact bound along its chain.
    """

    fault: str
    dataset: int = -1
    gap: float = np.inf


@dataclass
class Tally:
    """What was seen of the links: the first fault, the largest gap of one link, its smallest rise, ties, crossings."""

    count: int = 0
    missing: list[int] = field(default_factory=list)
    loose: list[int] = field(default_factory=list)
    gap: float = 0.0
    rise: float = np.inf
    ties: list[Indices] = field(default_factory=list)
    crossings: list[Indices] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


def follow(better: Floats, pinned: Mask, links: Indices, epsilon: Floats) -> Chains:
    """Checks every link by itself, then that no cycle is among them, then bounds the gaps along the chains.

    Args:
        better: the values, signed so that larger is better.
        pinned: where chains may end.
        links: for each free dataset the neighbour that holds it down.
        epsilon: ε of each dataset's link, NaN where the space has no such edge, or not a nearly tight one.
    """
    seen = Tally()

    def look(start: int) -> None:
        piece = slice(start, start + BLOCK)
        held = ~pinned[piece] & (better[piece] < np.inf)  # a free dataset at +inf is as good as can be
        _look_at(np.flatnonzero(held) + start, better, links, epsilon, seen)

    share(look, range(0, len(better), BLOCK))
    above = np.concatenate([np.empty(0, dtype=np.int64), *seen.crossings])
    for dataset in above.tolist():
        gap = crossing_gap(better[links[dataset]], better[dataset], epsilon[dataset], 0.0)
        if gap > CROSSING_ULPS * np.spacing(better[dataset]):
            seen.loose.append(dataset)
    if seen.missing:
        return Chains("a link is missing, or leads along no tight edge", min(seen.missing))
    if seen.loose:
        return Chains("a link is not tight", min(seen.loose))
    if (dataset := _on_a_cycle(np.concatenate([np.empty(0, dtype=np.int64), *seen.ties]), links)) >= 0:
        return Chains("links form a cycle", dataset)
    return Chains("", gap=_total_gap(better, links, epsilon, above, seen))


def _look_at(child: Indices, better: Floats, links: Indices, epsilon: Floats, seen: Tally) -> None:
    edge = epsilon[child]
    lacking = np.isnan(edge)
    if lacking.any():
        with seen.lock:
            seen.missing.append(int(child[np.argmax(lacking)]))
        child, edge = child[~lacking], edge[~lacking]
    lower, upper = better.take(links.take(child)), better.take(child)
    crossing = (lower < 0.0) & (upper > 0.0)
    gap, loose = _plain_gaps(lower, upper, edge)
    gap[crossing], loose[crossing] = 0.0, False
    with np.errstate(invalid="ignore"):
        rise = np.where(gap > 0.0, upper - lower, np.inf)
    with seen.lock:
        seen.count += len(child)
        seen.gap = max(seen.gap, float(np.max(gap, initial=0.0)))
        seen.rise = min(seen.rise, float(np.min(rise, initial=np.inf)))
        seen.ties.append(child[lower >= upper])
        seen.crossings.append(child[crossing])
        if loose.any():
            seen.loose.append(int(child[np.argmax(loose)]))


def _plain_gaps(parent: Floats, child: Floats, epsilon: Floats) -> tuple[Floats, Mask]:
    """Exact bound minus label on links that do not cross ½, and which links leave room for a larger float."""
    with np.errstate(invalid="ignore", over="ignore"):
        total = parent + epsilon
        part = total - parent
        error = (parent - (total - part)) + (epsilon - part)
        gap = (total - child) + error
        above = np.nextafter(child, np.inf)
        loose = (total > above) | ((total == above) & (error >= 0.0)) | (gap < 0.0)
    gap[np.isnan(gap)] = np.inf  # the exact sum lies beyond the largest float
    stuck = (child == -np.inf) & (parent == -np.inf)
    gap[stuck], loose[stuck] = 0.0, False
    return gap, loose


def _on_a_cycle(ties: Indices, links: Indices) -> int:
    """A dataset from which links between equal values lead round for ever, by pointer doubling; −1 if there is none."""
    ends = np.searchsorted(ties := np.sort(ties), links[ties])
    inside = np.append(ties, -1)[ends] == links[ties]
    ends = np.append(np.where(inside, ends, len(ties)), len(ties))
    for _ in range(len(ties).bit_length()):
        ends = ends[ends]
    circling = np.flatnonzero(ends[:-1] < len(ties))
    return int(ties[circling[0]]) if len(circling) else -1


def _most_links(better: Floats, seen: Tally) -> float:
    """How many links with a gap one chain can have: it rises at each, and by no more than the whole range."""
    finite = np.isfinite(better)
    with np.errstate(over="ignore", divide="ignore"):
        reach = np.max(better, initial=0.0, where=finite) - np.min(better, initial=0.0, where=finite)
        return float(min(seen.count, reach / seen.rise + 1.0))


def _total_gap(better: Floats, links: Indices, epsilon: Floats, above: Indices, seen: Tally) -> float:
    """The largest gap of a link, as often as a chain can have links with a gap; and what passes through ½."""
    plain = seen.gap * _most_links(better, seen) if seen.gap > 0.0 else 0.0
    arcs = zip(better[links[above]].tolist(), better[above].tolist(), epsilon[above].tolist(), strict=True)
    return plain + max((crossing_gap(*arc, plain) for arc in arcs), default=0.0)

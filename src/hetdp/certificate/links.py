"""Proof that nothing can be raised: from every free dataset a chain of tight links to a pinned one.

"Some neighbour is tight" would not do, since two datasets can hold each other up; so the links must form no cycle.
All values here are signed so that larger is better: z where the answer is 1, −z where it is 2. Values never fall along
a link, so a cycle could only run through links between equal values.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetdp.certificate import scan
from hetdp.certificate.enclosure import crossing_gap
from hetdp.certificate.workers import share
from hetdp.problem.space import Floats, Indices, Mask

CROSSING_ULPS = 128.0  # how far below its exact bound a label on a crossing edge may be rounded
SMALL = 20_000  # datasets that plain Python looks at sooner than a compiler loads
BLOCK = 1 << 16


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
    """What was seen of the links: how many, faults, the largest gap, the least rise of one with a gap, what is left."""

    count: int = 0
    missing: list[int] = field(default_factory=list)
    loose: list[int] = field(default_factory=list)
    gap: float = 0.0
    rise: float = np.inf
    ties: list[Indices] = field(default_factory=list)
    crossings: list[Indices] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, count: int, missing: int, loose: int, gap: float, rise: float) -> None:
        """What one scan returned."""
        self.count += count
        self.missing += [missing] * (missing >= 0)
        self.loose += [loose] * (loose >= 0)
        self.gap, self.rise = max(self.gap, gap), min(self.rise, rise)


def follow(better: Floats, pinned: Mask, links: Indices, epsilon: Floats) -> Chains:
    """Checks every link by itself, then that no cycle is among them, then bounds the gaps along the chains.

    Args:
        better: the values, signed so that larger is better.
        pinned: where chains may end.
        links: for each free dataset the neighbour that holds it down.
        epsilon: ε of each dataset's link, NaN where the space has no such edge.
    """
    seen = _scan(better, pinned, links, epsilon)
    above, ties = (np.concatenate([np.empty(0, dtype=np.int64), *found]) for found in (seen.crossings, seen.ties))
    for dataset in above.tolist():
        gap = crossing_gap(better[links[dataset]], better[dataset], epsilon[dataset], 0.0)
        if gap > CROSSING_ULPS * np.spacing(better[dataset]):
            seen.loose.append(dataset)
    if seen.missing:
        return Chains("a link is missing or follows no edge", min(seen.missing))
    if seen.loose:
        return Chains("a link is not tight", min(seen.loose))
    if (dataset := _on_a_cycle(ties, links)) >= 0:
        return Chains("links form a cycle", dataset)
    return Chains("", gap=_total_gap(better, links, epsilon, above, seen))


def _scan(better: Floats, pinned: Mask, links: Indices, epsilon: Floats) -> Tally:
    seen, columns = Tally(), (better, pinned, links, epsilon)
    scan_links: Callable[..., Any] = scan.scan_links
    if len(better) > SMALL:
        from hetdp.certificate.compiled import scan_links
    else:
        columns = tuple(column.tolist() for column in columns)

    def look(start: int) -> None:
        stop = min(start + BLOCK, len(better))
        ties, crossings = np.empty(stop - start, dtype=np.int64), np.empty(stop - start, dtype=np.int64)
        with np.errstate(all="ignore"):  # matters only where the compiler is switched off
            *found, tied, crossed = scan_links(start, stop, *columns, ties, crossings)
        with seen.lock:
            seen.add(*found)
            seen.ties.append(ties[:tied])
            seen.crossings.append(crossings[:crossed])

    share(look, range(0, len(better), BLOCK), len(better))
    return seen


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

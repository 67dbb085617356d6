"""Proof that nothing can be raised: from every free dataset a chain of tight links to a pinned one.

"Some neighbour is tight" would not do, since two datasets can hold each other up; so the links must form no cycle.
All values here are signed so that larger is better: z where the answer is 1, −z where it is 2. Values never fall along
a link, so a cycle could only run through links between equal values. This is for the notions that add to z.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetdp.certificate import scan
from hetdp.certificate.enclosure import crossing_gap, crossing_holds
from hetdp.interrupts import import_uninterrupted
from hetdp.problem.space import SMALL, Floats, Indices, Mask
from hetdp.threads import run_in_threads

CROSSING_ULPS = 128.0  # how far below its exact bound a label on a crossing edge may be rounded
BLOCK = 1 << 16
ROUNDING = 2.0**-30  # relative; more than a sum of gaps is rounded by


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
    """What was seen of the links: faults, ties, crossings; by class of rise, how many have a gap, and the largest."""

    missing: list[int] = field(default_factory=list)
    loose: list[int] = field(default_factory=list)
    ties: list[Indices] = field(default_factory=list)
    crossings: list[Indices] = field(default_factory=list)
    counts: Floats = field(default_factory=lambda: np.zeros(scan.RISES))
    gaps: Floats = field(default_factory=lambda: np.zeros(scan.RISES))
    lock: threading.Lock = field(default_factory=threading.Lock)


def follow(better: Floats, pinned: Mask, links: Indices, epsilon: Floats, halved: bool) -> Chains:
    """Checks every link by itself, then that no cycle is among them, then bounds the gaps along the chains.

    Args:
        better: the values, signed so that larger is better.
        pinned: where chains may end.
        links: for each free dataset the neighbour that holds it down.
        epsilon: ε of each dataset's link, NaN where the space has no such edge.
        halved: whether p = ½ is special, as it is for pure ε.
    """
    seen = seen_links(better, pinned, links, epsilon, halved)
    above, ties = joined(seen.crossings), joined(seen.ties)
    room = loosen(seen, above, better, links, epsilon)
    if seen.missing:
        return Chains("a link is missing or follows no edge", min(seen.missing))
    if seen.loose:
        return Chains("a link is not tight", min(seen.loose))
    if (dataset := _on_a_cycle(ties, links)) >= 0:
        return Chains("links form a cycle", dataset)
    plain = gap_of_a_chain(reach_of(better), seen.counts, seen.gaps)
    further = above[~pinned[links[above]]] if plain > 0.0 else above[:0]  # a pinned parent lacks nothing
    more = max(passed_on(further, better, links, epsilon, plain), room)
    return Chains("", gap=(plain + more) * (1.0 + ROUNDING))


def joined(found: list[Indices]) -> Indices:
    """What several blocks found."""
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


def loosen(seen: Tally, above: Indices, better: Floats, links: Indices, epsilon: Floats) -> float:
    """Notes which links across ½ are loose; returns how much room the others may have, at most."""
    room = CROSSING_ULPS * np.spacing(better[above])
    seen.loose += above[crossing_holds(better[links[above]], better[above] + room, epsilon[above])[0]].tolist()
    return float(np.max(room, initial=0.0))


def passed_on(further: Indices, better: Floats, links: Indices, epsilon: Floats, plain: float) -> float:
    """The largest gap behind links across ½ whose parents may have a gap themselves."""
    gaps = [crossing_gap(better[links[at]], better[at], epsilon[at], plain) for at in further.tolist()]
    return max([0.0, *gaps])


def seen_links(better: Floats, pinned: Mask, links: Indices, epsilon: Floats, halved: bool) -> Tally:
    """Goes through the links of all free datasets, one by one."""
    seen, columns = Tally(), (better, pinned, links, epsilon)
    scan_links: Callable[..., Any] = scan.scan_links
    if len(better) > SMALL:
        scan_links = import_uninterrupted("hetdp.certificate.compiled").scan_links
    else:
        columns = tuple(column.tolist() for column in columns)

    def look(start: int) -> None:
        stop = min(start + BLOCK, len(better))
        ties, crossings = np.empty(stop - start, dtype=np.int64), np.empty(stop - start, dtype=np.int64)
        counts, gaps = np.zeros(scan.RISES), np.zeros(scan.RISES)
        with np.errstate(all="ignore"):  # matters only where the compiler is switched off
            missing, loose, tied, crossed = scan_links(start, stop, *columns, ties, crossings, counts, gaps, halved)
        with seen.lock:
            seen.missing += [missing] * (missing >= 0)
            seen.loose += [loose] * (loose >= 0)
            seen.ties.append(ties[:tied].copy())  # a view would keep the whole block
            seen.crossings.append(crossings[:crossed].copy())
            seen.counts += counts
            np.maximum(seen.gaps, gaps, out=seen.gaps)

    run_in_threads(look, range(0, len(better), BLOCK), len(better))
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


def reach_of(better: Floats) -> tuple[float, float]:
    """The least and the greatest finite value, with 0 among them."""
    finite = np.isfinite(better)
    return float(np.min(better, initial=0.0, where=finite)), float(np.max(better, initial=0.0, where=finite))


def gap_of_a_chain(reach: tuple[float, float], counts: Floats, gaps: Floats) -> float:
    """A bound on the gaps along one chain: it has few links that rise by much, since it rises by the range at most."""
    rises = np.arange(scan.RISES) - (scan.SMALLEST_RISE + 1)
    with np.errstate(over="ignore", invalid="ignore"):
        links = np.minimum(counts, np.ldexp(np.float64(reach[1]) - reach[0], -rises) + 1.0)
    links[0] = counts[0]
    some = counts > 0.0
    return float(links[some] @ gaps[some]) * (1.0 + ROUNDING)

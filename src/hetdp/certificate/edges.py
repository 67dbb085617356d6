"""Goes through every edge of a space and says, exactly, whether p is private on it: notions that add to z.

Gaussian privacy, where z is the probit of p, and bounded range, where z is its logit, ask of an arc from u to v for
z(v) ≤ z(u) + μ and no more. Pure ε, where z is the Laplace coordinate, needs a second look at p = ½. There the arc is
private when p(v) ≤ e^ε p(u) and 1 − p(u) ≤ e^ε (1 − p(v)). Where both ends lie on one side of ½ this is
z(v) ≤ z(u) + ε. Where z(u) < 0 < z(v), that inequality is still enough (the definition allows more there), so only arcs
that fail it need the enclosures. Both directions of each edge are gone through.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetdp.certificate import scan
from hetdp.certificate.enclosure import crossing_holds, crossing_slack
from hetdp.certificate.products import listed
from hetdp.interrupts import import_uninterrupted
from hetdp.problem.space import SMALL, EdgeBlock, Floats, Indices, Space
from hetdp.threads import run_in_threads


@dataclass
class Survey:
    """What was seen: counts, the arc with the least slack and what it allows, and what each dataset's link allows.

    `links` holds NaN for a dataset whose link follows no edge.
    """

    links: Any
    arcs: int = 0
    enclosed: int = 0
    violations: int = 0
    slack: float = np.inf
    worst: tuple[Any, ...] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, arcs: int, enclosed: int, violations: int) -> None:
        """Counts of one block."""
        with self.lock:
            self.arcs += arcs
            self.enclosed += enclosed
            self.violations += violations

    def offer(self, block: EdgeBlock, at: int, slack: float) -> None:
        """A candidate for the worst arc; of equals the first one stays, whatever the threads do."""
        own = block.parameters[::2]  # of a parameter for each direction, that of this one
        place = int(block.source[at]), int(block.target[at]), *(float(column[at]) for column in own)
        with self.lock:
            if self.worst is None or (slack, place) < (self.slack, self.worst):
                self.slack, self.worst = slack, place


def survey(space: Space, z: Floats, links: Indices, halved: bool) -> Survey:
    """Looks at every arc of the space; `halved`: p = ½ is special, as it is for pure ε."""
    seen = Survey(links=np.full(space.size, np.nan))
    scan_with = _compiled_scan if space.arc_count > SMALL else _plain_scan
    scan_block = scan_with(z, links, seen, halved)

    pieces, arcs_of = listed(space)

    def look(piece: Any) -> None:
        block = arcs_of(piece)
        doubtful = np.empty(len(block.source), dtype=np.int64)
        least, worst, across, violations, doubts = scan_block(block, doubtful)
        seen.add(len(block.source), doubts, violations)
        if worst >= 0:
            seen.offer(block, worst, least)
        if doubts:
            _decide(pick(block, doubtful[:doubts]), z, seen)
        if across < seen.slack:
            _offer_across(block, z, seen)

    run_in_threads(look, pieces, space.arc_count)
    seen.links = np.asarray(seen.links)
    return seen


Scan = Callable[[EdgeBlock, Indices], tuple[float, int, float, int, int]]


def _compiled_scan(z: Floats, links: Indices, seen: Survey, halved: bool) -> Scan:
    scan_arcs = import_uninterrupted("hetdp.certificate.compiled").scan_arcs

    def scan_block(block: EdgeBlock, doubtful: Indices) -> Any:
        with np.errstate(all="ignore"):  # matters only where the compiler is switched off
            return scan_arcs(block.source, block.target, block.parameters[0], z, links, seen.links, doubtful, halved)

    return scan_block


def _plain_scan(z: Floats, links: Indices, seen: Survey, halved: bool) -> Scan:
    values, neighbours = z.tolist(), links.tolist()
    seen.links = seen.links.tolist()

    def scan_block(block: EdgeBlock, doubtful: Indices) -> Any:
        source, target, epsilon = (part.tolist() for part in (block.source, block.target, block.parameters[0]))
        return scan.scan_arcs(source, target, epsilon, values, neighbours, seen.links, doubtful, halved)

    return scan_block


def pick(block: EdgeBlock, chosen: Indices) -> EdgeBlock:
    """Some arcs of a block."""
    return EdgeBlock(block.source[chosen], block.target[chosen], tuple(x[chosen] for x in block.parameters))


def _decide(block: EdgeBlock, z: Floats, seen: Survey) -> None:
    """Settles the arcs across ½ that failed the simple test."""
    holds, slack = crossing_holds(z[block.source], z[block.target], block.parameters[0])
    slack = np.where(holds, np.maximum(slack, 0.0), np.minimum(slack, -np.finfo(float).tiny))
    seen.add(0, 0, len(slack) - int(np.count_nonzero(holds)))
    least = int(np.argmin(slack))
    seen.offer(block, least, float(slack[least]))


def _offer_across(block: EdgeBlock, z: Floats, seen: Survey) -> None:
    """Offers the arc with the least slack among those across ½ that passed the simple test."""
    with np.errstate(invalid="ignore", over="ignore"):
        passed = (z[block.source] + block.parameters[0]) > z[block.target]
    block = pick(block, np.flatnonzero((z[block.source] < 0.0) & (z[block.target] > 0.0) & passed))
    slack = crossing_slack(z[block.source], z[block.target], block.parameters[0])
    least = int(np.argmin(slack))
    seen.offer(block, least, float(slack[least]))

"""Goes through every edge of a space and says, exactly, whether p is private on it.

An arc from u to v is private when p(v) ≤ e^ε p(u) and 1 − p(u) ≤ e^ε (1 − p(v)); both directions of each edge are
gone through. Where both ends lie on one side of ½ this is z(v) ≤ z(u) + ε, decided by the exact error of that sum.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hetdp.certificate.enclosure import crossing_holds
from hetdp.problem.space import EdgeBlock, Floats, Indices, Mask, Space


@dataclass
class Survey:
    """What was seen: counts, the arc with the least slack, and the ε of each dataset's link."""

    link_epsilon: Floats
    arcs: int = 0
    crossing: int = 0
    violations: int = 0
    slack: float = np.inf
    worst: tuple[int, int, float] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, arcs: int, crossing: int, violations: int) -> None:
        """Counts of one block."""
        with self.lock:
            self.arcs += arcs
            self.crossing += crossing
            self.violations += violations

    def offer(self, block: EdgeBlock, at: int, slack: float) -> None:
        """A candidate for the worst arc; of equals the first one stays, whatever the threads do."""
        place = int(block.source[at]), int(block.target[at]), float(block.parameters[0][at])
        with self.lock:
            if self.worst is None or (slack, place) < (self.slack, self.worst):
                self.slack, self.worst = slack, place


def survey(space: Space, z: Floats, links: Indices, among: Mask | None = None) -> Survey:
    """Every arc of the space; with `among`, only the arcs between two of those datasets."""
    seen = Survey(link_epsilon=np.full(space.size, np.nan))
    blocks, lock = space.edge_blocks(), threading.Lock()

    def work() -> None:
        while (block := _next(blocks, lock)) is not None:
            _survey_block(block if among is None else _between(block, among), z, links, seen)

    workers = min(os.cpu_count() or 1, 1 + space.arc_count // 200_000)
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work) for _ in range(workers)]:
            done.result()
    return seen


def _next(blocks: Iterator[EdgeBlock], lock: threading.Lock) -> EdgeBlock | None:
    with lock:
        return next(blocks, None)


def _between(block: EdgeBlock, among: Mask) -> EdgeBlock:
    chosen = among[block.source] & among[block.target]
    return EdgeBlock(block.source[chosen], block.target[chosen], tuple(x[chosen] for x in block.parameters))


def _survey_block(block: EdgeBlock, z: Floats, links: Indices, seen: Survey) -> None:
    (epsilon,) = block.parameters
    linked = np.flatnonzero(links.take(block.target) == block.source)
    seen.link_epsilon[block.target[linked]] = epsilon[linked]
    z_source, z_target = z.take(block.source), z.take(block.target)
    crossing = np.flatnonzero((z_source < 0.0) & (z_target > 0.0))
    with np.errstate(invalid="ignore"):  # two infinite ends; NaN compares as no violation, and it is none
        slack = (z_source + epsilon) - z_target
    slack[crossing] = np.inf
    bad = _violations_beside_half(block, slack, z_source, z_target, seen)
    if len(crossing):
        holds, exact = crossing_holds(z_source[crossing], z_target[crossing], epsilon[crossing])
        exact = np.where(holds, np.maximum(exact, 0.0), np.minimum(exact, -np.finfo(float).tiny))
        bad += len(crossing) - int(np.count_nonzero(holds))
        least = int(np.argmin(exact))
        seen.offer(block, int(crossing[least]), float(exact[least]))
    seen.add(len(epsilon), len(crossing), bad)


def _violations_beside_half(block: EdgeBlock, slack: Floats, z_source: Floats, z_target: Floats, seen: Survey) -> int:
    """Counts violations where no arc crosses ½; the rounded slack is exact in sign except where it is zero."""
    if not len(slack):
        return 0
    tight = np.flatnonzero(slack <= 0.0)
    if not len(tight):
        if not np.isnan(slack).all():
            least = int(np.nanargmin(slack))
            seen.offer(block, least, float(slack[least]))
        return 0
    error = _sum_error(z_source[tight], block.parameters[0][tight])
    exact = np.where(slack[tight] == 0.0, error, slack[tight])
    least = int(np.argmin(exact))
    seen.offer(block, int(tight[least]), float(exact[least]))
    return int(np.count_nonzero(exact < 0.0))


def _sum_error(a: Floats, b: Floats) -> NDArray[np.float64]:
    """Exact a + b minus its rounding (Knuth's two-sum)."""
    with np.errstate(invalid="ignore"):
        total = a + b
        b_part = total - a
        return np.asarray((a - (total - b_part)) + (b - b_part))

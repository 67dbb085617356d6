"""Goes through every edge of a space and says, exactly, whether p is private on it.

An arc from u to v is private when p(v) ≤ e^ε p(u) and 1 − p(u) ≤ e^ε (1 − p(v)); both directions of each edge are
gone through. Where both ends lie on one side of ½ this is z(v) ≤ z(u) + ε, decided by the exact error of that sum.
Where z(u) < 0 < z(v), that inequality is still enough (the definition allows more there), so only arcs that miss it, or
nearly do, are looked at again.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hetdp.certificate.enclosure import crossing_holds, crossing_slack
from hetdp.certificate.workers import share
from hetdp.problem.space import EdgeBlock, Floats, Indices, Mask, Space

NEARLY = 1e-6  # arcs with less slack are looked at again
ROUNDING = 2.0**-48


@dataclass
class Survey:
    """What was seen: counts, the arc with the least slack, and the ε of each dataset's link if it is nearly tight."""

    link_epsilon: Floats
    arcs: int = 0
    enclosed: int = 0
    violations: int = 0
    slack: float = np.inf
    worst: tuple[int, int, float] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, arcs: int, enclosed: int, violations: int) -> None:
        """Counts of one block."""
        with self.lock:
            self.arcs += arcs
            self.enclosed += enclosed
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
    near = NEARLY + ROUNDING * float(np.max(np.abs(z), initial=0.0, where=np.isfinite(z)))

    def look(block: EdgeBlock) -> None:
        _survey_block(block if among is None else _between(block, among), z, links, near, seen)

    share(look, space.edge_blocks())
    return seen


def _between(block: EdgeBlock, among: Mask) -> EdgeBlock:
    return _pick(block, np.flatnonzero(among[block.source] & among[block.target]))


def _pick(block: EdgeBlock, chosen: Indices) -> EdgeBlock:
    return EdgeBlock(block.source[chosen], block.target[chosen], tuple(x[chosen] for x in block.parameters))


def _survey_block(block: EdgeBlock, z: Floats, links: Indices, near: float, seen: Survey) -> None:
    if not len(block.source):
        return
    slack = z.take(block.source)
    with np.errstate(invalid="ignore", over="ignore"):  # NaN comes from infinite ends, and is looked at again
        slack += block.parameters[0]
        slack -= z.take(block.target)
    chosen = np.flatnonzero(~(slack > near))
    least = _look_again(_pick(block, chosen), slack[chosen], z, links, seen) if len(chosen) else np.inf
    if least > near:
        _offer_least(block, slack, z, seen)
    seen.add(len(slack), 0, 0)


def _look_again(block: EdgeBlock, slack: Floats, z: Floats, links: Indices, seen: Survey) -> float:
    """Decides the arcs that are nearly tight, notes which of them are links, and returns the least exact slack."""
    (epsilon,) = block.parameters
    for child, other in ((block.target, block.source), (block.source, block.target)):
        linked = np.flatnonzero(links.take(child) == other)
        seen.link_epsilon[child[linked]] = epsilon[linked]
    z_source, z_target = z.take(block.source), z.take(block.target)
    exact = np.where(slack == 0.0, _sum_error(z_source, epsilon), slack)
    crossing = np.flatnonzero((z_source < 0.0) & (z_target > 0.0))
    if len(crossing):
        holds, beyond = crossing_holds(z_source[crossing], z_target[crossing], epsilon[crossing])
        exact[crossing] = np.where(holds, np.maximum(beyond, 0.0), np.minimum(beyond, -np.finfo(float).tiny))
    lost = np.isnan(exact)  # both ends p = 0 or p = 1, or a sum beyond the largest float that should reach infinity
    exact[lost] = np.where(z_source[lost] == z_target[lost], np.inf, -np.inf)
    least = int(np.argmin(exact))
    seen.offer(block, least, float(exact[least]))
    seen.add(0, len(crossing), int(np.count_nonzero(exact < 0.0)))
    return float(exact[least])


def _offer_least(block: EdgeBlock, slack: Floats, z: Floats, seen: Survey) -> None:
    """The least slack where nothing is nearly tight; arcs across ½ have more than the plain difference."""
    z_source, z_target = z.take(block.source), z.take(block.target)
    crossing = np.flatnonzero((z_source < 0.0) & (z_target > 0.0))
    slack[crossing] = crossing_slack(z_source[crossing], z_target[crossing], block.parameters[0][crossing])
    slack[np.isnan(slack)] = np.inf
    least = int(np.argmin(slack))
    seen.offer(block, least, float(slack[least]))


def _sum_error(a: Floats, b: Floats) -> NDArray[np.float64]:
    """Exact a + b minus its rounding (Knuth's two-sum)."""
    with np.errstate(invalid="ignore", over="ignore"):
        total = a + b
        b_part = total - a
        return np.asarray((a - (total - b_part)) + (b - b_part))

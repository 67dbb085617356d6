"""Edges to arcs that know their edge: every edge in both directions, grouped by source.

Only contradictions and classes need to know the edge of an arc; other large graphs go from edges to rows (`rows.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.problem.building.decimals import UNBOUNDED, marks_of
from hetdp.problem.building.rows import Rows, rows_of
from hetdp.problem.space import SMALL, Floats, Indices, Mask


class Arcs(NamedTuple):
    """Arcs ordered by source, then target; `edge` is the position of the edge an arc was made from."""

    source: Indices
    target: Indices
    epsilon: Floats
    edge: NDArray[np.int64]

    def take(self, chosen: Any) -> Arcs:
        """Some of the arcs."""
        return Arcs(self.source[chosen], self.target[chosen], self.epsilon[chosen], self.edge[chosen])

    def rows(self, size: int) -> Rows:
        """The same arcs by row."""
        indptr = np.zeros(size + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.source, minlength=size), out=indptr[1:])
        return Rows(indptr, self.target, marks_of(self.epsilon))


def both_directions(source: Indices, target: Indices, epsilon: Floats, usable: Mask | None = None) -> Arcs:
    """All arcs of the edges, or of the usable ones; self-loops constrain nothing and are dropped."""
    proper = source != target
    edges = np.flatnonzero(proper if usable is None else proper & usable)
    forth, back = source[edges], target[edges]
    if 2 * len(edges) > SMALL:
        rows = rows_of(forth, back, edges.view(np.uint64), int(max(forth.max(initial=-1), back.max(initial=-1))) + 1)
        edge, starts = rows.loads.view(np.int64), np.arange(len(rows.indptr) - 1, dtype=forth.dtype)
        return Arcs(np.repeat(starts, np.diff(rows.indptr)), rows.targets, epsilon[edge], edge)
    ends = np.concatenate([forth, back]), np.concatenate([back, forth])
    order = np.lexsort((ends[1], ends[0]))
    edge = np.concatenate([edges, edges])[order]
    return Arcs(ends[0][order], ends[1][order], epsilon[edge], edge)


def repeats(arcs: Arcs) -> Mask:
    """Which arcs join the same two datasets as the arc before them."""
    same = np.zeros(len(arcs.source), dtype=np.bool_)
    same[1:] = (arcs.source[1:] == arcs.source[:-1]) & (arcs.target[1:] == arcs.target[:-1])
    return same


def merge(arcs: Arcs, repeated: Mask) -> Arcs:
    """One arc for each run of repeats: of those with the smallest ε, the one whose edge was listed first."""
    if not repeated.any():
        return arcs
    chosen = np.flatnonzero(~repeated)
    several = np.flatnonzero(repeated | np.append(repeated[1:], False))
    run = np.searchsorted(chosen, several, side="right") - 1
    order = np.lexsort((arcs.edge[several], arcs.epsilon[several], run))
    first = order[np.diff(run[order], prepend=-1) != 0]
    chosen[run[first]] = several[first]
    return arcs.take(chosen)


def unbounded(rows: Rows) -> Arcs:
    """The arcs of ε = ∞, which constrain nothing; here `edge` is their position among all."""
    at = np.flatnonzero(rows.loads == UNBOUNDED) if rows.loads.max(initial=0) == UNBOUNDED else np.empty(0, np.int64)
    source = (np.searchsorted(rows.indptr, at, side="right") - 1).astype(rows.targets.dtype)
    return Arcs(source, rows.targets[at], np.full(len(at), np.inf), at)

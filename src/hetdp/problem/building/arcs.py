"""Edges to arcs that know their edge: every edge in both directions, grouped by source.

Edges of different classes that join the same two datasets are parallel: each has arcs of its own. Only contradictions,
classes and edges with several parameters need to know the edge of an arc; other large graphs go from edges to rows
(`rows.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.problem.building.decimals import CERTAIN, UNBOUNDED, Marks
from hetdp.problem.building.rows import rows_of
from hetdp.problem.classes import Classes
from hetdp.problem.parameters import Parameters
from hetdp.problem.space import SMALL, Floats, Indices, Mask


class Arcs(NamedTuple):
    """Arcs ordered by source, then target; parallel ones then by their parameters, once `in_order` has seen them.

    Attributes:
        source: where each begins.
        target: where it ends.
        columns: its parameters as written, seen from its source.
        edge: the position of the edge it was made from.
    """

    source: Indices
    target: Indices
    columns: tuple[Floats, ...]
    edge: NDArray[np.int64]

    def take(self, chosen: Any) -> Arcs:
        """Some of the arcs."""
        columns = tuple(column[chosen] for column in self.columns)
        return Arcs(self.source[chosen], self.target[chosen], columns, self.edge[chosen])

    def indptr(self, size: int) -> NDArray[np.int64]:
        """Where the arcs of each dataset begin, and those of the last one end."""
        indptr = np.zeros(size + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.source, minlength=size), out=indptr[1:])
        return indptr


def both_directions(source: Indices, target: Indices, parameters: Parameters, usable: Mask | None = None) -> Arcs:
    """All arcs of the edges, or of the usable ones; self-loops constrain nothing and are dropped."""
    proper = source != target
    edges = np.flatnonzero(proper if usable is None else proper & usable)
    forth, back = source[edges], target[edges]
    if 2 * len(edges) > SMALL:
        rows = rows_of(forth, back, edges.view(np.uint64), int(max(forth.max(initial=-1), back.max(initial=-1))) + 1)
        edge, starts = rows.loads.view(np.int64), np.arange(len(rows.indptr) - 1, dtype=forth.dtype)
        ends = np.repeat(starts, np.diff(rows.indptr)), rows.targets
    else:
        ends = np.concatenate([forth, back]), np.concatenate([back, forth])
        order = np.lexsort((ends[1], ends[0]))
        edge = np.concatenate([edges, edges])[order]
        ends = ends[0][order], ends[1][order]
    columns = parameters.take(edge).seen_from(source[edge] != ends[0])
    return Arcs(*ends, columns, edge)


def repeats(arcs: Arcs) -> Mask:
    """Which arcs join the same two datasets as the arc before them."""
    same = np.zeros(len(arcs.source), dtype=np.bool_)
    same[1:] = (arcs.source[1:] == arcs.source[:-1]) & (arcs.target[1:] == arcs.target[:-1])
    return same


def by_class(arcs: Arcs, repeated: Mask, classes: Classes | None) -> tuple[Arcs, Mask]:
    """The arcs, those of each pair grouped by class; and which of them have the ends and class of the arc before."""
    if classes is None:
        return arcs, repeated
    arcs = _rearranged(arcs, repeated, classes.numbers[arcs.edge])
    numbers, again = classes.numbers[arcs.edge], repeated.copy()
    again[1:] &= numbers[1:] == numbers[:-1]
    return arcs, again


def merge(arcs: Arcs, repeated: Mask) -> Arcs:
    """One arc for each run of repeats, with the least of each parameter."""
    if not repeated.any():
        return arcs
    starts = np.flatnonzero(~repeated)
    columns = tuple(np.minimum.reduceat(column, starts) for column in arcs.columns)
    return arcs.take(starts)._replace(columns=columns)


def in_order(arcs: Arcs, classes: Classes | None) -> Arcs:
    """The arcs, those of each pair by their parameters, then by class: the same in whatever order edges were listed."""
    repeated = repeats(arcs)
    if classes is None or not repeated.any():
        return arcs
    return _rearranged(arcs, repeated, *arcs.columns, classes.ranks()[arcs.edge])


def _rearranged(arcs: Arcs, repeated: Mask, *keys: NDArray[Any]) -> Arcs:
    """The arcs, those of each pair in the order of some keys, the first one first; all others stay where they are."""
    several = np.flatnonzero(repeated | np.append(repeated[1:], False))
    pair = np.cumsum(~repeated)[several]
    order = np.lexsort((*(key[several] for key in reversed(keys)), pair))
    places = np.arange(len(repeated))
    places[several] = several[order]
    return arcs.take(places)


def unconstrained(names: tuple[str, ...], marks: tuple[Marks, ...]) -> NDArray[np.int64]:
    """The positions of arcs that constrain in neither direction: ε or μ is ∞ in both, or δ is 1."""
    if len(marks) == 1 and marks[0].max(initial=0) != UNBOUNDED:
        return np.empty(0, dtype=np.int64)
    of = dict(zip(names, marks, strict=True))
    free = np.ones(len(marks[0]), dtype=np.bool_)
    for ways in (("mu",), ("epsilon", "delta"), ("epsilon_back", "delta_back")):
        known = [(of[name], CERTAIN if "delta" in name else UNBOUNDED) for name in ways if name in of]
        if known:
            free &= np.logical_or.reduce([column == limit for column, limit in known])
    return np.flatnonzero(free)

"""Edges to arcs that know their edge: every edge in both directions, grouped by source.

Edges of different classes that join the same two datasets are parallel: each has arcs of its own. Only contradictions,
classes and edges with several parameters need to know the edge of an arc; other large graphs go from edges to rows
(`rows.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.interrupts import import_uninterrupted
from hetdp.problem.classes import Classes
from hetdp.problem.decimals import CERTAIN, UNBOUNDED, Marks
from hetdp.problem.parameters import Parameters
from hetdp.problem.space import SMALL, Floats, Indices, Mask
from hetdp.theory.catalogue import PARAMETERS
from hetdp.theory.notion import directions
from hetdp.threads import CORES, run_in_threads, slices


class Arcs(NamedTuple):
    """Arcs ordered by source, then target. `sort_parallel_arcs` orders parallel ones by their parameters.

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


def arcs_of(source: Indices, target: Indices, parameters: Parameters, usable: Mask | None = None) -> Arcs:
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


def find_repeats(arcs: Arcs) -> Mask:
    """Which arcs join the same two datasets as the arc before them."""
    same = np.zeros(len(arcs.source), dtype=np.bool_)
    same[1:] = (arcs.source[1:] == arcs.source[:-1]) & (arcs.target[1:] == arcs.target[:-1])
    return same


def group_by_class(arcs: Arcs, repeated: Mask, classes: Classes | None) -> tuple[Arcs, Mask]:
    """The arcs, those of each pair grouped by class; and which of them have the ends and class of the arc before."""
    if classes is None:
        return arcs, repeated
    arcs = _rearranged(arcs, repeated, classes.numbers[arcs.edge])
    numbers, again = classes.numbers[arcs.edge], repeated.copy()
    again[1:] &= numbers[1:] == numbers[:-1]
    return arcs, again


def merge_repeats(arcs: Arcs, repeated: Mask) -> Arcs:
    """One arc for each run of repeats, with the least of each parameter."""
    if not repeated.any():
        return arcs
    starts = np.flatnonzero(~repeated)
    columns = tuple(np.minimum.reduceat(column, starts) for column in arcs.columns)
    return arcs.take(starts)._replace(columns=columns)


def sort_parallel_arcs(arcs: Arcs, classes: Classes | None) -> Arcs:
    """The arcs, those of each pair by their parameters, then by class: the same in whatever order edges were listed."""
    repeated = find_repeats(arcs)
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


def find_unconstrained(names: tuple[str, ...], marks: tuple[Marks, ...]) -> NDArray[np.int64]:
    """The positions of arcs that constrain in neither direction: in each, some parameter has its largest value."""
    if len(marks) == 1 and marks[0].max(initial=0) != UNBOUNDED:
        return np.empty(0, dtype=np.int64)
    of = dict(zip(names, marks, strict=True))
    free = np.ones(len(marks[0]), dtype=np.bool_)
    for way in directions(names):
        free &= np.logical_or.reduce(
            [of[name] == (CERTAIN if PARAMETERS[name].most == 1.0 else UNBOUNDED) for name in way]
        )
    return np.flatnonzero(free)


# From the edges of a large graph to its rows: dealt into buckets of consecutive datasets, then sorted in each.


Loads = NDArray[np.uint64]
Dealt = tuple[Indices, Indices, Loads]

BUCKET = 1 << 14  # arcs in a bucket, on average
BUCKETS = 1 << 12  # at most: dealing into more would be slower than sorting larger ones


class Rows(NamedTuple):
    """Arcs grouped by source: the row of dataset i is ``indptr[i]:indptr[i + 1]``, ordered by target.

    Attributes:
        indptr: where each row begins, and the last one ends.
        targets: the other end of each arc.
        loads: what each arc carries along: the mark of its ε, or the position of its edge.
        repeated: how many arcs join the same two datasets as the arc before them.
    """

    indptr: NDArray[np.int64]
    targets: Indices
    loads: Loads
    repeated: int = 0

    def take(self, chosen: NDArray[np.int64]) -> Rows:
        """Some of the arcs, by ascending position."""
        return Rows(np.searchsorted(chosen, self.indptr), self.targets[chosen], self.loads[chosen])


def rows_of(source: Indices, target: Indices, loads: Loads, size: int) -> Rows:
    """Both directions of every edge, of equal arcs first those from source to target; self-loops are dropped."""
    arcs = 2 * len(source)
    shift = max((size * BUCKET // max(arcs, 1)).bit_length() - 1, (size // BUCKETS).bit_length(), 0)
    part = max(-(-arcs // CORES), 1)
    dealers = [
        (heads[piece], tails[piece], loads[piece])
        for heads, tails in ((source, target), (target, source))
        for piece in slices(max(len(source), 1), part)
    ]
    dealt, bounds = _deal(dealers, shift, (max(size - 1, 0) >> shift) + 1)
    return _order(dealt, bounds, shift, size)


def merge_rows(rows: Rows) -> tuple[Rows, bool]:
    """One arc for each run of repeats, that with the least load; and whether the loads of each run were equal.

    The rows given are used up.
    """
    if not rows.repeated:
        return rows, True
    kept, agree = import_uninterrupted("hetdp.problem.compiled").merge(rows.indptr, rows.targets, rows.loads)
    for column in (rows.targets, rows.loads):
        column.resize(kept, refcheck=False)  # gives the rest back; nobody else has seen them
    return rows._replace(repeated=0), agree


def _deal(dealers: list[Dealt], shift: int, buckets: int) -> tuple[Dealt, NDArray[np.int64]]:
    """The arcs by bucket, and where the buckets begin and end; each dealer has places of its own in every bucket."""
    compiled = import_uninterrupted("hetdp.problem.compiled")
    counts = np.zeros((len(dealers), buckets), dtype=np.int64)
    run_in_threads(lambda at: compiled.count(*dealers[at][:2], shift, counts[at]), range(len(dealers)))
    ends = np.cumsum(counts.T).reshape(counts.T.shape)
    bounds = np.concatenate([[0], ends[:, -1]])
    places = np.ascontiguousarray(ends.T) - counts
    dealt: Any = tuple(np.empty(bounds[-1], dtype=column.dtype) for column in dealers[0])
    run_in_threads(lambda at: compiled.deal(*dealers[at], shift, places[at], dealt), range(len(dealers)))
    return dealt, bounds


def _order(dealt: Dealt, bounds: NDArray[np.int64], shift: int, size: int) -> Rows:
    """Every bucket in order, and the rows in it."""
    order = import_uninterrupted("hetdp.problem.compiled").order
    indptr, repeated = np.zeros(size + 1, dtype=np.int64), list[int]()

    def work(buckets: slice) -> None:
        longest = int(np.diff(bounds[buckets.start : buckets.stop + 1]).max())
        room = tuple(np.empty(longest, dtype=column.dtype) for column in dealt)
        for bucket in range(buckets.start, buckets.stop):
            arcs = tuple(column[bounds[bucket] : bounds[bucket + 1]] for column in dealt)
            ends = indptr[1:][bucket << shift : (bucket + 1) << shift]
            repeated.append(order(arcs, room, ends, bucket << shift, int(bounds[bucket])))

    run_in_threads(work, slices(len(bounds) - 1, -(-len(bounds) // (8 * CORES))))
    return Rows(indptr, dealt[1], dealt[2], sum(repeated))

"""From the edges of a large graph to its rows: dealt into buckets of consecutive datasets, then sorted in each.

A bucket is small enough to be sorted in the cache of a core. Both steps are linear in the number of arcs, whatever the
rows look like. What is dealt into are the arrays of the graph itself, so that little memory is needed beside them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.interrupts import load_whole
from hetdp.problem.building.threads import CORES, slices, spread
from hetdp.problem.space import Indices

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


def merged(rows: Rows) -> tuple[Rows, bool]:
    """One arc for each run of repeats, that with the least load; and whether the loads of each run were equal.

    The rows given are used up.
    """
    if not rows.repeated:
        return rows, True
    kept, agree = load_whole("hetdp.problem.building.compiled").merge(rows.indptr, rows.targets, rows.loads)
    for column in (rows.targets, rows.loads):
        column.resize(kept, refcheck=False)  # gives the rest back; nobody else has seen them
    return rows._replace(repeated=0), agree


def _deal(dealers: list[Dealt], shift: int, buckets: int) -> tuple[Dealt, NDArray[np.int64]]:
    """The arcs by bucket, and where the buckets begin and end; each dealer has places of its own in every bucket."""
    compiled = load_whole("hetdp.problem.building.compiled")
    counts = np.zeros((len(dealers), buckets), dtype=np.int64)
    spread(lambda at: compiled.count(*dealers[at][:2], shift, counts[at]), range(len(dealers)))
    ends = np.cumsum(counts.T).reshape(counts.T.shape)
    bounds = np.concatenate([[0], ends[:, -1]])
    places = np.ascontiguousarray(ends.T) - counts
    dealt: Any = tuple(np.empty(bounds[-1], dtype=column.dtype) for column in dealers[0])
    spread(lambda at: compiled.deal(*dealers[at], shift, places[at], dealt), range(len(dealers)))
    return dealt, bounds


def _order(dealt: Dealt, bounds: NDArray[np.int64], shift: int, size: int) -> Rows:
    """Every bucket in order, and the rows in it."""
    order = load_whole("hetdp.problem.building.compiled").order
    indptr, repeated = np.zeros(size + 1, dtype=np.int64), list[int]()

    def work(buckets: slice) -> None:
        longest = int(np.diff(bounds[buckets.start : buckets.stop + 1]).max())
        room = tuple(np.empty(longest, dtype=column.dtype) for column in dealt)
        for bucket in range(buckets.start, buckets.stop):
            arcs = tuple(column[bounds[bucket] : bounds[bucket + 1]] for column in dealt)
            ends = indptr[1:][bucket << shift : (bucket + 1) << shift]
            repeated.append(order(arcs, room, ends, bucket << shift, int(bounds[bucket])))

    spread(work, slices(len(bounds) - 1, -(-len(bounds) // (8 * CORES))))
    return Rows(indptr, dealt[1], dealt[2], sum(repeated))

"""Edges to arcs: every edge in both directions, grouped by source, without a Python loop over edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.problem.space import Floats, Indices

POSITION_BITS = 32


class Arcs(NamedTuple):
    """Arcs ordered by source, then target; `edge` is the position of the edge an arc was made from."""

    source: Indices
    target: Indices
    epsilon: Floats
    edge: NDArray[np.int64]

    def take(self, chosen: Any) -> Arcs:
        """Some of the arcs."""
        return Arcs(self.source[chosen], self.target[chosen], self.epsilon[chosen], self.edge[chosen])


def both_directions(source: Indices, target: Indices, epsilon: Floats) -> Arcs:
    """All arcs of the edges; self-loops constrain nothing and are dropped."""
    loops = source == target
    proper = np.flatnonzero(~loops) if loops.any() else slice(None)
    forth, back = source[proper], target[proper]
    ends = np.concatenate([forth, back]), np.concatenate([back, forth])
    order = _order(*ends)
    arc_source, arc_target = ends[0][order], ends[1][order]
    np.subtract(order, len(forth), out=order, where=order >= len(forth))
    edge = order if isinstance(proper, slice) else proper[order]
    return Arcs(arc_source, arc_target, epsilon[edge], edge)


def repeats(arcs: Arcs) -> NDArray[np.bool_]:
    """Which arcs join the same two datasets as the arc before them."""
    same = np.zeros(len(arcs.source), dtype=np.bool_)
    same[1:] = (arcs.source[1:] == arcs.source[:-1]) & (arcs.target[1:] == arcs.target[:-1])
    return same


def merge(arcs: Arcs, repeated: NDArray[np.bool_]) -> Arcs:
    """One arc for each run of repeats: of those with the smallest ε, the one whose edge was listed first."""
    if not repeated.any():
        return arcs
    first = np.flatnonzero(~repeated)
    run = np.cumsum(~repeated) - 1
    smallest = np.flatnonzero(arcs.epsilon == np.minimum.reduceat(arcs.epsilon, first)[run])
    smallest = smallest[np.lexsort((arcs.edge[smallest], run[smallest]))]
    return arcs.take(smallest[np.unique(run[smallest], return_index=True)[1]])


def _order(source: Indices, target: Indices) -> NDArray[np.int64]:
    """The order by (source, target): two sorts of packed integers, many times faster than an argsort of pairs."""
    by_target = _stable_order(target)
    return by_target[_stable_order(source[by_target])]


def _stable_order(values: Indices) -> NDArray[np.int64]:
    if len(values) >> POSITION_BITS or (len(values) and int(values.max()) >> (63 - POSITION_BITS)):
        return np.argsort(values, kind="stable")
    packed = values.astype(np.int64)
    packed <<= POSITION_BITS
    packed |= np.arange(len(values))
    packed.sort()
    packed &= (1 << POSITION_BITS) - 1
    return packed

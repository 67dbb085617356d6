"""Integers looked up among others, all at once."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.interrupts import load_whole
from hetdp.problem.building.threads import slices, spread
from hetdp.problem.columns import Integers, distinct
from hetdp.problem.space import SMALL, Indices

SPREAD = 8  # a table may have so many entries for each integer
BLOCK = 1 << 16  # small enough to stay in the cache; little is one block, and needs no threads


class Lookup:
    """The positions of integers, which stand in any order; of equal ones the first counts.

    An integer is known by its offset from the lowest of all, without a sign: what lies below wraps around to a large
    offset. There is a table of all offsets, unless they lie too far apart: then they are sorted, and searched.
    """

    def __init__(self, integers: Integers) -> None:
        self._lowest, self._span = _range(integers)
        self._number = np.int32 if len(integers) < 2**31 else np.int64
        self._table: Indices | None = None
        if self._span <= SPREAD * len(integers):
            self._table = np.full(self._span, -1, dtype=self._number)
            self._table[integers[::-1] - self._lowest] = np.arange(len(integers))[::-1]  # what is written last stays
        else:
            self._order = np.argsort(integers, kind="stable").astype(self._number)
            self._offsets = self._offset(integers[self._order])

    @property
    def distinct(self) -> int:
        """How many different integers there are."""
        return len(distinct(self._offsets)) if self._table is None else int(np.count_nonzero(self._table >= 0))

    def positions(self, wanted: Integers) -> Indices:
        """The position of each, −1 where there is none."""
        found = np.empty(len(wanted), dtype=self._number)
        find = self._search if self._table is None else self._read
        if self._table is None and len(wanted) > SMALL:
            find = partial(self._search_cells, load_whole("hetdp.problem.building.compiled").find, *self._cells)

        def work(piece: slice) -> None:
            found[piece] = find(self._offset(wanted[piece]))

        spread(work, slices(len(wanted), BLOCK), len(wanted))
        return found

    def _offset(self, integers: Integers) -> NDArray[np.uint64]:
        return (integers - self._lowest).view(np.uint64)

    def _read(self, wanted: NDArray[np.uint64]) -> Indices:
        table = np.asarray(self._table)
        return np.where(wanted < len(table), table.take(wanted.view(np.int64), mode="clip"), -1)

    def _search(self, wanted: NDArray[np.uint64]) -> Indices:
        at = np.minimum(np.searchsorted(self._offsets, wanted), len(self._offsets) - 1)
        return np.where(self._offsets[at] == wanted, self._order[at], -1)

    def _search_cells(self, find: Any, cells: Integers, bits: Any, wanted: NDArray[np.uint64]) -> Indices:
        at = np.empty(len(wanted), dtype=np.int64)
        find(wanted, self._offsets, cells, bits, at)
        return np.where(at >= 0, self._order[at], -1)

    @cached_property
    def _cells(self) -> tuple[Integers, Any]:
        """Where among the offsets each cell begins, with about two cells for an integer; and the bits within a cell."""
        bits = max(self._span.bit_length() - len(self._offsets).bit_length() - 1, 0)
        cells = np.arange((self._span - 1 >> bits) + 1, dtype=np.uint64) << np.uint64(bits)
        return np.append(np.searchsorted(self._offsets, cells), len(self._offsets)), np.uint64(bits)


def union(*columns: Integers) -> Integers:
    """All different integers of some columns, in order."""
    columns = tuple(column for column in columns if len(column))
    if not columns:
        return np.empty(0, dtype=np.int64)
    lowest, span = _range(np.array([end for column in columns for end in (column.min(), column.max())]))
    if span > SPREAD * sum(map(len, columns)):
        return distinct(np.concatenate([distinct(column) for column in columns]))
    seen = np.zeros(span, dtype=np.bool_)
    for column in columns:
        seen[column - lowest] = True
    return np.flatnonzero(seen) + lowest


def _range(integers: Integers) -> tuple[int, int]:
    """The lowest of the integers, and how many there are from it to the highest."""
    lowest = int(integers.min())
    return lowest, int(integers.max()) - lowest + 1

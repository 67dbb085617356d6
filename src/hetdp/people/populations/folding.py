"""People grouped into classes in few passes over many rows: ε is sorted once, classes are found when answers come.

Rows are sorted by one sort of whole numbers that hold a key and, in the lower bits, the number of the row. This is many
times faster than an argsort.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.people.privacy.epsilons import GRID, LARGEST, UNBOUNDED, Units
from hetdp.problem.decimals import marks_of, unpack_marks
from hetdp.problem.space import Floats
from hetdp.threads import slices

Whole = NDArray[np.int64]
Rows = NDArray[np.intp]
BLOCK = 1 << 14  # numbers at a time, so that they stay in the cache
FEW = 16  # classes, for which a search in all rows is fast
ROOM = 64  # bits of a key and a row together


class EpsilonLevels:
    """Everybody's ε in the order of the rows, and its distinct values with their counts.

    Args:
        values: the ε of each row, a person or a kind of people.
        weights: the number of people of each kind, if rows are kinds.
    """

    def __init__(self, values: Floats, weights: Whole | None = None) -> None:
        self.values, self.weights = values, weights

    @property
    def people(self) -> int:
        """The number of people."""
        return len(self.values) if self.weights is None else int(self.weights.sum())

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)

    def sort(self) -> None:
        """Sorts now instead of at the first use."""
        self.sorted  # noqa: B018

    @cached_property
    def sorted(self) -> Floats:
        """All ε, sorted."""
        return np.sort(self.values)

    @cached_property
    def levels(self) -> Floats:
        """The distinct ε, sorted, without negative zero."""
        found = take_distinct(self.sorted, self._first)
        if len(found) and found[0] == 0.0:
            found[0] = 0.0  # it may have been −0.0
        return found

    @cached_property
    def sizes(self) -> Whole:
        """The number of people with each of `levels`."""
        if self.weights is None:
            return sizes_from(self._first, len(self))
        return sum_from(self.weights[np.argsort(self.values, kind="stable")], self._first)

    @cached_property
    def _first(self) -> Whole | None:
        return first_of_each(self.sorted)


def first_of_each(ordered: NDArray[Any]) -> Whole | None:
    """The index of the first of each distinct number in a sorted array; None if all are distinct.

    >>> first_of_each(np.array([3, 3, 5, 8, 8])).tolist()
    [0, 2, 3]
    """
    begins = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return None if begins.all() else np.flatnonzero(begins)


def take_distinct(ordered: NDArray[Any], first: Whole | None) -> NDArray[Any]:
    """The distinct numbers of a sorted array."""
    return ordered if first is None else ordered[first]


def sizes_from(first: Whole | None, total: int) -> Whole:
    """The counts of the distinct numbers, from their first indices."""
    return np.broadcast_to(np.int64(1), total) if first is None else np.diff(first, append=total)


def sum_from(ordered: NDArray[Any], first: Whole | None) -> NDArray[Any]:
    """The sums of an array from each first index to the next.

    >>> sum_from(np.array([1, 2, 4, 8]), np.array([0, 3])).tolist()
    [7, 8]
    """
    return ordered if first is None else np.add.reduceat(ordered, first)


def to_units(epsilon: Floats) -> Units:
    """Many ε ≥ 0 in units of 2⁻⁴⁰, never above the decimals as written.

    A float and the one below it have the same number of units, unless the upper one is a whole number of them; so only
    there it matters whether the float is above its decimal.
    """
    found, exact = np.empty(len(epsilon), dtype=np.int64), np.empty(len(epsilon), dtype=np.bool_)
    for piece in slices(len(epsilon), BLOCK):
        scaled = np.minimum(epsilon[piece], LARGEST / (1 << GRID)) * float(1 << GRID)
        found[piece] = scaled
        np.equal(found[piece], scaled, out=exact[piece])
    whole = np.flatnonzero(exact)
    if len(whole):
        written = epsilon[whole]
        floored = np.minimum(unpack_marks(marks_of(written + 0.0))[0], LARGEST / (1 << GRID))
        found[whole] = np.where(np.isinf(written), UNBOUNDED, np.floor(floored * float(1 << GRID)))
    return found


def sort_rows(keys: Whole) -> tuple[Rows, Whole]:
    """The rows in increasing order of their keys, which are not below zero, equal ones as they stand; and their keys.

    >>> [found.tolist() for found in sort_rows(np.array([7, 2, 7, 0]))]
    [[3, 1, 0, 2], [0, 2, 7, 7]]
    """
    bits, shift = _layout(keys)
    packed, pieces = np.empty(len(keys), dtype=np.uint64), slices(len(keys), BLOCK)
    for piece in pieces:
        upper = (keys[piece] >> shift).view(np.uint64) << np.uint64(bits)
        np.bitwise_or(upper, np.arange(piece.start, piece.stop, dtype=np.uint64), out=packed[piece])
    packed.sort()
    rows, ordered = np.empty(len(keys), dtype=np.intp), np.empty(len(keys), dtype=np.int64)
    for piece in pieces:
        rows[piece] = packed[piece] & np.uint64((1 << bits) - 1)
        ordered[piece] = packed[piece] >> np.uint64(bits)
    return (rows, ordered) if shift == 0 else _sort_ties(rows, ordered, keys[rows])


def sorted_rows(keys: Whole) -> Rows:
    """The rows as `sort_rows` has them, written over the keys: allocating memory takes long.

    >>> sorted_rows(np.array([7, 2, 7, 0])).tolist()
    [3, 1, 0, 2]
    """
    bits, shift = _layout(keys)
    if shift:
        return sort_rows(keys)[0]
    packed, pieces, last = keys.view(np.uint64), slices(len(keys), BLOCK), np.uint64((1 << bits) - 1)
    for piece in pieces:
        packed[piece] <<= np.uint64(bits)
        packed[piece] |= np.arange(piece.start, piece.stop, dtype=np.uint64)
    packed.sort()
    for piece in pieces:
        packed[piece] &= last
    return packed.view(np.intp)


def _layout(keys: Whole) -> tuple[int, int]:
    """The number of bits for a row number, and the number of low bits of the key that do not fit beside it."""
    bits = max(len(keys) - 1, 1).bit_length()
    return bits, max(0, int(keys.max(initial=0)).bit_length() + bits - ROOM)


def _sort_ties(rows: Rows, upper: Whole, keys: Whole) -> tuple[Rows, Whole]:
    """Sorts rows that are sorted by the upper bits of their keys only."""
    same = upper[1:] == upper[:-1]
    part = np.concatenate([[0], np.cumsum(~same)])
    mixed = np.zeros(int(part[-1]) + 1, dtype=np.bool_)
    mixed[part[1:][same & (keys[1:] != keys[:-1])]] = True
    where = np.flatnonzero(mixed[part])
    order = where[np.lexsort((keys[where], part[where]))]
    rows[where], keys[where] = rows[order], keys[order]
    return rows, keys


class Fold:
    """The assignment of rows to classes.

    Args:
        sizes: the number of people of each class.
        order: returns the rows sorted by class, when needed.
        levels: the smallest ε of each class, if classes differ in ε alone.
        epsilon: everybody's ε, likewise.
    """

    def __init__(
        self, sizes: Whole, order: Callable[[], Rows], levels: Floats | None = None, epsilon: Floats | None = None
    ) -> None:
        self.sizes, self._order, self._levels, self._epsilon = sizes, order, levels, epsilon
        self.size = int(sizes.sum())

    @cached_property
    def order(self) -> Rows:
        """The rows of the first class, then those of the second, and so on."""
        return self._order()

    @cached_property
    def member(self) -> Whole:
        """The class of each person."""
        if self._levels is not None and self._epsilon is not None:
            return np.searchsorted(self._levels, self._epsilon, side="right") - 1
        found = np.empty(self.size, dtype=np.int64)
        found[self.order] = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return found

    def counts(self, answers: NDArray[Any], values: int) -> NDArray[Any]:
        """How many people of each class have each value, from everybody's value: [class, value]."""
        if self._levels is not None and self._epsilon is not None and len(self._levels) <= FEW:
            return self._few(answers, values, self._levels, self._epsilon)
        found = np.empty((values, len(self.sizes)), dtype=np.uint8 if len(self.sizes) == self.size else np.int64)
        said = answers[self.order]
        begin = np.cumsum(self.sizes) - self.sizes if len(self.sizes) < self.size else None
        for value in range(values):
            if begin is None:
                np.equal(said, value, out=found[value].view(np.bool_))
            else:
                found[value] = np.add.reduceat((said == value).astype(np.int32), begin)
        return found.T

    def people_by(self, codes: Whole, count: int) -> Whole:
        """How many people have each of some codes, of which each row has one."""
        return np.bincount(codes, minlength=count)

    def _few(self, answers: NDArray[Any], values: int, levels: Floats, epsilon: Floats) -> NDArray[Any]:
        """The same, without an order: a class is how many of the other classes' least ε are not above one's own."""
        found = np.zeros(len(levels) * values, dtype=np.int64)
        for piece in slices(len(epsilon), BLOCK):
            place = np.zeros(piece.stop - piece.start, dtype=np.uint8)
            for least in levels[1:].tolist():
                place += epsilon[piece] >= least
            found += np.bincount(place * np.int64(values) + answers[piece].astype(np.int64), minlength=len(found))
        return found.reshape(-1, values)

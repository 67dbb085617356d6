"""People grouped into classes in few passes over many rows: ε is sorted once, and with it the rows where most ε differ.

Rows are sorted by one sort of whole numbers that hold a key and, in the lower bits, the number of the row. This is many
times faster than an argsort.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.people.privacy.epsilons import LARGEST, UNBOUNDED, Units
from hetdp.problem.decimals import GRID, marks_of, unpack_marks
from hetdp.problem.space import Floats
from hetdp.threads import run_in_threads, slices, sort_in_threads

Whole = NDArray[np.int64]
Rows = NDArray[np.intp]
BLOCK = 1 << 14  # numbers at a time, so that they stay in the cache
FEW_CLASSES = 16  # classes, for which the rows of each are stored as bits
NUMPY_COUNTS_BITS = not np.__version__.startswith("1.")
WORD_BITS = 64  # bits of a key and a row together
SAMPLE_SIZE = 1 << 10  # ε by which is guessed whether few or most of them differ
MOST_LOST = 8  # low bits of a key; with more, too many rows are tied


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
        """Finds the distinct ε now instead of at the first use."""
        self.levels  # noqa: B018

    @cached_property
    def sorted(self) -> Floats:
        """All ε, sorted."""
        if self._by_rows is None:
            return sort_in_threads(self.values)
        rows, units = self._by_rows
        found = _take_in_threads(self.values, rows)
        for where, order in _order_ties(units, found):
            found[where] = found[order]
        return found

    @cached_property
    def order(self) -> Rows:
        """The rows sorted by ε in units, equal ones as they stand."""
        return sorted_rows(to_units(self.values)) if self._by_rows is None else self._by_rows[0]

    @property
    def sorted_units(self) -> Units:
        """All ε in units, sorted."""
        return to_units(self.sorted) if self._by_rows is None else self._by_rows[1]

    @cached_property
    def _few_levels(self) -> tuple[Floats, Whole] | None:
        """The distinct ε and their counts if there are only a few, found without a sort; otherwise None."""
        levels = np.unique(self._sample)
        if self.weights is not None or not 0 < len(levels) <= FEW_CLASSES:
            return None
        sizes = np.zeros(len(levels), dtype=np.int64)
        for piece in slices(len(self), BLOCK):
            sizes += [np.count_nonzero(self.values[piece] == level) for level in levels]
        return (levels, sizes) if int(sizes.sum()) == len(self) else None  # the sample may miss some

    @property
    def _sample(self) -> Floats:
        return self.values[:: len(self) // SAMPLE_SIZE + 1]

    @cached_property
    def _by_rows(self) -> tuple[Rows, Units] | None:
        """The rows sorted by ε, and ε in units in this order; None if many are equal or some are invalid.

        Then the rows may never be needed, or few numbers are sorted faster.
        """
        is_small = len(self) < SAMPLE_SIZE or 2 * len(np.unique(self._sample)) < len(self._sample)
        if is_small or self.weights is not None or not (self.values >= 0.0).all():
            return None
        units, beyond = to_units(self.values), UNBOUNDED
        if int(units.max()) == UNBOUNDED:
            beyond = int(np.max(units, where=units < UNBOUNDED, initial=0)) + 1
            np.minimum(units, beyond, out=units)  # instead of infinity, so that keys are short
        if _layout(units)[1] > MOST_LOST:
            return None
        rows, ordered = sort_rows(units, overwrite=True)
        ordered[np.searchsorted(ordered, beyond) :] = UNBOUNDED
        return rows, ordered

    @cached_property
    def levels(self) -> Floats:
        """The distinct ε, sorted, without negative zero."""
        found = take_distinct(self.sorted, self._first) if self._few_levels is None else self._few_levels[0]
        if len(found) and found[0] == 0.0:
            found[0] = 0.0  # it may have been −0.0
        return found

    @cached_property
    def sizes(self) -> Whole:
        """The number of people with each of `levels`."""
        if self._few_levels is not None:
            return self._few_levels[1]
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

    def work(piece: slice) -> None:
        scaled = np.minimum(epsilon[piece], LARGEST / (1 << GRID)) * float(1 << GRID)
        found[piece] = scaled
        np.equal(found[piece], scaled, out=exact[piece])

    run_in_threads(work, slices(len(epsilon), BLOCK), len(epsilon))
    whole = np.flatnonzero(exact)
    if len(whole):
        written = epsilon[whole]
        floored = np.minimum(unpack_marks(marks_of(written + 0.0))[0], LARGEST / (1 << GRID))
        found[whole] = np.where(np.isinf(written), UNBOUNDED, np.floor(floored * float(1 << GRID)))
    return found


def sort_rows(keys: Whole, overwrite: bool = False) -> tuple[Rows, Whole]:
    """The rows in increasing order of their keys, which are not below zero, equal ones as they stand; and their keys.

    With `overwrite`, the memory of the keys is used again: allocating memory takes long.

    >>> [found.tolist() for found in sort_rows(np.array([7, 2, 7, 0]))]
    [[3, 1, 0, 2], [0, 2, 7, 7]]
    """
    bits, shift = _layout(keys)
    pieces = slices(len(keys), BLOCK)
    packed = keys.view(np.uint64) if overwrite and shift == 0 else np.empty(len(keys), dtype=np.uint64)

    def pack(piece: slice) -> None:
        upper = (keys[piece] >> shift).view(np.uint64) << np.uint64(bits)
        np.bitwise_or(upper, np.arange(piece.start, piece.stop, dtype=np.uint64), out=packed[piece])

    def unpack(piece: slice) -> None:
        np.bitwise_and(found[piece], np.uint64((1 << bits) - 1), out=packed[piece])
        found[piece] >>= np.uint64(bits)

    run_in_threads(pack, pieces, len(keys))
    found = sort_in_threads(packed)
    run_in_threads(unpack, pieces, len(keys))
    rows, ordered = packed.view(np.intp), found.view(np.int64)
    return (rows, ordered) if shift == 0 else _sort_ties(rows, ordered, _take_in_threads(keys, rows))


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
    packed = sort_in_threads(packed)
    for piece in pieces:
        packed[piece] &= last
    return packed.view(np.intp)


def _layout(keys: Whole) -> tuple[int, int]:
    """The number of bits for a row number, and the number of low bits of the key that do not fit beside it."""
    bits = max(len(keys) - 1, 1).bit_length()
    return bits, max(0, int(keys.max(initial=0)).bit_length() + bits - WORD_BITS)


def _sort_ties(rows: Rows, upper: Whole, keys: Whole) -> tuple[Rows, Whole]:
    """Sorts rows that are sorted by the upper bits of their keys only."""
    for where, order in _order_ties(upper, keys):
        rows[where], keys[where] = rows[order], keys[order]
    return rows, keys


def _order_ties(upper: Whole, keys: NDArray[Any]) -> Iterator[tuple[Rows, Rows]]:
    """Places whose upper bits are equal and whose keys differ, and the same places in the order of their keys."""
    mixed = np.flatnonzero((upper[1:] == upper[:-1]) & (keys[1:] != keys[:-1]))
    if len(mixed):
        tied = np.unique(upper[mixed])
        begin, end = (np.searchsorted(upper, tied, side=side) for side in ("left", "right"))
        part = np.repeat(np.arange(len(tied)), end - begin)
        where = np.arange(len(part)) + (end - np.cumsum(end - begin))[part]
        yield where, where[np.lexsort((keys[where], part))]


def _take_in_threads(numbers: NDArray[Any], rows: Rows) -> NDArray[Any]:
    """The numbers of some rows."""
    found = np.empty(len(rows), dtype=numbers.dtype)

    def work(piece: slice) -> None:
        np.take(numbers, rows[piece], out=found[piece], mode="clip")  # not checked again; all are rows

    run_in_threads(work, slices(len(rows), BLOCK), len(rows))
    return found


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
        """Counts the people of each class that have each value, from everybody's value: [class, value]."""
        if len(self.sizes) <= FEW_CLASSES:
            return self._counts_by_bits(answers, values)
        found = np.empty((values, len(self.sizes)), dtype=np.uint8 if len(self.sizes) == self.size else np.int64)
        ordered = _take_in_threads(answers, self.order)
        begin = np.cumsum(self.sizes) - self.sizes if len(self.sizes) < self.size else None
        for value in range(values):
            if begin is None:
                np.equal(ordered, value, out=found[value].view(np.bool_))
            else:
                found[value] = np.add.reduceat((ordered == value).astype(np.int32), begin)
        return found.T

    def people_by(self, codes: Whole, count: int) -> Whole:
        """Counts the people that have each of some codes; each row has one code."""
        return np.bincount(codes, minlength=count)

    def _counts_by_bits(self, answers: NDArray[Any], values: int) -> NDArray[Any]:
        """The same for few classes, whose rows are stored as bits."""
        found, rest = np.empty((len(self.sizes), values), dtype=np.int64), self.sizes
        for value in range(1, values):
            counts = count_bits(self._rows_as_bits & pack_bits(answers == value))
            found[:, value], rest = counts, rest - counts
        found[:, 0] = rest
        return found

    @cached_property
    def _rows_as_bits(self) -> NDArray[np.uint64]:
        """One bit for each row, in words: [class, word]."""
        if self._levels is None or self._epsilon is None:
            return np.stack([pack_bits(self.member == number) for number in range(len(self.sizes))])
        from_level = [pack_bits(self._epsilon >= level) for level in self._levels.tolist()]
        above = [*from_level[1:], np.zeros_like(from_level[0])]
        return np.stack([one ^ other for one, other in zip(from_level, above, strict=True)])


def pack_bits(chosen: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The bits of an array in words of 64, filled up with zeros.

    >>> pack_bits(np.array([True, False, True])).tolist() == [0b101 << 5]
    True
    """
    packed = np.packbits(chosen)
    if len(packed) % 8:
        packed = np.concatenate([packed, np.zeros(-len(packed) % 8, dtype=np.uint8)])
    return packed.view("<u8")


def count_bits(words: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The number of bits that are set in each row of words; the time depends on their number only.

    >>> count_bits(np.array([[1, 3], [0, 2**64 - 1]], dtype=np.uint64)).tolist()
    [3, 64]
    """
    if NUMPY_COUNTS_BITS:
        counts: NDArray[np.uint32] = np.add.reduce(np.bitwise_count(words), axis=1, dtype=np.uint32)  # < 2³² people
        return counts
    return np.array([np.count_nonzero(np.unpackbits(row.view(np.uint8))) for row in words], dtype=np.uint32)

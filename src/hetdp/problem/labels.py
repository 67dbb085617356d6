"""Labels of datasets: any hashable values, or the integers 0 … n − 1, which need no memory.

Integers are looked up all at once, through a table or by search; other labels through a dictionary. Labels are compared
exactly: 1, 1.0 and True are equal in Python, but a label is found only by a value of its own type, and a graph whose
labels are equal without being the same is refused. A NumPy scalar stands for the Python value that it holds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain, repeat
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hetdp.compilation import BUILDING, uses_compiled
from hetdp.errors import MOST_ALIKE, Fault, FaultCollector, UnknownDatasetError
from hetdp.interrupts import delay_interrupts
from hetdp.problem.columns import Integers, as_column, as_integers, as_list, sort_distinct
from hetdp.problem.space import SMALL_SPACE, Indices
from hetdp.text import ask_if_meant, format_value
from hetdp.threads import run_in_threads, slices

LARGEST_SPREAD = 8  # the largest number of entries of a table for each integer
EXACT_TYPES = {str, bytes, int}  # types whose values are equal only if they are the same
BLOCK = 1 << 16  # small enough for the cache of a core; a short list is one block and needs no threads


class Lookup:
    """Finds the positions of integers in a list of any order; of equal ones, the first counts.

    Integers are stored as unsigned offsets from the smallest one; anything below it wraps around to a large offset. A
    table has an entry for each offset. If the integers lie too far apart for a table, the offsets are sorted and
    searched.
    """

    def __init__(self, integers: Integers) -> None:
        self._lowest, self._span = _range(integers)
        self._number = np.int32 if len(integers) < 2**31 else np.int64
        self._table: Indices | None = None
        if self._span <= LARGEST_SPREAD * len(integers):
            self._table = np.full(self._span, -1, dtype=self._number)
            self._table[integers[::-1] - self._lowest] = np.arange(len(integers))[::-1]  # what is written last stays
        else:
            self._order = np.argsort(integers, kind="stable").astype(self._number)
            self._offsets = self._offset(integers[self._order])

    @property
    def distinct(self) -> int:
        """The number of distinct integers."""
        return len(sort_distinct(self._offsets)) if self._table is None else int(np.count_nonzero(self._table >= 0))

    def positions(self, wanted: Integers) -> Indices:
        """The position of each wanted integer, −1 if it is not there."""
        found = np.empty(len(wanted), dtype=self._number)
        find = self._search if self._table is None else self._read
        if self._table is None and len(wanted) > SMALL_SPACE and uses_compiled(BUILDING, len(wanted)):
            with delay_interrupts():
                from hetdp.problem.compiled import find_offsets

            find = partial(self._search_cells, find_offsets, *self._cells)

        def work(piece: slice) -> None:
            found[piece] = find(self._offset(wanted[piece]))

        run_in_threads(work, slices(len(wanted), BLOCK), len(wanted))
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
        """The start of each cell among the offsets (about two cells per integer), and the bits within a cell."""
        bits = max(self._span.bit_length() - len(self._offsets).bit_length() - 1, 0)
        cells = np.arange((self._span - 1 >> bits) + 1, dtype=np.uint64) << np.uint64(bits)
        return np.append(np.searchsorted(self._offsets, cells), len(self._offsets)), np.uint64(bits)


def union_of(*columns: Integers) -> Integers:
    """The distinct integers of some columns, sorted."""
    columns = tuple(column for column in columns if len(column))
    if not columns:
        return np.empty(0, dtype=np.int64)
    lowest, span = _range(np.array([end for column in columns for end in (column.min(), column.max())]))
    if span > LARGEST_SPREAD * sum(map(len, columns)):
        return sort_distinct(np.concatenate([sort_distinct(one) for one in columns]))
    seen = np.zeros(span, dtype=np.bool_)
    for one in columns:
        seen[one - lowest] = True
    return np.flatnonzero(seen) + lowest


def _range(integers: Integers) -> tuple[int, int]:
    """The smallest of the integers, and the number of integers from there to the largest."""
    lowest = int(integers.min())
    return lowest, int(integers.max()) - lowest + 1


class Labels(Protocol):
    """Maps positions of datasets to labels and back."""

    @property
    def names(self) -> Sequence[Any]:
        """All names, in the order of the datasets."""

    def index(self, label: Hashable) -> int:
        """The position of one dataset; raises UnknownDatasetError."""

    def indices(self, labels: Any) -> Indices:
        """The positions of many datasets, −1 where a label names none. The array is read-only."""


class HasLabels(Protocol):
    """A problem, wherever its datasets are."""

    @property
    def labels(self) -> Labels:
        """The labels of its datasets."""


class RangeLabels:
    """The integers 0 … n − 1."""

    def __init__(self, size: int) -> None:
        self.names: Sequence[Any] = range(size)

    def index(self, label: Hashable) -> int:
        """An integer is its own number."""
        if not isinstance(label, (bool, np.bool_)) and isinstance(label, (int, np.integer)) and label in self.names:
            return operator.index(label)
        raise UnknownDatasetError(label, similar_labels(label, self))

    def indices(self, labels: Any) -> Indices:
        """Integers are their own numbers."""
        is_array = type(labels) is np.ndarray and labels.dtype in (np.int32, np.int64) and labels.ndim == 1
        numbers = labels if is_array else as_integers(labels)
        if numbers is None:
            return np.fromiter(map(self._index_or_none, labels), np.int64, len(labels))
        unsigned = numbers.view(f"u{numbers.itemsize}")  # in which a negative number is a large one
        if not len(numbers) or unsigned.max() < len(self.names):
            numbers = numbers.view()
            numbers.flags.writeable = False
            return numbers
        return np.where((numbers >= 0) & (numbers < len(self.names)), numbers, -1)

    def _index_or_none(self, label: Hashable) -> int:
        try:
            return self.index(label)
        except UnknownDatasetError:
            return -1


class NamedLabels:
    """Any hashable values, looked up in a dictionary; integers are looked up all at once."""

    def __init__(self, names: Iterable[Hashable], integers: Integers | None = None) -> None:
        self.names: Sequence[Any] = tuple(names)
        self._lookup = None if integers is None else Lookup(integers)  # of the same names

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        backwards = zip(reversed(self.names), range(len(self.names) - 1, -1, -1), strict=True)
        return dict(backwards)  # of equal names the first one counts

    @property
    def distinct(self) -> int:
        """The number of distinct names."""
        return len(self._numbers) if self._lookup is None else self._lookup.distinct

    @cached_property
    def _types(self) -> set[type]:
        return {int} if self._lookup is not None else set(map(type, self.names))

    def index(self, label: Hashable) -> int:
        """The position of the name."""
        label = _plain_label(label)
        try:
            found = self._numbers[label]
        except (KeyError, TypeError):
            raise UnknownDatasetError(label, similar_labels(label, self)) from None
        if not is_same(label, self.names[found]):
            raise UnknownDatasetError(label, self.names[found : found + 1])
        return found

    def indices(self, labels: Any) -> Indices:
        """The positions of the names."""
        integers = None if self._lookup is None else as_integers(labels)
        if self._lookup is not None and integers is not None:
            return self._lookup.positions(integers)
        listed = plain_labels(as_list(labels))
        found = np.fromiter(map(self._numbers.get, listed, repeat(-1)), np.int64, len(listed))
        if not self._types | set(map(type, listed)) <= EXACT_TYPES:
            differs = [at >= 0 and not is_same(label, self.names[at]) for label, at in zip(listed, found, strict=True)]
            found[np.array(differs, dtype=np.bool_)] = -1
        return found


def is_same(one: Any, other: Any) -> bool:
    """True if two labels are equal and of the same type; Python takes 1, 1.0 and True to be equal.

    >>> is_same(1, 1), is_same(1, True), is_same((1, "a"), (1.0, "a"))
    (True, False, False)
    """
    if one is other:
        return True
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    return type(one) is type(other) and (repr(one) == repr(other) if isinstance(one, float) else bool(one == other))


def plain_labels(labels: Sequence[Any]) -> Sequence[Any]:
    """The labels, with NumPy scalars replaced by the Python values that they hold."""
    has_scalars = any(issubclass(kind, np.generic) for kind in set(map(type, labels)))
    return [_plain_label(label) for label in labels] if has_scalars else labels


def _plain_label(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def similar_labels(label: Any, labels: Labels) -> Iterator[Any]:
    """Labels that may be meant by a misspelt one: other readings of the same text first, then all others."""
    from hetdp.problem.spelling import possible_labels

    readings = list(possible_labels(label)) if isinstance(label, str) else [str(label)]
    yield from (labels.names[at] for at in labels.indices(readings).tolist() if at >= 0)
    yield from labels.names


class LabelHints:
    """Suggests labels for unknown ones. Only the first few get a hint, since each takes a search through all labels."""

    def __init__(self, labels: Labels) -> None:
        self._labels, self._left = labels, MOST_ALIKE

    def __call__(self, label: Any) -> str:
        """The hint for a label that is unknown; may be empty."""
        self._left -= 1
        if self._left < 0:
            return ""
        try:
            self._labels.index(label)
        except UnknownDatasetError as unknown:
            return ask_if_meant(map(format_value, unknown.close))
        return ""


def labels_of(datasets: Any, collector: FaultCollector, row: Callable[[int], str] = "datasets[{}]".format) -> Labels:
    """Labels from a list of datasets; a name that appears twice is a fault. `row` names a place in messages."""
    if isinstance(datasets, range) and datasets == range(len(datasets)):
        return RangeLabels(len(datasets))
    if not isinstance(datasets, range):
        datasets = as_column("datasets", datasets, collector)
    integers = as_integers(datasets)
    if integers is not None and np.array_equal(integers, np.arange(len(integers))):
        return RangeLabels(len(integers))
    names = plain_labels(as_list(datasets))
    if integers is None and not check_labels("datasets", names, collector):
        collector.raise_if_any()
    labels = NamedLabels(names, integers)
    if labels.distinct < len(names):
        first: dict[Any, int] = {}
        repeated = [number for number, name in enumerate(names) if first.setdefault(name, number) != number]
        collector.add_at(np.array(repeated), lambda at: _repeat_fault(row(at), names[at], names[first[names[at]]]))
    return labels


def labels_of_ends(source: Any, target: Any, collector: FaultCollector) -> Labels:
    """Labels from the ends of the edges: integers in their order, other names as they first appear."""
    ends = as_integers(source), as_integers(target)
    if ends[0] is not None and ends[1] is not None:
        known = union_of(ends[0], ends[1])
        whole = np.array_equal(known, np.arange(len(known)))
        return RangeLabels(len(known)) if whole else NamedLabels(known.tolist(), known)
    columns = plain_labels(as_list(source)), plain_labels(as_list(target))
    names = dict.fromkeys(chain.from_iterable(zip(*columns, strict=False)))
    if not set(map(type, names)) | set(map(type, chain(*columns))) <= EXACT_TYPES:
        own = dict(zip(names, names, strict=True))
        for name, column in zip(("source", "target"), columns, strict=True):
            for at, label in enumerate(column):
                if not is_same(label, own[label]):
                    collector.add(_repeat_fault(f"{name}[{at}]", label, own[label]))
    return NamedLabels(names)


def check_labels(name: str, values: Any, collector: FaultCollector) -> bool:
    """Reports labels that are missing or not hashable; returns True if there are none."""
    if isinstance(values, np.ndarray) and values.dtype.kind not in "fO":
        return True
    if set(map(type, values)) <= EXACT_TYPES:
        return True
    try:
        missing = {label for label in set(values) if is_missing(label)}
        for at in [at for at, label in enumerate(values) if is_missing(label)] if missing else []:
            collector.add(Fault("missing label", f"{name}[{at}]", format_value(values[at]), "a label is never missing"))
        return not missing
    except TypeError:
        for at, value in enumerate(values):
            try:
                hash(value)
            except TypeError:
                rule, hint = "a label is hashable", "use a tuple in place of a list"
                collector.add(Fault("label", f"{name}[{at}]", format_value(value), rule, hint))
        return False


def is_missing(label: Any) -> bool:
    """True for None, NaN and values such as pandas' NA, which compare as neither equal nor different."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def _repeat_fault(place: str, name: Hashable, first: Hashable) -> Fault:
    if is_same(name, first):
        return Fault("duplicate dataset", place, format_value(name), "each dataset is listed once")
    value = f"{format_value(name)}, which Python takes to be equal to the label {format_value(first)}"
    rule = "labels that are equal have the same type"
    return Fault("ambiguous label", place, value, rule, "use one type for all labels, such as text")

"""The names of datasets: any hashable values, or the integers 0 … n − 1, which cost nothing."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, UnknownDatasetError
from hetdp.problem.findings import Findings

Integers = NDArray[np.int64]


class Labels(Protocol):
    """Names both ways."""

    @property
    def names(self) -> Sequence[Any]:
        """All names, in the order of the datasets."""

    def index(self, label: Hashable) -> int:
        """The number of one dataset; raises UnknownDatasetError."""

    def indices(self, labels: Any) -> Integers:
        """The numbers of many datasets, −1 where a label names none."""


class RangeLabels:
    """The integers 0 … n − 1."""

    def __init__(self, size: int) -> None:
        self.names: Sequence[Any] = range(size)

    def index(self, label: Hashable) -> int:
        """An integer is its own number."""
        if not isinstance(label, (bool, np.bool_)) and isinstance(label, (int, np.integer)) and label in self.names:
            return operator.index(label)
        raise UnknownDatasetError(label)

    def indices(self, labels: Any) -> Integers:
        """Integers are their own numbers."""
        numbers = as_integers(labels)
        if numbers is None:
            return np.fromiter(map(self._index_or_none, labels), np.int64, len(labels))
        return np.where((numbers >= 0) & (numbers < len(self.names)), numbers, -1)

    def _index_or_none(self, label: Hashable) -> int:
        try:
            return self.index(label)
        except UnknownDatasetError:
            return -1


class NamedLabels:
    """Any hashable values, looked up in a dictionary."""

    def __init__(self, names: Iterable[Hashable]) -> None:
        self.names: Sequence[Any] = tuple(names)
        backwards = zip(reversed(self.names), range(len(self.names) - 1, -1, -1), strict=True)
        self._numbers: dict[Hashable, int] = dict(backwards)  # of equal names the first one counts

    @property
    def distinct(self) -> int:
        """How many different names there are."""
        return len(self._numbers)

    def index(self, label: Hashable) -> int:
        """The position of the name."""
        try:
            return self._numbers[label]
        except (KeyError, TypeError):
            raise UnknownDatasetError(label) from None

    def indices(self, labels: Any) -> Integers:
        """The positions of the names."""
        numbers = self._numbers
        return np.fromiter((numbers.get(label, -1) for label in as_list(labels)), np.int64, len(labels))


def as_integers(values: Any) -> Integers | None:
    """The values as an integer array, or None if they are anything else; lists of mixed types stay what they are."""
    if isinstance(values, range):
        return np.arange(values.start, values.stop, values.step)
    if hasattr(values, "__array__"):
        array = np.asarray(values)
        fits = array.ndim == 1 and (array.dtype.kind == "i" or (array.dtype.kind == "u" and _fits(array)))
        return array.astype(np.int64, copy=False) if fits else None
    try:
        return np.array(values, dtype=np.int64) if set(map(type, values)) == {int} else None
    except OverflowError:
        return None


def _fits(array: NDArray[Any]) -> bool:
    return array.size == 0 or int(array.max()) < 2**63


def as_list(values: Any) -> Sequence[Any]:
    """The values as Python objects, in a sequence."""
    if hasattr(values, "tolist"):
        return list(values.tolist())
    return values if isinstance(values, (list, tuple, range)) else list(values)


def labels_of(datasets: Any, findings: Findings) -> Labels:
    """Labels from the datasets that the user lists; a name that appears twice is a fault."""
    if not isinstance(datasets, range) and not hasattr(datasets, "__array__"):
        datasets = as_list(datasets)
    integers = as_integers(datasets)
    if integers is not None and np.array_equal(integers, np.arange(len(integers))):
        return RangeLabels(len(integers))
    names = as_list(datasets)
    if not require_hashable("datasets", names, findings):
        findings.raise_if_any()
    labels = NamedLabels(names)
    if labels.distinct < len(names):
        repeated = [number for number, name in enumerate(names) if labels.index(name) != number]
        findings.add_at(np.array(repeated), lambda at: _repeated(at, names[at]))
    return labels


def labels_of_ends(source: Any, target: Any) -> Labels:
    """Labels from the ends of the edges: integers in their order, other names as they first appear."""
    ends = as_integers(source), as_integers(target)
    if ends[0] is not None and ends[1] is not None:
        distinct = np.unique(np.concatenate([np.unique(ends[0]), np.unique(ends[1])]))
        whole = np.array_equal(distinct, np.arange(len(distinct)))
        return RangeLabels(len(distinct)) if whole else NamedLabels(distinct.tolist())
    pairs = zip(as_list(source), as_list(target), strict=False)
    return NamedLabels(dict.fromkeys(chain.from_iterable(pairs)))


def require_hashable(name: str, column: Any, findings: Findings) -> bool:
    """Labels that cannot be looked up are faults; returns whether all can."""
    if isinstance(column, np.ndarray) and column.dtype.kind != "O":
        return True
    try:
        set(column)
        return True
    except TypeError:
        for at, value in enumerate(column):
            try:
                hash(value)
            except TypeError:
                rule, hint = "a label is hashable", "use a tuple in place of a list"
                findings.add(Fault("label", f"{name}[{at}]", repr(value), rule, hint))
        return False


def _repeated(at: int, name: Hashable) -> Fault:
    return Fault("duplicate dataset", f"datasets[{at}]", repr(name), "each dataset is listed once")

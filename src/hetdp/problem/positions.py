"""The names of a product's datasets: tuples with one entry for each axis, made only when somebody looks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, overload

import numpy as np

from hetdp.errors import UnknownDatasetError
from hetdp.problem.axis import Axis
from hetdp.problem.frozen import Frozen
from hetdp.problem.space import Indices


class Tuples(Sequence[Any]):
    """All combinations of positions, the last axis changing fastest; none of them is stored."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self._choices = tuple(axis.positions for axis in axes)
        self._size = prod(map(len, self._choices))

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._size))]
        rest = range(self._size)[index]
        found = []
        for choices in reversed(self._choices):
            rest, at = divmod(rest, len(choices))
            found.append(choices[at])
        return tuple(reversed(found))

    def __iter__(self) -> Iterator[Any]:
        return product(*self._choices)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Tuples):
            return self._choices == other._choices
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_same, self, other))

    def __hash__(self) -> int:
        return hash(self._choices)

    def __repr__(self) -> str:
        return f"Tuples({' × '.join(str(len(choices)) for choices in self._choices)})"


def _same(one: Any, other: Any) -> bool:
    return bool(one == other)


class TupleLabels(Frozen):
    """Names both ways, by looking up one entry after the other."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.names: Sequence[Any] = Tuples(axes)
        self._places = [
            axis.positions
            if isinstance(axis.positions, range)
            else {name: at for at, name in enumerate(axis.positions)}
            for axis in axes
        ]

    def index(self, label: Hashable) -> int:
        """The number of one dataset; raises UnknownDatasetError."""
        found = self._find(label)
        if found < 0:
            raise UnknownDatasetError(label)
        return found

    def indices(self, labels: Any) -> Indices:
        """The numbers of many datasets, −1 where a label names none."""
        if labels is self.names:
            return np.arange(len(self.names))
        return np.fromiter(map(self._find, labels), np.int64, len(labels))

    def _find(self, label: Any) -> int:
        if not isinstance(label, tuple) or len(label) != len(self._places):
            return -1
        index = 0
        for entry, places in zip(label, self._places, strict=True):
            at = _place(entry, places)
            if at < 0:
                return -1
            index = index * len(places) + at
        return index


def _place(entry: Any, places: range | dict[Any, int]) -> int:
    try:
        if isinstance(places, dict):
            return places.get(entry, -1)
        return int(entry) if not isinstance(entry, (bool, np.bool_)) and entry in places else -1
    except TypeError:
        return -1

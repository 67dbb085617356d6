"""The Space contract: datasets, their neighbours, and the parameters of each edge.

Also `Frozen`, the base class of objects that cannot be changed after they were validated.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class Frozen:
    """An object whose attributes cannot be replaced; computed ones may be added later."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__:
            raise AttributeError(f"{name} of a {type(self).__name__} does not change; make a new one instead")
        super().__setattr__(name, value)


Floats = NDArray[np.float64]
Indices = NDArray[Any]  # int32 or int64, as the size of the space needs
Mask = NDArray[np.bool_]
BLOCK = 1 << 18  # arcs of a piece
SMALL_SPACE = 20_000  # arcs or datasets that plain Python goes through sooner than a compiler loads


class EdgeBlock(NamedTuple):
    """A bounded block of the edges of a space: one entry for each edge and direction.

    Attributes:
        source: index of the dataset at one end.
        target: index of its neighbour.
        parameters: one array for each parameter of the notion, seen from the source; for pure ε, one.
    """

    source: Indices
    target: Indices
    parameters: tuple[Floats, ...]


class Constraint(NamedTuple):
    """One edge between two datasets.

    Attributes:
        parameters: what it promises, as written, by name; seen from the dataset that was asked about.
        edge_class: its class; None if it has none.
    """

    parameters: dict[str, float]
    edge_class: Any = None


def blocks_of(
    indptr: NDArray[np.int64], targets: Indices, columns: tuple[Floats, ...], first: int = 0
) -> Iterator[EdgeBlock]:
    """The arcs of stored rows, in the blocks of `cuts_of`.

    Args:
        indptr: where the row of each dataset begins, and where the last one ends.
        targets: the other end of each arc.
        columns: its parameters.
        first: the position of the first dataset.
    """
    for start, stop in cuts_of(indptr, targets):
        row = int(np.searchsorted(indptr, start, side="right")) - 1
        last = int(np.searchsorted(indptr, stop, side="left"))
        bounds = np.clip(indptr[row : last + 1], start, stop)
        rows = np.arange(row + first, last + first, dtype=targets.dtype)
        yield EdgeBlock(
            np.repeat(rows, np.diff(bounds)), targets[start:stop], tuple(column[start:stop] for column in columns)
        )


def cuts_of(indptr: NDArray[np.int64], targets: Indices) -> Iterator[tuple[int, int]]:
    """Where blocks of about BLOCK arcs of stored rows begin and end; parallel arcs are adjacent and in one block."""
    start = 0
    while start < len(targets):
        stop = _end_of_run(indptr, targets, min(start + BLOCK, len(targets)))
        yield start, stop
        start = stop


def _end_of_run(indptr: NDArray[np.int64], targets: Indices, stop: int) -> int:
    """The end of the parallel arcs that a cut at this place would separate."""
    row = int(np.searchsorted(indptr, stop, side="right")) - 1
    if stop == len(targets) or indptr[row] == stop or targets[stop] != targets[stop - 1]:
        return stop
    others = np.flatnonzero(targets[stop : indptr[row + 1]] != targets[stop])
    return stop + int(others[0]) if len(others) else int(indptr[row + 1])


@runtime_checkable
class Space(Protocol):
    """Datasets and their neighbours, as engines and the verifier need them.

    Explicit graphs store their edges; other spaces may compute them. Edges without a constraint (ε = ∞) do not appear.
    """

    @property
    def size(self) -> int:
        """The number of datasets; their positions are 0 … size − 1."""

    @property
    def arc_count(self) -> int:
        """The number of entries that `edge_blocks` yields: two for each edge."""

    def label(self, index: int) -> Hashable:
        """The label of a dataset."""

    def index(self, label: Hashable) -> int:
        """The position of a dataset; raises UnknownDatasetError."""

    def indices(self, labels: Any) -> Indices:
        """The positions of many datasets, −1 where a label names none."""

    def neighbours(self, index: int) -> tuple[Indices, tuple[Floats, ...]]:
        """The neighbours of one dataset and the parameters of the edges to them; parallel edges are adjacent."""

    def edge_blocks(self) -> Iterator[EdgeBlock]:
        """All edges in both directions, in blocks; edges that join the same two datasets are in one block."""

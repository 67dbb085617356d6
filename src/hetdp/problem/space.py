"""The Space contract: a set of datasets, their neighbours, and what each edge allows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[Any]  # int32 or int64, as the size of the space needs
Mask = NDArray[np.bool_]
SMALL = 20_000  # arcs or datasets that plain Python goes through sooner than a compiler loads


class EdgeBlock(NamedTuple):
    """A bounded piece of a space's edges: one entry for each edge and direction.

    Attributes:
        source: index of the dataset at one end.
        target: index of its neighbour.
        parameters: one array for each parameter of the notion, seen from the source; for pure ε, one.
    """

    source: Indices
    target: Indices
    parameters: tuple[Floats, ...]


@runtime_checkable
class Space(Protocol):
    """What engines and the verifier need to know of datasets and neighbours.

    Explicit graphs store their edges; other spaces may compute them. Edges without a constraint (ε = ∞) do not appear.
    """

    @property
    def size(self) -> int:
        """How many datasets there are; they are numbered 0 … size − 1."""

    @property
    def arc_count(self) -> int:
        """How many entries `edge_blocks` yields in all: two for each edge."""

    def label(self, index: int) -> Hashable:
        """The user's name of a dataset."""

    def index(self, label: Hashable) -> int:
        """The number of a dataset; raises UnknownDatasetError."""

    def indices(self, labels: Any) -> Indices:
        """The numbers of many datasets, −1 where a label names none."""

    def neighbours(self, index: int) -> tuple[Indices, tuple[Floats, ...]]:
        """The neighbours of one dataset and the parameters of the edges to them."""

    def edge_blocks(self) -> Iterator[EdgeBlock]:
        """All edges, each in both directions, in pieces of bounded size."""

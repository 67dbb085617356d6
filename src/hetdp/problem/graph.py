"""DatasetGraph: a space whose datasets and edges are all written down."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError, counted
from hetdp.problem import validation
from hetdp.problem.building.arcs import Arcs, both_directions, merge, repeats, unbounded
from hetdp.problem.building.decimals import marks_of, raise_to_written, unmarked
from hetdp.problem.building.rows import Rows, merged, rows_of
from hetdp.problem.classes import Classes
from hetdp.problem.findings import Findings
from hetdp.problem.frozen import Frozen
from hetdp.problem.labels import Labels, labels_of, labels_of_ends
from hetdp.problem.space import SMALL, EdgeBlock, Floats, Indices
from hetdp.problem.validation import Edges

BLOCK = 1 << 18


class DatasetGraph(Frozen):
    """Datasets, which of them are neighbours, and the ε of each pair. Make one with `from_edges`.

    Rows are kept in compressed form: the neighbours of dataset i are ``targets[indptr[i]:indptr[i + 1]]``, with their ε
    beside them in ``epsilon``, floored to the decimal that was written.

    Paper: the graph of Section II, with the privacy function of Definition 7 (heterogeneous differential privacy).
    """

    def __init__(self, labels: Labels, arcs: Arcs | Rows, classes: Classes | None = None) -> None:
        self.labels = labels
        rows = arcs if isinstance(arcs, Rows) else arcs.rows(self.size)
        self._unconstrained = unbounded(rows)
        free = self._unconstrained.edge
        bound: Any = np.delete(np.arange(len(rows.loads)), free) if len(free) else slice(None)
        self._classes = None if classes is None else (classes.take(bound), classes.take(free))
        rows = rows.take(bound) if len(free) else rows
        self.indptr: NDArray[np.int64] = rows.indptr
        self.targets: Indices = rows.targets
        floored, lowered = unmarked(rows.loads)
        self.epsilon: Floats = floored
        self._lowered = lowered
        for array in (self.indptr, self.targets, self.epsilon):
            array.flags.writeable = False

    @classmethod
    def from_edges(
        cls,
        source: Any,
        target: Any,
        epsilon: Any,
        datasets: Any = None,
        duplicates: Literal["error", "min"] = "error",
        classes: Any = None,
    ) -> DatasetGraph:
        """A graph from three columns.

        Args:
            source: label of one end of each edge: any hashable values, or an integer array.
            target: label of the other end.
            epsilon: ε of each edge, or one number for all. 0 means "must look the same", infinity "no constraint".
            datasets: all labels in the order wanted; needed if some dataset has no edge. Default: integers in their
                order, other labels as they first appear.
            duplicates: what happens to an edge listed twice with different ε: "error", or "min", the more private one.
            classes: the class of each edge (whose data, or which kind of change, it is about), None where it has none.

        Raises:
            InputError: listing every fault.

        >>> graph = DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.5, 1.0])
        >>> graph
        DatasetGraph(3 datasets, 2 edges)
        """
        findings = Findings("edges")
        edges = validation.edge_columns(source, target, epsilon, classes, findings)
        labels = labels_of_ends(edges.source, edges.target) if datasets is None else labels_of(datasets, findings)
        ends = labels.indices(edges.source), labels.indices(edges.target)
        return cls.from_ends(labels, ends, edges, duplicates, findings)

    @classmethod
    def from_ends(
        cls, labels: Labels, ends: tuple[Indices, Indices], edges: Edges, duplicates: str, findings: Findings
    ) -> DatasetGraph:
        """A graph from edges whose ends were looked up, −1 where a label names no dataset; for readers of files."""
        if duplicates not in ("error", "min"):
            raise UsageError(f"unknown duplicates={duplicates!r}", "duplicates is 'error' or 'min'")
        number = np.int32 if len(labels.names) < 2**31 else np.int64
        source, target = (np.require(end, number, ["C", "W"]) for end in ends)  # what the kernels are compiled for
        usable = validation.usable_edges(edges, (source, target), findings)
        if 2 * len(source) > SMALL and edges.classes is None and not findings.total:
            rows, agree = merged(rows_of(source, target, marks_of(edges.epsilon), len(labels.names)))
            if agree or duplicates == "min":
                return cls(labels, rows)
        arcs = both_directions(source, target, edges.epsilon, usable)
        if duplicates == "error":
            validation.contradictions(arcs, repeats(arcs), edges, findings)
        findings.raise_if_any()
        arcs = merge(arcs, repeats(arcs))
        return cls(labels, arcs, edges.classes and edges.classes.take(arcs.edge))

    @property
    def size(self) -> int:
        """How many datasets there are."""
        return len(self.labels.names)

    @property
    def arc_count(self) -> int:
        """Twice the number of edges that constrain."""
        return len(self.targets)

    @property
    def edge_count(self) -> int:
        """How many edges there are, those without a constraint (ε = ∞) included."""
        return (self.arc_count + len(self._unconstrained.source)) // 2

    @property
    def datasets(self) -> Sequence[Any]:
        """The labels, in graph order."""
        return self.labels.names

    def label(self, index: int) -> Hashable:
        """The label of a dataset."""
        name: Hashable = self.labels.names[index]
        return name

    def index(self, label: Hashable) -> int:
        """The position of a dataset in graph order; raises UnknownDatasetError."""
        return self.labels.index(label)

    def indices(self, labels: Any) -> NDArray[np.int64]:
        """The positions of many datasets at once, −1 where a label names none."""
        return self.labels.indices(labels)

    def neighbours(self, index: int) -> tuple[Indices, tuple[Floats]]:
        """The neighbours of one dataset and the ε of the edges to them."""
        row = slice(self.indptr[index], self.indptr[index + 1])
        return self.targets[row], (self.epsilon[row],)

    def epsilon_between(self, index: int, neighbour: int) -> float:
        """ε as written between two neighbours."""
        at = self.indptr[index] + int(np.flatnonzero(self.neighbours(index)[0] == neighbour)[0])
        lowered = bool(self._lowered[at // 8] >> (7 - at % 8) & 1)
        return float(np.nextafter(self.epsilon[at], np.inf)) if lowered else float(self.epsilon[at])

    def edge_blocks(self) -> Iterator[EdgeBlock]:
        """All constraining edges, each in both directions, in pieces."""
        for start in range(0, self.arc_count, BLOCK):
            piece = slice(start, min(start + BLOCK, self.arc_count))
            first = int(np.searchsorted(self.indptr, piece.start, side="right")) - 1
            last = int(np.searchsorted(self.indptr, piece.stop, side="left"))
            bounds = np.clip(self.indptr[first : last + 1], piece.start, piece.stop)
            rows = np.arange(first, last, dtype=self.targets.dtype)
            yield EdgeBlock(np.repeat(rows, np.diff(bounds)), self.targets[piece], (self.epsilon[piece],))

    def edges(self) -> tuple[Indices, Indices, Floats]:
        """Source, target and ε as written, of every edge once, those without a constraint included."""
        source = np.repeat(np.arange(self.size, dtype=self.targets.dtype), np.diff(self.indptr))
        written = raise_to_written(self.epsilon, np.unpackbits(self._lowered, count=self.arc_count).astype(np.bool_))
        once, free = source < self.targets, self._unconstrained
        free = free.take(free.source < free.target)
        return (
            np.concatenate([source[once], free.source]),
            np.concatenate([self.targets[once], free.target]),
            np.concatenate([written[once], free.epsilon]),
        )

    def edge_classes(self) -> list[Any] | None:
        """The class of every edge, in the order of `edges`; None if no classes were given."""
        if self._classes is None:
            return None
        source = np.repeat(np.arange(self.size, dtype=self.targets.dtype), np.diff(self.indptr))
        bound, free = self._classes
        once = bound.take(source < self.targets), free.take(self._unconstrained.source < self._unconstrained.target)
        return once[0].by_name() + once[1].by_name()

    def __repr__(self) -> str:
        return f"DatasetGraph({counted(self.size, 'dataset')}, {counted(self.edge_count, 'edge')})"

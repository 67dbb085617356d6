"""DatasetGraph: a space that stores its datasets and edges.

For each parameter it stores the float that is used, which is not above the decimal that was written, and one bit that
tells whether it was lowered; the number as written follows from both. Arcs that constrain nothing are stored apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import FaultCollector, UsageError
from hetdp.problem import edges as validation
from hetdp.problem.classes import Classes
from hetdp.problem.decimals import Marks, marks_of, raise_to_written, round_labels_down, unpack_marks
from hetdp.problem.edges import (
    Arcs,
    Edges,
    Rows,
    arcs_of,
    find_repeats,
    find_unconstrained,
    group_by_class,
    group_by_source,
    merge_repeats,
    merge_rows,
    sort_parallel_arcs,
)
from hetdp.problem.labels import Labels, labels_of, labels_of_ends
from hetdp.problem.parameters import COLUMNS
from hetdp.problem.space import SMALL_SPACE, Constraint, EdgeBlock, Floats, Frozen, Indices, blocks_of
from hetdp.problem.spelling import spell_label
from hetdp.text import html_table, pluralize

Bits = NDArray[np.uint8]


class FreeArcs(NamedTuple):
    """The arcs that constrain nothing: their ends and their parameters as written."""

    source: Indices
    target: Indices
    marks: tuple[Marks, ...]

    @classmethod
    def of(cls, indptr: NDArray[np.int64], targets: Indices, marks: tuple[Marks, ...], at: Indices) -> FreeArcs:
        """The arcs at some positions."""
        source = (np.searchsorted(indptr, at, side="right") - 1).astype(targets.dtype)
        return cls(source, targets[at], tuple(column[at] for column in marks))

    def once(self) -> FreeArcs:
        """One arc of each edge."""
        once = self.source < self.target
        return FreeArcs(self.source[once], self.target[once], tuple(column[once] for column in self.marks))

    def written_columns(self) -> Iterator[Floats]:
        """The parameters as written."""
        for floored, lowered in (unpack_marks(column.copy()) for column in self.marks):
            yield written_column(floored, lowered)


def written_column(floored: Floats, lowered: Bits) -> Floats:
    """A column of parameters as written."""
    return raise_to_written(floored, np.unpackbits(lowered, count=len(floored)).astype(np.bool_))


def written_number(floored: Floats, lowered: Bits, at: int) -> float:
    """One number of a column of parameters, as written."""
    is_lowered = np.array([lowered[at // 8] >> (7 - at % 8) & 1], dtype=np.bool_)
    return float(raise_to_written(floored[at : at + 1], is_lowered)[0])


class DatasetGraph(Frozen):
    """Datasets, which of them are neighbours, and the ε of each edge. Make one with `from_edges`.

    Rows are kept in compressed form: the neighbours of dataset i are ``targets[indptr[i]:indptr[i + 1]]``, with the
    parameters of the edges to them beside them in ``parameters``, floored to the decimals that were written. Where
    `on_grid` is true, as in files of problems made from people, they are floored further, to multiples of 2^-40. Two
    datasets may be joined by several edges of different classes: the neighbour is then listed once for each of them,
    and ``is_parallel`` is true.

    Attributes:
        labels: the names of the datasets, both ways: `names`, `index(label)`, `indices(labels)`.
        indptr: where the neighbours of each dataset begin.
        targets: the neighbours, one dataset after the other.
        parameters: what the edges to them promise, as used: one array for each of `parameter_names`.
        parameter_names: `epsilon`; `epsilon`, `epsilon_back`; with `delta`, `delta_back`; or `mu`.
        is_parallel: whether several edges, of different classes, join the same two datasets.
        on_grid: true if every ε is used as a multiple of 2^-40, as in problems made of people.

    Paper: the graph of Section II, with the privacy function of Definition 7 (heterogeneous differential privacy).
    """

    def __init__(
        self,
        labels: Labels,
        arcs: Arcs | Rows,
        classes: Classes | None = None,
        parameter_names: tuple[str, ...] = ("epsilon",),
        on_grid: bool = False,
    ) -> None:
        self.labels = labels
        self.on_grid = on_grid
        self.parameter_names = parameter_names
        self.is_parallel: bool = not isinstance(arcs, Rows) and bool(find_repeats(arcs).any())
        if isinstance(arcs, Rows):
            indptr, targets, loads = arcs.indptr, arcs.targets, [arcs.loads]
        else:
            indptr, targets, loads = arcs.indptr(self.size), arcs.target, list(map(marks_of, arcs.columns))
        marks = tuple(loads)
        free = find_unconstrained(parameter_names, marks)
        self._free = FreeArcs.of(indptr, targets, marks, free)
        bound: Any = np.delete(np.arange(len(targets)), free) if len(free) else slice(None)
        self._classes = None if classes is None else (classes.take(bound), classes.take(free))
        if len(free):
            indptr, targets, marks = np.searchsorted(bound, indptr), targets[bound], tuple(x[bound] for x in marks)
        columns = tuple(map(unpack_marks, marks))
        self.indptr: NDArray[np.int64] = indptr
        self.targets: Indices = targets
        self._floored: tuple[Floats, ...] = tuple(floored for floored, _ in columns)
        self._lowered = tuple(lowered for _, lowered in columns)
        self.parameters: tuple[Floats, ...] = tuple(map(round_labels_down, self._floored)) if on_grid else self._floored
        for array in (self.indptr, self.targets, *self._floored, *self.parameters):
            array.flags.writeable = False

    @classmethod
    def from_edges(
        cls,
        source: Any,
        target: Any = None,
        epsilon: Any = None,
        datasets: Any = None,
        duplicates: Literal["error", "min"] = "error",
        classes: Any = None,
        epsilon_back: Any = None,
        delta: Any = None,
        delta_back: Any = None,
        mu: Any = None,
    ) -> DatasetGraph:
        """A graph from columns (two ends, and what each edge promises), or from triples (u, v, ε).

        Args:
            source: label of one end of each edge: any hashable values, or an integer array. Without `target`: triples
                (u, v, ε), one for each edge.
            target: label of the other end. Where directions differ it matters which: Pr at source ≤ e^ε · Pr at target.
            epsilon: ε of each edge, or one number for all. 0 means "must look the same", infinity "no constraint".
            datasets: all labels in the order wanted; needed if some dataset has no edge. Default: integers in their
                order, other labels as they first appear.
            duplicates: for an edge of one class listed twice with different ε: "error", or "min", the least of each
                column and way. Edges of different classes are parallel, whatever this says: both hold.
            classes: the class of each edge (whose data, or which kind of change, it is about), None where it has none.
                A pair may be listed once for each class; the tightest of these edges binds, and every class pays.
            epsilon_back: ε from target to source (the notion directed); where it is missing, the same as epsilon.
            delta: δ from source to target (the notion approximate), a number from 0 to 1.
            delta_back: δ from target to source; where it is missing, the same as delta.
            mu: μ of each edge, in place of ε (the notion gaussian).

        Raises:
            UsageError: columns that do not go together, such as epsilon and mu, or none of them.
            InputError: listing every fault.

        >>> DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.5, 1.0])
        DatasetGraph(3 datasets, 2 edges)
        >>> DatasetGraph.from_edges([("a", "b", 0.5), ("b", "c", 1.0)])
        DatasetGraph(3 datasets, 2 edges)
        """
        collector = FaultCollector("edges")
        given = dict(zip(COLUMNS, (epsilon, epsilon_back, delta, delta_back, mu), strict=True))
        validation.require_edges(source, target, any(one is not None for one in given.values()))
        if target is None:
            if epsilon is not None:
                raise UsageError("epsilon= without target=", validation.EDGES_RULE)
            source, target, given["epsilon"] = validation.split_triples(source, collector)
        edges = validation.edge_columns(source, target, given, classes, collector)
        if datasets is None:
            before = collector.total
            labels = labels_of_ends(edges.source, edges.target, collector)
            if collector.total > before:
                collector.raise_if_any()
        else:
            labels = labels_of(datasets, collector)
        ends = labels.indices(edges.source), labels.indices(edges.target)
        return cls.from_ends(labels, ends, edges, duplicates, collector)

    @classmethod
    def from_ends(
        cls,
        labels: Labels,
        ends: tuple[Indices, Indices],
        edges: Edges,
        duplicates: str,
        collector: FaultCollector,
        on_grid: bool = False,
    ) -> DatasetGraph:
        """A graph from edges whose ends are positions, −1 where a label names no dataset; for readers of files."""
        validation.require_duplicates(duplicates)
        number = np.int32 if len(labels.names) < 2**31 else np.int64
        source, target = (np.require(end, number, ["C", "W"]) for end in ends)  # what the kernels are compiled for
        usable = validation.usable_edges(edges, (source, target), collector, labels)
        names, columns = edges.parameters
        if 2 * len(source) > SMALL_SPACE and edges.classes is None and len(columns) == 1 and not collector.total:
            rows, agree = merge_rows(group_by_source(source, target, marks_of(columns[0]), len(labels.names)))
            if agree or duplicates == "min":
                return cls(labels, rows, parameter_names=names, on_grid=on_grid)
        arcs = arcs_of(source, target, edges.parameters, usable)
        repeated = find_repeats(arcs)
        if repeated.any():
            arcs, again = group_by_class(arcs, repeated, edges.classes)
            if duplicates == "error":
                validation.report_contradictions(arcs, again, edges, labels.names, collector)
            collector.raise_if_any()
            arcs = sort_parallel_arcs(merge_repeats(arcs, again), edges.classes)
        collector.raise_if_any()
        return cls(labels, arcs, edges.classes and edges.classes.take(arcs.edge), names, on_grid)

    @property
    def size(self) -> int:
        """The number of datasets."""
        return len(self.labels.names)

    @property
    def arc_count(self) -> int:
        """Twice the number of edges that constrain."""
        return len(self.targets)

    @property
    def edge_count(self) -> int:
        """The number of edges, including those without a constraint (ε = ∞)."""
        return (self.arc_count + len(self._free.source)) // 2

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
        """The positions of many datasets, −1 where a label names none."""
        return self.labels.indices(labels)

    @property
    def epsilon(self) -> Floats:
        """ε of every arc, rounded down to the decimal that was written, for edges that have an ε."""
        if "epsilon" not in self.parameter_names:
            raise UsageError("edges without ε", "graph.parameters has the columns named in graph.parameter_names")
        return self.parameters[self.parameter_names.index("epsilon")]

    def neighbours(self, index: int) -> tuple[Indices, tuple[Floats, ...]]:
        """The neighbours of one dataset, each once for every edge to it, and the parameters of these edges."""
        row = slice(self.indptr[index], self.indptr[index + 1])
        return self.targets[row], tuple(column[row] for column in self.parameters)

    def edges_between(self, index: int, neighbour: int) -> list[Constraint]:
        """The edges from a dataset to a neighbour, one for each class, in the order of `neighbours`."""
        found = (self.indptr[index] + np.flatnonzero(self.neighbours(index)[0] == neighbour)).tolist()
        names = [None] * len(found) if self._classes is None else self._classes[0].take(found).by_name()
        return [Constraint(self._parameters_at(at), name) for at, name in zip(found, names, strict=True)]

    def _parameters_at(self, at: int) -> dict[str, float]:
        """The parameters of one arc as written, by name."""
        written = (written_number(*column, at) for column in self._columns)
        return dict(zip(self.parameter_names, written, strict=True))

    def edge_blocks(self) -> Iterator[EdgeBlock]:
        """All constraining edges in both directions, in blocks; parallel edges are in one block."""
        return blocks_of(self.indptr, self.targets, self.parameters)

    def edges(self) -> tuple[Any, ...]:
        """Source, target and ε (or all `parameter_names`) of every edge once, as written, including edges of ε = ∞.

        Source is the end that comes first in graph order, and directions are seen from there.
        """
        source = np.repeat(np.arange(self.size, dtype=self.targets.dtype), np.diff(self.indptr))
        once, free = source < self.targets, self._free.once()
        written = [written_column(*column) for column in self._columns]
        return (
            np.concatenate([source[once], free.source]),
            np.concatenate([self.targets[once], free.target]),
            *(np.concatenate([own[once], other]) for own, other in zip(written, free.written_columns(), strict=True)),
        )

    def edge_classes(self) -> list[Any] | None:
        """The class of every edge, in the order of `edges`; None if no classes were given."""
        if self._classes is None:
            return None
        source = np.repeat(np.arange(self.size, dtype=self.targets.dtype), np.diff(self.indptr))
        bound, free = self._classes
        once = bound.take(source < self.targets), free.take(self._free.source < self._free.target)
        return once[0].by_name() + once[1].by_name()

    def arc_classes(self) -> Classes | None:
        """The class of every constraining arc, by number; None if no classes were given."""
        return None if self._classes is None else self._classes[0]

    @property
    def _columns(self) -> Iterator[tuple[Floats, NDArray[np.uint8]]]:
        return zip(self._floored, self._lowered, strict=True)

    def stored_columns(self) -> Iterator[tuple[Floats, NDArray[np.uint8]]]:
        """Each column of parameters as used, with one bit for each number that was lowered below its decimal."""
        return self._columns

    def identity_parts(self) -> tuple[tuple[Any, ...], list[NDArray[Any]]]:
        """The parts besides datasets and constraints: the names of classes, and the arrays that refer to them."""
        classes = () if self._classes is None else self._classes
        arrays = [self._free.source, self._free.target, *self._free.marks, *(each.numbers for each in classes)]
        return (classes[0].names if classes else ()), [*self._lowered, *arrays]

    def free_arcs(self, start: int, stop: int) -> int:
        """The number of arcs from some datasets that constrain nothing."""
        return int(np.count_nonzero((self._free.source >= start) & (self._free.source < stop)))

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows: list[tuple[str, Any]] = [("datasets", self.size), ("edges", self.edge_count)]
        for name, values in zip(self.parameter_names, self.parameters, strict=True):
            if len(values):
                rows.append((name, f"from {values.min():g} to {values.max():g}"))
        if len(self._free.source):
            rows.append(("without a constraint", len(self._free.source) // 2))
        first = "; ".join(spell_label(label, self.labels) for label in self.datasets[:5])
        return html_table("Graph of datasets", [], [*rows, ("the first", first)])

    def __repr__(self) -> str:
        return f"DatasetGraph({pluralize(self.size, 'dataset')}, {pluralize(self.edge_count, 'edge')})"

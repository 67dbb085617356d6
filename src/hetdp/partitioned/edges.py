"""The edges of a partitioned problem: from chunks of their table to the graph of each partition.

`assign_edges` reads one chunk, checks it, replaces labels by numbers, and writes each edge for the partitions that own
its ends. `build_graph` collects the edges of one partition and writes its rows, its ghosts, and the datasets whose
labels it sends to other partitions.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, FaultCollector, InputError
from hetdp.files.schema import EDGE_COLUMNS
from hetdp.partitioned.datasets import ListedLabels
from hetdp.partitioned.labels import labels_at, numbers_of_ends
from hetdp.partitioned.parquet_rows import Files, read_range
from hetdp.partitioned.partition import (
    Partition,
    ghosts_among,
    map_array,
    places_among,
    write_array,
    write_cut,
    write_rows,
)
from hetdp.problem.boundary import boundary_of
from hetdp.problem.classes import NONE, Classes, classes_of, join_classes, names_from_bytes, names_to_bytes
from hetdp.problem.columns import sort_distinct
from hetdp.problem.edges import Edges, usable_edges
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.labels import RangeLabels
from hetdp.problem.parameters import COLUMNS, Parameters, parameters_of
from hetdp.problem.space import Indices
from hetdp.theory.catalogue import notion_of_key

CHUNK = 1 << 21  # largest number of edges that a task reads at once
SHARES = 16  # most chunks of a smaller table; every partition opens the files of each chunk


class Chunk(NamedTuple):
    """Some rows of the table of edges.

    Attributes:
        number: index of the chunk.
        start: first row.
        stop: row after the last.
    """

    number: int
    start: int
    stop: int


def chunks_of(files: Files, workers: int) -> list[Chunk]:
    """Splits a table into chunks of about equal size, suited to the number of workers; no chunk spans two files."""
    found: list[Chunk] = []
    workers = min(workers, SHARES)
    shares = workers * max(1, -(-files.length // (workers * CHUNK)))
    share = max(1, -(-files.length // shares))
    for first, count in zip(files.starts, files.counts, strict=False):
        pieces = max(1, -(-count // share))
        bounds = [first + count * at // pieces for at in range(pieces + 1)]
        for start, stop in pairwise(bounds):
            if stop > start:
                found.append(Chunk(len(found), start, stop))
    return found


def chunk_path(work: str, chunk: int, name: str) -> Path:
    """The file of one column of a chunk, sorted by partition."""
    return Path(work, "edges", f"{chunk}-{name}.npy")


def assign_edges(
    partition: Partition, chunk: Chunk, files: Files, notion: str, labels: str, class_kind: str
) -> tuple[list[Fault], int]:
    """Reads a chunk, writes its valid edges by partition, and returns its faults; `partition` may be any of them."""
    table, findings, unread = read_range(files, chunk.start, chunk.stop, EDGE_COLUMNS), FaultCollector(""), list[int]()
    ends = [table.label_column(end, findings) for end in ("source", "target")]
    given = {name: table.number_column(name) for name in COLUMNS if name in table.columns}
    parameters = parameters_of(given, table.row, findings, unread, notion_of_key(notion).parameters)
    classes = classes_of(table.class_column(findings, class_kind), findings)
    numbers = numbers_of_ends(partition, chunk.number, files, (chunk.start, chunk.stop), ends, labels)
    edges = Edges(ends[0], ends[1], parameters, classes, table.row, unread)
    usable = usable_edges(edges, (numbers[0], numbers[1]), findings)
    _write(partition, chunk, numbers, edges, usable)
    return findings.faults, findings.total


def _write(partition: Partition, chunk: Chunk, ends: tuple[Indices, Indices], edges: Edges, usable: Any) -> None:
    """Writes each edge for the owner of its source, and for the owner of its target if that is another partition."""
    keep = ends[0] != ends[1]
    rows = np.flatnonzero(keep if usable is None else keep & usable)
    source, target = ends[0][rows], ends[1][rows]
    count = len(partition.offsets) - 1
    kind = np.uint16 if count < 2**16 else np.int64
    owner, other = partition.owners(source).astype(kind), partition.owners(target).astype(kind)
    cut = np.flatnonzero(owner != other)
    order = np.argsort(np.concatenate([owner, other[cut]]), kind="stable")  # numpy uses a radix sort for few owners
    chosen = np.concatenate([np.arange(len(rows)), cut])[order]
    bounds = np.concatenate(
        [[0], np.cumsum(np.bincount(owner, minlength=count) + np.bincount(other[cut], minlength=count))]
    )
    number = np.int32 if partition.offsets[-1] < 2**31 else np.int64
    columns = {"source": source.astype(number), "target": target.astype(number), "row": rows.astype(np.int32)}
    columns |= {f"c{at}": column[rows] for at, column in enumerate(edges.parameters.columns)}
    if edges.classes is not None:
        columns["class"] = edges.classes.numbers[rows]
        write_array(
            partition.work, chunk_path(partition.work, chunk.number, "class_names"), names_to_bytes(edges.classes.names)
        )
    for name, values in columns.items():
        write_array(partition.work, chunk_path(partition.work, chunk.number, name), values[chosen])
    write_array(partition.work, chunk_path(partition.work, chunk.number, "bounds"), bounds)


class AssignedEdges(NamedTuple):
    """The edges that touch a partition.

    Attributes:
        source: number of the first end.
        target: number of the second end.
        columns: privacy parameters as written.
        rows: row of each edge in the table of edges.
        classes: class of each edge, if any edge has one.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    columns: tuple[NDArray[np.float64], ...]
    rows: list[tuple[int, NDArray[np.int32]]]
    classes: Classes | None = None

    def row(self, at: int) -> int:
        """The row of an edge in its table."""
        for start, rows in self.rows:
            if at < len(rows):
                return start + int(rows[at])
            at -= len(rows)
        raise IndexError(at)


def edges_of(partition: Partition, chunks: list[Chunk], parameters: int) -> AssignedEdges:
    """All edges that touch a partition, in the order of the table."""
    names = ("source", "target", *(f"c{at}" for at in range(parameters)))
    columns: dict[str, list[Any]] = {name: [] for name in names}
    rows, classes = [], list[Classes]()
    for chunk in chunks:
        bounds = map_array(partition.work, chunk_path(partition.work, chunk.number, "bounds"))
        piece = slice(int(bounds[partition.number]), int(bounds[partition.number + 1]))
        for name in names:
            columns[name].append(map_array(partition.work, chunk_path(partition.work, chunk.number, name))[piece])
        rows.append((chunk.start, map_array(partition.work, chunk_path(partition.work, chunk.number, "row"))[piece]))
        classes.append(_classes_in(partition, chunk, piece))
    joined = {name: np.concatenate(found) if found else np.empty(0) for name, found in columns.items()}
    ends = [joined[name].astype(np.int64, copy=False) for name in names[:2]]
    numbers = tuple(np.asarray(joined[name], dtype=np.float64) for name in names[2:])
    return AssignedEdges(ends[0], ends[1], numbers, rows, join_classes(classes))


def _classes_in(partition: Partition, chunk: Chunk, piece: slice) -> Classes:
    """The classes of the edges of a chunk that touch a partition."""
    path = chunk_path(partition.work, chunk.number, "class")
    if not path.exists():
        return Classes((), np.full(piece.stop - piece.start, NONE, dtype=np.int32))
    return Classes(
        names_from_bytes(map_array(partition.work, chunk_path(partition.work, chunk.number, "class_names"))),
        map_array(partition.work, path)[piece],
    )


# Graph of one partition -----------------------------------------------------------------------------------------------


class BuiltGraph(NamedTuple):
    """Result of building the graph of a partition.

    Attributes:
        faults: the first edges that contradict each other.
        total: number of contradictions.
        arcs: number of arcs that begin at the partition's own datasets.
        free: number of further such arcs, which constrain nothing.
        ghosts: number of neighbours that other partitions own.
    """

    faults: list[Fault]
    total: int
    arcs: int = 0
    free: int = 0
    ghosts: int = 0


class LabelsByNumber(NamedTuple):
    """A sequence of labels by number, looked up only when a message needs one."""

    numbers: Any
    label: Callable[[int], Any]

    def __getitem__(self, at: Any) -> Any:
        return self.label(int(self.numbers[int(at)]))


def build_graph(
    partition: Partition,
    chunks: list[Chunk],
    names: tuple[str, ...],
    duplicates: str,
    edges: Files,
    datasets: Files,
    labels: str,
    on_grid: bool,
) -> BuiltGraph:
    """Builds the graph of a partition and writes it."""
    assigned = edges_of(partition, chunks, len(names))
    ghosts = ghosts_among(partition, assigned.source, assigned.target)
    ends = places_among(partition, ghosts, assigned.source), places_among(partition, ghosts, assigned.target)
    size = partition.size + len(ghosts)
    parameters = Parameters(names, assigned.columns)
    try:
        rows = Edges(assigned.source, assigned.target, parameters, assigned.classes)
        graph = DatasetGraph.from_ends(RangeLabels(size), ends, rows, duplicates, FaultCollector("edges"), on_grid)
    except InputError:
        return _contradictions(partition, assigned, names, edges, datasets, labels)
    write_cut(partition, assigned.source, assigned.target)
    return _write_rows(partition, graph, ghosts)


def _write_rows(partition: Partition, graph: DatasetGraph, ghosts: NDArray[np.int64]) -> BuiltGraph:
    before = int(np.searchsorted(ghosts, partition.first))
    own = slice(before, before + partition.size)
    partition.save("ghosts", ghosts)
    low, high = int(graph.indptr[own.start]), int(graph.indptr[own.stop])
    columns = tuple(column[low:high] for column in graph.parameters)
    write_rows(partition, "rows", graph.indptr[own.start : own.stop + 1] - low, graph.targets[low:high], columns)
    for at, (column, lowered) in enumerate(graph.stored_columns()):
        partition.save(f"lowered_{at}", np.packbits(np.unpackbits(lowered, count=len(column))[low:high]))
        if graph.on_grid:
            partition.save(f"floored_{at}", column[low:high])
    if (classes := graph.arc_classes()) is not None:
        partition.save("rows_class", classes.numbers[low:high])
        partition.save("class_names", names_to_bytes(classes.names))
    if len(ghosts):
        _write_search(partition, graph, own)
    answers = np.concatenate(
        [
            partition.gather_from_owners("answers", ghosts[:before]),
            partition.load("answers"),
            partition.gather_from_owners("answers", ghosts[before:]),
        ]
    )
    partition.save("boundary", boundary_of(graph, answers)[own])
    return BuiltGraph([], 0, high - low, graph.free_arcs(own.start, own.stop), len(ghosts))


def _write_search(partition: Partition, graph: DatasetGraph, own: slice) -> None:
    """Writes the arcs that lead to own datasets, which searches follow."""
    kept = (graph.targets >= own.start) & (graph.targets < own.stop)
    counts = np.zeros(len(kept) + 1, dtype=np.int64)
    np.cumsum(kept, out=counts[1:])
    columns = tuple(column[kept] for column in graph.parameters)
    write_rows(partition, "search", counts[graph.indptr], graph.targets[kept], columns)


def _contradictions(
    partition: Partition, assigned: AssignedEdges, names: tuple[str, ...], edges: Files, datasets: Files, labels: str
) -> BuiltGraph:
    """The faults that one machine would report, limited to edges whose first end is in this partition."""
    least = np.minimum(assigned.source, assigned.target)
    chosen = np.flatnonzero((least >= partition.first) & (least < partition.first + partition.size))
    source, target = assigned.source[chosen], assigned.target[chosen]
    known = sort_distinct(np.concatenate([source, target]))

    def label(number: int) -> Any:
        return labels_at(datasets, [number], labels)[0]

    findings = FaultCollector("edges")
    table = Edges(
        LabelsByNumber(source, label),
        LabelsByNumber(target, label),
        Parameters(names, tuple(column[chosen] for column in assigned.columns)),
        assigned.classes and assigned.classes.take(chosen),
        row=lambda at: edges.row(assigned.row(int(chosen[at]))),
    )
    ends = np.searchsorted(known, source), np.searchsorted(known, target)
    with findings.collect():
        DatasetGraph.from_ends(ListedLabels(_Names(known, label)), ends, table, "error", FaultCollector("edges"))
    return BuiltGraph(findings.faults, findings.total)


class _Names:
    """Labels of some datasets, looked up when a message needs them."""

    def __init__(self, numbers: NDArray[np.int64], label: Callable[[int], Any]) -> None:
        self._numbers, self._label = numbers, label

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, at: Any) -> Any:
        return self._label(int(self._numbers[int(at)]))

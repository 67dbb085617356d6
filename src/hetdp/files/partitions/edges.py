"""The table of edges, a chunk at a time: checked, numbered, and dealt to the partitions that own their ends."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault
from hetdp.files.formats.ranges import Files, read_range
from hetdp.files.partitions.numbering import numbers_of_ends
from hetdp.files.schema import EDGE_COLUMNS
from hetdp.problem.classes import NONE, Classes, classes_of, joined_classes, names_as_bytes, names_from_bytes
from hetdp.problem.findings import Findings
from hetdp.problem.parameters import COLUMNS, parameters_of
from hetdp.problem.parts import Part, mapped, written
from hetdp.problem.space import Indices
from hetdp.problem.validation import Edges, usable_edges
from hetdp.theory.catalogue import NOTIONS

CHUNK = 1 << 21  # edges that a task reads at once
SHARES = 16  # of a table that is not larger; every partition opens the files of each


class Chunk(NamedTuple):
    """Some rows of the table of edges.

    Attributes:
        number: which chunk.
        start: its first row.
        stop: the row after its last.
    """

    number: int
    start: int
    stop: int


def chunks_of(files: Files, workers: int) -> list[Chunk]:
    """The chunks of a table, about equal shares for so many workers: none crosses from one file to the next."""
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
    """The file of one column of a chunk that was dealt."""
    return Path(work, "edges", f"{chunk}-{name}.npy")


def deal_edges(
    part: Part, chunk: Chunk, files: Files, notion: str, labels: str, class_kind: str
) -> tuple[list[Fault], int]:
    """Reads a chunk, reports its faults, and writes its sound edges by partition; `part` is any of them."""
    table, findings, unread = read_range(files, chunk.start, chunk.stop, EDGE_COLUMNS), Findings(""), list[int]()
    ends = [table.label_column(end, findings) for end in ("source", "target")]
    given = {name: table.number_column(name) for name in COLUMNS if name in table.columns}
    parameters = parameters_of(given, table.row, findings, unread, NOTIONS[notion].parameters)
    classes = classes_of(table.class_column(findings, class_kind), findings)
    numbers = numbers_of_ends(part, chunk.number, files, (chunk.start, chunk.stop), ends, labels)
    edges = Edges(ends[0], ends[1], parameters, classes, table.row, unread)
    usable = usable_edges(edges, (numbers[0], numbers[1]), findings)
    _write(part, chunk, numbers, edges, usable)
    return findings.faults, findings.total


def _write(part: Part, chunk: Chunk, ends: tuple[Indices, Indices], edges: Edges, usable: Any) -> None:
    """Each edge to the owner of its source, and to that of its target if it is another."""
    keep = ends[0] != ends[1]
    rows = np.flatnonzero(keep if usable is None else keep & usable)
    source, target = ends[0][rows], ends[1][rows]
    count = len(part.offsets) - 1
    kind = np.uint16 if count < 2**16 else np.int64
    owner, other = part.owners(source).astype(kind), part.owners(target).astype(kind)
    cut = np.flatnonzero(owner != other)
    order = np.argsort(np.concatenate([owner, other[cut]]), kind="stable")  # a radix sort, for so few owners
    chosen = np.concatenate([np.arange(len(rows)), cut])[order]
    bounds = np.concatenate(
        [[0], np.cumsum(np.bincount(owner, minlength=count) + np.bincount(other[cut], minlength=count))]
    )
    number = np.int32 if part.offsets[-1] < 2**31 else np.int64
    columns = {"source": source.astype(number), "target": target.astype(number), "row": rows.astype(np.int32)}
    columns |= {f"c{at}": column[rows] for at, column in enumerate(edges.parameters.columns)}
    if edges.classes is not None:
        columns["class"] = edges.classes.numbers[rows]
        written(part.work, chunk_path(part.work, chunk.number, "class_names"), names_as_bytes(edges.classes.names))
    for name, values in columns.items():
        written(part.work, chunk_path(part.work, chunk.number, name), values[chosen])
    written(part.work, chunk_path(part.work, chunk.number, "bounds"), bounds)


class Dealt(NamedTuple):
    """The edges that touch a partition.

    Attributes:
        source: the number of one end.
        target: the number of the other.
        columns: what each promises, as written.
        rows: where each stands in the table of edges.
        classes: the class of each, if some edge has one.
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


def dealt_to(part: Part, chunks: list[Chunk], parameters: int) -> Dealt:
    """All edges that touch a partition, in the order of the table."""
    names = ("source", "target", *(f"c{at}" for at in range(parameters)))
    columns: dict[str, list[Any]] = {name: [] for name in names}
    rows, classes = [], list[Classes]()
    for chunk in chunks:
        bounds = mapped(part.work, chunk_path(part.work, chunk.number, "bounds"))
        piece = slice(int(bounds[part.number]), int(bounds[part.number + 1]))
        for name in names:
            columns[name].append(mapped(part.work, chunk_path(part.work, chunk.number, name))[piece])
        rows.append((chunk.start, mapped(part.work, chunk_path(part.work, chunk.number, "row"))[piece]))
        classes.append(_classes_in(part, chunk, piece))
    joined = {name: np.concatenate(found) if found else np.empty(0) for name, found in columns.items()}
    ends = [joined[name].astype(np.int64, copy=False) for name in names[:2]]
    numbers = tuple(np.asarray(joined[name], dtype=np.float64) for name in names[2:])
    return Dealt(ends[0], ends[1], numbers, rows, joined_classes(classes))


def _classes_in(part: Part, chunk: Chunk, piece: slice) -> Classes:
    """The classes of the edges of a chunk that touch a partition."""
    path = chunk_path(part.work, chunk.number, "class")
    if not path.exists():
        return Classes((), np.full(piece.stop - piece.start, NONE, dtype=np.int32))
    return Classes(
        names_from_bytes(mapped(part.work, chunk_path(part.work, chunk.number, "class_names"))),
        mapped(part.work, path)[piece],
    )

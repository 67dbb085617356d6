"""Labels of a problem that no process holds whole: to numbers and back, and the digest that identifies the problem.

Labels 0 … n − 1 in order are their own numbers. Other labels are joined with their numbers in hash buckets:

1. Every partition writes its labels with their numbers, ordered by bucket.
2. Every chunk of edges writes the distinct labels that it needs, ordered by bucket.
3. One task per bucket joins the two and finds duplicate labels.
4. Every chunk reads the numbers that it asked for.

DuckDB does this work, and spills to disk when memory is short.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp import duck
from hetdp.duck import connection, exact_path, quote_name, report_faults
from hetdp.errors import ClusterError, InputError
from hetdp.files.formats.parquet import INTEGERS, PARQUET_RULE, cell_of
from hetdp.files.schema import JSON
from hetdp.partitioned.parquet_rows import ROWS, Files, as_values, read_range
from hetdp.partitioned.partition import LocalGraph, Partition
from hetdp.partitioned.problem import TaskRunner
from hetdp.partitioned.shared_files import open_plain, replace_file, require_real
from hetdp.problem.identity import PIECE, PREFIX
from hetdp.problem.labels import RangeLabels
from hetdp.problem.space import Indices
from hetdp.problem.spelling import label_from_json, label_to_json
from hetdp.theory.notion import Notion

RANGE, NAMED, STRANGE = "range", "named", "strange"  # equal to their numbers; looked up; of an invalid type
ENCODED = "encoded"  # labels that are looked up by their JSON text
INTEGER_TYPE = "DECIMAL(20, 0)"  # holds integers of 64 bits, signed or not; Parquet would round a HUGEINT to a float
MOST_REPORTED = 1000  # most duplicate labels that a bucket reports


def label_kind(files: Files, column: str) -> str:
    """The kind of labels in a column: integers, text, or a type that labels cannot have."""
    kind = files.kinds.get(column, "")
    return "integer" if kind in INTEGERS else "text" if kind == "VARCHAR" or kind.startswith("ENUM") else kind


def _label(column: str, kind: str) -> str:
    """SQL for a label in comparable form: all integers in one type, text unchanged."""
    return f"CAST({quote_name(column)} AS {INTEGER_TYPE if kind == 'integer' else 'VARCHAR'})"


def write_labels(partition: Partition, files: Files, buckets: int) -> str:
    """Writes the labels of a partition with their numbers, by bucket; returns the software that computed the hash."""
    label, number = _label("dataset", label_kind(files, "dataset")), partition.first
    queries = []
    for path, low, high in files.pieces(partition.first, partition.first + partition.size):
        queries.append(
            f"SELECT {label} AS label, file_row_number - {low} + {number} AS number"
            f" FROM {rows_of_file(path)} WHERE file_row_number >= {low} AND file_row_number < {high}"
        )
        number += high - low
    if queries:
        query = f"SELECT label, number, hash(label) % {buckets} AS bucket FROM ({' UNION ALL '.join(queries)})"
        copy_to(
            f"{query} ORDER BY bucket", partition.work, Path(partition.work, "names", f"{partition.number}.parquet")
        )
    return _maker()


def _maker() -> str:
    """The software that hashes; with different hashes, duplicates of a label could end up in different buckets."""
    return duck.version()


def write_wanted_labels(partition: Partition, chunk: int, files: Files, rows: tuple[int, int], buckets: int) -> str:
    """Writes the distinct labels in a chunk of edges, by bucket; returns the software that computed the hash."""
    queries = [
        f"SELECT {_label(end, label_kind(files, end))} AS label FROM {rows_of_file(path)}"
        f" WHERE file_row_number >= {low} AND file_row_number < {high}"
        for path, low, high in files.pieces(*rows)
        for end in ("source", "target")
    ]
    query = (
        f"SELECT DISTINCT label, {chunk} AS chunk, hash(label) % {buckets} AS bucket"
        f" FROM ({' UNION ALL '.join(queries)}) WHERE label IS NOT NULL ORDER BY bucket"
    )
    copy_to(query, partition.work, Path(partition.work, "wanted", f"{chunk}.parquet"))
    return _maker()


def join_bucket(partition: Partition, bucket: int, chunks: int) -> tuple[list[int], int]:
    """Joins the labels in a bucket with their numbers; returns the first duplicates, and their number.

    Args:
        partition: any partition of the problem.
        bucket: index of the bucket.
        chunks: number of chunks of edges.
    """
    names = (
        f"SELECT label, number FROM {_table(partition, 'names', len(partition.offsets) - 1)} WHERE bucket = {bucket}"
    )
    with _own_files(), connection() as database:
        again = f"SELECT number FROM ({names}) QUALIFY row_number() OVER (PARTITION BY label ORDER BY number) > 1"
        repeated = [number for (number,) in database.execute(f"{again} ORDER BY number").fetchall()]
    if chunks:
        wanted = f"SELECT label, chunk FROM {_table(partition, 'wanted', chunks)} WHERE bucket = {bucket}"
        first = f"SELECT label, min(number) AS number FROM ({names}) GROUP BY label"
        query = f"SELECT chunk, label, number FROM ({wanted}) JOIN ({first}) USING (label) ORDER BY chunk"
        with _own_files():
            copy_to(query, partition.work, Path(partition.work, "found", f"{bucket}.parquet"))
    return repeated[:MOST_REPORTED], len(repeated)


def numbers_of_ends(
    partition: Partition, chunk: int, files: Files, rows: tuple[int, int], ends: list[Any], labels: str
) -> tuple[Indices, Indices]:
    """The numbers of both ends of a chunk's edges; −1 if no dataset has the label."""
    if labels == STRANGE:
        return np.full(rows[1] - rows[0], -1), np.full(rows[1] - rows[0], -1)
    if labels == RANGE:
        known = RangeLabels(partition.offsets[-1])
        return known.indices(ends[0]), known.indices(ends[1])
    return _look_up(partition, chunk, files, rows, "source"), _look_up(partition, chunk, files, rows, "target")


def _look_up(partition: Partition, chunk: int, files: Files, rows: tuple[int, int], end: str) -> Indices:
    found = (
        f"(SELECT label, number FROM {_table(partition, 'found', len(partition.offsets) - 1)} WHERE chunk = {chunk})"
    )
    numbers = []
    with _own_files(), connection() as database:
        for path, low, high in files.pieces(*rows):
            label = _label(end, label_kind(files, end))
            edges = f"(SELECT file_row_number AS row, {label} AS label FROM {rows_of_file(path)}"
            edges += f" WHERE file_row_number >= {low} AND file_row_number < {high})"
            query = f"SELECT coalesce(number, -1) AS number FROM {edges} LEFT JOIN {found} USING (label) ORDER BY row"
            numbers.append(np.asarray(database.execute(query).fetchnumpy()["number"], dtype=np.int64))
    return np.concatenate(numbers)


def rows_of_file(path: str) -> str:
    """SQL for the rows of a file, with their row numbers."""
    return ROWS.replace("?", _text(exact_path(Path(path))))


def _table(partition: Partition, name: str, count: int) -> str:
    """SQL for all files of one step; Hive partitioning is off, so a parent folder ``number=1`` adds no column."""
    folder = Path(partition.work, name)
    require_real(partition.work, folder)
    files = [path for path in (folder / f"{number}.parquet" for number in range(count)) if path.exists()]
    for path in files:
        open_plain(path).close()  # raises if it is not a plain file
    return f"read_parquet([{', '.join(_text(exact_path(path)) for path in files)}], hive_partitioning=false)"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


@contextmanager
def _own_files() -> Iterator[None]:
    """Turns errors about files in the work folder into ClusterError: the user's input is not at fault."""
    try:
        with report_faults("labels", PARQUET_RULE):
            yield
    except InputError:
        rule = "a run leaves complete files there; a changed or truncated file is not used"
        raise ClusterError("the labels in the work folder cannot be read", rule) from None


def copy_to(query: str, root: str, path: Path) -> None:
    """Writes the rows of a query to a file atomically, in a folder below an existing root."""
    require_real(root, path.parent, make=True)
    with replace_file(path) as draft, report_faults("labels", PARQUET_RULE), connection() as database:
        database.execute(f"COPY ({query}) TO {_text(str(draft))} (FORMAT parquet)")


# Lookup in the files of the problem -----------------------------------------------------------------------------------


def labels_at(datasets: Files, numbers: list[int], labels: str) -> list[Any]:
    """The labels of some datasets, whose numbers are in ascending order."""
    if labels == RANGE:
        return numbers
    found: list[Any] = []
    cell = cell_of("dataset", datasets.kinds["dataset"], datasets.name)
    wanted = np.asarray(numbers, dtype=np.int64)
    with connection() as database:
        for path, first, count in zip(datasets.paths, datasets.starts, datasets.counts, strict=False):
            rows = wanted[(wanted >= first) & (wanted < first + count)] - first
            if not len(rows):
                continue
            datasets.pieces(first + int(rows[0]), first + int(rows[0]) + 1)  # raises if the file has changed
            database.register("chosen", {"number": rows})
            query = (
                f"SELECT {cell} AS label FROM {ROWS} JOIN chosen ON file_row_number = number"
                f" WHERE file_row_number >= ? AND file_row_number <= ? ORDER BY number"
            )
            cells = database.execute(query, [exact_path(Path(path)), int(rows[0]), int(rows[-1])]).fetchnumpy()["label"]
            database.unregister("chosen")
            found += as_values(cells)
    return found


def own_labels(partition: Partition, datasets: Files, labels: str) -> Any:
    """The labels of a partition's datasets, as an array."""
    if labels == RANGE:
        return np.arange(partition.first, partition.first + partition.size)
    return read_range(datasets, partition.first, partition.first + partition.size, ("dataset",)).columns["dataset"]


def find_labels(partition: Partition, datasets: Files, labels: list[Any]) -> dict[int, int]:
    """Maps positions in a list of labels to dataset numbers, for the datasets of this partition."""
    places = {label: at for at, label in enumerate(labels)}
    names = as_values(own_labels(partition, datasets, ""))
    return {places[name]: partition.first + at for at, name in enumerate(names) if name in places}


def _json_or_none(label: Any) -> str | None:
    try:
        return label_to_json(label)
    except (TypeError, ValueError, RecursionError):
        return None


class LabelWriter(NamedTuple):
    """Everything that a task needs to write labels."""

    files: Files
    kind: str

    @property
    def words(self) -> dict[str, str]:
        """Entries about labels for the metadata file of a mechanism."""
        return {"labels": JSON} if self.kind == ENCODED else {}

    def own(self, partition: Partition) -> Any:
        """The labels of a partition's datasets, as an array."""
        return own_labels(partition, self.files, self.kind)

    def at(self, numbers: list[int]) -> list[Any]:
        """The labels of some datasets, whose numbers are in ascending order."""
        return labels_at(self.files, numbers, self.kind)


class FileNames:
    """Translates numbers to labels by reading a file, and labels to numbers by asking the workers."""

    def __init__(self, partitions: list[Partition], datasets: Files, kind: str, workers: TaskRunner) -> None:
        self.files, self.kind = datasets, kind
        self._parts, self._workers = partitions, workers

    @property
    def writer(self) -> LabelWriter:
        """The object with which tasks write labels."""
        return LabelWriter(self.files, self.kind)

    def labels(self, numbers: list[int]) -> list[Any]:
        """The labels of some datasets, in the order given."""
        different, back = np.unique(np.asarray(numbers, dtype=np.int64), return_inverse=True)
        known = labels_at(self.files, different.tolist(), self.kind)
        if self.kind == ENCODED:
            known = list(map(label_from_json, known))
        return [known[at] for at in back.ravel().tolist()]

    def indices(self, labels: list[Any]) -> Any:
        """The numbers of some datasets; −1 for an unknown label."""
        if self.kind == RANGE:
            return RangeLabels(self.files.length).indices(labels)
        labels = [label.item() if isinstance(label, np.generic) else label for label in labels]
        return self.cells([_json_or_none(label) for label in labels] if self.kind == ENCODED else labels)

    def cells(self, labels: list[Any]) -> Any:
        """The numbers of some datasets, by labels as stored in the files; −1 for an unknown label."""
        if self.kind == RANGE:
            return RangeLabels(self.files.length).indices(labels)
        wanted = int if label_kind(self.files, "dataset") == "integer" else str
        numbers = np.full(len(labels), -1, dtype=np.int64)
        places = [at for at, label in enumerate(labels) if type(label) is wanted]
        chosen = [labels[at] for at in places]
        if chosen:
            for found in self._workers.run(find_labels, [(partition, self.files, chosen) for partition in self._parts]):
                for at, number in found.items():
                    numbers[places[at]] = number
        return numbers


# Identity of the problem: the same digest as on one machine, computed in pieces ---------------------------------------


class Piece(NamedTuple):
    """A range of entries of one array of the whole problem.

    Attributes:
        name: name of the array.
        width: bytes per entry.
        start: first entry.
        stop: entry after the last.
    """

    name: str
    width: int
    start: int
    stop: int


def identity_of_partitions(
    partitions: list[Partition],
    arcs: tuple[int, ...],
    notion: Notion,
    datasets: Files,
    labels: str,
    workers: TaskRunner,
) -> str:
    """The identity of the whole problem."""
    size, starts = datasets.length, tuple(np.concatenate([[0], np.cumsum(arcs)]).astype(np.int64).tolist())
    wide = 4 if size < 2**31 else 8
    title = f"hetdp problem 1\n{notion.key} {size} {starts[-1]}\n".encode()
    arrays = [("answers", 1, size), ("indptr", 8, size + 1), ("targets", wide, starts[-1])]
    arrays += [(f"rows_{column}", 8, starts[-1]) for column in range(len(notion.parameters))]
    pieces = [
        Piece(name, width, start, min(start + PIECE // width, length))
        for name, width, length in arrays
        for start in range(0, length, PIECE // width)
    ]
    first = workers.run(digest_labels, [(partitions, datasets, labels, title)])
    digests = workers.run(digest_piece, [(partitions, starts, piece) for piece in pieces])
    return PREFIX + hashlib.sha256(b"".join([*first, *digests])).hexdigest()


def digest_labels(partitions: list[Partition], datasets: Files, labels: str, title: bytes) -> bytes:
    """The digest of the part before the arrays: the title and all labels in order."""
    digest = hashlib.sha256(title)
    if labels == RANGE and partitions[0].offsets[-1]:  # an empty problem has no range of labels
        digest.update(b"0 to n - 1\n")
        return digest.digest()
    before = b"["
    for partition in partitions:
        if partition.size:
            names = own_labels(partition, datasets, labels).tolist()
            names = list(map(label_from_json, names)) if labels == ENCODED else names
            digest.update(before + json.dumps(names, ensure_ascii=False)[1:-1].encode())
            before = b", "
    digest.update((b"[" if before == b"[" else b"") + b"]\n")
    return digest.digest()


def digest_piece(partitions: list[Partition], starts: tuple[int, ...], piece: Piece) -> bytes:
    """The digest of one piece of an array, read from the partitions that hold it."""
    digest = hashlib.sha256()
    by_dataset = piece.name in ("answers", "indptr")
    bounds: Any = partitions[0].offsets if by_dataset else starts
    for partition in partitions:
        low, high = max(piece.start, bounds[partition.number]), min(piece.stop, bounds[partition.number + 1])
        if low < high:
            own = slice(low - bounds[partition.number], high - bounds[partition.number])
            digest.update(_bytes(partition, piece, own, starts))
    if piece.name == "indptr" and piece.stop == bounds[-1] + 1:
        digest.update(np.array([starts[-1]], dtype="<i8").tobytes())
    return digest.digest()


def _bytes(partition: Partition, piece: Piece, own: slice, starts: tuple[int, ...]) -> Any:
    values: NDArray[Any]
    if piece.name == "indptr":
        values = partition.load("rows_indptr")[own] + starts[partition.number]
    elif piece.name == "targets":
        graph = LocalGraph(partition)
        values = graph.numbers(graph.targets[own]).astype(f"<i{piece.width}")
    else:
        values = partition.load(piece.name)[own]
    return np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False)).data.cast("B")

"""Reads ranges of rows from a table in Parquet files, so that no task needs the whole table."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hetdp.duck import connection, exact_path, fetch_columns, quote_name, report_faults
from hetdp.errors import Fault, InputError
from hetdp.files.formats.parquet import PARQUET_RULE, cell_of, is_long, kinds_of, require_alike
from hetdp.files.formats.table import Table
from hetdp.numbers import parse_numbers
from hetdp.partitioned.shared_files import FileState, file_state

ROWS = "read_parquet(?, hive_partitioning=false, file_row_number=true)"


ORIGIN = "row_in_its_own_table"


class Files(NamedTuple):
    """A table in Parquet files.

    Attributes:
        name: name used in messages.
        paths: the files, in order.
        kinds: type of each column.
        counts: number of rows of each file.
        seen: state of each file on the driver, so that a worker that sees another file can refuse it.
        origin: the original table, if this one is a reordered copy; the column ORIGIN has the original row numbers.
    """

    name: str
    paths: tuple[str, ...]
    kinds: dict[str, str]
    counts: tuple[int, ...]
    seen: tuple[FileState, ...] = ()
    origin: Any = None

    @property
    def length(self) -> int:
        """Number of rows."""
        return sum(self.counts)

    @property
    def starts(self) -> list[int]:
        """The first row of each file, followed by the number of rows."""
        return [0, *accumulate(self.counts)]

    def row(self, at: int) -> str:
        """The name of a row in messages."""
        if self.origin is not None:
            query = f"SELECT {ORIGIN} FROM {ROWS} WHERE file_row_number = ?"
            with connection() as database:
                ((row,),) = database.execute(query, [exact_path(Path(self.paths[0])), at]).fetchall()
            return str(self.origin.row(int(row)))
        if len(self.paths) == 1:
            return f"{self.name} row {at + 1}"
        file = bisect_right(self.starts, at) - 1
        path = Path(self.paths[file])
        return f"{path.parent.name}/{path.name} row {at - self.starts[file] + 1}"

    def pieces(self, start: int, stop: int) -> list[tuple[str, int, int]]:
        """Splits a range of rows into (path, first row, end row) by file.

        Raises:
            ClusterError: a file on this machine differs from the one that the driver sees.
        """
        bounds = zip(self.paths, self.starts, self.counts, strict=False)
        cut = [(path, max(start - first, 0), min(stop - first, count)) for path, first, count in bounds]
        for file, (_, low, high) in zip(self.seen, cut, strict=False):
            if low < high:
                file.require()
        return [(path, low, high) for path, low, high in cut if low < high]


def files_of(paths: list[Path], name: str) -> Files:
    """Describes a table from the metadata of its files; no row is read."""
    with report_faults(name, PARQUET_RULE), connection() as database:
        kinds = kinds_of(database, paths[0])
        require_alike(database, paths, kinds, name)
        counts = [_count(database, path) for path in paths]
    return Files(name, tuple(map(str, paths)), kinds, tuple(counts), tuple(map(file_state, paths)))


def _count(database: Any, path: Path) -> int:
    query = "SELECT sum(num_rows) FROM parquet_file_metadata(?)"
    ((rows,),) = database.execute(query, [exact_path(path)]).fetchall()
    return int(rows or 0)


def read_range(files: Files, start: int, stop: int, known: tuple[str, ...]) -> Table:
    """Reads the known columns of a range of rows, converted as in `files.formats.parquet.read_parquet`."""
    chosen = [column for column in files.kinds if column in known]
    pieces = [_read_piece(files, piece, chosen) for piece in files.pieces(start, stop)]
    columns = {column: _join([piece[column] for piece in pieces]) for column in chosen}
    columns |= {
        column: parse_numbers(as_values(columns[column])) for column in chosen if is_long(column, files.kinds[column])
    }
    return Table(files.name, columns, stop - start, lambda at: files.row(start + at))


def _read_piece(files: Files, piece: tuple[str, int, int], chosen: list[str]) -> dict[str, Any]:
    path, low, high = piece
    cells = [f"{cell_of(column, files.kinds[column], files.name)} AS {quote_name(column)}" for column in chosen]
    with report_faults(files.name, PARQUET_RULE), connection() as database:
        query = f"SELECT {', '.join(cells)} FROM {ROWS} WHERE file_row_number >= ? AND file_row_number < ?"
        found = fetch_columns(database, query, [exact_path(Path(path)), low, high])
    if any(len(column) != high - low for column in found.values()):  # a file's metadata may be wrong
        fault = Fault("has other rows than it says", f"{Path(path).parent.name}/{Path(path).name}", "", PARQUET_RULE)
        raise InputError(files.name, [fault])
    return found


def _join(columns: list[Any]) -> Any:
    if not columns:
        return np.empty(0, dtype=np.int64)
    if len(columns) == 1:
        return columns[0]
    return (np.ma.concatenate if any(np.ma.is_masked(column) for column in columns) else np.concatenate)(columns)


def as_values(column: Any) -> list[Any]:
    """A column as Python values; None for a missing cell."""
    values: list[Any] = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return values

"""SQLite files, read with the standard library in batches of rows."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.duck import quote_name
from hetdp.errors import Fault, InputError
from hetdp.tables.sources import BATCH_ROWS, Arrays, BatchSource, choose_sheet, file_stamp, require_different
from hetdp.text import format_value

SQLITE_RULE = "it must be an SQLite file"
COMPUTED_TYPE = "VARCHAR computed when it is read"  # not a type of DuckDB, so such a column is refused
SETTINGS = (
    "trusted_schema = OFF",
    "query_only = ON",
    "cell_size_check = ON",
    "mmap_size = 0",
)  # without a memory map, a file that shrinks cannot crash the process


def require_plain_beside(place: Path) -> None:
    """Refuses anything but a regular file in the place of a journal: SQLite would wait for a pipe forever."""
    for suffix in ("-journal", "-wal", "-shm"):
        beside = place.with_name(place.name + suffix)
        if os.path.lexists(beside) and (beside.is_symlink() or not beside.is_file()):
            rule = "SQLite keeps plain files beside its own, or none"
            what = f"stands beside {beside.name}, which is not a plain file"
            raise InputError(place.name, [Fault(what, place.name, "", rule)])


class SqliteTable(BatchSource):
    """A table of an SQLite file, read with the standard library in one transaction.

    The file is not trusted: virtual tables and generated columns, which could make SQLite run code, are not read.
    """

    def __init__(self, database: Any, place: Path, sheet: str | None, curator: bool) -> None:
        super().__init__(database, place.name, curator)
        self._place = place
        require_plain_beside(place)
        with self._refusals():
            self._file = _connect(place)
        try:
            described = self._begin(sheet)
        except BaseException:
            self.close()
            raise
        require_different(list(described), self.name)
        self.columns, self.form = described, f"SQLite, table {format_value(self.sheet)}"

    def holds_reals(self, column: str) -> bool:
        """True if SQLite stores cells of a column as floats; see `Source`."""
        asks = f"SELECT 1 FROM {quote_name(str(self.sheet))} WHERE typeof({quote_name(column)}) = 'real' LIMIT 1"
        with self._refusals():
            return self._file.execute(asks).fetchone() is not None

    @property
    def stamp(self) -> Any:
        """The stamp of the file."""
        return file_stamp(self._place)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _begin(self, sheet: str | None) -> dict[str, str]:
        """Begins the transaction in which everything is read; returns the columns.

        Changes by other programs are not seen, not even in WAL mode.
        """
        with self._refusals():
            self.sheet = choose_sheet(self.name, _begin_and_list(self._file), sheet, SQLITE_RULE)
            described = self._file.execute(f"PRAGMA table_xinfo({quote_name(self.sheet)})").fetchall()
        columns = {str(name): COMPUTED_TYPE if hidden == 2 else "VARCHAR" for _, name, *_, hidden in described}
        if len(columns) < len(described) or not columns:
            raise InputError(self.name, [Fault("cannot be read", self.name, "", SQLITE_RULE)])
        return columns

    def _refusals(self) -> AbstractContextManager[None]:
        return _sqlite_errors(self.name)

    def _batches(self, uses: Sequence[str]) -> Iterator[Arrays]:
        """The named columns as texts; see `BatchSource`."""
        named = list(dict.fromkeys(uses))
        cells = ", ".join(map(_cell, named)) or "'1'"
        names = named or ["rows"]
        yield {name: np.empty(0, dtype=object) for name in names}
        query = f"SELECT {cells} FROM {quote_name(str(self.sheet))} NOT INDEXED"  # always in the same order
        with self._refusals(), closing(self._file.cursor()) as rows:
            rows.execute(query)
            while batch := rows.fetchmany(BATCH_ROWS):
                table = np.empty((len(batch), len(names)), dtype=object)
                table[:] = batch
                yield {name: _texts(table[:, at]) for at, name in enumerate(names)}


def list_tables(place: Path) -> list[str]:
    """The tables of an SQLite file.

    Raises:
        InputError: it cannot be read.
    """
    require_plain_beside(place)
    with _sqlite_errors(place.name), closing(_connect(place)) as file:
        return _begin_and_list(file)


def _connect(place: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{place.as_uri()}?mode=ro", uri=True, isolation_level=None)


def _begin_and_list(file: sqlite3.Connection) -> list[str]:
    """Begins a transaction, and returns the names of the tables."""
    file.text_factory = lambda raw: raw.decode("utf-8", "replace")
    for setting in SETTINGS:
        file.execute(f"PRAGMA {setting}")
    file.execute("BEGIN")
    listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND rootpage > 0"
    return [str(row[0]) for row in file.execute(listed)]


@contextmanager
def _sqlite_errors(name: str) -> Iterator[None]:
    """Turns errors of SQLite into one InputError, always in the same words."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError):  # the second is raised by names
        raise InputError(name, [Fault("cannot be read", name, "", SQLITE_RULE)]) from None


def _cell(column: str) -> str:
    """A cell as text. Floats are converted in Python: SQLite prints 15 digits only, which could raise an ε."""
    cell = quote_name(column)
    return f"CASE typeof({cell}) WHEN 'real' THEN {cell} ELSE CAST({cell} AS TEXT) END"


def _texts(cells: NDArray[Any]) -> NDArray[Any]:
    """Cells as texts, floats with all their digits."""
    found = np.empty(len(cells), dtype=object)
    found[:] = [repr(cell) if isinstance(cell, float) else cell for cell in cells.tolist()]
    return found

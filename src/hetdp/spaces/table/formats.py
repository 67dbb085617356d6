"""The formats a table of people may have; each becomes a source."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from hetdp.errors import Fault, InputError, UsageError, shown
from hetdp.interrupts import load_whole
from hetdp.spaces.table.database import identifier, refusals
from hetdp.spaces.table.sources import Arrays, Expressions, Queried, Source, define, require_different, stamp

CSV_RULE = "a CSV file is UTF-8 text with a header row, commas, and as many fields in each row as in the header"
SQLITE_RULE = "it is an SQLite file"
BATCH = 1 << 17  # rows of an SQLite table at a time
PIECE = 1 << 24  # bytes of a CSV file at a time


def maker_of(place: Path) -> Callable[[Any, Path, str | None, bool], Source]:
    """What reads a file, by the ending of its name.

    Raises:
        UsageError: no format is known for it.
    """
    maker = MAKERS.get(place.suffix.lower())
    if maker is None:
        raise UsageError(f"no format is known for {str(place)!r}", f"the name ends in {', '.join(MAKERS)}")
    return maker


def comma_separated(database: Any, place: Path, _: str | None, curator: bool) -> Source:
    """A CSV file: every cell is text, and an empty one is missing."""
    header = _header(place)
    _require_text(place)
    ours = {column: f"column_{at}" for at, column in enumerate(header)}
    kinds = ", ".join(f"'{column}': 'VARCHAR'" for column in ours.values())
    scan = (
        "read_csv(?, auto_detect=false, header=true, delim=',', quote='\"', escape='\"', nullstr='', strict_mode=true,"
        f" max_line_size=10000000, hive_partitioning=false, columns={{{kinds}}})"
    )
    return Queried(database, scan, place.name, place, ours, [str(place)], curator)


def parquet(database: Any, place: Path, _: str | None, curator: bool) -> Source:
    """A Parquet file."""
    query = "SELECT name, coalesce(num_children, 0) FROM parquet_schema(?)"
    with refusals(place.name, curator):
        (_, count), *rest = database.execute(query, [str(place)]).fetchall()
    require_different(list(_outermost(rest, count)), place.name)
    scan = "read_parquet(?, hive_partitioning=false)"
    return Queried(database, scan, place.name, place, bound=[str(place)], curator=curator)


def arrow(database: Any, place: Path, _: str | None, curator: bool) -> Source:
    """An Arrow file, by PyArrow, which must be there for it."""
    if find_spec("pyarrow") is None:
        raise UsageError("Arrow files need PyArrow", "it is not installed here", "pip install pyarrow, or use Parquet")
    try:
        rows = load_whole("pyarrow.dataset").dataset(str(place), format="arrow")
        names = rows.schema.names
    except (OSError, ValueError):
        raise InputError(place.name, [Fault("cannot be read", place.name, "", "it is an Arrow file")]) from None
    require_different(names, place.name)
    with refusals(place.name, curator):
        database.register("people", rows)
    return Queried(database, "people", place.name, place, curator=curator)


def frame(database: Any, table: Any, curator: bool) -> Source:
    """A data frame or an Arrow table."""
    names = getattr(getattr(table, "schema", None), "names", None) or getattr(table, "columns", None)
    if names is None:
        rule = "a table is the name of a file, a pandas or Polars data frame, or an Arrow table"
        raise UsageError(f"the table is {shown(type(table).__name__)}", rule)
    names = list(names() if callable(names) else names)
    if not all(isinstance(name, str) for name in names):
        raise UsageError("a column whose name is no text", "columns of people's tables are named by text")
    require_different(names, "the table")
    with refusals("the table", curator):
        database.register("people", table)
    return Queried(database, "people", "the table", curator=curator)


def sqlite(database: Any, place: Path, sheet: str | None, curator: bool) -> Source:
    """A table of an SQLite file: every cell is text, as SQLite writes it."""
    return Batches(database, place, sheet, curator)


MAKERS: dict[str, Callable[[Any, Path, str | None, bool], Source]] = {
    ".csv": comma_separated,
    ".parquet": parquet,
    **dict.fromkeys((".arrow", ".feather", ".ipc"), arrow),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), sqlite),
}


class Batches(Source):
    """An SQLite table, by the standard library, some rows at a time, each batch computed by DuckDB."""

    def __init__(self, database: Any, place: Path, sheet: str | None, curator: bool) -> None:
        self.name, self._place, self._database, self._curator = place.name, place, database, curator
        try:
            with closing(self._connection()) as file:
                listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                self._sheet = self._chosen([str(row[0]) for row in file.execute(listed)], sheet)
                described = file.execute(f"SELECT * FROM {identifier(self._sheet)} LIMIT 0").description
        except (sqlite3.Error, UnicodeDecodeError):  # the latter for names
            raise InputError(self.name, [Fault("cannot be read", self.name, "", SQLITE_RULE)]) from None
        names = [str(column[0]) for column in described]
        require_different(names, self.name)
        self.columns = dict.fromkeys(names, "VARCHAR")

    def read(self, wanted: Expressions, parameters: Sequence[Any] = (), uses: Sequence[str] = ()) -> Arrays:
        """One pass; see `Source`."""
        cells = ", ".join(f"{how} AS {identifier(name)}" for name, how in wanted.items())
        found = [self._computed(f"SELECT {cells} FROM batch", parameters, batch) for batch in self._batches(uses)]
        return {name: np.concatenate([np.asarray(part[name]) for part in found]) for name in wanted}

    def distinct(self, column: str, most: int) -> list[str] | None:
        """The different texts; see `Source`."""
        found: set[str | None] = set()
        for batch in self._batches([column]):
            found |= set(batch[column].tolist())
            if len(found) > most or None in found:
                return None
        return sorted(text for text in found if text is not None)

    def define(self, kind: str, names: Sequence[str]) -> None:
        """Makes a type; see `Source`."""
        define(self._database, kind, names)

    @property
    def unchanged(self) -> Any:
        """The stamp of the file."""
        return stamp(self._place)

    def _connection(self) -> sqlite3.Connection:
        connection = sqlite3.connect(f"{self._place.as_uri()}?mode=ro", uri=True)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return connection

    def _chosen(self, sheets: list[str], sheet: str | None) -> str:
        if sheet is None and len(sheets) == 1:
            return sheets[0]
        if sheet not in sheets or sheet is None:
            what = f"there is no table {shown(sheet)} in {self.name}" if sheet else f"{self.name} holds several tables"
            raise UsageError(what, f"the tables are {', '.join(map(shown, sheets[:20]))}", "--table names one")
        return sheet

    def _batches(self, uses: Sequence[str]) -> Iterator[Arrays]:
        """The named columns as texts, in the order of the rows; first a batch of none, so that there is always one."""
        named = list(dict.fromkeys(uses))
        cells = ", ".join(f"CAST({identifier(column)} AS TEXT)" for column in named) or "'1'"
        names = named or ["rows"]
        yield {name: np.empty(0, dtype=object) for name in names}
        try:
            with closing(self._connection()) as file:
                rows = file.execute(f"SELECT {cells} FROM {identifier(self._sheet)} NOT INDEXED")  # one order, always
                while batch := rows.fetchmany(BATCH):
                    table = np.empty((len(batch), len(names)), dtype=object)
                    table[:] = batch
                    yield {name: table[:, at].copy() for at, name in enumerate(names)}
        except (sqlite3.Error, UnicodeDecodeError):  # the latter for names
            raise InputError(self.name, [Fault("cannot be read", self.name, "", SQLITE_RULE)]) from None

    def _computed(self, query: str, parameters: Sequence[Any], batch: Arrays) -> Arrays:
        with refusals(self.name, self._curator):
            self._database.register("batch", batch)
            found: Arrays = self._database.execute(query, list(parameters)).fetchnumpy()
            self._database.unregister("batch")
        return found


def _header(place: Path) -> list[str]:
    """The names of the columns of a CSV file."""
    try:
        with place.open(encoding="utf-8-sig", newline="") as lines:
            header = next(csv.reader(lines, strict=True), [])  # DuckDB takes the first line, too, even an empty one
    except (UnicodeDecodeError, csv.Error):
        header = []
    if not header or "" in header or (len(header) == 1 and set(";\t|") & set(header[0])):
        raise InputError(place.name, [Fault("no header row that can be read", place.name, "", CSV_RULE)])
    if len(set(header)) < len(header):
        raise InputError(place.name, [Fault("a column that is there twice", place.name, "", CSV_RULE)])
    return header


def _require_text(place: Path) -> None:
    """All of the file is UTF-8: else whether it can be read would depend on the columns that are read."""
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with place.open("rb") as file:
            while piece := file.read(PIECE):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise InputError(place.name, [Fault("no UTF-8 text", place.name, "", CSV_RULE)]) from None


def _outermost(described: list[tuple[str, int]], count: int) -> Iterator[str]:
    """The names of the columns themselves, without what stands within them."""
    at = 0
    for _ in range(count):
        yield described[at][0]
        pending = 1
        while pending:
            pending += described[at][1] - 1
            at += 1

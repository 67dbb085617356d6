"""Sources of rows: a CSV, Parquet, Arrow or SQLite file, a folder, or a data frame, read by column names.

A source is read several times. Each pass reads the named columns of all rows, in the same order, and no other column.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from hetdp.documents import require_path
from hetdp.duck import define_enum, fetch_columns, hide_details, quote_name
from hetdp.errors import Fault, InputError, UsageError
from hetdp.tables.comparison import open_locked
from hetdp.tables.dialect import AS_FOUND, FileOptions, require_option_for
from hetdp.text import did_you_mean, format_value

BATCH_ROWS = 1 << 17  # rows at a time
MOST_SHEETS = 20  # that a message lists
NOTHING = '"NULL"'  # DuckDB's type of a column in which every cell is missing
Arrays = dict[str, Any]
Expressions = dict[str, str]  # name of a result → SQL expression
CELLS = "cells"  # the name of a table of texts in queries
ROW = "number of the row"
Texts = dict[str, list[str | None]]


class Columns(ABC):
    """A table whose columns are known by name and type.

    Attributes:
        name: the name of the table in messages.
        columns: name → DuckDB's type, in the order of the table.
        sheet: the sheet or table within the file; None if the file is one table.
        form: the format of the file in words, with what was found about it.
        options: how the file is read, with what was found.
        facts: entries of a plan by which the same file is read in the same way.
    """

    sheet: str | None = None
    form: str = ""
    options: FileOptions = AS_FOUND
    facts: Mapping[str, str] = MappingProxyType({})
    name: str
    columns: dict[str, str]

    def holds_reals(self, column: str) -> bool:
        """True if cells of a text column are stored as floats, so that 1 became 1.0. Such a column cannot hold ids."""
        return False

    @property
    def stamp(self) -> Any:
        """A value that changes when the table changes; None if that cannot be known."""
        return None


class Source(Columns):
    """A table whose rows this process reads."""

    @abstractmethod
    def read(self, wanted: Expressions, parameters: Sequence[Any] = (), uses: Sequence[str] = ()) -> Arrays:
        """One pass over all rows.

        Args:
            wanted: the expressions to compute for each row; never null.
            parameters: the values of the question marks in them.
            uses: the columns that they look at; no other is read.
        """

    @abstractmethod
    def distinct(self, column: str, most: int) -> list[str] | None:
        """The distinct texts of a column, sorted, at most one more than `most`; None if a cell is missing."""

    @abstractmethod
    def define(self, kind: str, names: Sequence[str]) -> None:
        """Creates an enum type of these texts, so that they can be read as numbers."""

    def length(self) -> int:
        """The number of rows."""
        return len(self.read({"row": "1"})["row"])

    def row(self, at: int) -> str:
        """The name of a row in messages to the curator; rows are numbered from 0."""
        return f"{self.name} row {at + 1}"

    def close(self) -> None:
        """Closes the source."""


class QueriedSource(Source):
    """A table that DuckDB scans itself.

    Args:
        database: a locked connection.
        scan: the FROM clause.
        name: the name of the table in messages.
        place: the file, if it is one.
        renamed: column → its name in the scan, if that differs.
        bound: parameters of the scan.
        curator: whether messages may quote the reader.
    """

    def __init__(
        self,
        database: Any,
        scan: str,
        name: str,
        place: Path | None = None,
        renamed: dict[str, str] | None = None,
        bound: Sequence[Any] = (),
        curator: bool = False,
    ) -> None:
        self.name, self._database, self._place, self.bound, self._curator = name, database, place, list(bound), curator
        with hide_details(name, curator):
            described = database.execute(f"DESCRIBE SELECT * FROM {scan}", self.bound).fetchall()
        found = {str(column): str(kind) for column, kind, *_ in described}
        ours = {column: column for column in found} if renamed is None else renamed
        self.scanned, self.scan = ours, scan
        self.columns = {column: found[scanned] for column, scanned in ours.items()}
        self._nothing = {column for column, kind in self.columns.items() if kind == NOTHING}
        self.columns |= dict.fromkeys(self._nothing, "VARCHAR")  # any type will do if every cell is missing
        require_different(list(self.columns), name)  # queries address columns by name, in every format

    def read(self, wanted: Expressions, parameters: Sequence[Any] = (), uses: Sequence[str] = ()) -> Arrays:
        """One pass; see `Source`."""
        cells = ", ".join(f"{how} AS {quote_name(name)}" for name, how in wanted.items())
        query = f"SELECT {cells} FROM ({self._selection(uses)})"
        with hide_details(self.name, self._curator):
            found = fetch_columns(self._database, query, [*parameters, *self.bound])
        return {name: np.asarray(array) for name, array in found.items()}

    def distinct(self, column: str, most: int) -> list[str] | None:
        """The distinct texts; see `Source`."""
        query = f"SELECT DISTINCT CAST({quote_name(column)} AS VARCHAR) FROM ({self._selection([column])}) LIMIT ?"
        with hide_details(self.name, self._curator):
            found = [row[0] for row in self._database.execute(query, [*self.bound, most + 1]).fetchall()]
        return None if None in found else sorted(found)

    def define(self, kind: str, names: Sequence[str]) -> None:
        """Creates an enum type; see `Source`."""
        define_enum(self._database, kind, names)

    def count_rows(
        self, keys: Expressions, flags: Expressions, parameters: Sequence[Any], uses: Sequence[str], most: int
    ) -> Arrays:
        """One pass that counts rows with equal keys. The grouping and the order of work depend on the keys alone.

        Args:
            keys: the expressions to group by; never null.
            flags: the boolean expressions to count; never null.
            parameters: the values of the question marks in both, keys first.
            uses: the columns that they look at; no other is read.
            most: the largest number of groups; one more is returned if there are more.
        """
        named = {name: quote_name(name) for name in (*keys, *flags)}
        cells = [f"{how} AS {named[name]}" for name, how in keys.items()]
        cells += [f"CAST({how} AS INTEGER) AS {named[name]}" for name, how in flags.items()]
        sums = [f"CAST(sum({named[name]}) AS BIGINT) AS {named[name]}" for name in flags]
        by = ", ".join(named[name] for name in keys)
        query = f"SELECT {', '.join([by, 'count(*) AS people', *sums])}"
        query += f" FROM (SELECT {', '.join(cells)} FROM ({self._selection(uses)})) GROUP BY {by} LIMIT {most + 1}"
        with hide_details(self.name, self._curator):
            found = fetch_columns(self._database, query, [*parameters, *self.bound])
        return {name: np.asarray(array) for name, array in found.items()}

    def find_rows(self, what: str, where: str, parameters: Sequence[Any], uses: Sequence[str]) -> list[tuple[int, Any]]:
        """The rows for which a condition holds: their indices from 0, with the value of an expression."""
        place = quote_name("_".join(["place", *uses]))  # longer than every used name, so it is none of them
        rows = f"SELECT *, row_number() OVER () AS {place} FROM ({self._selection(uses)})"
        query = f"SELECT {place} - 1, {what} FROM ({rows}) WHERE {where} ORDER BY {place}"
        with hide_details(self.name, self._curator):
            found: list[tuple[int, Any]] = self._database.execute(query, [*self.bound, *parameters]).fetchall()
        return found

    def length(self) -> int:
        """The number of rows."""
        with hide_details(self.name, self._curator):
            query = f"SELECT count(*) FROM ({self._selection([])})"
            ((rows,),) = self._database.execute(query, self.bound).fetchall()
            return int(rows)

    @property
    def stamp(self) -> Any:
        """The stamp of the file."""
        return None if self._place is None else file_stamp(self._place)

    def _selection(self, uses: Sequence[str]) -> str:
        """A query for the used columns under their own names; without any, for the rows only."""
        named = dict.fromkeys(uses)
        cells = [f"{self._cell(column)} AS {quote_name(column)}" for column in named] or ["1 AS rows"]
        return f"SELECT {', '.join(cells)} FROM {self.scan}"

    def _cell(self, column: str) -> str:
        """The expression of a column in the scan."""
        cell = quote_name(self.scanned[column])
        return f"CAST({cell} AS VARCHAR)" if column in self._nothing else cell


class BatchSource(Source):
    """A table that is read in batches of rows; DuckDB evaluates the expressions on each batch.

    Args:
        database: a locked connection.
        name: the name of the table in messages.
        curator: whether messages may quote the reader.
    """

    def __init__(self, database: Any, name: str, curator: bool) -> None:
        self.name, self._database, self._curator = name, database, curator

    def read(self, wanted: Expressions, parameters: Sequence[Any] = (), uses: Sequence[str] = ()) -> Arrays:
        """One pass; see `Source`."""
        cells = ", ".join(f"{how} AS {quote_name(name)}" for name, how in wanted.items())
        found = [self._compute(f"SELECT {cells} FROM batch", parameters, batch) for batch in self._batches(uses)]
        return {name: np.concatenate([np.asarray(part[name]) for part in found]) for name in wanted}

    def distinct(self, column: str, most: int) -> list[str] | None:
        """The distinct texts; see `Source`."""
        query = f"SELECT DISTINCT CAST({quote_name(column)} AS VARCHAR) AS name FROM batch"
        found: set[str | None] = set()
        for batch in self._batches([column]):
            names = self._compute(query, [], batch)["name"]
            found |= set(names.tolist())  # a masked array gives None for a missing cell
            if len(found) > most or None in found:
                break
        if None in found:
            return None
        return sorted(text for text in found if text is not None)

    def define(self, kind: str, names: Sequence[str]) -> None:
        """Creates an enum type; see `Source`."""
        define_enum(self._database, kind, names)

    @abstractmethod
    def _batches(self, uses: Sequence[str]) -> Iterator[Any]:
        """Batches of the named columns, in the order of the rows; the first is empty, so that there is always one."""

    def _compute(self, query: str, parameters: Sequence[Any], batch: Any) -> Arrays:
        with hide_details(self.name, self._curator):
            self._database.register("batch", batch)
            found: Arrays = self._database.execute(query, list(parameters)).fetchnumpy()
            self._database.unregister("batch")
        return found


class TextTable(QueriedSource):
    """A table whose cells hetdp reads itself, as texts. DuckDB gets the columns that a query names, and no other.

    A cell without text is missing.

    Args:
        database: a locked connection.
        name: the name of the table in messages.
        place: the file.
        header: the names of its columns.
        curator: whether messages may quote the reader.
    """

    def __init__(self, database: Any, name: str, place: Path, header: Sequence[str], curator: bool) -> None:
        database.register(CELLS, {f"column_{at}": np.empty(0, dtype=object) for at in range(len(header))})
        ours = {column: f"column_{at}" for at, column in enumerate(header)}
        super().__init__(database, CELLS, name, place, ours, curator=curator)

    @abstractmethod
    def texts(self, columns: Sequence[str]) -> Texts:
        """The cells of some columns, from one pass over the file; of none, as many cells as rows, under any name."""

    def register(self, columns: Texts) -> None:
        """Registers these columns with DuckDB."""
        found = {self.scanned.get(column, ROW): np.array(cells, dtype=object) for column, cells in columns.items()}
        self._database.register(CELLS, found)

    def _selection(self, uses: Sequence[str]) -> str:
        with hide_details(self.name, self._curator):
            self.register(self.texts(list(dict.fromkeys(uses))))
        return super()._selection(uses)


def file_stamp(place: Path) -> tuple[int, int, int]:
    """Inode, size and modification time of a file, by which a change is noticed."""
    found = place.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def require_different(names: Sequence[str], name: str) -> None:
    """Refuses duplicate column names; DuckDB ignores their case.

    Raises:
        InputError: two names are the same but for capitals.
    """
    if len({one.casefold() for one in names}) < len(names):
        rule = "the names of columns differ by more than capitals"
        raise InputError(name, [Fault("two columns of one name", name, "", rule)])


@contextmanager
def open_source(table: Any, options: FileOptions = AS_FOUND, curator: bool = False, name: str = "") -> Iterator[Source]:
    """Opens a table of people, to be read column by column.

    Args:
        table: the name of a ``.csv``, ``.xlsx``, ``.parquet``, ``.arrow``, ``.feather``, ``.sqlite`` or ``.db`` file,
            or of a folder of CSV or of Parquet files; or a pandas or Polars data frame, or an Arrow table.
        options: the sheet, encoding and delimiter; what is not named is found in the file.
        curator: whether messages may name rows and values.
        name: the name of the file in messages; its own name by default.

    Raises:
        UsageError: no format is known for the name, or an option is for another format.
        InputError: the table cannot be read.
    """
    from hetdp.tables import formats

    if not isinstance(table, str | Path):
        require_single("a data frame", options)
        require_option_for("a data frame", options)
        with open_locked(None) as database:
            yield formats.open_frame(database, table, curator)
        return
    place = require_path(table)
    require_exists(place)
    if place.is_dir():
        require_single(place.name, options)
        with formats.open_folder(place, curator, options) as source:
            yield source
        return
    maker = formats.find_opener(place)
    if maker not in formats.OPENERS_OF_SEVERAL:
        require_single(place.name, options)
    if maker is not formats.open_csv:
        require_option_for(place.name, options)
    require_file(place)
    path = place.absolute()
    with (
        open_locked(str(path)) as database,
        closing(maker(database, path, name or path.name, options, curator)) as source,
    ):
        yield source


def require_single(what: str, options: FileOptions) -> None:
    """Refuses a sheet for a file that is one table.

    Raises:
        UsageError: one is named.
    """
    if options.sheet is not None:
        rule = "only Excel and SQLite files hold several tables"
        raise UsageError(f"a table {format_value(options.sheet)} in {what}", rule)


def choose_sheet(name: str, sheets: Sequence[str], sheet: str | None, rule: str, what: str = "table") -> str:
    """The sheet or table of a file that holds several: the named one, or the only one.

    Args:
        name: the name of the file in messages.
        sheets: the names of those that it holds.
        sheet: the name that the caller gave, if any.
        rule: what such a file is, for the message if it has none.
        what: what the message calls them.

    Raises:
        UsageError: none is named and there are several, or the named one does not exist.
        InputError: there are none.
    """
    if sheet is None and len(sheets) == 1:
        return sheets[0]
    if not sheets:
        raise InputError(name, [Fault(f"no {what}", name, "", rule)])
    if sheet is None or sheet not in sheets:
        missing = f"{name} holds several {what}s" if sheet is None else f"there is no {what} {format_value(sheet)}"
        missing += "" if sheet is None else f" in {name}"
        meant = "" if sheet is None else did_you_mean(sheet, sheets)
        listed = f"the {what}s are {', '.join(map(format_value, sheets[:MOST_SHEETS]))}"
        raise UsageError(missing, listed, meant or "sheet= names one")
    return sheet


def require_exists(place: Path) -> None:
    """Refuses a path that does not exist, or that DuckDB would take for a pattern."""
    path = str(place.absolute())
    if any(sign in path for sign in "*?[") or not path.isprintable():
        rule = "the name of a table is made of characters that print, without *, ? and ["
        raise UsageError(f"the name {str(place)!r}", rule, "rename the file, or its folder")
    if not place.exists():
        raise InputError(
            str(place), [Fault("does not exist", str(place), "", "a table is a file, or a folder of files")]
        )


def require_file(place: Path) -> None:
    """Refuses anything but a regular file: the table is read twice, the policy first."""
    require_exists(place)
    if not place.is_file():
        rule = "the table is a plain file: it is read twice, the policy first and then the answers"
        raise InputError(str(place), [Fault("is not a plain file", str(place), "", rule)])

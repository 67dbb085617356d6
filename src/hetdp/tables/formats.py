"""Openers for the formats of a table of people: CSV, Excel, Parquet, Arrow, SQLite, data frames, and folders of files.

`OPENERS` maps the suffix of a file to the function that makes a `Source` of it. A new format is one such function.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hetdp.documents import require_path
from hetdp.duck import hide_details, unreadable_fault
from hetdp.errors import Fault, InputError, UsageError
from hetdp.files.formats.parquet import require_no_brotli
from hetdp.frames import is_arrow, is_frame, is_lazy_polars, is_pandas, is_polars
from hetdp.tables.arrow import PandasFrame, arrow_file, arrow_table, polars_table, require_no_interrupt
from hetdp.tables.comparison import open_locked
from hetdp.tables.dialect import (
    AS_FOUND,
    UTF8,
    Dialect,
    FileOptions,
    dialect_of,
    read_rows,
    require_option_for,
    utf8_error,
)
from hetdp.tables.excel import ExcelTable
from hetdp.tables.excel import list_sheets as list_excel_sheets
from hetdp.tables.sources import (
    ROW,
    Arrays,
    Expressions,
    QueriedSource,
    Source,
    Texts,
    TextTable,
    file_stamp,
    require_different,
    require_exists,
    require_file,
)
from hetdp.tables.sqlite import SqliteTable, list_tables
from hetdp.text import format_type, format_value, pluralize

MILLISECONDS = "TIMESTAMP in milliseconds"  # not a type of DuckDB, so such a column is refused
Opener = Callable[[Any, Path, str, FileOptions, bool], Source]  # database, file, name in messages, options, curator
PIECE_BYTES = 1 << 24  # bytes of a CSV file at a time


def find_opener(place: Path) -> Opener:
    """The opener of a file, by its suffix.

    Raises:
        UsageError: no format is known for it.
    """
    maker = OPENERS.get(place.suffix.lower())
    if maker is None:
        hint = ADVICE.get(place.suffix.lower(), "")
        raise UsageError(f"no format is known for {str(place)!r}", f"the name ends in {', '.join(OPENERS)}", hint)
    return maker


def open_csv(database: Any, place: Path, name: str, options: FileOptions, curator: bool) -> QueriedSource:
    """Opens a CSV file: every cell is text, and an empty cell is missing."""
    dialect = dialect_of(place, name, options)
    source = _open_dialect(database, place, name, dialect, curator)
    source.form, source.options, source.facts = str(dialect), dialect.options, dialect.facts
    return source


def _open_dialect(database: Any, place: Path, name: str, dialect: Dialect, curator: bool) -> QueriedSource:
    if dialect.encoding != UTF8:
        return DecodedCsv(database, name, place, dialect, curator)
    _require_text(place, name)
    ours = {column: f"column_{at}" for at, column in enumerate(dialect.header)}
    kinds = ", ".join(f"'{column}': 'VARCHAR'" for column in ours.values())
    scan = (
        f"read_csv(?, auto_detect=false, header=true, delim='{dialect.delimiter}', quote='\"', escape='\"', nullstr='',"
        f" strict_mode=true, max_line_size=10000000, hive_partitioning=false, columns={{{kinds}}})"
    )
    return QueriedSource(database, scan, name, place, ours, [str(place)], curator)


class DecodedCsv(TextTable):
    """A CSV file that is not UTF-8.

    Args:
        database: a locked connection.
        name: the name of the table in messages.
        place: the file.
        dialect: how it is written.
        curator: whether messages may quote the reader.
    """

    def __init__(self, database: Any, name: str, place: Path, dialect: Dialect, curator: bool) -> None:
        super().__init__(database, name, place, dialect.header, curator)
        self._file, self._dialect = place, dialect

    def texts(self, columns: Sequence[str]) -> Texts:
        """The cells of some columns; see `TextTable`."""
        places = [self._dialect.header.index(column) for column in columns] or [0]
        found: list[list[str | None]] = [[] for _ in places]
        for row in read_rows(self._file, self._dialect):
            for cells, at in zip(found, places, strict=True):
                cells.append(row[at] or None)
        return dict(zip(columns or [ROW], found, strict=True))


def open_parquet(database: Any, place: Path, name: str, _: FileOptions, curator: bool) -> QueriedSource:
    """Opens a Parquet file. DuckDB cannot read every cell of milliseconds, so such columns get a type of their own."""
    millis = "coalesce(converted_type = 'TIMESTAMP_MILLIS' OR contains(logical_type, 'MILLIS=Milli'), false)"
    query = f"SELECT name, coalesce(num_children, 0), {millis} FROM parquet_schema(?)"
    with hide_details(name, curator):
        (_, count, _), *rest = database.execute(query, [str(place)]).fetchall()
        require_no_brotli(place, name)
    outermost = list(_outermost_columns(rest, count))
    require_different([column for column, _ in outermost], name)
    scan = "read_parquet(?, hive_partitioning=false)"
    source = QueriedSource(database, scan, name, place, bound=[str(place)], curator=curator)
    source.columns |= {
        column: MILLISECONDS for column, is_coarse in outermost if is_coarse and column in source.columns
    }
    source.form = "Parquet"
    return source


def open_arrow(database: Any, place: Path, name: str, _: FileOptions, curator: bool) -> Source:
    """Opens an Arrow file with PyArrow."""
    source = arrow_file(database, place, name, curator)
    source.form = "Arrow"
    return source


def open_frame(database: Any, table: Any, curator: bool) -> Source:
    """Opens a data frame or an Arrow table. A lazy frame is computed once: the order of its rows may change."""
    source = _open_frame(database, table, curator)
    source.form = f"{type(table).__module__.partition('.')[0]}.{type(table).__name__}"
    return source


def _open_frame(database: Any, table: Any, curator: bool) -> Source:
    if is_lazy_polars(table):
        table = _collect(table, curator)
    if is_pandas(table) and is_frame(table):
        _require_names(list(table.columns))
        return PandasFrame(database, table, curator)
    if is_polars(table) and is_frame(table):
        _require_names(list(table.columns))
        return polars_table(database, table, curator)
    if is_arrow(table):
        return arrow_table(database, table, curator)
    rule = "a table is the name of a file, a pandas or Polars data frame, or an Arrow table"
    methods = (method for method in ("to_arrow_table", "to_table", "read_all") if hasattr(table, method))
    hint = next((f"{method}() makes an Arrow table of it" for method in methods), "")
    raise UsageError(f"expected a table, got {format_type(table)}", rule, hint)


def _require_names(names: list[Any]) -> None:
    if not all(isinstance(name, str) for name in names):
        raise UsageError("a column whose name is not text", "columns of people's tables are named by text")
    require_different(names, "the table")


def _collect(lazy: Any, curator: bool) -> Any:
    """Computes a lazy frame of Polars; error messages of Polars are shown to the curator only."""
    try:
        return lazy.collect()
    except BaseException as refusal:  # a panic in Rust is not an Exception
        require_no_interrupt(refusal)
        fault = unreadable_fault("the table", str(refusal), curator, "cannot be computed")
    raise InputError("the table", [fault])


def open_sqlite(database: Any, place: Path, _: str, options: FileOptions, curator: bool) -> Source:
    """Opens a table of an SQLite file: every cell is text, and a number has all its digits."""
    return SqliteTable(database, place, options.sheet, curator)


def open_excel(database: Any, place: Path, name: str, options: FileOptions, curator: bool) -> Source:
    """Opens a sheet of an Excel file: every cell is text, and an empty cell is missing."""
    return ExcelTable(database, place, name, options.sheet, curator)


OPENERS: dict[str, Opener] = {
    ".csv": open_csv,
    ".xlsx": open_excel,
    ".parquet": open_parquet,
    **dict.fromkeys((".arrow", ".feather", ".ipc"), open_arrow),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), open_sqlite),
}

OPENERS_OF_SEVERAL: dict[Opener, Callable[[Path], Sequence[str]]] = {
    open_excel: list_excel_sheets,
    open_sqlite: list_tables,
}  # of files that hold several tables, and what lists them
ADVICE = {  # suffixes of files that can be converted → how
    **dict.fromkeys((".xls", ".xlsm", ".xlsb", ".ods", ".numbers"), "save it as an Excel workbook (.xlsx) or as .csv"),
    **dict.fromkeys((".tsv", ".tab", ".txt"), "rename it to .csv: the delimiter is found in its header row"),
}


def list_sheets(table: str | Path) -> tuple[str, ...]:
    """The sheets of an Excel file that are not hidden, or the tables of an SQLite file; none of other files.

    Raises:
        UsageError: no format is known for the file.
        InputError: it cannot be read.
    """
    place = require_path(table)
    require_exists(place)
    listing = None if place.is_dir() else OPENERS_OF_SEVERAL.get(find_opener(place))
    if listing is None:
        return ()
    require_file(place)
    return tuple(listing(place.absolute()))


def _require_text(place: Path, name: str) -> None:
    """Refuses a file that is not UTF-8 throughout, whichever columns are read."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with place.open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise utf8_error(name) from None


def _outermost_columns(described: list[tuple[str, int, bool]], count: int) -> Iterator[tuple[str, bool]]:
    """The top-level columns: their names, and whether they hold milliseconds."""
    at = 0
    for _ in range(count):
        yield described[at][0], described[at][2]
        pending = 1
        while pending:
            pending += described[at][1] - 1
            at += 1


# Folders --------------------------------------------------------------------------------------------------------------


FOLDER_OPENERS = {".parquet": open_parquet, ".csv": open_csv}
IGNORED_PREFIXES = (".", "_")  # files of other programs, such as _SUCCESS
FOLDER_RULE = (
    "a folder holds the files of one table, all .parquet or all .csv; only names that begin with . or _ are passed over"
)
ALIKE_RULE = "all files of a folder have the same columns, of the same types, in the same order"


class Folder(QueriedSource):
    """A folder whose files are one table, in the order of their names.

    Args:
        database: a locked connection that can read all files.
        place: the folder.
        parts: its files, in the order of their names.
        curator: whether messages may quote the reader.
    """

    def __init__(self, database: Any, place: Path, parts: Sequence[QueriedSource], curator: bool) -> None:
        first = parts[0]
        every = [[bound for part in parts for bound in part.bound]] if first.bound else []
        super().__init__(database, first.scan, place.name, None, first.scanned, every, curator)
        self.columns, self._folder, self._parts = first.columns, place, parts
        self.form, self.options, self.facts = form_of_folder(len(parts), first.form), first.options, first.facts

    def read(self, wanted: Expressions, parameters: Sequence[Any] = (), uses: Sequence[str] = ()) -> Arrays:
        """One pass; see `Source`."""
        try:
            return super().read(wanted, parameters, uses)
        except InputError:
            for part in self._parts:  # the file that cannot be read is named
                part.read(wanted, parameters, uses)
            raise

    def distinct(self, column: str, most: int) -> list[str] | None:
        """The different texts; see `Source`."""
        try:
            return super().distinct(column, most)
        except InputError:
            for part in self._parts:
                part.distinct(column, most)
            raise

    def _selection(self, uses: Sequence[str]) -> str:
        decoded = [part for part in self._parts if isinstance(part, TextTable)]
        if decoded:
            columns = list(dict.fromkeys(uses))
            found = [part.texts(columns) for part in decoded]
            decoded[0].register({name: [text for part in found for text in part[name]] for name in found[0]})
        return super()._selection(uses)

    def row(self, at: int) -> str:
        """The file of a row, and its place there."""
        for part in self._parts:
            length = part.length()
            if at < length:
                return part.row(at)
            at -= length
        return super().row(at)

    @property
    def stamp(self) -> Any:
        """The files by name, and the stamp of each."""
        return tuple((file.name, *file_stamp(file)) for file in list_files(self._folder))


@contextmanager
def open_folder(place: Path, curator: bool = False, options: FileOptions = AS_FOUND) -> Iterator[Folder]:
    """Opens a folder as one table, to be read column by column.

    Args:
        place: the folder.
        options: how its files are read. What is not named is found in the first file, and holds for all.
        curator: whether messages may name rows and values.

    Raises:
        UsageError: no format is known for a file.
        InputError: the folder has other files, too, or files of another form; the message names the first.
    """
    path = place.absolute()
    files = list_files(path)
    for file in files:
        require_file(file)
    with open_locked(*map(str, files)) as database:
        parts = [_part(database, files[0], options, curator)]
        settled = settle_options(files[0], options)
        parts += [_part(database, file, settled, curator) for file in files[1:]]
        for file, part in zip(files, parts, strict=True):
            require_alike(parts[0].columns, part.columns, files[0].name, label_of_file(file))
        yield Folder(database, path, parts, curator)


def list_files(place: Path) -> list[Path]:
    """The files of a folder, sorted by name.

    Raises:
        InputError: there are none, or unexpected entries.
    """
    try:
        entries = sorted(entry for entry in place.iterdir() if not entry.name.startswith(IGNORED_PREFIXES))
    except OSError:
        raise InputError(
            place.name, [Fault("cannot be read", place.name, "", "it must be a folder of files")]
        ) from None
    if not entries:
        raise InputError(place.name, [Fault("a folder without files", place.name, "", FOLDER_RULE)])
    endings = [entry.suffix.lower() for entry in entries]
    kind = next((ending for ending in endings if ending in FOLDER_OPENERS), "")
    for entry, ending in zip(entries, endings, strict=True):
        if ending != kind or not entry.is_file():
            raise InputError(
                place.name, [Fault("an unexpected entry:", place.name, format_value(entry.name), FOLDER_RULE)]
            )
    return entries


def label_of_file(file: Path) -> str:
    """The name of a file of a folder in messages, with the folder.

    >>> label_of_file(Path("data/people/3.csv"))
    'people/3.csv'
    """
    return f"{file.parent.name}/{file.name}"


def require_alike(first: dict[str, str], other: dict[str, str], first_name: str, name: str) -> None:
    """Refuses a file whose columns differ in name or type from those of the first file.

    Raises:
        InputError: naming the file, and the first column that differs.
    """
    ours, theirs = list(first.items()), list(other.items())
    if ours == theirs:
        return
    pairs = enumerate(zip(ours, theirs, strict=False))
    at = next((at for at, (one, two) in pairs if one != two), min(len(ours), len(theirs)))
    expected, found = (
        format_value(" ".join(side[at])[:80] if at < len(side) else "nothing") for side in (ours, theirs)
    )
    what = f"column {at + 1} differs from {format_value(first_name)}, which has {expected} there:"
    raise InputError(name, [Fault(what, name, found, ALIKE_RULE)])


def settle_options(first: Path, options: FileOptions) -> FileOptions:
    """The options for all files of a folder: those of the first file, where the caller names none.

    Raises:
        UsageError: an encoding or a delimiter is named for Parquet files.
        InputError: the first file has no header row.
    """
    if FOLDER_OPENERS[first.suffix.lower()] is open_csv:
        return dialect_of(first, label_of_file(first), options).options
    require_option_for("a folder of Parquet files", options)
    return AS_FOUND


def form_of_files(files: Sequence[Path], options: FileOptions) -> tuple[str, Mapping[str, str]]:
    """The form of the files of a folder in words, and the entries of a plan about it."""
    if FOLDER_OPENERS[files[0].suffix.lower()] is not open_csv:
        return form_of_folder(len(files), "Parquet"), {}
    dialect = dialect_of(files[0], label_of_file(files[0]), options)
    return form_of_folder(len(files), str(dialect)), dialect.facts


def form_of_folder(count: int, form: str) -> str:
    """The form of a folder in words.

    >>> form_of_folder(3, "Parquet")
    'a folder of 3 files, Parquet'
    """
    return f"a folder of {pluralize(count, 'file')}, {form}"


def _part(database: Any, file: Path, options: FileOptions, curator: bool) -> QueriedSource:
    found = FOLDER_OPENERS[file.suffix.lower()](database, file, label_of_file(file), options, curator)
    assert isinstance(found, QueriedSource)
    return found

"""Openers for the formats of a table of people: CSV, Parquet, Arrow, SQLite, data frames, and folders of files.

`OPENERS` maps the suffix of a file to the function that makes a `Source` of it. A new format is one such function.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hetdp.duck import CURATOR_HINT, TABLE_RULE, hide_details
from hetdp.errors import Fault, InputError, UsageError
from hetdp.files.formats.parquet import require_no_brotli
from hetdp.frames import is_arrow, is_frame, is_lazy_polars, is_pandas, is_polars
from hetdp.tables.arrow import arrow_file, arrow_table, polars_table, require_no_interrupt
from hetdp.tables.comparison import open_locked
from hetdp.tables.frames import PandasFrame
from hetdp.tables.sources import Arrays, Expressions, QueriedSource, Source, file_stamp, require_different, require_file
from hetdp.tables.sqlite import SqliteTable
from hetdp.text import format_type, format_value

CSV_RULE = "a CSV file is UTF-8 text with a header row, commas, and as many fields in each row as in the header"
MILLISECONDS = "TIMESTAMP in milliseconds"  # not a type of DuckDB, so such a column is refused
Opener = Callable[[Any, Path, str, str | None, bool], Source]  # database, file, name in messages, sheet, curator
PIECE_BYTES = 1 << 24  # bytes of a CSV file at a time


def find_opener(place: Path) -> Opener:
    """The opener of a file, by its suffix.

    Raises:
        UsageError: no format is known for it.
    """
    maker = OPENERS.get(place.suffix.lower())
    if maker is None:
        raise UsageError(f"no format is known for {str(place)!r}", f"the name ends in {', '.join(OPENERS)}")
    return maker


def open_csv(database: Any, place: Path, name: str, _: str | None, curator: bool) -> Source:
    """Opens a CSV file: every cell is text, and an empty cell is missing."""
    _require_text(place, name)
    header = _header(place, name)
    ours = {column: f"column_{at}" for at, column in enumerate(header)}
    kinds = ", ".join(f"'{column}': 'VARCHAR'" for column in ours.values())
    scan = (
        "read_csv(?, auto_detect=false, header=true, delim=',', quote='\"', escape='\"', nullstr='', strict_mode=true,"
        f" max_line_size=10000000, hive_partitioning=false, columns={{{kinds}}})"
    )
    return QueriedSource(database, scan, name, place, ours, [str(place)], curator)


def open_parquet(database: Any, place: Path, name: str, _: str | None, curator: bool) -> Source:
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
    return source


def open_arrow(database: Any, place: Path, name: str, _: str | None, curator: bool) -> Source:
    """Opens an Arrow file with PyArrow."""
    return arrow_file(database, place, name, curator)


def open_frame(database: Any, table: Any, curator: bool) -> Source:
    """Opens a data frame or an Arrow table. A lazy frame is computed once: the order of its rows may change."""
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
        first_line = next((line for line in str(refusal).splitlines() if line.strip()), "")[:200] if curator else ""
    fault = Fault(
        "cannot be computed" + (":" if first_line else ""),
        "the table",
        first_line,
        TABLE_RULE,
        "" if curator else CURATOR_HINT,
    )
    raise InputError("the table", [fault])


def open_sqlite(database: Any, place: Path, _: str, sheet: str | None, curator: bool) -> Source:
    """Opens a table of an SQLite file: every cell is text, and a number has all its digits."""
    return SqliteTable(database, place, sheet, curator)


OPENERS: dict[str, Opener] = {
    ".csv": open_csv,
    ".parquet": open_parquet,
    **dict.fromkeys((".arrow", ".feather", ".ipc"), open_arrow),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), open_sqlite),
}


def _header(place: Path, name: str) -> list[str]:
    """The names of the columns of a CSV file."""
    try:
        with place.open(encoding="utf-8-sig", newline="") as lines:
            header = next(csv.reader(lines, strict=True), [])  # DuckDB takes the first line, too, even an empty one
    except (UnicodeDecodeError, csv.Error):
        header = []
    if not header or "" in header or (len(header) == 1 and set(";\t|") & set(header[0])):
        raise InputError(name, [Fault("no readable header row", name, "", CSV_RULE)])
    if len(set(header)) < len(header):
        raise InputError(name, [Fault("a duplicate column", name, "", CSV_RULE)])
    return header


def _require_text(place: Path, name: str) -> None:
    """Refuses a file that is not UTF-8 throughout, whichever columns are read."""
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with place.open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise InputError(name, [Fault("not UTF-8 text", name, "", CSV_RULE)]) from None


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
        curator: whether messages may say what the reader says.
    """

    def __init__(self, database: Any, place: Path, parts: Sequence[QueriedSource], curator: bool) -> None:
        first = parts[0]
        every = [[bound for part in parts for bound in part.bound]]
        super().__init__(database, first.scan, place.name, None, first.scanned, every, curator)
        self.columns, self._folder, self._parts = first.columns, place, parts

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
def open_folder(place: Path, curator: bool = False) -> Iterator[Folder]:
    """Opens a folder as one table, to be read column by column.

    Args:
        place: the folder.
        curator: whether messages may name rows and values.

    Raises:
        UsageError: a name is none that can be read.
        InputError: the folder has other files, too, or files of another form; the message names the first.
    """
    path = place.absolute()
    files = list_files(path)
    for file in files:
        require_file(file)
    with open_locked(*map(str, files)) as database:
        parts = [_part(database, file, curator) for file in files]
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


def _part(database: Any, file: Path, curator: bool) -> QueriedSource:
    found = FOLDER_OPENERS[file.suffix.lower()](database, file, label_of_file(file), None, curator)
    assert isinstance(found, QueriedSource)
    return found

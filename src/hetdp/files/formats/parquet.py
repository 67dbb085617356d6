"""Parquet files, read and written by DuckDB without a Python loop over rows; metadata is in the file itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hetdp.documents import parse_object
from hetdp.duck import connection, exact_path, fetch_columns, quote_name, quote_text, report_faults, write_columns
from hetdp.errors import Fault, InputError
from hetdp.files.formats.json_files import lines_of
from hetdp.files.formats.table import Table, TableFormat, read_texts, row_of
from hetdp.files.formats.writing import whole_file
from hetdp.files.schema import ENDS, LABELS, NUMBERS
from hetdp.numbers import parse_number, parse_numbers

INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"})
PARQUET_RULE = "it must be a Parquet file"
PARQUET = "read_parquet(?, hive_partitioning=false)"  # the name of a folder is not a column
SURE_DIGITS = 15  # of a decimal, that its float still prints
SMALL_TABLE = 50_000  # rows that are read sooner as Python texts than as numbers
METADATA_KEY = "hetdp"


def read_parquet(files: list[Path], name: str, known: tuple[str, ...], likely: Sequence[Any] | None = None) -> Table:
    """The known columns of one table in Parquet files, rows in the order of the files; others are named only.

    Columns of text in which cells repeat are `Categorical` in a large table.

    Args:
        files: the parts of the table.
        name: how messages name the table.
        known: the columns to read.
        likely: the labels that the ends of edges probably have; None if unknown.
    """
    paths = [exact_path(file) for file in files]
    with report_faults(name, PARQUET_RULE), connection() as database:
        kinds = kinds_of(database, files[0])
        require_alike(database, files, kinds, name)
        counts = database.execute("SELECT file_name, num_rows FROM parquet_file_metadata(?)", [paths]).fetchall()
        cells = {
            column: f"{cell_of(column, kind, name)} AS {quote_name(column)}"
            for column, kind in kinds.items()
            if column in known
        }
        texts = [column for column in cells if _repeats(column, kinds[column], likely)]
        encoded = {}
        if texts and sum(count for _, count in counts) > SMALL_TABLE:
            sheet = ", ".join(cells.pop(column) for column in texts)
            database.execute(f"CREATE TEMP TABLE sheet AS SELECT {sheet} FROM {PARQUET}", [paths])
            encoded = read_texts(database, texts, likely)
        wanted = ", ".join(cells.values()) or "1 AS unknown"  # what counts the rows
        columns = fetch_columns(database, f"SELECT {wanted} FROM {PARQUET}", [paths])
    length = len(next(iter(columns.values())))
    columns |= encoded
    columns |= {column: parse_numbers(columns[column].tolist()) for column in kinds if is_long(column, kinds[column])}
    row = row_of(name) if len(files) == 1 else _row_of_parts(files, dict(counts))
    return Table(name, {column: columns.get(column, []) for column in kinds}, length, row)


def _repeats(column: str, kind: str, likely: Sequence[Any] | None) -> bool:
    """True for a column of text that has many cells with the same text."""
    is_text = column not in NUMBERS and (kind == "VARCHAR" or kind.startswith("ENUM"))
    return is_text and (column not in LABELS or (column in ENDS and likely is not None))


def parquet_metadata(path: Path, name: str) -> str | None:
    """The metadata that hetdp wrote into a Parquet file."""
    with report_faults(name, PARQUET_RULE), connection() as database:
        found = database.execute("SELECT key, value FROM parquet_kv_metadata(?)", [exact_path(path)]).fetchall()
    values = [value for key, value in found if key == METADATA_KEY.encode()]
    return values[0].decode("utf-8", "replace") if values else None


def write_parquet(path: Path, columns: dict[str, Any], metadata: str | None = None) -> None:
    """Writes a table of arrays as Parquet, with our metadata in it."""
    extra = "" if metadata is None else f", KV_METADATA {{{METADATA_KEY}: {quote_text(metadata)}}}"
    write_columns(path, columns, f"FORMAT parquet{extra}")


def kinds_of(database: Any, path: Path) -> dict[str, str]:
    """The type of each column of a readable file.

    Raises:
        InputError: it is compressed with Brotli.
    """
    require_no_brotli(path, path.name)
    described = database.execute(f"DESCRIBE SELECT * FROM {PARQUET}", [[exact_path(path)]]).fetchall()
    return {str(column): str(kind) for column, kind, *_ in described}


def require_alike(database: Any, files: list[Path], kinds: dict[str, str], name: str) -> None:
    """Checks that parts have the same columns and types: DuckDB would convert them to the first's, and drop others."""
    for file in files[1:]:
        if (found := kinds_of(database, file)) != kinds:
            value = ", ".join(f"{column} {kind}" for column, kind in sorted(found.items() ^ kinds.items()))
            rule = f"all parts have the columns and types of {files[0].name}"
            raise InputError(name, [Fault("a part that differs:", f"{file.parent.name}/{file.name}", value, rule)])


def is_long(column: str, kind: str) -> bool:
    """True if a column holds decimals with more digits than a float keeps; these are read as text."""
    width = re.match(r"DECIMAL\((\d+)", kind)
    return column in NUMBERS and width is not None and int(width[1]) > SURE_DIGITS


def _row_of_parts(files: list[Path], counts: dict[str, int]) -> Callable[[int], str]:
    """The name of a row in messages, for a table in several files."""
    ends = np.cumsum([counts[str(file)] for file in files])

    def row(at: int) -> str:
        part = int(np.searchsorted(ends, at, side="right"))
        start = int(ends[part - 1]) if part else 0
        return f"{files[part].parent.name}/{files[part].name} row {at - start + 1}"

    return row


def cell_of(column: str, kind: str, name: str) -> str:
    """The SQL expression that reads a Parquet column of this type."""
    quoted = quote_name(column)
    if column in NUMBERS:
        if kind == "FLOAT":  # as the decimal it prints as
            return f"CAST(CAST({quoted} AS VARCHAR) AS DOUBLE)"
        numeric = kind == "DOUBLE" or kind in INTEGERS or (kind.startswith("DECIMAL") and not is_long(column, kind))
        return f"CAST({quoted} AS DOUBLE)" if numeric else f"CAST({quoted} AS VARCHAR)"
    if kind in INTEGERS or kind == "VARCHAR" or (column not in LABELS and kind in ("BOOLEAN", "DOUBLE")):
        return quoted
    if kind.startswith("ENUM"):
        return f"CAST({quoted} AS VARCHAR)"
    rule = "it holds text or integers"
    raise InputError(name, [Fault("a column of type", f"{name}, {column}", kind, rule)])


def read_metadata(path: Path, name: str) -> dict[str, Any]:
    """The metadata that hetdp wrote into the file, as a document; empty for a file of other software."""
    text = parquet_metadata(path, name)
    return {} if text is None else parse_object(text, name, parse_number)


def write_with_metadata(path: Path, columns: dict[str, Any], document: dict[str, Any]) -> None:
    """Writes a table with a document in it."""
    with whole_file(path) as draft:
        write_parquet(draft, columns, "\n".join(lines_of(document)))


def _read(path: Path, name: str, known: tuple[str, ...], integers: bool, likely: Sequence[Any] | None) -> Table:
    return read_parquet([path], name, known, likely)


FORMAT = TableFormat(
    _read, write_parquet, read_metadata, write_with_metadata, is_text=False, metadata_file=lambda path: None
)


# The footer -----------------------------------------------------------------------------------------------------------
#
# Only the compression codecs of the columns are read. DuckDB can list them too, but it also reads the smallest and the
# largest cell of every column, and fails on some of them. The footer is in the compact protocol of Thrift. A crafted
# file must not show DuckDB a different codec than it shows here. Numbers are therefore truncated to their width, as
# Thrift's own readers do; a list with the wrong type of elements is refused; and if a field appears twice, both values
# count.


BROTLI = 4
NO_BROTLI = "Parquet files compressed with Brotli are not read, since a crafted one can run code"
BROTLI_HINT = "write it again with zstd or snappy"
MAGIC = b"PAR1"
DEEPEST_NESTING = 64  # structures within each other; a footer has fewer than ten
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(1, 14)
WIDTHS = {BYTE: 1, DOUBLE: 8, UUID: 16}
CODEC = (4, 1, 3, 4)  # row groups, their columns, what is said of one, its codec: by the numbers of the fields
Fields = tuple[int, ...]
ITEMS: dict[Fields, int] = {  # element types by field number: readers trust the field number, not the declared type
    **dict.fromkeys([(2,), (4,), (5,), (7,), (4, 1), (4, 4), (4, 1, 3, 8), (4, 1, 3, 13)], STRUCT),
    **dict.fromkeys([(4, 1, 3, 2), (4, 1, 3, 17, 2)], I32),
    **dict.fromkeys([(4, 1, 3, 16, 2), (4, 1, 3, 16, 3)], I64),
    **dict.fromkeys([(4, 1, 3, 3), (4, 1, 8, 2, 1)], BINARY),
}


def require_no_brotli(path: Path, name: str) -> None:
    """Refuses a Parquet file compressed with Brotli: DuckDB's decoder trusts its input (CVE-2026-111497).

    Args:
        path: the file.
        name: how messages name it.

    Raises:
        InputError: it is.
        ValueError: it is not a Parquet file.
    """
    if BROTLI in codecs(path):
        raise InputError(name, [Fault("compressed with", name, "Brotli", NO_BROTLI, BROTLI_HINT)])


def codecs(path: Path) -> set[int]:
    """The numbers of the codecs by which columns of a Parquet file are compressed.

    Raises:
        ValueError: it is not a Parquet file.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 8, 0))
        length, end = file.read(4), file.read(4)
        begin = size - 8 - int.from_bytes(length, "little")
        if end != MAGIC or begin < len(MAGIC):
            raise ValueError("not the footer of a Parquet file")
        file.seek(begin)
        footer = file.read(size - 8 - begin)
    try:
        return _Footer(footer).codecs
    except IndexError:
        raise ValueError("a footer that ends too early") from None
    except RecursionError:
        raise ValueError("a footer that is too deep") from None


class _Footer:
    """A reader of bytes in Thrift's compact protocol, from the first to the last.

    Attributes:
        codecs: those that were found.
    """

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self.codecs: set[int] = set()
        self._structure(())

    def _structure(self, path: Fields) -> None:
        if len(path) > DEEPEST_NESTING:
            raise ValueError("a footer that is too deep")
        field = 0
        while header := self._byte():
            field = (field + (header >> 4) if header >> 4 else self._number(16)) & 0xFFFF
            if header & 15 not in (TRUE, FALSE):  # whose value is in the header
                self._value(header & 15, (*path, field))

    def _value(self, kind: int, path: Fields) -> None:
        """Skips a value."""
        if kind in WIDTHS:
            self._at += WIDTHS[kind]
        elif kind == I32 and path == CODEC:
            self.codecs.add(self._number(32))
        elif kind in (I16, I32, I64):
            self._varint()
        elif kind == BINARY:
            size = self._size()
            self._at += size
        elif kind == STRUCT:
            self._structure(path)
        elif kind in (LIST, SET):
            header = self._byte()
            size = self._size() if header >> 4 == 15 else header >> 4
            if size and ITEMS.get(path, header & 15) != header & 15:
                raise ValueError("a list of something else")
            self._items(size, (header & 15,), path)
        elif kind == MAP:
            size = self._size()
            kinds = self._byte() if size else 0
            self._items(size, (kinds >> 4, kinds & 15), path)
        else:
            raise ValueError("a kind of value that Thrift does not know")

    def _items(self, size: int, kinds: tuple[int, ...], path: Fields) -> None:
        for _ in range(size):
            for kind in kinds:
                self._value(BYTE if kind in (TRUE, FALSE) else kind, path)
            if self._at > len(self._data):
                raise IndexError

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number that is too long")

    def _number(self, width: int) -> int:
        """A zigzag-encoded number, as its lowest bits."""
        value = self._varint() & 0xFFFFFFFF
        return (value >> 1 ^ -(value & 1)) & ((1 << width) - 1)

    def _size(self) -> int:
        size = self._varint() & 0xFFFFFFFF
        if size >= 1 << 31:
            raise ValueError("a size below zero")
        return size

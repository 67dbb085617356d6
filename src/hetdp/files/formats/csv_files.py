"""CSV files: small ones by the standard library, large ones by DuckDB, which loads slowly; both read the same tables.

A document beside the table, with the suffix `.meta.json`, holds what the table cannot. It has the SHA-256 of the
table, so that a mismatched pair is detected.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from hetdp.duck import connection, exact_path, quote_name, quote_text, report_faults, write_columns
from hetdp.errors import Fault, InputError
from hetdp.files.formats.json_files import read_json, write_json
from hetdp.files.formats.table import Table, TableFormat, row_of
from hetdp.files.formats.writing import reading, whole_file
from hetdp.files.schema import LABELS, NUMBERS
from hetdp.numbers import GRAMMAR, SHORT, parse_number, parse_numbers
from hetdp.text import format_value

SMALL_FILE = 4 << 20  # bytes that the standard library reads sooner than DuckDB loads
SMALL_TABLE = 50_000  # rows that the standard library writes sooner than DuckDB loads
METADATA_SUFFIX = ".meta.json"
DIALECT: dict[str, Any] = {"strict": True, "skipinitialspace": False}
SPECIAL = frozenset(',"\r\n')
RULE = "a CSV file is UTF-8 text with a header row, commas, and as many fields in each row as in the header"


def read_small(path: Path, name: str) -> Table:
    """The table in a CSV file; labels stay text, an empty field is a missing one."""
    try:
        text = path.read_bytes().decode("utf-8-sig")  # read_text would change line ends inside of quotes
        header, *rows = list(_rows(io.StringIO(text, newline=""), name)) or [[]]
    except (UnicodeDecodeError, csv.Error) as fault:
        raise _no_csv(fault, name) from None
    _require_header(header, name)
    columns = dict(zip(header, map(list, zip(*rows, strict=True)) if rows else repeat([]), strict=False))
    return Table(name, {key: _cells(key, column) for key, column in columns.items()}, len(rows), row_of(name))


def header_of(path: Path, name: str) -> list[str]:
    """The names of the columns."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            header = next(_rows(lines, name), [])
    except (UnicodeDecodeError, csv.Error) as fault:
        raise _no_csv(fault, name) from None
    _require_header(header, name)
    return header


def _rows(lines: Iterable[str], name: str) -> Iterator[list[str]]:
    """The rows, header first, blank lines left out; they all have as many fields as the header."""
    fields = None
    for number, row in enumerate(filter(None, csv.reader(lines, **DIALECT))):
        fields = len(row) if fields is None else fields
        if len(row) != fields:
            value = f"{len(row)} instead of {fields}"
            raise InputError(name, [Fault("wrong number of fields:", f"{name} row {number}", value, RULE)])
        yield row


def _no_csv(fault: Exception, name: str) -> InputError:
    if isinstance(fault, UnicodeDecodeError):
        hint = "save it again as UTF-8"
        return InputError(name, [Fault("no UTF-8 text:", name, f"its byte {fault.start + 1}", RULE, hint)])
    return InputError(name, [Fault("no CSV:", name, str(fault), RULE)])


def _require_header(header: list[str], name: str) -> None:
    """A table without a header is refused: an export that failed is not a table without rows."""
    if not header:
        raise InputError(name, [Fault("an empty file", name, "", RULE)])
    other = [separator for separator in ";\t|" if separator in header[0]]
    if len(header) == 1 and other:
        raise InputError(name, [Fault("fields that are separated by", name, format_value(other[0]), RULE)])
    if len(set(header)) < len(header):
        column = next(column for column, count in Counter(header).items() if count > 1)
        raise InputError(name, [Fault("a duplicate column:", name, column, "each column is there once")])


def _cells(key: str, column: list[str]) -> list[Any]:
    cells: list[str | None] = [text or None for text in column]
    return parse_numbers(cells) if key in NUMBERS else cells


def write_small(path: Path, columns: dict[str, Any]) -> None:
    """A table of Python values or arrays as CSV."""
    cells = [column.tolist() if hasattr(column, "tolist") else column for column in columns.values()]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(columns) + "\n")
        file.writelines(",".join(map(_field, row)) + "\n" for row in zip(*cells, strict=True))


def _field(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, str):  # csv.writer would leave a lone carriage return without quotes
        return '"' + value.replace('"', '""') + '"' if SPECIAL & set(value) else value
    return str(value).lower() if isinstance(value, bool) else repr(value)


def read_large(path: Path, name: str, known: tuple[str, ...], integers: bool = False) -> Table:
    """The same table that `read_small` reads; labels that are said to be integers come as such."""
    header = header_of(path, name)
    chosen = [column for column in header if column in known]
    kinds = ", ".join(f"{quote_text(column)}: 'VARCHAR'" for column in header)
    source = (
        f"read_csv(?, auto_detect=false, header=true, delim=',', quote='\"', escape='\"', nullstr='', strict_mode=true,"
        f" max_line_size=10000000, hive_partitioning=false, columns={{{kinds}}})"
    )
    cells = ", ".join([*map(quote_name, chosen), "1::TINYINT AS rows"])
    with report_faults(name, RULE), connection() as database:
        database.execute(f"CREATE TEMP TABLE sheet AS SELECT {cells} FROM {source}", [exact_path(path)])
        columns = {column: _csv_column(database, column, integers) for column in chosen}
        (length,) = database.execute("SELECT count(*) FROM sheet").fetchone()
    return Table(name, {column: columns.get(column, []) for column in header}, length, row_of(name))


def _csv_column(database: Any, column: str, integers: bool) -> Any:
    if column not in NUMBERS:
        if integers and column in LABELS and (found := _integers(database, column)) is not None:
            return found
        texts = database.execute(f"SELECT {quote_name(column)} AS texts FROM sheet").fetchnumpy()["texts"]
        return texts.tolist()  # a masked array gives None where a cell is empty
    value = f"try_cast({column} AS DOUBLE)"
    numbers = database.execute(f"SELECT {value} AS value FROM sheet").fetchnumpy()["value"]
    odd = database.execute(
        f"SELECT rowid, {column} FROM sheet WHERE {column} IS NOT NULL AND (NOT regexp_full_match({column}, ?)"
        f" OR isinf({value}) OR (length({column}) > ? AND CAST({value} AS VARCHAR) <> {column}))",
        [GRAMMAR, SHORT],
    ).fetchall()
    numbers = numbers.filled(np.nan) if isinstance(numbers, np.ma.MaskedArray) else numbers
    return _with_odd(numbers, [(row, parse_number(text)) for row, text in odd])


def _integers(database: Any, column: str) -> Any:
    """A column of integers as we write them, or None if some text is anything else."""
    value = f"try_cast({column} AS BIGINT)"
    other = f"SELECT count(*) FROM sheet WHERE {column} IS NOT NULL AND ({value}::VARCHAR = {column}) IS NOT TRUE"
    if database.execute(other).fetchone()[0]:
        return None
    return database.execute(f"SELECT {value} AS value FROM sheet").fetchnumpy()["value"]


def _with_odd(numbers: Any, odd: list[tuple[int, float | str]]) -> Any:
    """Numerals that only our own grammar decides; a text that is no number makes the column a list."""
    if any(isinstance(value, str) for _, value in odd):
        numbers = numbers.tolist()
    for row, value in odd:
        numbers[row] = value
    return numbers


def write_large(path: Path, columns: dict[str, Any]) -> None:
    """The same table that `write_small` writes."""
    write_columns(path, columns, "FORMAT csv, HEADER true")


def read_csv(path: Path, name: str, known: tuple[str, ...], integers: bool = False) -> Table:
    """The table in a CSV file, however large."""
    is_small = path.stat().st_size <= SMALL_FILE
    return read_small(path, name) if is_small else read_large(path, name, known, integers)


def write_csv(path: Path, columns: dict[str, Any]) -> None:
    """Writes a table, however large."""
    (write_small if len(next(iter(columns.values()))) <= SMALL_TABLE else write_large)(path, columns)


def metadata_file(path: Path) -> Path:
    """The file beside a table that holds its metadata."""
    return path.with_name(path.name + METADATA_SUFFIX)


def hash_file(path: Path) -> str:
    """The SHA-256 of a table, kept in its metadata file so that a mismatched pair is detected."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_metadata(path: Path, name: str) -> dict[str, Any]:
    """The metadata of a table; empty if there is none.

    Raises:
        InputError: the table was changed after it was written.
    """
    beside = metadata_file(path)
    if not beside.exists():
        return {}
    found: dict[str, Any] = reading(beside, read_json, beside.name)
    if found.get("table_sha256") != hash_file(path):
        rule = f"{beside.name} belongs to the table as it was written"
        hint = f"without {beside.name} the table is read as one made elsewhere"
        raise InputError(name, [Fault("a table that was changed after it was written", name, "", rule, hint)])
    return found


def write_with_metadata(path: Path, columns: dict[str, Any], document: dict[str, Any]) -> None:
    """Writes a table and its metadata file; a pipe has no file beside it."""
    if path.exists() and not path.is_file():
        write_csv(path, columns)
        return
    with whole_file(metadata_file(path)) as beside, whole_file(path) as draft:
        write_csv(draft, columns)
        with beside.open("w", encoding="utf-8") as file:
            write_json(file, document | {"table_sha256": hash_file(draft)})


FORMAT = TableFormat(read_csv, write_csv, read_metadata, write_with_metadata, is_text=True, metadata_file=metadata_file)

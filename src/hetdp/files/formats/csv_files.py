"""CSV files: small ones by the standard library, large ones by DuckDB, which loads slowly; both read the same tables.

A document beside the table, with the suffix `.meta.json`, holds what the table cannot. It has the SHA-256 of the
table, so that a mismatched pair is detected.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from hetdp.duck import connection, exact_path, fetch_columns, quote_name, quote_text, report_faults, write_columns
from hetdp.errors import Fault, InputError
from hetdp.files.formats.json_files import read_json, write_json
from hetdp.files.formats.table import Table, TableFormat, read_texts, row_of
from hetdp.files.formats.writing import call_reader, whole_file
from hetdp.files.schema import LABELS, NUMBERS
from hetdp.numbers import GRAMMAR, SHORT_NUMERAL, parse_number, parse_numbers
from hetdp.problem.columns import as_list
from hetdp.text import format_value

SMALL_FILE = 1 << 20  # bytes that the standard library reads sooner than DuckDB loads
SMALL_TABLE = 50_000  # rows that the standard library writes sooner than DuckDB loads
METADATA_SUFFIX = ".meta.json"
DIALECT: dict[str, Any] = {"strict": True, "skipinitialspace": False}
SPECIAL_CHARACTERS = frozenset(',"\r\n')
RULE = "a CSV file is UTF-8 text with a header row, commas, and as many fields in each row as in the header"


def read_small(path: Path, name: str) -> Table:
    """Reads the table in a CSV file; labels stay text, an empty field is a missing one."""
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
        return InputError(name, [Fault("not UTF-8 text:", name, f"its byte {fault.start + 1}", RULE, hint)])
    return InputError(name, [Fault("not CSV:", name, str(fault), RULE)])


def _require_header(header: list[str], name: str) -> None:
    """Refuses a table without a header: an export that failed is not a table without rows."""
    if not header:
        raise InputError(name, [Fault("an empty file", name, "", RULE)])
    other = [separator for separator in ";\t|" if separator in header[0]]
    if len(header) == 1 and other:
        raise InputError(name, [Fault("fields are separated by", name, format_value(other[0]), RULE)])
    if len(set(header)) < len(header):
        column = next(column for column, count in Counter(header).items() if count > 1)
        raise InputError(name, [Fault("a duplicate column:", name, column, "each column must appear once")])


def _cells(key: str, column: list[str]) -> list[Any]:
    cells: list[str | None] = [text or None for text in column]
    return parse_numbers(cells) if key in NUMBERS else cells


def write_small(path: Path, columns: dict[str, Any]) -> None:
    """Writes a table of Python values or arrays as CSV."""
    cells = map(as_list, columns.values())
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(columns) + "\n")
        file.writelines(",".join(map(_field, row)) + "\n" for row in zip(*cells, strict=True))


def _field(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, str):  # csv.writer would leave a lone carriage return without quotes
        return '"' + value.replace('"', '""') + '"' if SPECIAL_CHARACTERS & set(value) else value
    return str(value).lower() if isinstance(value, bool) else repr(value)


def read_large(
    path: Path, name: str, known: tuple[str, ...], integers: bool = False, likely: Sequence[Any] | None = None
) -> Table:
    """Reads the same table as `read_small`. Labels declared as integers are read as integers.

    Other columns of text, and the ends of edges if most of them are likely to be some labels, are `Categorical`.
    """
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
        ((length,),) = database.execute("SELECT count(*) FROM sheet").fetchall()
        columns = {column: _numbers(database, column) for column in chosen if column in NUMBERS}
        columns |= _integers(database, [column for column in chosen if column in LABELS]) if integers else {}
        columns |= read_texts(database, [column for column in chosen if column not in columns], likely)
    return Table(name, {column: columns.get(column, []) for column in header}, length, row_of(name))


def _numbers(database: Any, column: str) -> Any:
    """A column of numbers. A numeral that prints as it was written is a number; the grammar decides about others."""
    value = f"try_cast({column} AS DOUBLE)"
    numbers = fetch_columns(database, f"SELECT {value} AS value FROM sheet")["value"]
    odd = database.execute(
        f"SELECT rowid, {column} FROM sheet WHERE {column} IS NOT NULL AND CASE WHEN length({column}) > ?"
        f" THEN (isfinite({value}) AND CAST({value} AS VARCHAR) = {column}) IS NOT TRUE"
        f" ELSE (isfinite({value}) AND regexp_full_match({column}, ?)) IS NOT TRUE END",
        [SHORT_NUMERAL, GRAMMAR],
    ).fetchall()
    numbers = numbers.filled(np.nan) if isinstance(numbers, np.ma.MaskedArray) else numbers
    return _parse_odd_numerals(numbers, [(row, parse_number(text)) for row, text in odd])


def _integers(database: Any, columns: list[str]) -> dict[str, Any]:
    """The columns that hold nothing but integers as we write them."""
    cells = [f"try_cast({column} AS BIGINT) AS {column}" for column in columns]
    cells += [
        f"coalesce(try_cast({column} AS BIGINT)::VARCHAR = {column}, {column} IS NULL) AS {column}_is_integer"
        for column in columns
    ]
    found = fetch_columns(database, f"SELECT {', '.join(cells)} FROM sheet")
    return {column: found[column] for column in columns if found[f"{column}_is_integer"].all()}


def _parse_odd_numerals(numbers: Any, odd: list[tuple[int, float | str]]) -> Any:
    """Parses the numerals that DuckDB reads differently; a text that is not a number makes the column a list."""
    if any(isinstance(value, str) for _, value in odd):
        numbers = numbers.tolist()
    for row, value in odd:
        numbers[row] = value
    return numbers


def write_large(path: Path, columns: dict[str, Any]) -> None:
    """Writes the same table as `write_small`."""
    write_columns(path, columns, "FORMAT csv, HEADER true")


def read_csv(
    path: Path, name: str, known: tuple[str, ...], integers: bool = False, likely: Sequence[Any] | None = None
) -> Table:
    """Reads the table in a CSV file of any size."""
    is_small = path.stat().st_size <= SMALL_FILE
    return read_small(path, name) if is_small else read_large(path, name, known, integers, likely)


def write_csv(path: Path, columns: dict[str, Any]) -> None:
    """Writes a table of any size."""
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
    found: dict[str, Any] = call_reader(beside, read_json, beside.name)
    if found.get("table_sha256") != hash_file(path):
        rule = f"{beside.name} describes the table as it was written"
        hint = f"remove {beside.name} to read the table as one that other software made"
        raise InputError(name, [Fault("the table was changed after it was written", name, "", rule, hint)])
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

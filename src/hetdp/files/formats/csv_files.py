"""Small CSV files, by the standard library; `duck.py` reads large ones the same way."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

from hetdp.errors import Fault, InputError
from hetdp.files.formats.table import Table
from hetdp.files.schema import NUMBERS
from hetdp.numbers import parse_numbers
from hetdp.text import format_value

DIALECT: dict[str, Any] = {"strict": True, "skipinitialspace": False}
SPECIAL = frozenset(',"\r\n')
RULE = "a CSV file is UTF-8 text with a header row, commas, and as many fields in each row as in the header"


def read_csv(path: Path, name: str) -> Table:
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


def row_of(name: str) -> Any:
    """How messages name a row: the first one below the header is 1."""
    return lambda at: f"{name} row {at + 1}"


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


def write_csv(path: Path, columns: dict[str, Any]) -> None:
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

"""JSON documents: read without guessing, written one record to a line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from hetdp.documents import parse_object
from hetdp.errors import Fault, InputError
from hetdp.files.formats.table import Table
from hetdp.files.schema import NUMBERS
from hetdp.numbers import parse_number
from hetdp.text import closest, escape_json, format_value

STDIN = "standard input"


def read_json(path: Path | None, name: str) -> dict[str, Any]:
    """Reads the document in a file or on standard input; refuses anything but a JSON object."""
    data = sys.stdin.buffer.read() if path is None else path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        value, hint = f"its byte {fault.start + 1}", "save it again as UTF-8"
        raise InputError(
            name, [Fault("not UTF-8 text:", name, value, "it must be a JSON object in UTF-8", hint)]
        ) from None
    return parse_object(text, name, parse_number)


def table_of(document: dict[str, Any], key: str, name: str, known: tuple[str, ...]) -> Table:
    """The records under a key as a table, with None where a record lacks a field; other fields are named only."""
    records = document.get(key)
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        what = "missing key" if records is None else "not a list of records:"
        rule = f"{key!r} is a list of objects"
        close = closest(key, [other for other, value in document.items() if isinstance(value, list)])
        hint = f"rename {format_value(close[0])} to {key}" if close and records is None else ""
        raise InputError(name, [Fault(what, name, key, rule, hint)])
    fields = dict.fromkeys(field for record in records for field in record)
    columns = {field: [record.get(field) for record in records] if field in known else [] for field in fields}
    for field in NUMBERS & fields.keys() & {*known}:
        columns[field] = [_number(value) for value in columns[field]]
    return Table(key, columns, len(records), lambda at: f"{key}[{at}]")


def lines_of(document: dict[str, Any]) -> Iterator[str]:
    """The document as text, with one line for each record of its lists."""
    yield "{"
    last = len(document) - 1
    for number, (key, value) in enumerate(document.items()):
        comma = "," if number < last else ""
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"  {json.dumps(key)}: ["
            yield from (f"    {_dump(record)}," for record in value[:-1])
            yield f"    {_dump(value[-1])}"
            yield f"  ]{comma}"
        else:
            yield f"  {json.dumps(key)}: {_dump(value)}{comma}"
    yield "}"


def write_json(file: TextIO, document: dict[str, Any]) -> None:
    """Writes the document to an open file."""
    file.writelines(f"{line}\n" for line in lines_of(document))


def _dump(value: Any) -> str:
    return escape_json(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _number(value: Any) -> Any:
    """Converts a number; infinity is written as text, and any other text is not a number, even if it looks like one."""
    is_infinity = isinstance(value, str) and value.lstrip("+-").lower() in ("inf", "infinity")
    return parse_number(value) if is_infinity else value

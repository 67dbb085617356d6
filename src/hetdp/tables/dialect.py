"""How the file of a table is read: what a caller names (sheet, encoding, delimiter), and the dialect of a CSV file.

What the caller does not name is found in the first bytes of a CSV file (a byte order mark) and in its header row. No
other row is examined, so that no cell decides how the others are read.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from hetdp.errors import Fault, InputError, UsageError
from hetdp.text import did_you_mean, format_value

UTF8, UTF16, CP1252 = "utf-8", "utf-16", "cp1252"
LITTLE, BIG = "utf-16-le", "utf-16-be"
MARKS = {codecs.BOM_UTF8: UTF8, codecs.BOM_UTF16_LE: UTF16, codecs.BOM_UTF16_BE: UTF16}
LATIN = ("iso8859-1", "latin-1", "ascii")  # as on the web, these are read as cp1252, which has more characters
ENCODING_WORDS = {UTF8: "UTF-8", UTF16: "UTF-16", LITTLE: "UTF-16 LE", BIG: "UTF-16 BE"}
ENCODING_RULE = "a CSV file is read as utf-8, utf-16, or an encoding of one byte, such as cp1252 (Western Europe)"
ENCODING_HINT = "encoding= names another one: 'cp1252' is Western European Windows, which is also called Latin-1"
UTF8_RULE = "a CSV file is UTF-8, or UTF-16 with a byte order mark, if no encoding is named"
COMMA, TAB = ",", "\t"
DELIMITERS = {COMMA: "commas", ";": "semicolons", TAB: "tabs", "|": "vertical bars"}
DELIMITER_NAMES = {"tab": TAB, "\\t": TAB, "comma": COMMA, "semicolon": ";", "pipe": "|"}
DELIMITER_RULE = "columns are separated by ',', ';', a tab or '|'"
CSV_RULE = "a CSV file has a header row with a name for each column, and as many fields in each row as in the header"
_is_one_byte = re.compile("cp[0-9]+|iso8859-[0-9]+|koi8-[rtu]|mac-[a-z]+|kz1048|ptcp154|tis-620").fullmatch


def _encoding_of(given: Any) -> str:
    """The name of an encoding that is offered: utf-8, utf-16, or one of single bytes."""
    name = ""
    with suppress(LookupError, TypeError, ValueError):
        name = codecs.lookup(given).name
    if name in (UTF8, "utf-8-sig"):
        return UTF8
    if name in LATIN:
        return CP1252
    if name in (UTF16, LITTLE, BIG) or (_is_one_byte(name) and _has_ascii(name)):
        return name
    hint = did_you_mean(str(given), (UTF8, UTF16, CP1252, "latin-1", "iso8859-15", "cp1250", "mac-roman"))
    raise UsageError(f"encoding= is {format_value(given)}", ENCODING_RULE, hint)


def _has_ascii(name: str) -> bool:
    """True if each byte is one character, and the first 128 are those of ASCII."""
    every = [bytes([byte]).decode(name, "replace") for byte in range(256)]
    return all(len(one) == 1 for one in every) and every[:128] == [chr(byte) for byte in range(128)]


def _delimiter_of(given: Any) -> str:
    found = DELIMITER_NAMES.get(given, given) if isinstance(given, str) else given
    if not isinstance(found, str) or found not in DELIMITERS:
        raise UsageError(f"delimiter= is {format_value(given)}", DELIMITER_RULE, "write a tab as 'tab'")
    return found


@dataclass(frozen=True)
class FileOptions:
    """The encoding, delimiter and sheet that a caller names for a file; None where nothing is named.

    Attributes:
        sheet: the sheet of an Excel file, or the table of an SQLite file.
        encoding: the encoding of a CSV file, by Python's name of it.
        delimiter: what separates the columns of a CSV file.

    Raises:
        UsageError: a value is not offered.
    """

    sheet: str | None = None
    encoding: str | None = None
    delimiter: str | None = None

    def __post_init__(self) -> None:
        if self.sheet is not None and not isinstance(self.sheet, str):
            raise UsageError(f"sheet= is {format_value(self.sheet)}", "a sheet, or a table, has a name")
        for name, read in (("encoding", _encoding_of), ("delimiter", _delimiter_of)):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, read(given))

    @property
    def named_for_csv(self) -> str:
        """The name of the first given argument that is for CSV files only; empty if there is none."""
        return next((name for name in ("encoding", "delimiter") if getattr(self, name) is not None), "")


AS_FOUND = FileOptions()


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Attributes:
        encoding: its encoding.
        delimiter: what separates its columns.
        marked: whether it begins with a byte order mark.
        header: the names of its columns.
        is_usual: whether the delimiter is the one that is found when none is named.
    """

    encoding: str
    delimiter: str
    marked: bool
    header: tuple[str, ...]
    is_usual: bool = True

    def __str__(self) -> str:
        encoding = ENCODING_WORDS.get(self.encoding, self.encoding) + (" with BOM" if self.marked else "")
        numbers = "" if self.delimiter == COMMA else ", numbers with decimal points"
        return f"CSV, separated by {DELIMITERS[self.delimiter]}{numbers}, {encoding}"

    @property
    def options(self) -> FileOptions:
        """This dialect as the options that a caller would name."""
        return FileOptions(None, self.encoding, self.delimiter)

    @property
    def facts(self) -> dict[str, str]:
        """The entries of a plan: whatever the header row does not tell, and whatever is not a comma or UTF-8."""
        found = {} if self.encoding == UTF8 else {"encoding": self.encoding}
        return found if self.delimiter == COMMA and self.is_usual else found | {"delimiter": self.delimiter}


def dialect_of(place: Path, name: str, options: FileOptions = AS_FOUND) -> Dialect:
    """The dialect of a CSV file, from its first bytes and its header row.

    Args:
        place: the file.
        name: its name in messages.
        options: what the caller names.

    Raises:
        InputError: there is no header row, or it does not tell the delimiter.
    """
    with place.open("rb") as file:
        begin = file.read(4)
    mark = next((mark for mark in MARKS if begin.startswith(mark)), b"")
    encoding = options.encoding or MARKS.get(mark, UTF8)
    marked = MARKS.get(mark) == encoding
    if encoding == UTF8 and b"\0" in begin:
        raise InputError(name, [Fault("not UTF-8 text", name, "", UTF8_RULE, "encoding='utf-16-le' may be its own")])
    if encoding == UTF16 and not marked:
        hint = "encoding='utf-16-le' is the usual one without a mark, 'utf-16-be' the other"
        raise InputError(name, [Fault("UTF-16 without a byte order mark", name, "", UTF8_RULE, hint)])
    if encoding in (UTF16, LITTLE, BIG) and not _has_line(place, encoding):  # a message would show it as a header
        what = f"no line of {ENCODING_WORDS[encoding]} text"
        raise InputError(name, [Fault(what, name, "", CSV_RULE, ENCODING_HINT)])
    try:
        headers = {delimiter: _header(place, encoding, delimiter) for delimiter in DELIMITERS}
    except UnicodeDecodeError:
        raise utf8_error(name) from None
    most = max(map(len, headers.values()))
    likely = [delimiter for delimiter, header in headers.items() if len(header) == most]
    if options.delimiter is None and len(likely) > 1 and most > 1 and COMMA not in likely:
        what = f"the header row has {most} columns by {DELIMITERS[likely[0]]} and by {DELIMITERS[likely[1]]}"
        raise InputError(name, [Fault(what, name, "", DELIMITER_RULE, "delimiter= names the one that is meant")])
    delimiter = options.delimiter or likely[0]
    header = headers[delimiter]
    if not header or header == [""]:
        hint = "the first line is the header; delete empty lines above it"
        raise InputError(name, [Fault("no readable header row", name, "", CSV_RULE, hint)])
    if "" in header:
        what = f"column {header.index('') + 1} has no name"
        hint = "delete the column, or name it; if the first line is a title, or sep=;, delete the line"
        raise InputError(name, [Fault(what, name, "", CSV_RULE, hint)])
    if len(set(header)) < len(header):
        twice = next(one for at, one in enumerate(header) if one in header[:at])
        raise InputError(name, [Fault("a duplicate column:", name, format_value(twice), CSV_RULE)])
    return Dialect(encoding, delimiter, marked, tuple(header), delimiter == likely[0])


def open_text(place: Path, encoding: str) -> TextIO:
    """Opens a file as text. Invalid bytes become a replacement character, except in UTF-8."""
    codec, errors = ("utf-8-sig", "strict") if encoding == UTF8 else (encoding, "replace")
    return place.open(encoding=codec, errors=errors, newline="")


def _has_line(place: Path, encoding: str) -> bool:
    """True if the first line ends; read in the wrong way, a whole file may look like one line."""
    with open_text(place, encoding) as lines:
        return next(lines, "").endswith(("\n", "\r"))


def _header(place: Path, encoding: str, delimiter: str) -> list[str]:
    """The first row; empty if it cannot be read in this way."""
    try:
        with open_text(place, encoding) as lines:
            header = next(csv.reader(lines, delimiter=delimiter, strict=True), [])  # also of an empty line
    except csv.Error:
        return []
    return [header[0].removeprefix("\ufeff"), *header[1:]] if header else []


def utf8_error(name: str) -> InputError:
    """The error about a CSV file that is not UTF-8."""
    return InputError(name, [Fault("not UTF-8 text", name, "", UTF8_RULE, ENCODING_HINT)])


def read_rows(place: Path, dialect: Dialect) -> Iterator[list[str]]:
    """The rows below the header, as DuckDB reads them: an empty line is no row, and may be one cell of a single column.

    Raises:
        ValueError: a quotation mark is not closed, or a row has more or fewer fields than the header.
    """
    with open_text(place, dialect.encoding) as file:
        text = file.read().removeprefix("\ufeff")
    mark, width = re.escape(dialect.delimiter), len(dialect.header)
    field = re.compile(f'(?: *"([^"]*(?:""[^"]*)*)" *|([^"{mark}\r\n][^{mark}\r\n]*)|)({mark}|\r\n|\n|\r|\\Z)')
    row: list[str] = []
    at, is_first = 0, True
    while at < len(text) or row:
        found = field.match(text, at)
        if found is None:
            raise ValueError("a quotation mark is not closed")
        quoted, plain, end = found.groups()
        row.append(plain or "" if quoted is None else quoted.replace('""', '"'))
        at = found.end()
        if end == dialect.delimiter:
            continue
        if len(row) == width + 1 and not row[-1]:
            row.pop()
        if row != [""] or width == 1:
            if len(row) != width:
                raise ValueError("a row with more or fewer fields than the header")
            if not is_first:
                yield row
            is_first = False
        row = []


def require_option_for(what: str, options: FileOptions) -> None:
    """Refuses an encoding or a delimiter for anything but CSV files.

    Args:
        what: what it is, in words.
        options: what the caller names.

    Raises:
        UsageError: one is given.
    """
    if options.named_for_csv:
        raise UsageError(f"{options.named_for_csv}= for {what}", "only CSV files have an encoding and a delimiter")

"""Excel files (`.xlsx`): the one module that imports python-calamine. Nothing in such a file is trusted.

A workbook is a ZIP archive of XML parts. Before calamine sees a part, it is unpacked up to a limit and parsed once to
check that it is well-formed and that all its cells lie within a sheet: calamine would allocate memory up to whatever
position a file names. Calamine then gets a new archive with these parts only, so that nothing else has an effect: no
macro, no link to another file, no other sheet.

The meaning of a cell depends on that cell alone; see `cell_text`.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from hetdp.errors import Fault, HetdpError, InputError, UsageError
from hetdp.interrupts import delay_interrupts
from hetdp.tables.arrow import require_no_interrupt
from hetdp.tables.sources import ROW, Texts, TextTable, choose_sheet
from hetdp.text import format_value

MOST_UNPACKED = 1 << 28  # bytes of all parts that are read
MOST_CELLS = 10_000_000  # in the rectangle around all cells of a sheet
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # of a sheet, by its format
PLAIN_NUMBERS = 1e16  # smaller whole numbers are written with all their digits, as programs write them to CSV files
PIECE_BYTES = 1 << 16
LONGEST_DURATION = timedelta.max
OLD_FORMAT = b"\xd0\xcf\x11\xe0"  # the first bytes of an .xls file, and of an .xlsx file with a password
WORKBOOK_RULE = "it must be an Excel workbook (.xlsx)"
WORKBOOK_HINT = "open it in Excel or LibreOffice, and save it as .xlsx, without a password"
SIZE_RULE = (
    f"the parts of an .xlsx file may unpack to {MOST_UNPACKED >> 20} MB, and a sheet may have {MOST_CELLS:,} cells"
)
SIZE_HINT = "save the sheet as a .csv file"
HEADER_RULE = "row 1 of a sheet has a name of its own for each column, and each row below it is one person"
SHEET_RULE = "an .xlsx file has a visible sheet with cells"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

_is_position = re.compile("([A-Z]{1,3})([1-9][0-9]{0,6})").fullmatch
_has_escaped_position = re.compile(rb"""\br\s*=\s*(?:"[^"<&]*&|'[^'<&]*&)""").search


def load_calamine() -> Any:
    """Loads python-calamine.

    Raises:
        UsageError: it is not installed.
    """
    if find_spec("python_calamine") is None:
        hint = "pip install '.[excel]', in the folder of hetdp's sources; or save the table as a .csv file"
        raise UsageError("Excel files need python-calamine", "it comes with the extra excel", hint)
    with delay_interrupts():
        import python_calamine
    return python_calamine


def cell_text(cell: Any) -> str | None:
    """A cell as text. It depends on nothing but the stored value of this cell, and whether its format is a date.

    >>> [cell_text(cell) for cell in ("yes", 1.0, 0.5, True, "", timedelta(hours=30))]
    ['yes', '1', '0.5', 'TRUE', None, '30:00:00']
    >>> cell_text(9876543210987650.0), cell_text(1e16)
    ('9876543210987650', '1e+16')
    >>> cell_text(date(2024, 1, 31)), cell_text(time(7, 30))
    ('2024-01-31', '07:30:00')
    """
    if isinstance(cell, str):
        return cell or None
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < PLAIN_NUMBERS else repr(cell)
    if isinstance(cell, date | time):  # a datetime is a date
        return cell.isoformat()
    if isinstance(cell, timedelta):
        seconds, rest = divmod(abs(cell), timedelta(seconds=1))
        sign, fraction = "-" if cell < timedelta(0) else "", f".{rest.microseconds:06}" if rest else ""
        return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
    return str(cell)


def column_letters(column: int) -> str:
    """The name of a column, which is numbered from 0.

    >>> column_letters(0), column_letters(25), column_letters(26), column_letters(16_383)
    ('A', 'Z', 'AA', 'XFD')
    """
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    return letters


# The parts of a workbook ----------------------------------------------------------------------------------------------


class _UnreadableError(Exception):
    """A part is not what Excel or LibreOffice would write."""


def _parse(
    pieces: Iterator[bytes], start: Callable[[str, dict[str, str]], Any], watch: Callable[[Any], None] | None = None
) -> None:
    """Parses XML, and calls a function for each element, until it returns True. Declared entities are refused.

    Args:
        pieces: the bytes.
        start: the function for each element.
        watch: a function that gets the parser before it starts.
    """

    def refuse(*_: Any) -> None:
        raise _UnreadableError

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = start
    if watch is not None:
        watch(parser)
    parser.StartDoctypeDeclHandler = refuse
    parser.XmlDeclHandler = lambda _, encoding, __: refuse() if (encoding or "utf-8").lower() != "utf-8" else None
    for piece in pieces:
        if b"\0" in piece:  # UTF-16, which expat would read and calamine would not
            raise _UnreadableError
        parser.Parse(piece)
    parser.Parse(b"", True)


def _local(name: str) -> str:
    return name.rpartition(":")[2]


@dataclass(frozen=True)
class _Sheet:
    name: str
    is_visible: bool
    part: str


@dataclass
class _Workbook:
    """A workbook, open.

    Attributes:
        archive: the file.
        name: its name in messages.
        sheets: its sheets of cells.
        strings: the part that holds the texts of all sheets; empty if there is none.
        styles: the part that says which cells are dates; empty if there is none.
        is_1904: whether days are counted from 1904.
        left: how many bytes may still be unpacked.
    """

    archive: zipfile.ZipFile
    name: str
    sheets: list[_Sheet] = field(default_factory=list)
    strings: str = ""
    styles: str = ""
    is_1904: bool = False
    left: int = 0

    def __post_init__(self) -> None:
        self._parts = {info.filename.lower(): info for info in self.archive.infolist()}
        self.left = MOST_UNPACKED
        top = [target for _, kind, target in self._relations("") if kind == "officeDocument"]
        workbook = (top or ["xl/workbook.xml"])[0]
        relations = self._relations(workbook)
        by_id = {one: target for one, kind, target in relations if kind == "worksheet"}
        for _, kind, target in relations:
            self.strings = target if kind == "sharedStrings" else self.strings
            self.styles = target if kind == "styles" else self.styles

        def start(name: str, attributes: dict[str, str]) -> None:
            if _local(name) == "workbookPr":
                self.is_1904 = attributes.get("date1904") in ("1", "true")
            elif _local(name) == "sheet":
                one = next((value for key, value in attributes.items() if key.endswith(":id")), "")
                if one in by_id:  # others are charts and dialogs
                    is_visible = attributes.get("state", "visible") == "visible"
                    self.sheets.append(_Sheet(attributes["name"], is_visible, by_id[one]))

        _parse(self.pieces(workbook), start)

    def _relations(self, part: str) -> list[tuple[str, str, str]]:
        """The id, kind and target of what a part names in its own archive."""
        folder, base = posixpath.split(part)
        found: list[tuple[str, str, str]] = []

        def start(name: str, attributes: dict[str, str]) -> None:
            if _local(name) == "Relationship" and attributes.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, attributes["Target"])).lstrip("/")
                found.append((attributes["Id"], attributes["Type"].rpartition("/")[2], target))

        place = posixpath.join(folder, "_rels", f"{base}.rels")
        if part or place in self._parts:
            _parse(self.pieces(place), start)
        return found

    def pieces(self, part: str) -> Iterator[bytes]:
        """A part, unpacked piece by piece.

        Raises:
            InputError: all parts together are too large.
        """
        info = self._parts[part.lower()]
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _UnreadableError
        with self.archive.open(info) as file:
            while piece := file.read(PIECE_BYTES):
                self.left -= len(piece)
                if self.left < 0:
                    raise size_error(self.name)
                yield piece

    def has_cells(self, sheet: _Sheet) -> bool:
        """True if a cell of a sheet has a value."""

        class _FoundError(Exception):
            pass

        def start(name: str, _: dict[str, str]) -> None:
            if _local(name) in ("v", "is"):
                raise _FoundError

        try:
            _parse(self.pieces(sheet.part), start)
        except _FoundError:
            return True
        return False

    def visible_sheets(self) -> list[_Sheet]:
        """The sheets that can be seen and have cells."""
        return [sheet for sheet in self.sheets if sheet.is_visible and self.has_cells(sheet)]

    def choose(self, named: str | None) -> _Sheet:
        """The named sheet, or the only visible one that has cells.

        Raises:
            UsageError: no sheet is named and there are several; or the named sheet is missing or hidden.
            InputError: no visible sheet has cells.
        """
        hidden = [sheet.name for sheet in self.sheets if not sheet.is_visible]
        if named in hidden:
            rule = "only sheets that can be seen are read, so that everybody who opens the file sees what is read"
            raise UsageError(f"the sheet {format_value(named)} in {self.name} is hidden", rule, "unhide it in Excel")
        found = self.visible_sheets()
        chosen = choose_sheet(self.name, [sheet.name for sheet in found], named, SHEET_RULE, "sheet")
        return next(sheet for sheet in found if sheet.name == chosen)


def size_error(name: str) -> InputError:
    """The error about a workbook that is larger than hetdp reads."""
    return InputError(name, [Fault("too large", name, "", SIZE_RULE, SIZE_HINT)])


@contextmanager
def _open_workbook(place: Path, name: str) -> Iterator[_Workbook]:
    """Opens a workbook; whatever is wrong with it is one InputError, always in the same words."""
    try:
        with place.open("rb") as file:
            if file.read(4) == OLD_FORMAT:
                what = "is an old .xls workbook, or has a password"
                raise InputError(name, [Fault(what, name, "", WORKBOOK_RULE, WORKBOOK_HINT)])
            with zipfile.ZipFile(file) as archive:
                yield _Workbook(archive, name)
    except HetdpError:
        raise
    except BaseException as refusal:  # a panic in Rust is not an Exception
        require_no_interrupt(refusal)
    else:
        return
    raise InputError(name, [Fault("cannot be read", name, "", WORKBOOK_RULE, WORKBOOK_HINT)])


def list_sheets(place: Path) -> list[str]:
    """The visible sheets of an Excel file that have cells.

    Raises:
        InputError: it cannot be read.
    """
    with _open_workbook(place, place.name) as workbook:
        return [sheet.name for sheet in workbook.visible_sheets()]


# The cells of a sheet -------------------------------------------------------------------------------------------------


class _Extent:
    """Follows the positions of cells as calamine does, and refuses those outside a sheet.

    Attributes:
        merged: the ranges of merged cells, as written.
        endless: where the elements begin of cells whose number of days is too large for a duration.
    """

    def __init__(self) -> None:
        self.merged: list[str] = []
        self.endless: list[int] = []
        self._parser: Any = None
        self._begin, self._value = 0, list[str]()
        self._is_value = False
        self._next_row = self._row = self._column = 0
        self._next_column = 0
        self._low, self._high = (MOST_ROWS, MOST_COLUMNS), (-1, -1)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Takes note of an element."""
        local = _local(name)
        if local in ("c", "row"):
            self.end_cell()
            self._begin = self._parser.CurrentByteIndex
        self._is_value = self._is_value or local == "v"
        if local == "c":
            if "r" in attributes:
                self._row, self._column = position_of(attributes["r"])
            else:
                self._row, self._column = self._next_row - 1, self._next_column
            self._next_column = self._column + 1
        elif local in ("v", "is"):
            self._add(self._row, self._column)
        elif local == "row":
            if "r" in attributes:
                self._next_row = position_of(f"A{attributes['r']}")[0]
            self._next_row, self._next_column = self._next_row + 1, 0
        elif local == "mergeCell":
            self.merged.append(attributes["ref"])
        if local in ("mergeCell", "dimension"):
            for corner in attributes["ref"].split(":"):
                position_of(corner)

    def watch(self, parser: Any) -> None:
        """Lets the parser report the values of cells, too."""
        self._parser, parser.buffer_text, parser.CharacterDataHandler = parser, True, self._take_text

    def _take_text(self, text: str) -> None:
        if self._is_value:
            self._value.append(text)

    def end_cell(self) -> None:
        """Takes note of the value of the cell that has ended."""
        if self._value:
            try:
                days = float("".join(self._value))
            except ValueError:
                days = 0.0
            if not abs(days) < LONGEST_DURATION.days:
                self.endless.append(self._begin)
        self._value, self._is_value = [], False

    def _add(self, row: int, column: int) -> None:
        if not (0 <= row < MOST_ROWS and 0 <= column < MOST_COLUMNS):
            raise _UnreadableError
        (top, left), (bottom, right) = self._low, self._high
        if row < top or column < left:
            self._low = min(row, top), min(column, left)
        if row > bottom or column > right:
            self._high = max(row, bottom), max(column, right)

    @property
    def size(self) -> int:
        """The number of cells in the rectangle around all cells that have a value."""
        (top, left), (bottom, right) = self._low, self._high
        return max(0, bottom - top + 1) * max(0, right - left + 1)


class _Counts:
    """Refuses a part that claims more texts than fit into it: calamine allocates memory for as many as are claimed.

    Args:
        size: the number of bytes of the part.
    """

    def __init__(self, size: int) -> None:
        self._size, self._texts = size, 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Takes note of an element."""
        said = attributes.get("uniqueCount", "0")
        if not said.isdecimal() or int(said) > self._size:
            raise _UnreadableError
        self._texts += _local(name) == "si"
        if self._texts > MOST_CELLS:
            raise _UnreadableError


def position_of(written: str) -> tuple[int, int]:
    """The row and the column of a cell, numbered from 0.

    >>> position_of("A1"), position_of("XFD1048576")
    ((0, 0), (1048575, 16383))
    """
    found = _is_position(written)
    if found is None:
        raise _UnreadableError
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - 64
    if int(found[2]) > MOST_ROWS or column > MOST_COLUMNS:
        raise _UnreadableError
    return int(found[2]) - 1, column - 1


def _read_sheet(workbook: _Workbook, sheet: _Sheet) -> tuple[Any, list[str]]:
    """A sheet as calamine reads it, and its merged ranges.

    Raises:
        InputError: it is too large.
    """
    extent = _Extent()
    workbook.left = MOST_UNPACKED  # nothing is kept of the sheets that were looked at
    parts = {"xl/worksheets/sheet1.xml": b"".join(workbook.pieces(sheet.part))}
    cells = parts["xl/worksheets/sheet1.xml"]
    _parse(iter([cells]), extent.start, extent.watch)
    extent.end_cell()
    if _has_escaped_position(cells):  # calamine would count such cells by their order
        raise _UnreadableError
    if extent.size > MOST_CELLS:
        raise size_error(workbook.name)
    parts["xl/worksheets/sheet1.xml"] = _as_plain_numbers(cells, extent.endless)
    for kind, part in (("sharedStrings", workbook.strings), ("styles", workbook.styles)):
        text = parts[f"xl/{kind}.xml"] = b"".join(workbook.pieces(part)) if part else _EMPTY[kind]
        _parse(iter([text]), _Counts(len(text)).start)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for part, text in (_FIXED_PARTS | {"xl/workbook.xml": _WORKBOOK[workbook.is_1904]} | parts).items():
            archive.writestr(part, text)
    del parts, cells
    packed.seek(0)
    return load_calamine().CalamineWorkbook.from_filelike(packed).get_sheet_by_index(0), extent.merged


def _as_plain_numbers(cells: bytes, places: Sequence[int]) -> bytes:
    """The sheet without the format of some cells: calamine would fail on a duration that is too long for Python.

    So a cell of one person does not make the whole table unreadable.

    Args:
        cells: the part.
        places: where the elements of these cells begin.
    """
    pieces, done = list[bytes](), 0
    for at in places:
        tag = _TAG.match(cells, at)
        if tag is not None:
            pieces += [cells[done:at], _ATTRIBUTE.sub(lambda one: b"" if one[1] == b"s" else one[0], tag[0])]
            done = tag.end()
    return b"".join([*pieces, cells[done:]]) if pieces else cells


_ATTRIBUTE = re.compile(rb"""\s+([^\s=]+)\s*=\s*(?:"[^"]*"|'[^']*')""")
_TAG = re.compile(rb"<[^\s/>]+(?:" + _ATTRIBUTE.pattern + rb")*")
_EMPTY = {
    kind: f'<{root} xmlns="{MAIN}"/>'.encode() for kind, root in (("sharedStrings", "sst"), ("styles", "styleSheet"))
}
_WORKBOOK = {
    is_1904: (
        f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><workbookPr date1904="{int(is_1904)}"/>'
        '<sheets><sheet name="sheet" sheetId="1" r:id="a"/></sheets></workbook>'
    ).encode()
    for is_1904 in (False, True)
}


def _relationships(*pairs: tuple[str, str]) -> bytes:
    listed = (
        f'<Relationship Id="{chr(97 + at)}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(pairs)
    )
    return f'<Relationships xmlns="{PACKAGE}">{"".join(listed)}</Relationships>'.encode()


_FIXED_PARTS = {
    "[Content_Types].xml": b"<Types/>",
    "_rels/.rels": _relationships(("officeDocument", "xl/workbook.xml")),
    "xl/_rels/workbook.xml.rels": _relationships(
        ("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml"), ("styles", "styles.xml")
    ),
}


class ExcelTable(TextTable):
    """A sheet of an Excel file. Rows and columns without any value are ignored.

    A pass over the file keeps the columns that it was asked for, and no other.

    Args:
        database: a locked connection.
        place: the file.
        name: its name in messages.
        sheet: the name of the sheet; None for the only one that is visible and has cells.
        curator: whether messages may quote the reader.
    """

    def __init__(self, database: Any, place: Path, name: str, sheet: str | None, curator: bool) -> None:
        load_calamine()
        self._file, self._name, self._kept, self._rows = place, name, dict[str, list[str | None]](), list[int]()
        with _open_workbook(place, name) as workbook:
            self._sheet = workbook.choose(sheet)
            found, merged = _read_sheet(workbook, self._sheet)
            self._header = self._read_header(found, merged)
        super().__init__(database, name, place, list(self._header), curator)
        self.sheet, self.form = self._sheet.name, f"Excel, sheet {format_value(self._sheet.name)}"

    def _read_header(self, found: Any, merged: Sequence[str]) -> dict[str, int]:
        """The name and the place of each column; of other rows, only which cells are empty is examined."""
        for cells in merged:
            if position_of(cells.partition(":")[0])[0] == 0:
                hint = "select row 1 in Excel, choose Unmerge Cells, and name each column"
                raise self._refuse(f"the cells {cells} are merged", hint)
        if found.start is None or found.start[0] > 0:
            raise self._refuse("row 1 is empty", "delete the empty rows above the names")
        rows, is_used = found.iter_rows(), np.zeros(found.width, dtype=np.bool_)
        names = [cell_text(cell) for cell in next(rows)]
        for number, row in enumerate(rows, 2):
            filled = [column for column, cell in enumerate(row) if cell != ""]
            if filled:
                is_used[filled] = True
                self._rows.append(number)
        header: dict[str, int] = {}
        for column, (text, has_cells) in enumerate(zip(names, is_used.tolist(), strict=True)):
            letters = column_letters(found.start[1] + column)
            if text is not None:
                self._require_new(text, header, found.start[1], letters)
                header[text] = column
            elif has_cells:
                hint = f"name the column in {letters}1; if row 1 is a title, delete the rows above the names"
                raise self._refuse(f"the cell {letters}1 is empty, but column {letters} has cells", hint)
        return header

    def _require_new(self, text: str, header: dict[str, int], left: int, letters: str) -> None:
        """Refuses a name that another column has, too; queries ignore its case."""
        same = next((place for name, place in header.items() if name.casefold() == text.casefold()), None)
        if same is not None:
            cells = f"{column_letters(left + same)}1 and {letters}1"
            raise self._refuse(f"the cells {cells} have the same name {format_value(text)}", "rename one of them")

    def _refuse(self, what: str, hint: str) -> InputError:
        where = f"{self._name}, sheet {format_value(self._sheet.name)}"
        return InputError(where, [Fault(what, where, "", HEADER_RULE, hint)])

    def texts(self, columns: Sequence[str]) -> Texts:
        """The cells of some columns; see `TextTable`."""
        missing = [column for column in columns if column not in self._kept]
        if missing:
            with _open_workbook(self._file, self._name) as workbook:
                found, _ = _read_sheet(workbook, self._sheet)
                wanted, chosen = set(self._rows), [(column, self._header[column]) for column in missing]
                cells = {column: list[str | None]() for column in missing}
                for at, row in enumerate(found.iter_rows(), 1):
                    if at in wanted:
                        for column, place in chosen:
                            cells[column].append(cell_text(row[place]))
            self._kept |= cells
        if not columns:
            return {ROW: [None] * len(self._rows)}
        return {column: self._kept[column] for column in columns}

    def row(self, at: int) -> str:
        """The place of a row in the sheet; see `Source`."""
        return f"{self._name} row {self._rows[at]}"

"""Excel files: every cell has a meaning of its own, and a file that is broken or hostile is refused in words."""

from __future__ import annotations

import random
import zipfile
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.tables import excel
from hetdp.tables.dialect import FileOptions
from hetdp.tables.sources import open_source
from tests.doors.damage import damage_bytes
from tests.stress import STRESS, stress
from tests.tables.tables import PEOPLE, as_csv, as_excel

MAIN = excel.MAIN
ASKED: dict[str, Any] = {"count": "vote = 'yes'", "at_least": "50%", "epsilon": "eps", "person": "id"}
CELLS: list[tuple[Any, str, str | None]] = [  # what is written, its number format, what it means
    (1, "General", "1"),
    (1.0, "0.00", "1"),
    (0.5, "0%", "0.5"),
    (1.1, "General", "1.1"),
    (-0.0, "General", "0"),
    (12345678901234, "General", "12345678901234"),
    (1e300, "General", "1e+300"),
    (True, "General", "TRUE"),
    (False, "General", "FALSE"),
    ("yes", "General", "yes"),
    (" Yes ", "@", " Yes "),
    ("007", "@", "007"),
    ("a\nb", "General", "a\nb"),
    (None, "General", None),
    ("#N/A", "General", None),
    ("#DIV/0!", "General", None),
    ("=A2+1", "General", None),  # openpyxl computes nothing, so no result is stored
    (date(2024, 1, 31), "dd.mm.yyyy", "2024-01-31"),
    (datetime(2024, 1, 31), "yyyy-mm-dd hh:mm", "2024-01-31"),
    (datetime(2024, 1, 31, 12, 0, 0, 500000), "yyyy-mm-dd hh:mm", "2024-01-31T12:00:00.500000"),
    (time(12, 30), "hh:mm", "12:30:00"),
    (timedelta(hours=30), "[h]:mm", "30:00:00"),
    (2e9, "[h]:mm", "2000000000"),  # longer than any duration of Python
    (-1e300, "[h]:mm", "-1e+300"),
    (999_999_999.5, "[h]:mm", "999999999.5"),
    (45322, "General", "45322"),  # the same number without the format of a date
]


def sheet_of(cells: str, rows: str = "", after: str = "") -> str:
    """The XML of a sheet with a header, and one row of these cells."""
    header = '<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c><c r="B1" t="str"><v>vote</v></c></row>'
    first = f'<row r="2"><c r="A2"><v>7</v></c>{cells}</row>'
    return f'<worksheet xmlns="{MAIN}"><sheetData>{header}{first}{rows}</sheetData>{after}</worksheet>'


def write(place: Path, sheet: str | bytes, *, strings: str = "", workbook: str = "", **more: Any) -> Path:
    """A workbook with one sheet of this XML, as no library would write it."""
    book = workbook or (
        f'<workbook xmlns="{MAIN}" xmlns:r="{excel.RELATIONS}"><sheets><sheet name="People" sheetId="1" r:id="a"/>'
        "</sheets></workbook>"
    )
    parts: dict[str, Any] = excel._FIXED_PARTS | {"xl/workbook.xml": book, "xl/worksheets/sheet1.xml": sheet}
    parts["xl/sharedStrings.xml"] = strings or f'<sst xmlns="{MAIN}"><si><t>yes</t></si></sst>'
    parts["xl/styles.xml"] = f'<styleSheet xmlns="{MAIN}"/>'
    with zipfile.ZipFile(place, "w", more.get("compression", zipfile.ZIP_DEFLATED)) as archive:
        for part, text in (parts | more.get("parts", {})).items():
            if text is not None:
                archive.writestr(part, text)
    return place


def read(place: Path, column: str = "vote", sheet: str | None = None) -> list[Any]:
    with open_source(place, FileOptions(sheet)) as source:
        found = source.read({"cell": f"coalesce({column}, '(none)')"}, uses=[column])["cell"]
    return [None if cell == "(none)" else cell for cell in found.tolist()]


def refusal(place: Path, sheet: str | None = None) -> str:
    with pytest.raises((hetdp.InputError, hetdp.UsageError)) as refused:
        hetdp.describe_table(place, sheet=sheet)
    return str(refused.value)


def save(place: Path, rows: list[list[Any]], merged: str = "", **sheets: Any) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if merged:
        book.active.merge_cells(merged)
    for name, state in sheets.items():
        other = book.create_sheet(name)
        other.sheet_state = state
        if state != "empty":
            other.append(["id", "vote"])
        else:
            other.sheet_state = "visible"
    book.save(place)
    return place


def test_every_cell_has_a_meaning_of_its_own(tmp_path):
    for seed in (0, 1):
        book, cells = openpyxl.Workbook(), random.Random(seed).sample(CELLS, len(CELLS))
        book.active.append(["id", "vote"])
        for row, (value, form, _) in enumerate(cells, 2):
            book.active.cell(row, 1, row)
            book.active.cell(row, 2, value).number_format = form
        book.save(tmp_path / "cells.xlsx")
        assert read(tmp_path / "cells.xlsx") == [meaning for _, _, meaning in cells]
        assert read(tmp_path / "cells.xlsx", "id") == [str(row) for row in range(2, 2 + len(CELLS))]


@pytest.mark.parametrize(
    ("cell", "meaning"),
    [
        ('<c r="B2" t="s"><v>0</v></c>', "yes"),
        ('<c r="B2" t="inlineStr"><is><r><t>y</t></r><r><t>es</t></r></is></c>', "yes"),  # LibreOffice, rich text
        ('<c r="B2" t="str"><f>A1&amp;"s"</f><v>yes</v></c>', "yes"),
        ('<c r="B2" t="str"><f>""</f><v></v></c>', None),
        ('<c r="B2" t="d"><v>2024-01-31T12:00:00</v></c>', "2024-01-31T12:00:00"),
        ('<c r="B2" t="b"><v>1</v></c>', "TRUE"),
        ('<c r="B2" t="e"><v>#N/A</v></c>', None),
        ('<c r="B2" s="99"/>', None),
        ("<c><v>9876543210987650</v></c>", "9876543210987650"),  # a long id is the same person as in a CSV file
        ("<c><v>-9.87654321098765E15</v></c>", "-9876543210987650"),
        ("<c><v>1e16</v></c>", "1e+16"),
        ("<c><v>1e400</v></c>", "inf"),
        ("<c><v>nan</v></c>", "nan"),
        ("<c><v>abc</v></c>", "abc"),
        ("", None),
    ],
)
def test_a_cell_is_read_however_a_program_stores_it(cell, meaning, tmp_path):
    other = '<row><c><v>8</v></c><c t="s"><v>0</v></c></row>'
    assert read(write(tmp_path / "a.xlsx", sheet_of(cell, other))) == [meaning, "yes"]


def test_days_are_counted_as_the_workbook_says(tmp_path):
    for epoch in (openpyxl.utils.datetime.WINDOWS_EPOCH, openpyxl.utils.datetime.MAC_EPOCH):
        book = openpyxl.Workbook()
        book.epoch = epoch
        book.active.append(["id", "vote"])
        book.active.append([1, date(2024, 1, 31)])
        book.save(tmp_path / "days.xlsx")
        assert read(tmp_path / "days.xlsx") == ["2024-01-31"]


def test_a_sheet_is_the_same_table_as_a_csv_file(tmp_path, capsys):
    asked = [
        hetdp.ask(form(PEOPLE, tmp_path), **ASKED, group="role", by="county", dry_run=True, plan=tmp_path / name)
        for form, name in ((as_csv, "csv.json"), (as_excel, "excel.json"))
    ]
    assert asked[1].read == "read people.xlsx: Excel, sheet 'Sheet', 7 rows, 5 columns"
    same = ("policy_sha256", "people_sha256", "request_sha256", "areas")
    assert {key: asked[0].plan[key] for key in same} == {key: asked[1].plan[key] for key in same}
    assert asked[1].plan["table"] == {"file": "people.xlsx", "table": "Sheet"}
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="people", cap=9)
    options = ASKED | {"group": "role", "by": "county", "payment": hetdp.Payment(ledger)}
    first, again = (hetdp.ask(tmp_path / name, **options).release for name in ("people.xlsx", "people.csv"))
    assert (first.repeated, again.repeated, again.answers) == (False, True, first.answers)


def test_empty_rows_are_ignored_and_a_curator_sees_the_row_numbers_of_excel(tmp_path):
    rows = [["id", "eps", "vote"], [1, 1, "yes"], [], [2, None, "no"], [None, None, None], [3, 1, None], []]
    place = save(tmp_path / "a.xlsx", rows)
    assert read(place) == ["yes", "no", None]
    with pytest.raises(hetdp.InputError, match=r"^a.xlsx, eps: missing or invalid ε; .*curator=True"):
        hetdp.ask(place, **ASKED, dry_run=True)
    with pytest.raises(hetdp.InputError, match=r"row 4, eps: missing or invalid ε"):
        hetdp.ask(place, **ASKED, dry_run=True, curator=True)


WHERE = "a.xlsx, sheet 'Sheet': "


@pytest.mark.parametrize(
    ("rows", "merged", "words"),
    [
        ([["id", "vote", None], [1, "y", "n"]], "B1:C1", "the cells B1:C1 are merged; row 1 of a sheet has a name of"),
        ([["id", "vote"], [None, "x"], [1, "y"]], "A1:A2", "the cells A1:A2 are merged; .* choose Unmerge Cells, and"),
        ([["id", None, "vote"], [1, "x", "y"]], "", "the cell B1 is empty, but column B has cells; row 1 .* name the"),
        ([["Our survey"], [], ["id", "vote"]], "", "the cell B1 is empty, .* if row 1 is a title, delete the rows"),
        ([["id", "vote", "ID "], [1, 2, 3]], "", ""),
        ([["id", "vote", "VOTE"], [1, 2, 3]], "", "the cells B1 and C1 have the same name 'VOTE'; .* Hint: rename one"),
        ([[], ["id", "vote"], [1, "y"]], "", "row 1 is empty; .* Hint: delete the empty rows above the names"),
        ([["id", None, "vote"], [1, None, "y"]], "", ""),  # a column without any cell is none
        ([["id", 2024, True], [1, 2, 3]], "", ""),
        ([["id", "vote"], [1, "y"], [2, None]], "B2:B3", ""),  # below the header the first cell has the value
    ],
)
def test_a_header_is_one_row_with_a_name_for_each_column(rows, merged, words, tmp_path):
    place = save(tmp_path / "a.xlsx", rows, merged)
    if words:
        with pytest.raises(hetdp.InputError, match=f"^{WHERE}{words}"):
            hetdp.describe_table(place)
    else:
        named = [str(name).upper() if name is True else str(name) for name in rows[0] if name is not None]
        assert [column.name for column in hetdp.describe_table(place).columns] == named


def test_a_sheet_is_named_unless_only_one_can_be_seen_and_has_cells(tmp_path):
    rows = [["id", "vote"], [1, "yes"]]
    one = save(tmp_path / "one.xlsx", rows, Notes="empty", Old="hidden", Secret="veryHidden")
    assert read(one) == ["yes"]
    assert hetdp.describe_table(one).sheets == ("Sheet",)
    assert refusal(one, "Old").startswith(
        "the sheet 'Old' in one.xlsx is hidden; only sheets that can be seen are read"
    )
    assert "hidden" in refusal(one, "Secret")
    assert (
        refusal(one, "Notes") == "there is no sheet 'Notes' in one.xlsx; the sheets are 'Sheet'. Hint: sheet= names one"
    )
    two = save(tmp_path / "two.xlsx", rows, Second="visible")
    found = hetdp.describe_table(two)
    assert (found.sheets, found.sheet, found.rows) == (("Sheet", "Second"), None, None)
    with pytest.raises(
        hetdp.UsageError, match=r"two.xlsx holds several sheets; the sheets are 'Sheet', 'Second'. Hint:"
    ):
        hetdp.ask(two, **ASKED, dry_run=True)
    assert refusal(two, "Sheeet").endswith("Hint: did you mean 'Sheet'?")
    assert read(two, "vote", "Second") == []
    empty = save(tmp_path / "empty.xlsx", [], Hidden="hidden")
    assert refusal(empty) == "empty.xlsx: no sheet; an .xlsx file has a visible sheet with cells."


def test_a_plan_names_the_sheet_and_the_shell_has_an_option_for_it(tmp_path, capsys):
    place = save(tmp_path / "a.xlsx", [["id", "vote"], [1, "yes"]], Second="visible")
    words = ["ask", str(place), "--count", "vote = 'yes'", "--at-least", "1", "--epsilon", "1", "--person", "id"]
    assert main([*words, "--dry-run"]) == 2
    assert "Hint: --table names one" in capsys.readouterr().err
    assert main([*words, "--dry-run", "--table", "Sheet", "--plan", str(tmp_path / "plan.json")]) == 0
    assert main(["ask", str(place), "--plan", str(tmp_path / "plan.json"), "--simulate", "-q"]) == 0
    assert main([*words, "--dry-run", "--table", "Sheet", "--encoding", "utf-8"]) == 2
    assert "--encoding for a.xlsx; only CSV files have an encoding" in capsys.readouterr().err


def test_without_calamine_an_excel_file_is_refused_with_the_line_that_installs_it(tmp_path, monkeypatch, capsys):
    place = as_excel(PEOPLE, tmp_path)
    monkeypatch.setattr(excel, "find_spec", lambda name: None)
    words = ["ask", str(place), "--count", "vote = 'yes'", "--at-least", "1", "--epsilon", "1", "--person", "id"]
    assert main([*words, "--dry-run"]) == 2
    error = capsys.readouterr().err
    assert "Excel files need python-calamine; it comes with the extra excel. Hint: pip install '.[excel]'" in error
    assert "or save the table as a .csv file" in error


BROKEN = "a.xlsx: cannot be read; it must be an Excel workbook (.xlsx). Hint: open it in Excel or LibreOffice, and save"
OUTSIDE = ("B1048577", "XFE2", "A99999999999", "AAAAAAAAAAAAAAAAA1", "ZZZZZ1", "A0", "2", "B", "", "$B$2", "b2", "B-2")


@pytest.mark.parametrize(
    "sheet",
    [
        *(sheet_of(f'<c r="{place}"><v>1</v></c>') for place in OUTSIDE),
        *(sheet_of("", f'<row r="{row}"><c><v>1</v></c></row>') for row in ("0", "-1", "99999999999", "x", "1048577")),
        sheet_of("", '<row r="1048576"/><row><c><v>1</v></c></row>'),
        sheet_of('<c r="&#66;2"><v>1</v></c>'),
        sheet_of('<c r="B2" t="s"><v>999</v></c>'),
        sheet_of('<c r="B2" t="n"><v>x</v></c>'),
        sheet_of('<c r="B2"><v>1</c>'),
        sheet_of("").replace("<sheetData>", '<dimension ref="A1:ZZZZZ99999999999"/><sheetData>'),
        sheet_of("", after='<mergeCells><mergeCell ref="A1:A99999999999"/></mergeCells>'),
        '<!DOCTYPE w [<!ENTITY a "b">]>' + sheet_of('<c r="B2" t="str"><v>&a;</v></c>'),
        '<?xml version="1.0" encoding="UTF-16"?>' + sheet_of(""),
        sheet_of("").encode("utf-16"),
        sheet_of("")[:-30],
        b"\xff" * 100,
    ],
)
def test_a_broken_or_hostile_sheet_is_refused(sheet, tmp_path):
    place = write(tmp_path / "a.xlsx", sheet)
    assert refusal(place, "People").startswith(BROKEN)


@pytest.mark.parametrize(
    "parts",
    [
        {"xl/workbook.xml": None},
        {"xl/worksheets/sheet1.xml": None},
        {"xl/_rels/workbook.xml.rels": "<Relationships"},
        {"xl/sharedStrings.xml": "<sst"},
        {"xl/sharedStrings.xml": f'<sst xmlns="{MAIN}" uniqueCount="4294967295"><si><t>x</t></si></sst>'},
        {"xl/sharedStrings.xml": f'<sst xmlns="{MAIN}" uniqueCount="-1"/>'},
        {"xl/styles.xml": "<!DOCTYPE a><a/>"},
        {"xl/workbook.xml": b"\x00\x01binary"},
    ],
)
def test_a_workbook_without_its_parts_is_refused(parts, tmp_path):
    place = write(tmp_path / "a.xlsx", sheet_of(""), parts=parts)
    assert refusal(place).startswith("a.xlsx: ")
    assert refusal(place, "People").startswith(BROKEN)


def test_a_file_that_is_not_a_workbook_is_refused(tmp_path):
    place = tmp_path / "a.xlsx"
    for text in (b"", b"id,vote\n1,yes\n", b"PK\x03\x04" + b"\0" * 100):
        place.write_bytes(text)
        assert refusal(place).startswith(BROKEN)
    place.write_bytes(excel.OLD_FORMAT + b"\0" * 600)
    assert refusal(place).startswith("a.xlsx: is an old .xls workbook, or has a password; it must be an Excel workbook")
    assert refusal(write(place, sheet_of(""), compression=zipfile.ZIP_LZMA)).startswith(BROKEN)
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("content.xml", "<office/>")  # as in a file of LibreOffice
    assert refusal(place).startswith(BROKEN)


def test_a_sheet_that_unpacks_to_more_than_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(excel, "MOST_UNPACKED", 1 << 20)
    place = write(tmp_path / "a.xlsx", sheet_of(f'<c r="B2" t="str"><v>{" " * (1 << 20)}</v></c>'))
    assert place.stat().st_size < 10_000
    assert refusal(place).startswith("a.xlsx: too large; the parts of an .xlsx file may unpack to 256 MB, and a sheet")
    assert "too large" in refusal(write(place, sheet_of(f'<c r="B2"><f>{" " * (1 << 20)}</f></c>')), "People")
    strings = f'<sst xmlns="{MAIN}"><si><t>{"a" * (1 << 20)}</t></si></sst>'
    assert "too large" in refusal(write(tmp_path / "a.xlsx", sheet_of(""), strings=strings))


def test_a_sheet_with_cells_far_apart_is_refused(tmp_path):
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    assert refusal(write(tmp_path / "a.xlsx", sheet_of("", far))).startswith("a.xlsx: too large; ")
    styled = far.replace("<v>1</v>", "")  # a cell with a format only is none
    assert read(write(tmp_path / "a.xlsx", sheet_of('<c r="B2"><v>1</v></c>', styled))) == ["1"]


def test_macros_links_and_formulas_are_not_followed(tmp_path):
    link = f'<Relationship Id="z" Type="{excel.RELATIONS}/externalLink" Target="/etc/passwd" TargetMode="External"/>'
    rels = excel._FIXED_PARTS["xl/_rels/workbook.xml.rels"].decode().replace("</Rel", f"{link}</Rel")
    parts = {"xl/_rels/workbook.xml.rels": rels, "xl/vbaProject.bin": b"macro", "../../evil": b"x"}
    sheet = sheet_of('<c r="B2" t="str"><f>[1]Other!$A$1</f><v>yes</v></c>')
    assert read(write(tmp_path / "a.xlsx", sheet, parts=parts)) == ["yes"]
    outside = rels.replace('Target="worksheets/sheet1.xml"', 'Target="../../../../etc/passwd"')
    place = write(tmp_path / "a.xlsx", sheet, parts={"xl/_rels/workbook.xml.rels": outside})
    assert refusal(place, "People").startswith(BROKEN)


def test_the_parts_may_be_anywhere_in_the_archive_and_have_prefixes(tmp_path):
    rels = excel._FIXED_PARTS["xl/_rels/workbook.xml.rels"].decode().replace("worksheets/", "/Odd/")
    sheet = (
        sheet_of('<c r="B2" t="s"><v>0</v></c>')
        .replace("<", "<x:")
        .replace("<x:/", "</x:")
        .replace("xmlns=", "xmlns:x=")
    )
    parts = {"xl/_rels/workbook.xml.rels": rels, "xl/worksheets/sheet1.xml": None, "odd/Sheet1.xml": sheet}
    assert read(write(tmp_path / "a.xlsx", "", parts=parts)) == ["yes"]


@stress
def test_damaged_files_are_refused_or_read_but_never_crash(tmp_path):
    place, chance = as_excel(PEOPLE, tmp_path), random.Random(3)
    whole, ends = place.read_bytes(), set()
    with zipfile.ZipFile(place) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    for at in range(30 * STRESS):
        if at % 2:
            place.write_bytes(damage_bytes(whole, place.name, chance))
        else:  # damaged parts in a whole archive
            with zipfile.ZipFile(place, "w") as archive:
                for part, text in parts.items():
                    archive.writestr(part, damage_bytes(text, "a.csv", chance) if chance.random() < 0.2 else text)
        try:
            hetdp.describe_table(place)
            ends.add("read")
        except (hetdp.InputError, hetdp.UsageError) as refused:
            ends.add(type(refused).__name__)
    assert ends >= {"InputError", "read"}


def test_a_file_that_changes_between_two_passes_is_refused(tmp_path):
    place = as_excel(PEOPLE, tmp_path)

    def change(_: Any) -> None:
        as_excel(PEOPLE | {"vote": ["no"] * 7}, tmp_path)

    with pytest.raises(hetdp.InputError, match=r"people.xlsx: changed while it was read"):
        hetdp.ask(place, **ASKED, simulate=True, announce=change)


def test_workers_do_not_read_excel_files(tmp_path):
    with pytest.raises(hetdp.UsageError, match="workers= for a table that is not a folder"):
        hetdp.ask(as_excel(PEOPLE, tmp_path), **ASKED, dry_run=True, workers=hetdp.Workers(number=1))
    (tmp_path / "folder").mkdir()
    as_excel(PEOPLE, tmp_path / "folder")
    with pytest.raises(hetdp.InputError, match=r"folder: an unexpected entry: 'people.xlsx'; a folder holds the files"):
        hetdp.ask(tmp_path / "folder", **ASKED, dry_run=True)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_not_reported_as_a_fault_of_a_workbook(interrupt, monkeypatch, tmp_path):
    place = as_excel(PEOPLE, tmp_path)

    def stop(*_: object) -> None:
        raise interrupt

    monkeypatch.setattr(excel._Workbook, "visible_sheets", stop)
    with pytest.raises(interrupt):
        excel.list_sheets(place)


def test_a_column_is_read_once(tmp_path):
    place = as_excel(PEOPLE, tmp_path)
    with open_source(place, curator=True) as source:
        before = source.texts(["role", "county"])
        place.unlink()
        assert source.texts(["county", "role"]) == before

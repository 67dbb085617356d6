"""CSV files as spreadsheets write them: other delimiters and encodings, found in the header row or named."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.tables.dialect import Dialect, FileOptions, dialect_of, read_rows
from hetdp.tables.sources import open_source
from tests.loops import for_each

ROWS = [("id", "eps", "Größe", "vote")] + [
    (f"{at:02}", "0.5", "a;b|c,d" if at % 2 else "x\ny", "ja “€”" if at % 3 else "") for at in range(30)
]
ASKED = {"count": "vote = 'ja “€”'", "at_least": "50%", "epsilon": "eps", "person": "id", "dry_run": True}
FILES = {  # encoding, delimiter, byte order mark, what is named → what is printed
    "commas": ("utf-8", ",", b"", {}, "separated by commas, UTF-8"),
    "semicolons": ("utf-8", ";", b"", {}, "separated by semicolons, numbers with decimal points, UTF-8"),
    "bom": ("utf-8", "\t", codecs.BOM_UTF8, {}, "separated by tabs, numbers with decimal points, UTF-8 with BOM"),
    "cp1252": ("cp1252", ";", b"", {"encoding": "latin-1"}, "semicolons, numbers with decimal points, cp1252"),
    "cp1250": ("cp1250", "|", b"", {"encoding": "windows-1250"}, "bars, numbers with decimal points, cp1250"),
    "utf-16": ("utf-16-le", "\t", codecs.BOM_UTF16_LE, {}, "tabs, numbers with decimal points, UTF-16 with BOM"),
    "big": ("utf-16-be", ",", b"", {"encoding": "UTF-16BE", "delimiter": "comma"}, "separated by commas, UTF-16 BE"),
    "backslash": ("utf-8", "\t", b"", {"delimiter": "\\t"}, "separated by tabs, numbers with decimal points, UTF-8"),
}


def write(place: Path, encoding: str, delimiter: str, mark: bytes = b"", end: str = "\r\n") -> Path:
    lines = [delimiter.join(f'"{cell}"' if set(cell) & set(";|,\t\n") else cell for cell in row) for row in ROWS]
    place.write_bytes(mark + "".join(line + end for line in lines).encode(encoding))
    return place


def described(place: Path, **named: str) -> str:
    return str(dialect_of(place, place.name, FileOptions(**named)))


@pytest.mark.parametrize("form", FILES)
def test_a_csv_file_is_the_same_table_in_every_dialect(form, tmp_path):
    encoding, delimiter, mark, named, words = FILES[form]
    usual = hetdp.ask(write(tmp_path / "usual.csv", "utf-8", ","), **ASKED, plan=tmp_path / "usual.json")
    place = write(tmp_path / "survey.csv", encoding, delimiter, mark)
    asked = hetdp.ask(place, **ASKED, **named, plan=tmp_path / "plan.json")
    assert asked.read.endswith(f"{words}, 30 rows, 4 columns")
    same = ("policy_sha256", "people_sha256", "request_sha256", "areas")
    assert {key: asked.plan[key] for key in same} == {key: usual.plan[key] for key in same}
    again = hetdp.ask(place, plan=tmp_path / "plan.json", simulate=True, seed=3)  # nothing is named but the plan
    assert (
        again.simulated
        == hetdp.ask(tmp_path / "usual.csv", plan=tmp_path / "usual.json", simulate=True, seed=3).simulated
    )
    with open_source(place, FileOptions(**named)) as source:
        found = source.read({"cell": "coalesce(vote, '-') || Größe"}, uses=["vote", "Größe"])["cell"].tolist()
    assert found == [(row[3] or "-") + row[2] for row in ROWS[1:]]


def test_a_plan_holds_for_the_dialect_that_it_names(tmp_path, capsys):
    place = write(tmp_path / "survey.csv", "utf-8", ",")
    hetdp.ask(place, **ASKED, plan=tmp_path / "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text())["table"] == {"file": "survey.csv", "table": None}
    write(place, "utf-8", ";")
    assert main(["ask", str(place), "--plan", str(tmp_path / "plan.json"), "--simulate"]) == 3
    assert 'table.delimiter: differs: approved null, now ";"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a;b,c\n", "separated by commas, UTF-8"),  # a comma on a tie
        (b'"a,b,c";d\n', "separated by semicolons, numbers with decimal points, UTF-8"),
        (b"a\n1;2;3\n", "separated by commas, UTF-8"),  # no other row is looked at
        (b'"a\nb"|c\n', "separated by vertical bars, numbers with decimal points, UTF-8"),
    ],
)
def test_the_delimiter_is_found_in_the_header_row_alone(text, words, tmp_path):
    (tmp_path / "survey.csv").write_bytes(text)
    assert described(tmp_path / "survey.csv") == f"CSV, {words}"


@pytest.mark.parametrize(
    ("text", "named", "words"),
    [
        (b"id;w|x\n", {}, "the header row has 2 columns by semicolons and by vertical bars; columns are separated by"),
        (b"id;;vote\n", {}, "survey.csv: column 2 has no name; .* Hint: delete the column, or name it"),
        (b"id;vote;id\n", {}, "survey.csv: a duplicate column: 'id'; a CSV file has a header row with a name for each"),
        ("id;Größe\n".encode("cp1252"), {}, "not UTF-8 text; .* Hint: encoding= names another one: 'cp1252' is"),
        (b"id;vote\n1;\xe4\n", {"encoding": "utf-8"}, "not UTF-8 text; a CSV file is UTF-8, or UTF-16 with a byte"),
        ("id;Größe\n".encode("utf-16-le"), {}, "not UTF-8 text; .* Hint: encoding='utf-16-le' may be its own"),
        (
            "id;Größe\n".encode("utf-16-le"),
            {"encoding": "utf-16"},
            "UTF-16 without a byte order mark; .*'utf-16-le' is",
        ),
        (b'"id;vote\n', {}, "no readable header row"),
        (
            b"\n\nid;vote\n",
            {},
            "no readable header row; .* Hint: the first line is the header; delete empty lines above",
        ),
        (b"sep=;\nid;vote\n", {}, "column 2 has no name; .* if the first line is a title, or sep=;, delete the line"),
    ],
)
def test_a_header_that_cannot_be_read_is_refused_with_a_way_out(text, named, words, tmp_path):
    (tmp_path / "survey.csv").write_bytes(text)
    with pytest.raises(hetdp.InputError, match=words), open_source(tmp_path / "survey.csv", FileOptions(**named)):
        pass


@for_each(
    ("named", "words"),
    [
        ({"encoding": "utf-9"}, r"encoding= is 'utf-9'; a CSV file is read as utf-8, .* Hint: did you mean 'utf-8'\?"),
        ({"encoding": "shift_jis"}, "encoding= is 'shift_jis'; a CSV file is read as utf-8, utf-16, or an encoding of"),
        ({"encoding": "cp037"}, "encoding= is 'cp037'"),  # not ASCII
        ({"encoding": 7}, "encoding= is 7"),
        ({"delimiter": "::"}, "delimiter= is '::'; columns are separated by ',', ';', a tab or '|'. Hint: write a tab"),
        ({"delimiter": 7}, "delimiter= is 7"),
        ({"sheet": 7}, "sheet= is 7; a sheet, or a table, has a name"),
    ],
)
def test_an_encoding_or_delimiter_that_is_not_offered_is_refused(named, words):
    with pytest.raises(hetdp.UsageError, match=words):
        FileOptions(**named)


def test_only_csv_files_have_an_encoding_and_a_delimiter(tmp_path):
    import pandas

    frame = pandas.DataFrame({"id": [1], "vote": ["yes"]})
    frame.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "folder").mkdir()
    frame.to_parquet(tmp_path / "folder" / "a.parquet")
    rule = "only CSV files have an encoding and a delimiter"
    for table, what in ((frame, "a data frame"), (tmp_path / "a.parquet", "a.parquet")):
        with pytest.raises(hetdp.UsageError, match=f"encoding= for {what}; {rule}"):
            hetdp.describe_table(table, encoding="utf-8")
    with pytest.raises(hetdp.UsageError, match=f"delimiter= for a folder of Parquet files; {rule}"):
        hetdp.describe_table(tmp_path / "folder", delimiter=";")


@pytest.mark.parametrize(("written", "named"), [("cp1252", "utf-16-le"), ("utf-16-le", "utf-16-be")])
def test_an_encoding_that_does_not_fit_shows_no_cell(written, named, tmp_path):
    (tmp_path / "survey.csv").write_bytes("id;vote\r\n1;yes\r\n".encode(written))
    with pytest.raises(hetdp.InputError, match=r"survey.csv: no line of UTF-16 .. text; .*encoding= names") as refused:
        hetdp.ask(tmp_path / "survey.csv", **ASKED, encoding=named)
    assert str(refused.value).isascii()


def test_bytes_that_are_not_text_are_cells_like_any_other(tmp_path):
    place = tmp_path / "survey.csv"
    every = bytes(byte for byte in range(128, 256))
    place.write_bytes(b"id;vote\n" + b"".join(b"%d;%c\n" % (byte, byte) for byte in every))
    asked = {"count": "vote = 'x'", "at_least": 1, "epsilon": 1, "person": "id", "dry_run": True}
    assert hetdp.ask(place, **asked, encoding="cp1252").read.endswith("128 rows, 2 columns")
    place.write_bytes("id;vote\n1;".encode("utf-16") + b"\x00\xd8" + "x\n2;y".encode("utf-16-le") + b"z")
    assert hetdp.ask(place, **asked).read.endswith("UTF-16 with BOM, 2 rows, 2 columns")


@pytest.mark.parametrize(
    "text",
    [
        "id;v\n1;a\n\n2;b\n\n",
        "id;v\r1;a\r2;b",
        'id;v\n1;"a\r\nb"\n2;""\n3;a"b\n4;"x""y"\n',
        "id;v\n1;a;\n2;c\n",
        'id;v\n1; "a"\n2;c\n',
        'id;v\n1;"a"b\n2;c\n',
        "id;v\n1\n2;c\n",
        'id;v\n1;"2\n',
        "id;v\n1;2;3\n",
    ],
)
def test_a_decoded_file_is_read_as_duckdb_reads_it(text, tmp_path):
    """What DuckDB accepts is read alike, and what it refuses is refused."""
    results = []
    for encoding in ("utf-8", "utf-16"):
        (tmp_path / "survey.csv").write_bytes(text.encode(encoding))
        try:
            with open_source(tmp_path / "survey.csv") as source:
                wanted = {name: f"coalesce({name}, '-')" for name in ("id", "v")}
                results.append([column.tolist() for column in source.read(wanted, uses=["id", "v"]).values()])
        except hetdp.InputError as refusal:
            results.append(str(refusal).partition(";")[0])
    assert results[0] == results[1]


def test_rows_of_a_single_column_may_be_empty(tmp_path):
    (tmp_path / "one.csv").write_bytes(b"id\n1\n\n2")
    assert list(read_rows(tmp_path / "one.csv", Dialect("cp1252", ",", False, ("id",)))) == [["1"], [""], ["2"]]


def test_a_decimal_comma_in_a_column_of_epsilon_is_refused_and_the_hint_shows_a_decimal_point(tmp_path):
    (tmp_path / "survey.csv").write_bytes(b"id;eps;vote\n1;0,5;yes\n")
    with pytest.raises(
        hetdp.InputError,
        match=r"survey.csv, eps: missing or invalid ε; .* a number ≥ 0 with a decimal point such as 0.5, or",
    ):
        hetdp.ask(tmp_path / "survey.csv", **ASKED)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_the_files_of_a_folder_have_one_dialect(encoding, tmp_path, capsys):
    folder = tmp_path / "people"
    folder.mkdir()
    write(tmp_path / "whole.csv", "utf-8", ",")
    for at, rows in enumerate((ROWS[1:11], ROWS[11:11], ROWS[11:])):
        text = "\n".join(";".join(f'"{cell}"' if cell else "" for cell in row) for row in (ROWS[0], *rows))
        (folder / f"part-{at}.csv").write_bytes(text.encode(encoding))
    named = {} if encoding == "utf-8" else {"encoding": encoding}
    whole = hetdp.ask(tmp_path / "whole.csv", **ASKED, plan=tmp_path / "whole.json")
    asked = hetdp.ask(folder, **ASKED, **named, plan=tmp_path / "plan.json")
    assert asked.read.startswith("read people: a folder of 3 files, CSV, separated by semicolons, numbers with decimal")
    same = ("policy_sha256", "people_sha256", "request_sha256", "areas")
    assert {key: asked.plan[key] for key in same} == {key: whole.plan[key] for key in same}
    simulated = [
        hetdp.ask(table, plan=tmp_path / plan, simulate=True, seed=1).simulated
        for table, plan in ((folder, "plan.json"), (tmp_path / "whole.csv", "whole.json"))
    ]
    assert simulated[0] == simulated[1]
    (folder / "part-2.csv").write_bytes(b"id,eps,G,vote\n")
    with pytest.raises(
        hetdp.InputError, match=r"people/part-2.csv: column 1 differs from 'part-0.csv', which has 'id "
    ):
        hetdp.ask(folder, **ASKED, **named)


def test_the_shell_names_options_in_messages_about_encodings(tmp_path, capsys):
    place = write(tmp_path / "survey.csv", "cp1252", ";")
    words = ["ask", str(place), "--count", "vote = 'x'", "--at-least", "1", "--epsilon", "1", "--person", "id"]
    assert main([*words, "--dry-run"]) == 3
    assert "not UTF-8 text" in (error := capsys.readouterr().err)
    assert "Hint: --encoding names another one: 'cp1252' is" in error
    assert main([*words, "--dry-run", "--encoding", "cp1252", "--delimiter", ";"]) == 0
    assert capsys.readouterr().out.startswith("read survey.csv: CSV, separated by semicolons, ")

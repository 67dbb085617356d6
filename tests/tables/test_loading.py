"""Tables of people: each format means the same, every row has a meaning, and messages name nobody."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hetdp
from hetdp import duck
from hetdp.tables import arrow, formats, sqlite
from hetdp.tables.comparison import FOLD_FUNCTION, open_locked
from hetdp.tables.dialect import FileOptions
from hetdp.tables.people_table import LocalTable
from hetdp.tables.policy import find_repeated
from hetdp.tables.predicates import Comparison
from hetdp.tables.preparation import prepare
from hetdp.tables.request import AskRequest, build_request
from hetdp.tables.sources import open_source
from tests.loops import for_each
from tests.stress import long
from tests.tables.standin import population
from tests.tables.tables import FILES, FORMATS, PEOPLE, as_csv, as_parquet, as_sqlite

ROOT = Path(__file__).parents[2]


def make_request(**changes: Any) -> AskRequest:
    given = {"counted": "vote = 'yes'", "at_least": "50%", "epsilon": "eps", "person": "id"} | changes
    return build_request(**given)


def codes_of(table: Any, request: AskRequest) -> list[list[int]]:
    """The codes that the mechanism of each area receives."""
    with open_source(table) as source:
        prepared = prepare(LocalTable(source), request, population=population)
        prepared.coordinates()
        return [promise.mechanism.seen[0] for promise in prepared.promises]


def refusal(table: Any, request: AskRequest, curator: bool = False) -> str:
    with pytest.raises(hetdp.InputError) as caught, open_source(table, curator=curator) as source:
        prepare(LocalTable(source, curator), request, population=population)
    return str(caught.value)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_same_policy_and_answers(form, tmp_path):
    request = make_request(group="role", area="county")
    with open_source(FORMATS[form](PEOPLE, tmp_path)) as source:
        prepared = prepare(LocalTable(source), request, population=population)
        prepared.coordinates()
    assert prepared.policy.epsilon.tolist() == PEOPLE["eps"]
    assert prepared.policy.groups is not None
    assert [prepared.policy.groups.names[code] for code in prepared.policy.groups.codes] == PEOPLE["role"]
    assert [(promise.area, promise.people) for promise in prepared.promises] == [("North", 3), ("South", 4)]
    assert [promise.mechanism.seen for promise in prepared.promises] == [[[0, 1, 0]], [[1, 0, 1, 0]]]
    with open_source(as_csv(PEOPLE, tmp_path)) as source:
        assert prepared.policy.digest() == prepare(LocalTable(source), request, population=population).policy.digest()


@pytest.mark.parametrize("form", FORMATS)
def test_a_missing_value_counts_as_no_or_blank_as_requested(form, tmp_path):
    table = FORMATS[form](PEOPLE, tmp_path)
    assert codes_of(table, make_request()) == [[0, 1, 0, 1, 0, 1, 0]]
    assert codes_of(table, make_request(of="respondents")) == [[0, 1, 0, 2, 0, 1, 0]]
    assert codes_of(table, make_request(counted="vote != 'yes'")) == [[1, 0, 1, 1, 1, 0, 1]]
    assert codes_of(table, make_request(counted="NOT (vote = 'yes')")) == [[1, 0, 1, 1, 1, 0, 1]]
    assert codes_of(table, make_request(counted="vote IS NULL")) == [[1, 1, 1, 0, 1, 1, 1]]


@pytest.mark.parametrize(
    ("form", "epsilons", "wrong"),
    [
        *((form, [0.3, None, 1.0], 2) for form in FILES),
        ("csv", [0.3, -0.1, 1.0], 2),
        ("parquet", [0.3, float("nan"), 1.0], 2),
        ("csv", [0.3, 1.0, "nan"], 3),
        ("sqlite", [0.3, 1.0, b"\xff"], 3),
        ("parquet", [1.0, 1.0, -1e-300], 3),
    ],
)
def test_an_invalid_epsilon_is_refused_and_nobody_is_named(form, epsilons, wrong, tmp_path):
    columns = {"id": ["Ann", "Bob", "Cid"], "eps": epsilons, "vote": ["yes", "no", "yes"]}
    words = refusal(FILES[form](columns, tmp_path), make_request())
    assert words == (
        f"people.{form}, eps: missing or invalid ε; each person must have an ε, a number ≥ 0 with a decimal point"
        " such as 0.5, or inf; there is no default. Hint: curator=True shows the first rows"
    )
    header = form == "xlsx"  # whose rows have numbers that people see
    assert f"row {wrong + header}, eps" in refusal(FILES[form](columns, tmp_path), make_request(), curator=True)


@pytest.mark.parametrize("form", FILES)
def test_duplicate_and_missing_ids_are_refused(form, tmp_path):
    columns = {"id": ["Ann", "Bob", "Ann"], "eps": [1.0, 1.0, 1.0], "vote": ["yes", "no", "yes"]}
    words = refusal(FILES[form](columns, tmp_path), make_request())
    assert words.startswith(f"people.{form}, id: a duplicate id; ")
    assert "Ann" not in words
    assert not re.search(r"\brow\b", words)
    shown = refusal(FILES[form](columns, tmp_path), make_request(), curator=True)
    header = form == "xlsx"
    assert f"row {1 + header}, id: a duplicate id: 'Ann'" in shown
    assert f"row {3 + header}, id" in shown
    assert "Bob" not in shown
    words = refusal(FILES[form](columns | {"id": ["Ann", None, "Cid"]}, tmp_path), make_request())
    assert "a missing id" in words
    assert "delete lines that are empty or have only separators, such as ;;; (in a spreadsheet" in words


def test_an_id_may_have_the_digest_that_means_nobody(monkeypatch, tmp_path):
    with open_locked(None) as database:
        (largest,) = database.execute("SELECT max(hash(range::VARCHAR)) FROM range(7)").fetchone()
    monkeypatch.setattr("hetdp.tables.policy.NO_HASH", largest)
    texts = [str(number) for number in range(7)]
    assert codes_of(as_parquet(PEOPLE | {"id": texts}, tmp_path), make_request()) == [[0, 1, 0, 1, 0, 1, 0]]


def test_an_id_may_be_the_number_that_means_nobody(tmp_path):
    ids = [2**62, -1, 0, -(2**63), 2**63 - 1, 5, 6]
    assert codes_of(as_parquet(PEOPLE | {"id": ids}, tmp_path), make_request()) == [[0, 1, 0, 1, 0, 1, 0]]
    for wrong, what in (([*ids[:6], None], "a missing id"), ([*ids[:6], -1], "a duplicate id")):
        assert what in refusal(as_parquet(PEOPLE | {"id": wrong}, tmp_path), make_request())


@for_each("size", [1, 2, 1000, 600_000])
@for_each("kind", ["serial", "spaced", "hashes", "upper half"])
def test_repeated_numbers_are_found_in_any_range(size, kind):
    chance = np.random.default_rng(size)
    numbers = chance.permutation(size).astype(np.uint64)
    if kind == "hashes":
        numbers = chance.integers(0, 2**64, size, dtype=np.uint64)
    elif kind != "serial":
        numbers *= np.uint64(1_000_003 if kind == "spaced" else 2**32)
    assert find_repeated(numbers).tolist() == []
    numbers[: size // 3] = numbers[size - size // 3 :]
    numbers[:2] = numbers[-1]
    ordered, counts = np.unique(numbers, return_counts=True)
    assert find_repeated(numbers).tolist() == ordered[counts > 1].tolist()


def test_two_ids_with_one_digest_are_two_people(monkeypatch, tmp_path):
    monkeypatch.setattr("hetdp.tables.policy.quote_name", lambda _: "1")  # everybody's digest is that of 1
    assert codes_of(as_parquet(PEOPLE, tmp_path), make_request()) == [[0, 1, 0, 1, 0, 1, 0]]


@pytest.mark.parametrize("column", ["group", "area"])
def test_a_missing_group_or_area_is_refused(column, tmp_path):
    columns = PEOPLE | {"county": [None, *PEOPLE["county"][1:]]}
    words = refusal(as_parquet(columns, tmp_path), make_request(**{column: "county"}))
    assert words.startswith(
        "people.parquet, county: a person without a group, level or area; each person must have one"
    )
    assert words.endswith("Hint: curator=True shows the first rows")
    words = refusal(as_parquet(columns, tmp_path), make_request(**{column: "county"}), curator=True)
    assert words.startswith("people.parquet: row 1, county: a person without a group, level or area: ''; ")


@pytest.mark.parametrize("form", ["parquet", "sqlite"])
def test_too_many_groups_are_reported_as_such(form, tmp_path, monkeypatch):
    monkeypatch.setattr("hetdp.tables.policy.MOST_NAMES", 2)
    words = refusal(FORMATS[form](PEOPLE, tmp_path), make_request(group="role"))
    assert ", role: too many groups, levels or areas; there are at most 2 different ones." in words


def test_a_bad_byte_after_the_header_is_not_a_fault_of_the_header(tmp_path):
    place = tmp_path / "people.csv"
    place.write_bytes(b"id,vote\n1,\xff\n")
    assert "people.csv: not UTF-8 text; " in refusal(place, make_request(epsilon=1))


def test_a_finite_epsilon_too_large_for_a_float_does_not_become_infinite(tmp_path):
    with pytest.raises(hetdp.UsageError, match=r"epsilon='1e400'; .*; this number is too large"):
        make_request(epsilon="1e400")
    assert "missing or invalid ε" in refusal(as_csv(PEOPLE | {"eps": ["1e400"] * 7}, tmp_path), make_request())


def test_the_error_for_a_boolean_column_explains_the_comparison(tmp_path):
    table = as_parquet(PEOPLE | {"vote": [True, False] * 3 + [None]}, tmp_path)
    with pytest.raises(hetdp.UsageError, match=r"Hint: vote = TRUE, or = FALSE$"), open_source(table) as source:
        prepare(LocalTable(source), make_request(), population=population)


def test_a_missing_table_is_reported_as_missing(tmp_path):
    assert refusal(tmp_path / "none.csv", make_request()).endswith(
        "does not exist; a table is a file, or a folder of files."
    )


@pytest.mark.parametrize("column", ["group", "area"])
@pytest.mark.parametrize("form", ["parquet", "sqlite", "pandas"])
def test_names_of_groups_and_areas_that_arrays_would_merge_are_refused(form, column, tmp_path):
    columns = PEOPLE | {"role": ["staff", "staff\0", *PEOPLE["role"][2:]]}
    words = refusal(FORMATS[form](columns, tmp_path), make_request(**{column: "role"}))
    assert re.search(", role: a group, level or area with a NUL in its name; a name is plain text", words)


@pytest.mark.parametrize("name", ["e", "E", "e1", "E-5", "%", "1st"])
def test_a_column_of_epsilon_may_have_almost_any_name(name, tmp_path):
    table = as_csv({name: [2.0] * 7} | PEOPLE, tmp_path)
    with open_source(table) as source:
        assert (
            prepare(LocalTable(source), make_request(epsilon=name), population=population).policy.epsilon.tolist()
            == [2.0] * 7
        )


@for_each("typed", ["-1", "1,5", "50%", "1e", ".5.", "1/2", "nan", "-inf", "1e5e"])
def test_a_mistyped_number_is_not_taken_for_the_name_of_a_column(typed):
    with pytest.raises(hetdp.UsageError, match="ε"):
        make_request(epsilon=typed)


def test_a_group_without_an_epsilon_is_refused(tmp_path):
    request = make_request(epsilon=None, by_group={"pupil": 0.3, "staff": "1"}, group="role")
    table = as_parquet(PEOPLE, tmp_path)
    assert "guest" not in refusal(table, request)
    assert "row 7, role: a group without an ε: 'guest'" in refusal(table, request, curator=True)
    promised = make_request(epsilon=None, by_group={"pupil": 0.3, "staff": "1", "guest": 2, "nobody": 0}, group="role")
    with open_source(table) as source:
        assert prepare(LocalTable(source), promised, population=population).policy.epsilon.tolist() == PEOPLE["eps"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"person": "score"}, "the column of people holds text or whole numbers"),
        ({"epsilon": "tags"}, "a column of ε holds whole numbers or numbers or text"),
        ({"group": "tags"}, "a column of groups or areas holds"),
    ],
)
def test_a_column_of_the_wrong_type_is_refused_by_its_type(asked, words, tmp_path):
    more = {"score": [0.5] * 7, "tags": [["a"]] * 7}
    assert words in refusal(as_parquet(PEOPLE | more, tmp_path), make_request(**asked))


def test_epsilon_is_never_above_what_is_written(tmp_path):
    written = ["0.299999999999999999999", "0.3", "1e-3", "inf", "0", "3.0000000000000001", "4096"]
    with open_source(as_csv(PEOPLE | {"eps": written}, tmp_path)) as source:
        found = prepare(LocalTable(source), make_request(), population=population).policy.epsilon.tolist()
    assert found[1:5] == [0.3, 0.001, float("inf"), 0.0]
    for value, text in ((found[0], written[0]), (found[5], written[5])):
        assert Fraction(repr(value)) <= Fraction(text)


def test_sqlite_rounds_no_float(tmp_path):
    exact = [0.1234567890123456, 2.0000000000000004, 0.3, 1e-20, 1e22, float("inf"), 3]
    with open_source(as_sqlite(PEOPLE | {"eps": exact}, tmp_path)) as source:
        found = prepare(LocalTable(source), make_request(), population=population).policy.epsilon.tolist()
        assert all(0.0 <= value <= float(text) for value, text in zip(found, exact, strict=True))
        assert found[2:] == exact[2:]
        assert LocalTable(source).read_answers(make_request(counted="eps > 2.0", epsilon=1)).tolist() == [
            1,
            0,
            1,
            1,
            0,
            1,
            0,
        ]


HOSTILE = ['vote"; DROP TABLE people; --', "vote'", "a,b", "SELECT", "größe", "x\ny", " vote ", "?", "100%", "$1", "{}"]


VALUES = ["'", "''; DROP TABLE people; --", '"', "%", "\\", "\n", "a,b", "NULL", "é", "ye\x00s", " ", "yes "]


@pytest.mark.parametrize("form", FILES)
def test_names_of_columns_and_values_are_only_names_and_values(form, tmp_path):
    columns = {name: VALUES[at:] + VALUES[:at] for at, name in enumerate(HOSTILE)}
    columns |= {f"{name} id": list(range(len(VALUES))) for name in HOSTILE}
    columns |= {f"{name} eps": [1.0] * len(VALUES) for name in HOSTILE}
    with open_source(FILES[form](columns, tmp_path)) as source:
        for at, name in enumerate(HOSTILE):
            counted = Comparison(name, "=", VALUES[at])
            columns_used = {"person": f"{name} id", "epsilon": f"{name} eps"}
            request = make_request(counted=str(counted), of="respondents", exact_text=True, **columns_used)
            assert request.counted == counted
            assert prepare(LocalTable(source), request, population=population).policy.size == len(VALUES)
            assert LocalTable(source).read_answers(request).tolist() == [0] + [1] * (len(VALUES) - 1)


CELLS = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cells=st.lists(CELLS, min_size=7, max_size=7), form=st.sampled_from(sorted(FILES)))
def test_no_answer_causes_a_failure(cells, form, tmp_path):
    columns = PEOPLE | {"vote": [cell or None for cell in cells]}
    columns["vote"][0] = "yes"
    table = FILES[form](columns, tmp_path)
    for counted in ("vote = 'yes'", "vote > 3", "NOT vote IN ('a', 'yes')"):
        (codes,) = codes_of(table, make_request(counted=counted, of="respondents"))
        assert set(codes) <= {0, 1, 2}
        assert [code == 2 for code in codes] == [not (cell or "").strip() for cell in columns["vote"]] or ">" in counted


MOMENTS = {
    "seconds": pa.timestamp("s"),
    "milliseconds": pa.timestamp("ms"),
    "milliseconds somewhere": pa.timestamp("ms", "UTC"),
    "microseconds": pa.timestamp("us"),
    "nanoseconds": pa.timestamp("ns"),
    "lengths": pa.duration("s"),
    "hours": pa.time64("us"),
}


def outcome(table: Any, request: AskRequest) -> str:
    try:
        codes_of(table, request)
    except hetdp.HetdpError as refused:
        return str(refused)
    return "answered"


@pytest.mark.parametrize(
    ("form", "kind"),  # each kind in one of the forms; the rest is long
    [
        pytest.param(form, kind, marks=long if at % 2 == is_table else ())
        for is_table, form in enumerate(("parquet", "table"))
        for at, kind in enumerate(MOMENTS)
        if (form, kind) != ("parquet", "seconds")  # which Parquet has not
    ],
)
def test_whether_a_timestamp_can_be_read_does_not_depend_on_its_value(form, kind, tmp_path):
    for counted in ("vote IS NULL", "vote = '2026-01-01 00:00:00'"):
        found = set()
        for cell in (0, 10**9, 2**63 - 2, -(2**62)):
            votes = pa.array([cell] * 7, pa.int64()).view(MOMENTS[kind])
            found.add(outcome(FORMATS[form](PEOPLE | {"vote": votes}, tmp_path), make_request(counted=counted)))
        assert len(found) == 1
        assert found == {"answered"} or kind not in ("microseconds", "nanoseconds")


class Unprintable:
    """An object that cannot be converted to text."""

    def __str__(self) -> str:
        raise RuntimeError("a secret")


@pytest.mark.parametrize("kind", ["cells", "categories"])
def test_any_python_value_in_a_data_frame_has_a_meaning(kind):
    cells = ["yes", "\udc80", Unprintable(), None, float("nan"), Decimal("sNaN"), pandas.NaT, ["yes"]]
    votes = pandas.Series(cells, dtype=object)
    if kind == "categories":
        votes = pandas.Series(
            pandas.Categorical.from_codes(
                [0, 1, 2, -1, -1, 3, -1, 4],
                pandas.Index(["yes", "\udc80", Unprintable(), Decimal(1), ("yes",)], dtype=object, tupleize_cols=False),
            )
        )
    table = pandas.DataFrame({"id": range(8), "eps": 1.0, "vote": votes, "self": votes})
    assert codes_of(table, make_request(of="respondents")) == [[0, 1, 2, 2, 2, 1, 2, 1]]
    assert codes_of(table, make_request(counted="self IS NULL")) == [[1, 1, 0, 0, 0, 1, 0, 1]]


def broken_parquet(tmp_path: Path) -> Path:
    """A file in which only the bytes of the column vote are garbage."""
    place = as_parquet(PEOPLE, tmp_path)
    group = pyarrow.parquet.read_metadata(place).row_group(0)
    column = next(group.column(at) for at in range(group.num_columns) if group.column(at).path_in_schema == "vote")
    start = column.dictionary_page_offset or column.data_page_offset
    data = bytearray(place.read_bytes())
    data[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    place.write_bytes(data)
    return place


def broken_sqlite(tmp_path: Path) -> Path:
    """A file in which a text of the column vote continues on a missing page."""
    text = "yes" * 5000
    place = as_sqlite(PEOPLE | {"vote": [text, *PEOPLE["vote"][1:]]}, tmp_path)
    data = bytearray(place.read_bytes())
    page = next(at for at in range(0, len(data), 4096) if data[at + 4 : at + 4096] in (text * 2).encode())
    data[page : page + 4] = b"\x00\x0f\xff\xff"
    place.write_bytes(data)
    return place


@pytest.mark.parametrize("broken", [broken_parquet, broken_sqlite])
def test_before_the_mechanism_is_fixed_no_private_column_is_read(broken, tmp_path):
    with open_source(broken(tmp_path)) as source:
        prepared = prepare(LocalTable(source), make_request(group="role", area="county"), population=population)
        with pytest.raises(hetdp.InputError) as caught:
            prepared.coordinates()
    assert re.fullmatch(r"people\.(parquet|sqlite): cannot be read; .*", str(caught.value))


def test_a_table_that_changes_while_it_is_read_is_refused(tmp_path):
    place = as_csv(PEOPLE, tmp_path)
    with open_source(place) as source:
        prepared = prepare(LocalTable(source), make_request(), population=population)
        place.write_bytes(place.read_bytes() + b"8,South,staff,1,yes\n")
        with pytest.raises(hetdp.InputError, match="changed while it was read"):
            prepared.coordinates()


def test_an_sqlite_file_that_is_replaced_while_it_is_read_is_refused(tmp_path):
    (tmp_path / "other").mkdir()
    place, other = as_sqlite(PEOPLE, tmp_path), as_sqlite(PEOPLE, tmp_path / "other")
    with open_source(place) as source:
        prepared = prepare(LocalTable(source), make_request(), population=population)
        other.replace(place)
        with pytest.raises(hetdp.InputError, match="changed while it was read"):
            prepared.coordinates()


def test_an_sqlite_file_is_read_as_it_was_when_it_was_opened(tmp_path):
    place = as_sqlite(PEOPLE, tmp_path)
    with closing(sqlite3.connect(place)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        with open_source(place) as source:
            prepared = prepare(LocalTable(source), make_request(), population=population)
            with writer:
                writer.execute("UPDATE people SET vote = 'yes'")
            prepared.coordinates()
        assert [promise.mechanism.seen for promise in prepared.promises] == [[[0, 1, 0, 1, 0, 1, 0]]]
        assert codes_of(place, make_request()) == [[0] * 7]


def test_an_index_of_an_sqlite_table_does_not_change_the_order(tmp_path):
    place = as_sqlite(PEOPLE, tmp_path)
    with closing(sqlite3.connect(place)) as file, file:
        file.execute("CREATE INDEX sideways ON people (vote)")
        file.execute("CREATE INDEX other ON people (eps DESC, id DESC)")
    assert codes_of(place, make_request()) == [[0, 1, 0, 1, 0, 1, 0]]


def test_tables_that_sqlite_makes_for_itself_are_not_offered(tmp_path):
    with closing(sqlite3.connect(tmp_path / "people.db")) as file, file:
        file.execute("CREATE TABLE people (id INTEGER PRIMARY KEY AUTOINCREMENT, vote)")  # SQLite adds a sequence
    assert sqlite.list_tables(tmp_path / "people.db") == ["people"]


def test_an_sqlite_file_is_opened_with_settings_that_trust_nothing_in_it(tmp_path):
    with closing(sqlite._connect(as_sqlite(PEOPLE, tmp_path))) as file:
        sqlite._begin_and_list(file)
        found = {name: file.execute(f"PRAGMA {name}").fetchone() for name in ("trusted_schema", "query_only")}
        assert found == {"trusted_schema": (0,), "query_only": (1,)}
        assert file.execute("PRAGMA cell_size_check").fetchone() == (1,)
        assert file.execute("PRAGMA mmap_size").fetchone() in ((0,), None)  # None: SQLite was built without maps


def test_an_sqlite_file_with_several_tables_needs_a_name(tmp_path):
    place = as_sqlite(PEOPLE, tmp_path)
    with closing(sqlite3.connect(place)) as file, file:
        file.execute("CREATE TABLE other (x)")
    for sheet in (None, "nobody"):
        with (
            pytest.raises(hetdp.UsageError, match="the tables are 'people', 'other'"),
            open_source(place, FileOptions(sheet)),
        ):
            pass
    with open_source(place, FileOptions("people")) as source:
        assert "vote" in source.columns
    with (
        pytest.raises(hetdp.UsageError, match="only Excel and SQLite"),
        open_source(as_csv(PEOPLE, tmp_path), FileOptions("people")),
    ):
        pass


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n\n",
        b"id,eps,eps,vote\n1,1,1,yes\n",
        b"id,eps,vote\n1,1\n",
        b"id,eps,vote\n1,1,yes,no\n",
        b'id,eps,vote\n1,1,"yes\n',
        b"id,eps,vote\n1,1,\xff\xfe\n",
        b"id,eps,vote\n",
    ],
)
def test_a_broken_csv_file_is_refused_whole_and_nothing_of_it_is_reported(text, tmp_path):
    place = tmp_path / "people.csv"
    place.write_bytes(text)
    with pytest.raises(hetdp.InputError) as caught, open_source(place) as source:
        prepare(LocalTable(source), make_request(), population=population)
    assert "yes" not in str(caught.value)


@pytest.mark.parametrize("before", [b"\n", b"\r\n", b"\xef\xbb\xbf\n"])
def test_a_header_after_an_empty_line_is_not_counted_as_a_person(before, tmp_path):
    place = tmp_path / "people.csv"
    place.write_bytes(before + b"id,vote\n1,yes\n")
    assert "no readable header row" in refusal(place, make_request(epsilon=1))


@pytest.mark.parametrize("name", ["people.parquet", "people.arrow", "people.sqlite"])
def test_files_of_another_format_are_refused(name, tmp_path):
    (tmp_path / name).write_bytes(b"not a table of people at all" * 10)
    with pytest.raises(hetdp.InputError, match=f"^{name}: cannot be read"), open_source(tmp_path / name):
        pass
    with pytest.raises(hetdp.InputError, match="does not exist"), open_source(tmp_path / f"other{Path(name).suffix}"):
        pass


def test_names_that_differ_only_in_case_are_refused(tmp_path):
    rows = pa.table([[1], [1.0], ["yes"], ["no"]], names=["id", "eps", "Vote", "vote"])
    pyarrow.parquet.write_table(rows, tmp_path / "people.parquet")
    for table in (tmp_path / "people.parquet", rows):
        with pytest.raises(hetdp.InputError, match="two columns of one name"), open_source(table):
            pass
    nested = pa.table([[1], [1.0], [{"Vote": 1}], ["yes"]], names=["id", "eps", "more", "vote"])
    pyarrow.parquet.write_table(nested, tmp_path / "people.parquet")
    assert codes_of(tmp_path / "people.parquet", make_request()) == [[0]]


@pytest.mark.parametrize("names", ["id,eps,EPS,vote", "id,eps,Vote,vote", "id,eps,\u212aind,kind,vote"])
def test_names_that_differ_in_case_are_refused_in_csv_files_too(names, tmp_path):
    place = tmp_path / "people.csv"
    place.write_text(f"{names}\n1,0.1,5,yes,yes\n", encoding="utf-8")
    with pytest.raises(hetdp.InputError, match="two columns of one name"), open_source(place):
        pass


@pytest.mark.parametrize("table", [None, 7, [1, 2], {"a": 1}])
def test_arguments_that_are_not_tables_are_refused(table):
    with pytest.raises(hetdp.UsageError), open_source(table):
        pass


@pytest.mark.parametrize("columns", [["id", "eps", 0], ["id", ("eps", 1), "vote"]])
def test_a_column_whose_name_is_not_text_is_refused(columns):
    names = pandas.Index(columns, dtype=object, tupleize_cols=False)
    with (
        pytest.raises(hetdp.UsageError, match="whose name is not text; columns of people's tables are named by text"),
        open_source(pandas.DataFrame([["a", 1.0, "yes"]], columns=names)),
    ):
        pass


def test_patterns_pipes_and_unknown_formats_are_refused(tmp_path):
    as_csv(PEOPLE, tmp_path)
    for name in ("peop*.csv", "peopl?.csv", "[p]eople.csv", "people\udcff.csv", "peo\nple.csv"):
        with pytest.raises(hetdp.UsageError, match="characters that print"), open_source(tmp_path / name):
            pass
    with (
        pytest.raises(hetdp.InputError, match="nope: does not exist; a table is a file"),
        open_source(tmp_path / "nope"),
    ):
        pass
    for name, hint in (("a.xls", "save it as an Excel workbook"), ("a.tsv", "rename it to .csv"), ("a.doc", "")):
        (tmp_path / name).touch()
        with pytest.raises(hetdp.UsageError, match=f"no format is known for .*{hint}"), open_source(tmp_path / name):
            pass
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(hetdp.InputError, match="is not a plain file"), open_source(tmp_path / "pipe.csv"):
        pass


def test_the_database_is_locked_before_anything_is_read(tmp_path):
    place, other = as_parquet(PEOPLE, tmp_path), tmp_path / "other.csv"
    other.write_text("secret\n1\n")
    with open_locked(str(place)) as database:
        assert database.execute("SELECT count(*) FROM read_parquet(?)", [str(place)]).fetchone() == (7,)
        for command in (
            f"SELECT * FROM read_csv('{other}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'leak.csv'}'",
            f"ATTACH '{tmp_path / 'leak.db'}'",
            f"SELECT * FROM read_text('{other}')",
            "SET enable_external_access = true",
            "SET threads = 1",
            "INSTALL httpfs",
        ):
            with pytest.raises(Exception, match=r"disabled|locked|[Cc]annot"):
                database.execute(command)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.csv", "people.parquet"]


def test_a_database_serves_the_same_files_again_and_keeps_nothing_of_its_last_use(tmp_path, monkeypatch):
    place, other = tmp_path / "people.csv", tmp_path / "other.csv"
    for at in (place, other):
        at.write_text("vote\n1\n")
    made, make = [], duck._make_locked
    monkeypatch.setattr(duck, "_make_locked", lambda *how: made.append(how[0]) or make(*how))
    with open_locked(str(place)) as database:
        duck.define_enum(database, "kind", ["a", "b"])
        database.register("rows", {"vote": np.arange(3)})
        assert database.execute("SELECT CAST(CAST('b' AS kind) AS VARCHAR), max(vote) FROM rows").fetchone() == ("b", 2)
        assert database.execute(f"FROM '{place}'").fetchall() == [(1,)]
    before = place.stat()
    place.write_text("vote\n2\n")
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    with open_locked(str(place)) as database:
        for command in ("SELECT CAST('b' AS kind)", "FROM rows"):
            with pytest.raises(Exception, match="does not exist"):
                database.execute(command)
        assert database.execute(f"FROM '{place}'").fetchall() == [(2,)]
        assert database.execute(f"SELECT {FOLD_FUNCTION}('YES')").fetchall() == [("yes",)]
    with pytest.raises(Exception, match="disabled"), open_locked(str(place)) as database:
        database.execute(f"FROM '{other}'")
    assert made == [(str(place),)]
    with open_locked(str(place)) as database, open_locked(str(place)) as another:  # none is left after an error
        assert database.execute(f"FROM '{place}'").fetchall() == another.execute(f"FROM '{place}'").fetchall()
    assert made == [(str(place),)] * 3
    for at in range(2 * duck.MOST_IDLE):
        with open_locked(str(tmp_path / f"{at}.csv")):
            assert len(duck._idle) <= duck.MOST_IDLE


def test_duckdb_is_loaded_where_the_contract_says():
    command = ["git", "-c", "safe.directory=*", "grep", "-lE", "import duckdb|[(].duckdb.[)]", "--", "src"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert found == ["src/hetdp/duck.py"]


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_million_rows_keep_their_order(form, tmp_path):
    size = 10**6 if form == "csv" else 300_000
    numbers = np.random.default_rng(5).permutation(size)
    columns: Any = {"id": numbers, "eps": (numbers % 8) / 8, "vote": np.where(numbers % 3 == 0, "yes", "no")}
    table = pa.table(columns)
    place = tmp_path / f"people.{form}"
    if form == "csv":
        pyarrow.csv.write_csv(table, place)
    elif form == "parquet":
        pyarrow.parquet.write_table(table, place, row_group_size=10_000)
    else:
        with pa.OSFile(str(place), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=10_000)
    request = make_request(counted="vote = 'yes'")
    with open_source(place) as source:
        prepared = prepare(LocalTable(source), request, population=population)
        codes = LocalTable(source).read_answers(request)
    np.testing.assert_array_equal(prepared.policy.epsilon, (numbers % 8) / 8)
    np.testing.assert_array_equal(codes, numbers % 3 != 0)


@pytest.mark.parametrize(("declared", "refused"), [("REAL", True), ("INTEGER", False), ("TEXT", False), ("", False)])
def test_ids_that_sqlite_keeps_as_floats_are_refused(declared, refused, tmp_path):
    place = tmp_path / "people.sqlite"
    with closing(sqlite3.connect(place)) as file, file:
        file.execute(f"CREATE TABLE people (id {declared}, eps TEXT, vote TEXT)")
        file.executemany("INSERT INTO people VALUES (?, '0.3', 'yes')", [(1,), (2,)])

    def ask_dry() -> Any:
        return hetdp.ask(place, "vote = 'yes'", at_least="50%", epsilon="eps", person="id", dry_run=True)

    if refused:
        with pytest.raises(hetdp.InputError, match="REAL"):
            ask_dry()
    else:
        assert ask_dry().plan["counts"]["people"] == 2


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_not_reported_as_a_fault_of_a_table(interrupt: type[BaseException]) -> None:
    class Frame:
        columns = ("a",)

        def clear(self) -> Frame:
            return self

        def collect(self, *_: object) -> None:
            raise interrupt

        get_column = collect

    with pytest.raises(interrupt):
        formats._collect(Frame(), curator=False)
    with pytest.raises(interrupt):
        arrow.polars_table(None, Frame(), curator=False)
    with pytest.raises(interrupt), arrow.arrow_errors("the table", curator=False):
        raise interrupt

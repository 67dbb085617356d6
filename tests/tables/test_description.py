"""`describe_table`: what a table has, without a look at any cell."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pandas
import polars
import pyarrow as pa
import pytest

import hetdp
from tests.tables.tables import FORMATS, PEOPLE

EVERY_USE = ("person", "group", "level", "area", "epsilon", "counted")


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_of_every_format_is_described(form, tmp_path):
    found = hetdp.describe_table(FORMATS[form](PEOPLE, tmp_path))
    assert found.rows == 7
    assert [column.name for column in found.columns] == list(PEOPLE)
    assert {column.name: column.uses for column in found.columns}["vote"] == EVERY_USE
    counts = {"pupil": 3, "staff": 3, "guest": 1}
    assert found.count_public_values("role") == hetdp.PublicValues(counts, 3, 0)
    assert found.count_public_values("vote", most=1) == hetdp.PublicValues({"yes": 4}, 3, 1)


def test_a_column_that_polars_cannot_convert_is_listed_where_it_stands_and_not_read():
    odd = polars.Series([2**100, None], dtype=polars.Int128)
    people = polars.DataFrame({"id": [1, 2], "odd": odd, "vote": ["yes", "no"]})
    found = hetdp.describe_table(people)
    assert [(one.name, one.kind) for one in found.columns] == [
        ("id", "whole numbers"),
        ("odd", "other things"),
        ("vote", "text"),
    ]
    with pytest.raises(hetdp.UsageError, match="it holds other things, which cannot be compared"):
        hetdp.ask(people, "odd = 'x'", at_least=1, epsilon=1, person="id", dry_run=True)
    assert hetdp.ask(people, "vote = 'yes'", at_least=1, epsilon=1, person="id", dry_run=True).promises[0].people == 2


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "pandas", "polars", "folder"])
def test_a_sheet_is_refused_where_there_is_one_table_only(form, tmp_path):
    table, name = (tmp_path / "parts", "parts") if form == "folder" else (FORMATS[form](PEOPLE, tmp_path), None)
    if form == "folder":
        table.mkdir()
        FORMATS["csv"](PEOPLE, table)
    what = name or (table.name if isinstance(table, Path) else "a data frame")
    with pytest.raises(hetdp.UsageError) as refused:
        hetdp.describe_table(table, sheet="Staff")
    assert str(refused.value).startswith(f"a table 'Staff' in {what}; only Excel and SQLite files hold several tables")


def test_of_very_many_public_values_the_first_hundred_are_listed():
    table = pa.table({"town": [f"{at:03}" for at in range(101)] + ["100"]})
    found = hetdp.describe_table(table).count_public_values("town")
    assert list(found.counts.items())[:2] == [("100", 2), ("000", 1)]
    assert (len(found.counts), found.distinct, "099" in found.counts) == (100, 101, False)


def test_the_declared_type_says_what_a_column_may_be_used_for():
    table = pa.table({"id": [1], "eps": [0.5], "ok": [True], "born": pa.array([0], pa.date32()), "odd": [[1]]})
    found = {column.name: (column.kind, column.uses) for column in hetdp.describe_table(table).columns}
    assert found == {
        "id": ("whole numbers", EVERY_USE),
        "eps": ("numbers", ("epsilon", "counted")),
        "ok": ("true or false", ("group", "level", "area", "counted")),
        "born": ("dates", ("group", "level", "area", "counted")),
        "odd": ("other things", ()),
    }
    with pytest.raises(hetdp.UsageError, match="the column 'odd' holds other things; the column must have a type"):
        hetdp.describe_table(table).count_public_values("odd")
    with pytest.raises(hetdp.UsageError, match=r"the table has no column 'idd'; .* Hint: did you mean 'id'\?"):
        hetdp.describe_table(table).count_public_values("idd")
    with pytest.raises(hetdp.UsageError, match="most"):
        hetdp.describe_table(table).count_public_values("id", most=0)


def test_a_file_with_several_tables_lists_them_until_one_is_chosen(tmp_path):
    place = tmp_path / "people.sqlite"
    with closing(sqlite3.connect(place)) as file, file:
        file.execute("CREATE TABLE people (id, vote)")
        file.execute("CREATE TABLE other (x)")
        file.execute("INSERT INTO people VALUES (1, 'yes')")
    found = hetdp.describe_table(place)
    assert (found.sheets, found.sheet, found.rows, found.columns) == (("people", "other"), None, None, ())
    assert str(found) == "people.sqlite has 2 sheets: 'people', 'other'"
    chosen = hetdp.describe_table(place, sheet="people")
    assert (chosen.sheet, chosen.rows) == ("people", 1)
    assert str(chosen).splitlines() == [
        "people.sqlite: SQLite, table 'people', 1 row, 2 columns",
        "  'id': text",
        "  'vote': text",
    ]


def test_no_cell_changes_a_description(tmp_path):
    for name, cell in (("a", "1"), ("b", "0,5"), ("c", '"x;y\nz"'), ("d", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "survey.csv").write_text(f"id;vote\n1;{cell}\n")
    first, *others = (hetdp.describe_table(tmp_path / name / "survey.csv") for name in "abcd")
    assert all(other == first for other in others)


def test_anything_but_a_table_is_refused(tmp_path):
    with pytest.raises(hetdp.InputError, match="does not exist"):
        hetdp.describe_table(tmp_path / "none.csv")
    with pytest.raises(hetdp.UsageError, match="expected a table, got a list"):
        hetdp.describe_table([1])
    with pytest.raises(hetdp.UsageError, match="a table 'x' in a data frame; only Excel and SQLite files hold several"):
        hetdp.describe_table(pandas.DataFrame({"a": [1]}), sheet="x")

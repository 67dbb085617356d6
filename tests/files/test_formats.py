"""Single files: what is no proper CSV file, and how CSV and JSON write single values."""

from __future__ import annotations

import math

import pytest

from hetdp.errors import InputError
from hetdp.files.formats import csv_files, json_files


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "an empty file"),
        ("a;b\n", "separated by ';'"),
        ("a\tb\n", r"separated by '\\t'"),
        ("a,a\n", "a duplicate column: a"),
        ("a,b\n1\n", "wrong number of fields: 1 instead of 2"),
        ('a\n"x', "not CSV"),
    ],
)
def test_a_csv_file_without_a_proper_table_is_refused(text, words, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    for read in (
        csv_files.read_small,
        csv_files.header_of if "1" not in text and '"' not in text else csv_files.read_small,
    ):
        with pytest.raises(InputError, match=words):
            read(tmp_path / "t.csv", "t.csv")


def test_fields_of_csv_are_quoted_where_needed():
    assert [csv_files._field(value) for value in (None, math.nan, True, 0.5, "a", 'a"b', "a,b", "a\rb", 3)] == [
        *("", "", "true", "0.5", "a", '"a""b"', '"a,b"', '"a\rb"', "3"),
    ]


def test_infinity_is_written_as_text_and_other_texts_are_not_numbers():
    assert [json_files._number(value) for value in ("inf", "-Infinity", "+inf", "1", 0.5)] == [
        *(math.inf, -math.inf, math.inf, "1", 0.5),
    ]
    assert list(json_files.lines_of({"a": [{"x": 1}, {"y": 2}], "b": [], "c": [1]})) == [
        *("{", '  "a": [', '    {"x": 1},', '    {"y": 2}', "  ],", '  "b": [],', '  "c": [1]', "}"),
    ]

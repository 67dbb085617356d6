"""Reading problems: answers, kinds of documents, and the tables of a folder."""

from __future__ import annotations

import numpy as np
import pytest

from hetdp.errors import InputError
from hetdp.files import problems
from hetdp.files.formats.table import Categorical


def test_answers_may_be_written_as_text():
    assert problems.answer_column(["1", "2.0", None]) == [1, 2, None]
    assert problems.answer_column(["TRUE", "false"]) == [True, False]
    assert problems.answer_column(["1", "yes"]) == ["1", "yes"]
    assert problems.answer_column([1, 2]) == [1, 2]
    assert problems.answer("12") == "12"
    assert problems.positive_of("1", [1, 2]) == 1
    assert problems.positive_of("1", ["1", "yes"]) == "1"
    assert problems.positive_of(2, [1, 2]) == 2
    column = problems.answer_column(Categorical(np.array([1, 0]), ["1", "2"]))
    assert column.tolist() == [2, 1]
    assert isinstance(column, np.ndarray)


def test_a_document_is_known_by_what_only_its_kind_has():
    assert problems.kind_of_document({"edges": []}, "pins") == "problem"
    assert problems.kind_of_document({"certificate": None}, "pins") == "mechanism"
    assert problems.kind_of_document({"coordinate": ""}, "problem") == "mechanism"
    assert problems.kind_of_document({}, "pins") == "pins"
    assert problems.kind_of_document({"certificate": None}, "mechanism") == "mechanism"


def test_parts_are_files_of_one_kind_in_order(tmp_path):
    for name in ("part-2.parquet", "part-1.parquet", "_SUCCESS", ".part-3.parquet.crc"):
        (tmp_path / name).write_text("")
    assert [part.name for part in problems.parts_of(tmp_path)] == ["part-1.parquet", "part-2.parquet"]
    (tmp_path / "part-9.csv").write_text("")
    with pytest.raises(InputError, match=r"an unexpected entry: 'part-9\.csv'"):
        problems.parts_of(tmp_path)
    (tmp_path / "part-9.csv").unlink()
    (tmp_path / "part-9.parquet").mkdir()
    with pytest.raises(InputError, match="an unexpected entry"):
        problems.parts_of(tmp_path)


def test_a_table_is_named_once(tmp_path):
    with pytest.raises(InputError, match="no table of edges"):
        problems._folder_table(tmp_path, "edges", (), False)
    (tmp_path / "edges.csv").write_text("source\n")
    assert problems._folder_table(tmp_path, "edges", ("source",), False).length == 0
    (tmp_path / "edges.parquet").write_text("")
    with pytest.raises(InputError, match=r"two tables of one name: edges\.csv, edges\.parquet"):
        problems._folder_table(tmp_path, "edges", (), False)


def test_a_path_must_exist():
    for path, words in (("nowhere", "no such file"), ("a\0b", "cannot be read")):
        with pytest.raises(InputError, match=words):
            problems.require_existing(path)

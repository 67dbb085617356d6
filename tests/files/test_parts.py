"""Parts of reading and writing files one by one: cells, labels, answers, kinds of documents, folders and claims."""

from __future__ import annotations

import math
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.errors import InputError, UsageError
from hetdp.files import mechanisms, problems, saving, schema
from hetdp.files.formats import csv_files, json_files, writing
from hetdp.files.formats.table import DEEPEST_NESTING, Categorical, Table
from hetdp.problem.faults import FaultCollector

# Labels and answers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ([2**63 - 1, -(2**63)], "integer"),
        ([2**63, 0], "json"),
        ([-(2**63) - 1], "json"),
        ([1, None], "integer"),
        (["a", ""], "json"),
        ([True], "json"),
        ([0.5], "json"),
        (range(3), "integer"),
        ([], "text"),
    ],
)
def test_a_column_of_labels_is_text_integers_or_json(names, kind):
    assert saving.column_kind(names) == kind
    assert saving.kind_words("labels", names, True) == ({} if kind == "text" else {"labels": kind})
    assert saving.kind_words("labels", names, False) == ({"labels": kind} if kind == "json" else {})


def nested(depth: int) -> Any:
    label: Any = "a"
    for _ in range(depth):
        label = (label,)
    return label


@pytest.mark.parametrize(
    ("label", "is_readable"),
    [
        ((), False),
        (("a", ()), False),
        (math.inf, False),
        (math.nan, False),
        (True, False),
        (None, False),
        ("\ud7ff", True),
        ("\ud800", False),
        ("a\udfff", False),
        ("\ue000", True),
        (nested(DEEPEST_NESTING), True),
        (nested(DEEPEST_NESTING + 1), False),
    ],
)
def test_a_label_that_is_saved_can_be_read_again(label, is_readable):
    assert saving._is_readable(label) is is_readable


def table_of(**columns: Any) -> Table:
    return Table("t", columns, len(next(iter(columns.values()))), lambda at: f"row {at}")


def test_cells_of_labels_are_what_the_file_says():
    def labels(cells: Any, kind: str = "text") -> tuple[Any, list[str]]:
        findings = FaultCollector("t")
        found = table_of(dataset=cells).label_column("dataset", findings, kind)
        return list(found), [fault.what for fault in findings.faults]

    assert labels(["1", "a"]) == (["1", "a"], [])
    assert labels(["1", "-2"], "integer") == ([1, -2], [])
    assert labels(["1", "02"], "integer")[1] == ["not an integer:"]
    assert labels(["1", None], "integer") == ([1, None], ["missing label"])
    assert labels(['["a", 1]', "2"], "json") == ([("a", 1), 2], [])
    assert labels(["[", "true"], "json")[1] == ["not JSON:", "label"]
    assert labels([["a", ["b"]], 1.5]) == ([("a", ("b",)), 1.5], [])
    assert labels([[]])[1] == labels([{}])[1] == ["label"]
    deep: Any = "a"
    for _ in range(DEEPEST_NESTING):
        deep = [deep]
    assert labels([deep])[1] == []
    assert labels([[deep]])[1] == ["label"]


def test_classes_may_be_missing():
    def classes(cells: Any, kind: str = "text") -> Any:
        return table_of(**{"class": cells}).class_column(FaultCollector("t"), kind)

    assert classes(["a", None, 1]) == ["a", None, 1]
    assert classes(["1", None, "x"], "integer") == [1, None, "x"]
    assert classes(['["a"]', None], "json") == [("a",), None]
    assert classes([["a"], None]) == [("a",), None]
    assert table_of(x=[]).class_column(FaultCollector("t")) is None


def test_flags_are_true_or_false():
    findings = FaultCollector("t")
    assert table_of(x=[1, 2]).flags("pinned", findings).tolist() == [False, False]
    assert table_of(pinned=["true", False, True]).flags("pinned", findings).tolist() == [True, False, True]
    column = Categorical(np.array([1, 0, 1]), ["false", "true"])
    assert table_of(pinned=column).flags("pinned", findings).tolist() == [True, False, True]
    assert findings.total == 0
    assert table_of(pinned=["yes", 1, None, "true"]).flags("pinned", findings).tolist() == [False] * 3 + [True]
    assert findings.total == 3


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


# Documents and folders ------------------------------------------------------------------------------------------------


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


def test_infinity_is_written_as_text_and_other_texts_are_no_numbers():
    assert [json_files._number(value) for value in ("inf", "-Infinity", "+inf", "1", 0.5)] == [
        *(math.inf, -math.inf, math.inf, "1", 0.5),
    ]
    assert list(json_files.lines_of({"a": [{"x": 1}, {"y": 2}], "b": [], "c": [1]})) == [
        *("{", '  "a": [', '    {"x": 1},', '    {"y": 2}', "  ],", '  "b": [],', '  "c": [1]', "}"),
    ]


def test_a_private_file_is_for_its_owner_whoever_could_read_the_old_one(tmp_path):
    place = tmp_path / "a"
    place.write_text("old")
    place.chmod(0o644)
    with writing.whole_file(place) as draft:
        draft.write_text("public")
    assert stat.S_IMODE(place.stat().st_mode) == 0o644
    with writing.whole_file(place, private=True) as draft:
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
        draft.write_text("private")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [place]


def test_a_place_where_no_file_can_be_is_refused_before(tmp_path):
    writing.require_writable(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
    os.mkfifo(tmp_path / "pipe")
    for path, words in ((tmp_path, "it is a folder"), (tmp_path / "pipe", "not a plain file")):
        with pytest.raises(UsageError, match=words):
            writing.require_writable(path)
    with pytest.raises(UsageError, match="cannot write"):
        writing.require_writable(tmp_path / "no" / "where")


def test_a_folder_of_ours_may_be_replaced_and_no_other(tmp_path):
    ours = frozenset({"a.json", "edges"})
    place = tmp_path / "p"
    assert writing.require_folder(place, ours) == place
    (place / "edges").mkdir(parents=True)
    (place / "edges" / "part-1").write_text("")
    (place / "a.json").write_text("")
    writing.require_folder(place, ours)
    (place / "edges" / "mine").write_text("")
    with pytest.raises(UsageError, match="it holds other files, such as 'edges/mine'"):
        writing.require_folder(place, ours)
    with pytest.raises(UsageError, match="it is a file, not a folder"):
        writing.require_folder(place / "a.json", ours)
    assert [one.name for one in tmp_path.iterdir()] == ["p"]


# Columns and notions --------------------------------------------------------------------------------------------------


def faults_of(
    found: list[str], needed: tuple[str, ...], known: tuple[str, ...], notion: str = ""
) -> list[tuple[str, str]]:
    findings = FaultCollector("t")
    schema.require_columns(found, needed, known, "t", findings, notion)
    return [(fault.what, fault.hint) for fault in findings.faults]


def test_columns_that_are_missing_or_would_be_ignored_are_named():
    assert faults_of(["a"], ("a",), ("a", "b")) == []
    assert faults_of(["sorce"], ("source",), ("source",)) == [("missing column", "rename 'sorce' to source")]
    assert faults_of(["xyz"], ("source",), ("source",))[0] == ("missing column", "")
    assert faults_of(["Unnamed: 0"], (), ("a",)) == [("unknown column", schema.PANDAS_HINT)]
    assert faults_of([""], (), ("a",)) == [("unknown column", schema.PANDAS_HINT)]
    assert faults_of(["epsiln"], (), ("epsilon",)) == [("unknown column", "did you mean 'epsilon'?")]
    assert faults_of(["mu"], (), ("epsilon",), "pure") == [("a column that would be ignored:", "")]
    assert len(faults_of([f"c{at}" for at in range(50)], (), ("a",))) == 20


@pytest.mark.parametrize(
    ("key", "value", "is_fine"),
    [
        ("moved", 0, True),
        ("moved", 1.0, True),
        ("moved", 1.5, False),
        ("moved", -0.1, False),
        ("moved", True, False),
        ("objective_gap", "x", False),
    ],
)
def test_a_distance_in_a_file_is_a_small_number(key, value, is_fine):
    findings = FaultCollector("m")
    mechanisms.require_form({key: value, "schema_version": 1}, ["dataset", "z"], "m", "t", findings)
    assert (findings.total == 0) is is_fine


def test_a_mechanism_has_datasets_and_values():
    findings = FaultCollector("m")
    mechanisms.require_form({}, ["dataset", "query"], "m", "t", findings)
    assert [fault.what for fault in findings.faults] == ["no values"]
    mechanisms.require_form({"schema_version": 1, "labels": "odd"}, ["p"], "m", "t", findings)
    assert [fault.what for fault in findings.faults[1:]] == ["unknown kind of labels", "missing column"]


def test_columns_of_values_must_agree_up_to_their_rounding(tmp_path: Path):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0), {"a": 1, "b": 2})
    place = tmp_path / "m.csv"
    for p, is_fine in ((0.700009, True), (0.700011, False), (0.69999, True), (0.69998, False)):
        place.write_text(f"dataset,query,p,error\na,1,{p},0.3\nb,2,0.4,0.4\n")
        if is_fine:
            assert hetdp.read_mechanism(place, problem)["a"] == pytest.approx(0.7)
        else:
            with pytest.raises(InputError, match="p contradicts error"):
                hetdp.read_mechanism(place, problem)


def test_pins_of_a_problem_that_a_mechanism_does_not_have_are_counted(tmp_path: Path):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0), {"a": 1, "b": 2})
    found = hetdp.extend(problem, {"a": 0.6, "b": 0.4})
    near = found.coordinates + np.array([5e-10, 2e-9])

    class Pins:
        z = near

    assert mechanisms._count_differing(found, Pins()) == 1  # type: ignore[arg-type]
    Pins.z = np.array([np.nan, 5.0])
    assert mechanisms._count_differing(found, Pins()) == 1  # type: ignore[arg-type]


def test_integers_that_print_otherwise_stay_text():
    given = ["0", "-0", "00", "7", "-7", "+7", " 7", "1" + "0" * 40, "1" + "0" * 41]
    assert [type(one) for one in mechanisms.parse_integer_labels(given)] == [
        int,
        str,
        str,
        int,
        int,
        str,
        str,
        int,
        str,
    ]

"""The columns of a table: labels, classes and flags."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetdp.errors import FaultCollector
from hetdp.files.formats.table import DEEPEST_NESTING, Categorical, Table


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


def test_flags_are_true_or_false_or_yes_or_no():
    findings = FaultCollector("t")
    assert table_of(x=[1, 2]).flags("pinned", findings).tolist() == [False, False]
    assert table_of(pinned=["true", False, True]).flags("pinned", findings).tolist() == [True, False, True]
    column = Categorical(np.array([1, 0, 1]), ["false", "true"])
    assert table_of(pinned=column).flags("pinned", findings).tolist() == [True, False, True]
    flags = table_of(pinned=["yes", "No", "TRUE", "0", 1, "False"]).flags("pinned", findings)
    assert flags.tolist() == [True, False, True, False, True, False]
    assert findings.total == 0
    assert table_of(pinned=["x", 2, None, "true", 1.0]).flags("pinned", findings).tolist() == [False] * 3 + [
        True,
        False,
    ]
    assert findings.total == 4

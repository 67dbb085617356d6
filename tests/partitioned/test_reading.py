"""Reading a problem for partitions: their ranges, and the meaning of answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetdp.errors import Fault, FaultCollector
from hetdp.partitioned import datasets, reading
from hetdp.partitioned.datasets import DatasetScan, first_answers
from tests.partitioned.partitions import files_with


def test_partitions_are_equal_ranges_or_files():
    tables = datasets.Tables("it", {}, files_with(4, 6), files_with(50), "pure")
    assert reading.offsets_of(tables, "files", 2) == (0, 4, 10)
    assert reading.offsets_of(tables, 3, 2) == (0, 3, 6, 10)
    assert reading.offsets_of(tables, None, 2) == (0, 5, 10)
    assert reading.offsets_of(tables, None, 2, arcs=25) == (0, 2, 5, 7, 10)
    assert reading.offsets_of(tables, 99, 2) == tuple(range(11))
    empty = tables._replace(datasets=files_with(0))
    assert reading.offsets_of(empty, None, 2) == (0, 0)
    assert reading.snap_to_entries((0, 3, 6, 10), [4, 8, 10]) == (0, 4, 8, 10)
    assert reading.snap_to_entries((0, 4, 10), [4, 10]) == (0, 4, 10)


def test_the_first_distinct_answers_are_listed_with_their_rows(monkeypatch):
    monkeypatch.setattr(datasets, "MOST_ANSWERS", 2)
    plain = np.array([3, 1, 3, 2])
    assert datasets._different(plain, plain.tolist()) == ([3, 1], [0, 1])
    assert datasets._different(["b", None, "a", "b", "c"], ["b", None, "a", "b", "c"]) == (["b", "a"], [0, 2])


def scan_of(answers: list[Any], rows: list[Any], missing: int = 0) -> DatasetScan:
    return DatasetScan([], 0, False, answers, rows, ([Fault("no answer", "x", "", "")] * missing, missing))


def test_the_meaning_of_answers_depends_on_all_partitions():
    findings = FaultCollector("it")
    assert first_answers([scan_of(["1", "2"], ["a", "b"]), scan_of(["1.0"], ["c"])], None, findings) == ["1", "1.0"]
    assert first_answers([scan_of(["yes"], ["a"]), scan_of(["no"], ["c"])], "no", findings) == ["no"]
    assert first_answers([scan_of([True], [0]), scan_of([False], [1])], None, findings) == [True]
    assert findings.total == 0
    assert first_answers([scan_of(["1"], ["a"], 2), scan_of(["2", "3"], ["b", "c"])], None, findings) == []
    assert findings.total == 3

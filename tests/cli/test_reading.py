"""Problems and pins that the command line reads."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hetdp
from hetdp.cli import (
    reading,
)
from hetdp.errors import UsageError
from tests.cli.heard import Heard


def test_a_folder_of_tables_is_a_problem(hetdp):
    Path("poll").mkdir()
    Path("poll/datasets.csv").write_text("dataset,query,p\na,1,0.6\nb,2,0.4\n")
    Path("poll/edges.csv").write_text("source,target,epsilon\na,b,0.5\n")
    assert hetdp("extend", "poll").err.startswith("read poll: 2 datasets, 1 edge, 2 pinned\n")


@pytest.mark.parametrize("pins", ["dataset,p\n1,0.5\n2,0.5\n", 'dataset,error\n"1",0.5\n"2",0.5\n'])
def test_labels_in_a_table_of_pins_are_found_as_on_the_command_line(hetdp, pins):
    Path("pins.csv").write_text(pins)
    assert hetdp("extend", "poll.json", "--pins", "pins.csv").code == 0


def test_labels_that_mean_the_same_dataset_are_not_merged(hetdp):
    Path("pins.json").write_text(
        '{"schema_version": 1, "datasets": [{"dataset": "1", "p": 0.5}, {"dataset": 1, "p": 0.4}]}'
    )
    result = hetdp("check", "poll.json", "--pins", "pins.json")
    assert result.code == 3
    assert "datasets[0]: unknown dataset '1'" in result.err


def test_pins_of_unknown_datasets_are_bad_input(hetdp):
    Path("pins.csv").write_text("dataset,p\n17,0.5\n")
    result = hetdp("check", "poll.json", "--pins", "pins.csv")
    assert result.code == 3
    assert "pins.csv: row 1: unknown dataset '17'; only datasets of the graph can be pinned." in result.err
    Path("pins.csv").write_text("dataset,p\n1,0.5\n17,0.5\n18,0.5\n")
    assert "pins.csv: 2 faults\n  row 2: unknown dataset '17';" in hetdp("check", "poll.json", "--pins", "pins.csv").err


def test_a_problem_and_its_pins_cannot_both_be_standard_input(hetdp):
    assert hetdp("check", "-", "--pins", "-").err.startswith(
        "hetdp: - is used for two inputs; standard input can be read only"
    )


def test_a_problem_without_edges_causes_a_warning(hetdp):
    empty = (
        '{"schema_version": 1, "datasets": [{"dataset": "a", "query": 1}, {"dataset": "b", "query": 2}], "edges": []}'
    )
    result = hetdp("extend", "-", stdin=empty)
    assert result.code == 0
    assert "warning: there are no edges, so nobody is protected" in result.err


def test_standard_input_is_read_once():
    reading.require_input("-", "a", None)
    with pytest.raises(UsageError, match="- is used for two inputs"):
        reading.require_input("-", "a", "-")


def test_options_of_workers_need_the_engine():
    assert reading.needs_workers("dask", {"workers": 2})
    assert not reading.needs_workers("auto", {"workers": None})
    with pytest.raises(UsageError, match="--workers without --engine dask"):
        reading.needs_workers("cpu", {"cluster": None, "workers": 2})
    assert isinstance(reading.source_of("dask", {}), reading.PartitionedSource)
    assert not isinstance(reading.source_of("cpu", {}), reading.PartitionedSource)


def test_the_output_says_what_was_read_and_its_size(tmp_path):
    heard: Any = Heard()
    hetdp.save(problem_of([1, 2]), tmp_path / "p.json", {"a": 0.6})
    path = str(tmp_path / "p.json")
    reading.read_without_pins(heard, path, "error", None)
    _, given = reading.read_with_pins(heard, path, None, "error", None)
    (tmp_path / "pins.csv").write_text("dataset,p\na,0.6\nb,0.4\n")
    pins = str(tmp_path / "pins.csv")
    reading.read_with_pins(heard, path, pins, "error", None)
    assert given.count == 1
    assert heard.words == [
        f"read {path}: 2 datasets, 1 edge",
        f"read {path}: 2 datasets, 1 edge, 1 pinned",
        f"read {path}: 2 datasets, 1 edge, 2 pinned by {pins}",
    ]
    assert reading.name_of_path("-") == "standard input"


def test_unknown_labels_are_named_with_what_may_be_meant():
    labels = hetdp.DatasetGraph.from_edges(["north"], ["south"], 1.0).labels
    assert reading.find_labels(labels, ["south", "north"]) == ["south", "north"]
    with pytest.raises(hetdp.InputError, match="2 faults") as refusal:
        reading.find_labels(labels, ["nroth", "south", "x"])
    assert [fault.hint for fault in refusal.value.faults] == ["did you mean north?", "a label is, for example, north"]


def test_pins_that_would_become_one_stay_apart():
    known = {"3": 3, 3: 3}.get
    assert reading._by_label({"3": 0.5}, known) == {3: 0.5}
    assert reading._by_label({"3": 0.5, 3: 0.6}, known) == {"3": 0.5, 3: 0.6}
    assert reading._by_label(None, known) is None


def problem_of(answers: list[int], edges: bool = True, **about: str) -> hetdp.Problem:
    ends = (["a"], ["b"], 1.0) if edges else ([], [], [])
    graph = hetdp.DatasetGraph.from_edges(*ends, datasets=["a", "b"][: len(answers)])
    return hetdp.Problem(graph, answers, about=about)


def test_a_problem_that_is_hardly_meant_causes_a_warning():
    heard: Any = Heard()
    reading.warn_without_edges(heard, problem_of([1, 2]))
    reading.warn_without_edges(heard, problem_of([1], edges=False))
    reading.warn_if_constant(heard, problem_of([1, 2]))
    reading.warn_if_constant(heard, problem_of([1], edges=False))
    assert heard.words == []
    reading.warn_without_edges(heard, problem_of([1, 2], edges=False))
    reading.warn_if_constant(heard, problem_of([2, 2]))
    reading.warn_if_constant(heard, problem_of([1, 1], answer_1="aye"))
    assert heard.words[0].startswith("warning: there are no edges")
    assert [words.partition(":")[2][:5].strip(". ") for words in heard.words[1:]] == ["2. I", "aye"]


def test_the_label_of_the_dataset_is_one_line_of_a_file(tmp_path, monkeypatch):
    file = tmp_path / "label"
    for content, label in ((b"111\n", "111"), (b"111\r\n", "111"), (b"1\n\n", "1\n"), (b" 1 ", " 1 ")):
        file.write_bytes(content)
        assert reading.read_private_line(str(file), "--dataset-from", "label") == label
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("ä\n".encode())))
    assert reading.read_private_line("-", "--dataset-from", "label") == "ä"
    monkeypatch.setattr(reading, "LARGEST_LINE", 3)
    file.write_bytes(b"abc")
    assert reading.read_private_line(str(file), "--dataset-from", "label") == "abc"
    for content in (b"abcd", b"\xff"):
        file.write_bytes(content)
        with pytest.raises(UsageError, match="no label can be read there"):
            reading.read_private_line(str(file), "--dataset-from", "label")
    with pytest.raises(UsageError, match="cannot be read: there is no such file"):
        reading.read_private_line(str(tmp_path / "nothing"), "--dataset-from", "label")

"""Problems and pins that the command line reads."""

from __future__ import annotations

from pathlib import Path

import pytest


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

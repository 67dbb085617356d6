"""hetdp boundary: the datasets that need a value."""

from __future__ import annotations

from pathlib import Path


def test_it_lists_one_dataset_to_a_line(hetdp):
    assert hetdp("boundary", "poll.json") == (0, "1\n2\n", "read poll.json: 5 datasets, 4 edges\n")


def test_labels_that_are_lists_have_commas_between_their_entries(hetdp):
    assert hetdp("boundary", "grid.json").out == "0,1\n1,1\n"


def test_quiet_leaves_the_data_only(hetdp):
    assert hetdp("boundary", "poll.json", "-q") == (0, "1\n2\n", "")


def test_a_problem_can_come_from_standard_input(hetdp):
    result = hetdp("boundary", "-", stdin=Path("poll.json").read_text())
    assert result == (0, "1\n2\n", "read standard input: 5 datasets, 4 edges\n")


def test_edges_listed_twice_and_other_answers_need_a_word(hetdp):
    refused = hetdp("boundary", "twice.json")
    assert refused.code == 3
    assert "Hint: set --positive to the answer whose probability is p" in refused.err
    assert "--duplicates min keeps the smallest ε of a class" in refused.err
    result = hetdp("boundary", "twice.json", "--positive", "yes", "--duplicates", "min")
    assert result == (0, "a\nb\n", "read twice.json: 2 datasets, 1 edge\n")


def test_as_json_labels_are_what_they_are_in_the_problem(hetdp):
    assert hetdp("boundary", "grid.json", "--json").document["boundary"] == [[0, 1], [1, 1]]


def test_every_fault_of_a_file_is_listed(hetdp):
    result = hetdp("boundary", "faulty.json")
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("hetdp: faulty.json: 3 faults\n")
    for words in ("p out of range: 1.5", "negative ε -1.0", "unknown dataset 'c'"):
        assert words in result.err


def test_a_missing_file_is_bad_input(hetdp):
    result = hetdp("boundary", "nowhere.json")
    assert (result.code, result.out) == (3, "")
    assert "there is no such file" in result.err

"""hetdp explain: why a dataset is not answered more accurately."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

FOUR = """\
p(2) = 0.6 is given
over ε = 1: p(3) at most 0.852848
over ε = 1: p(4) at most 0.945866
"""
ONE = """\
p(1) = 0.4 is given; the nearest edge across, ε = 0.5 from p(2) = 0.6, which is given, allows at least 0.363918
"""


def test_the_path_is_shown_step_by_step(hetdp):
    result = hetdp("explain", "poll.json", "4")
    assert result == (0, FOUR, "read poll.json: 5 datasets, 4 edges, 2 pinned\n")


def test_several_datasets_are_separated_by_a_blank_line(hetdp):
    assert hetdp("explain", "poll.json", "4", "1", "-q") == (0, f"{FOUR}\n{ONE}", "")


def test_a_label_may_be_text_or_a_list(hetdp):
    result = hetdp("explain", "grid.json", "[0,0]", "no/one")
    assert result.out == (
        "p(0,1) = 0.7 is given\nover ε = 1: p(0,0) at most 0.889636\n\np(no/one) = 1, exactly; nothing binds it\n"
    )


@pytest.mark.parametrize("name", ["mechanism.csv", "mechanism.json"])
def test_a_saved_mechanism_explains_the_same(hetdp, name):
    hetdp("extend", "poll.json", "-o", name)
    assert hetdp("explain", "poll.json", "4", "--mechanism", name).out == FOUR


def test_unknown_datasets_are_all_named_with_the_closest(hetdp):
    result = hetdp("explain", "grid.json", "no-one", "[0,2]", "x")
    assert (result.code, result.out) == (3, "")
    assert result.err.splitlines()[1:] == [
        "hetdp: command line: 3 faults",
        "  dataset 'no-one': there is no such dataset; the label must be that of a dataset of the problem."
        " Hint: did you mean no/one?",
        "  dataset '[0,2]': there is no such dataset; the label must be that of a dataset of the problem."
        " Hint: did you mean 0,1 or 0,0?",
        "  dataset 'x': there is no such dataset; the label must be that of a dataset of the problem."
        " Hint: a label is, for example, 0,0",
    ]


def test_a_name_that_begins_with_a_dash_follows_a_double_dash(hetdp):
    result = hetdp("explain", "poll.json", "-1")
    assert result.code == 2
    assert "Hint: put -- before a dataset whose name begins with -." in result.err
    assert "dataset '-1': there is no such dataset" in hetdp("explain", "poll.json", "--", "-1").err


def test_a_mechanism_that_is_not_the_best_explains_nothing(hetdp):
    document = json.loads(hetdp("extend", "poll.json", "-o", "-").out)
    document["datasets"][4] |= {"z": 2.0, "p": 1 - 0.5 * math.exp(-2), "error": 0.5 * math.exp(-2)}
    Path("mechanism.json").write_text(json.dumps(document))
    result = hetdp("explain", "poll.json", "4", "--mechanism", "mechanism.json")
    assert (result.code, result.out) == (3, "")
    assert "only the best private mechanism is explained by its paths" in result.err


def test_the_bindings_of_pinned_datasets_in_a_file_are_ignored(hetdp):
    document = json.loads(hetdp("extend", "poll.json", "-o", "-").out)
    document["datasets"][1]["binding"], document["datasets"][2]["binding"] = 2, 1  # a circle
    Path("mechanism.json").write_text(json.dumps(document))
    assert hetdp("explain", "poll.json", "4", "--mechanism", "mechanism.json").out == FOUR


def test_pins_and_a_saved_mechanism_exclude_each_other(hetdp):
    result = hetdp("explain", "poll.json", "4", "--mechanism", "a.csv", "--pins", "b.csv")
    assert result.code == 2
    assert result.err.startswith("hetdp: --pins together with --mechanism; a saved mechanism has its own pins.")


def test_a_dataset_must_be_named(hetdp):
    result = hetdp("explain", "poll.json")
    assert result.code == 2
    assert result.err.startswith("hetdp: missing argument 'DATASET...'")


def test_a_name_that_cannot_be_a_label_names_no_dataset(hetdp):
    result = hetdp("explain", "poll.json", "[{}]")
    assert (result.code, result.out) == (3, "")

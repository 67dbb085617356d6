"""Every verb warns about a mechanism that is worse than a coin at some dataset."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PROBLEM = {
    "schema_version": 1,
    "datasets": [
        {"dataset": "a", "query": 1},
        {"dataset": "b", "query": 1, "p": 0.3},
        {"dataset": "c", "query": 2, "p": 0.2},
    ],
    "edges": [{"source": "a", "target": "b", "epsilon": 1}, {"source": "b", "target": "c", "epsilon": 1}],
}
WARNING = "1 of 3 datasets is answered worse than by a coin (it has a given value); the worst is b, right with"


@pytest.fixture(autouse=True)
def _problem(hetdp):
    Path("bad.json").write_text(json.dumps(PROBLEM))
    assert hetdp("extend", "bad.json", "-o", "m.json").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ["extend", "bad.json"],
        ["extend", "bad.json", "-o", "other.csv"],
        ["verify", "bad.json", "m.json"],
        ["explain", "bad.json", "a"],
        ["explain", "bad.json", "a", "--mechanism", "m.json"],
        ["design", "bad.json"],
        ["design", "bad.json", "--objective", "average"],
    ],
    ids=" ".join,
)
def test_verbs_say_where_and_at_how_many_datasets(hetdp, words):
    result = hetdp(*words)
    assert result.code == 0
    assert "1 of 3 datasets is answered worse than by a coin" in result.err
    assert "b, right with probability 0.3" in result.err


def test_given_values_are_distinguished_from_designed_ones(hetdp):
    assert WARNING in hetdp("extend", "bad.json").err
    result = hetdp("design", "bad.json").err
    assert "(it has a given value)" in result
    assert "--max-error" not in result  # which limits the values that are not given
    assert hetdp("design", "bad.json", "--max-error", "0.5").out == hetdp("design", "bad.json").out


def test_accuracy_shows_the_warning_below_its_table(hetdp):
    result = hetdp("accuracy", "bad.json", "m.json", "--no-baselines")
    assert "m.json: worse than a coin at 1 of 3 datasets" in result.out


def test_a_dry_run_of_a_release_shows_the_warning_before_anything_is_spent(hetdp):
    assert hetdp("ledger", "init", "people.ledger", "--source", "people", "--cap", "9").code == 0
    result = hetdp("release", "bad.json", "m.json", "--ledger", "people.ledger", "--dry-run")
    assert result.code == 0
    assert "1 of 3 datasets is answered worse than by a coin" in result.err


def test_plot_shows_the_warning(hetdp):
    pytest.importorskip("matplotlib")
    result = hetdp("plot", "bad.json", "m.json", "-o", "m.svg")
    assert "caution: worse than a coin at 1 of 3 datasets" in result.err


@pytest.mark.parametrize("words", [["extend", "bad.json", "-o", "x.json"], ["verify", "bad.json", "m.json"]])
def test_json_output_contains_the_warning(hetdp, words):
    report = hetdp(*words, "--json").document["worse_than_coin"]
    assert report == {
        "count": 1,
        "given": 1,
        "as_a_coin": 0,
        "worst": {"dataset": "b", "p_right": pytest.approx(0.3), "error": pytest.approx(0.7)},
    }


def test_explanations_and_methods_contain_the_warning(hetdp):
    rows = hetdp("explain", "bad.json", "a", "b", "--json").document["explanations"]
    assert [row["worse_than_coin"] for row in rows] == [False, True]
    methods = hetdp("accuracy", "bad.json", "m.json", "--no-baselines", "--json").document["methods"]
    assert [method["worse_than_coin"]["count"] for method in methods] == [1]


def test_a_release_shows_the_warning_whatever_the_true_dataset_is(hetdp):
    init = ["ledger", "init", "l.sqlite", "--source", "s", "--cap", "100"]
    output = set()
    for dataset in "abc":
        ledger = f"{dataset}.sqlite"
        started = hetdp(*[ledger if word == "l.sqlite" else word for word in init])
        assert started.code == 0, started.err
        words = ["release", "bad.json", "m.json", "--dataset", dataset, "--ledger", ledger]
        result = hetdp(*words, "-o", f"{dataset}.json")
        assert result.code == 0, result.err
        output.add(next(line for line in result.err.splitlines() if line.startswith("caution: ")))
        assert json.loads(Path(f"{dataset}.json").read_text())["cautions"][0] in output.copy().pop()
    assert len(output) == 1
    assert "1 of 3 datasets is answered worse than by a coin" in output.pop()

"""No verb presents a mechanism as plain success that a coin would beat somewhere."""

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
SAID = "1 of 3 datasets is answered worse than by a coin (it has a given value); the worst is b, right with"


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
def test_it_is_said_where_and_at_how_many_datasets(hetdp, words):
    ended = hetdp(*words)
    assert ended.code == 0
    assert "1 of 3 datasets is answered worse than by a coin" in ended.err
    assert "b, right with probability 0.3" in ended.err


def test_the_values_that_were_given_are_told_apart(hetdp):
    assert SAID in hetdp("extend", "bad.json").err
    said = hetdp("design", "bad.json").err
    assert "(it has a given value)" in said
    assert "--max-error" not in said  # which limits the values that are not given
    assert hetdp("design", "bad.json", "--max-error", "0.5").out == hetdp("design", "bad.json").out


def test_accuracy_says_it_below_its_table(hetdp):
    ended = hetdp("accuracy", "bad.json", "m.json", "--no-baselines")
    assert "m.json: 1 of 3 datasets is answered worse than by a coin" in ended.out


def test_the_price_of_a_release_says_it_before_anything_is_spent(hetdp):
    assert hetdp("ledger", "init", "people.ledger", "--source", "people", "--cap", "9").code == 0
    ended = hetdp("release", "bad.json", "m.json", "--ledger", "people.ledger", "--dry-run")
    assert ended.code == 0
    assert "1 of 3 datasets is answered worse than by a coin" in ended.err


def test_plot_says_it(hetdp):
    pytest.importorskip("matplotlib")
    ended = hetdp("plot", "bad.json", "m.json", "-o", "m.svg")
    assert "caution: worse than a coin at 1 of 3 datasets" in ended.err


@pytest.mark.parametrize("words", [["extend", "bad.json", "-o", "x.json"], ["verify", "bad.json", "m.json"]])
def test_json_has_it(hetdp, words):
    told = hetdp(*words, "--json").document["worse_than_coin"]
    assert told == {
        "count": 1,
        "given": 1,
        "as_a_coin": 0,
        "worst": {"dataset": "b", "p_right": pytest.approx(0.3), "error": pytest.approx(0.7)},
    }


def test_explanations_and_methods_have_it(hetdp):
    rows = hetdp("explain", "bad.json", "a", "b", "--json").document["explanations"]
    assert [row["worse_than_coin"] for row in rows] == [False, True]
    methods = hetdp("accuracy", "bad.json", "m.json", "--no-baselines", "--json").document["methods"]
    assert [method["worse_than_coin"]["count"] for method in methods] == [1]


def test_a_release_says_it_whatever_the_true_dataset_is(hetdp):
    init = ["ledger", "init", "l.sqlite", "--source", "s", "--cap", "100"]
    said = set()
    for dataset in "abc":
        ledger = f"{dataset}.sqlite"
        started = hetdp(*[ledger if word == "l.sqlite" else word for word in init])
        assert started.code == 0, started.err
        words = ["release", "bad.json", "m.json", "--dataset", dataset, "--ledger", ledger]
        ended = hetdp(*words, "-o", f"{dataset}.json")
        assert ended.code == 0, ended.err
        said.add(next(line for line in ended.err.splitlines() if line.startswith("caution: ")))
        assert json.loads(Path(f"{dataset}.json").read_text())["cautions"][0] in said.copy().pop()
    assert len(said) == 1
    assert "1 of 3 datasets is answered worse than by a coin" in said.pop()

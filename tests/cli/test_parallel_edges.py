"""Every verb takes a problem in which several edges of different classes join two datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hetdp.cli.main import main

PROBLEM: dict[str, Any] = {
    "schema_version": 1,
    "datasets": [
        {"dataset": "a", "query": 1},
        {"dataset": "b", "query": 1, "p": 0.6},
        {"dataset": "c", "query": 2, "p": 0.4},
    ],
    "edges": [
        {"source": "a", "target": "b", "epsilon": 2, "class": "Bob"},
        {"source": "a", "target": "b", "epsilon": 0.5, "class": "Ann"},
        {"source": "b", "target": "a", "epsilon": "inf"},
        {"source": "b", "target": "c", "epsilon": 1, "class": "Bob"},
        {"source": "c", "target": "b", "epsilon": 1, "class": "Ann"},
    ],
}


@pytest.fixture
def problem(tmp_path, capsys):
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(PROBLEM), encoding="utf-8")
    assert main(["extend", str(path), "-o", str(tmp_path / "mechanism.json"), "--quiet"]) == 0
    capsys.readouterr()
    return str(path), str(tmp_path / "mechanism.json")


def output(capsys, *words: str) -> dict:
    assert main([*words, "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def test_edges_are_counted_one_by_one(problem, capsys):
    path, mechanism = problem
    assert output(capsys, "boundary", path)["counts"] == {"datasets": 3, "edges": 5}
    assert output(capsys, "check", path)["compatible"]
    assert output(capsys, "verify", path, mechanism)["certificate"]["edges"] == 4  # the fifth constrains nothing
    assert output(capsys, "design", path)["certificate"]["private"]


def test_an_explanation_names_the_class_that_binds(problem, capsys):
    path, mechanism = problem
    (found,) = output(capsys, "explain", path, "a", "--mechanism", mechanism)["explanations"]
    assert (found["path"]["classes"], found["path"]["epsilons"]) == (["Ann"], [0.5])
    assert main(["explain", path, "a"]) == 0
    assert "over ε = 0.5 (class 'Ann')" in capsys.readouterr().out


def test_odds_and_audits_are_reported_for_every_class(problem, capsys):
    path, mechanism = problem
    methods = output(capsys, "accuracy", path, "--odds")["methods"]
    report = next(method["odds"] for method in methods if method["odds"])
    assert {one["class"]: one["edges"] for one in report} == {"Ann": 2, "Bob": 2, None: 1}
    audit = output(capsys, "audit", path, mechanism, "--draws", "2000")
    assert {(edge["source"], edge["class"]) for edge in audit["edges"]} >= {("a", "Ann"), ("a", "Bob")}


def test_a_picture_is_drawn(problem, capsys, tmp_path):
    path, _ = problem
    assert output(capsys, "plot", path, "-o", str(tmp_path / "picture.svg"))["counts"]["edges"] == 5


def test_a_contradiction_within_a_class_is_reported_with_command_line_options(problem, capsys):
    path, _ = problem
    document = {**PROBLEM, "edges": [*PROBLEM["edges"], {"source": "a", "target": "b", "epsilon": 1, "class": "Ann"}]}
    Path(path).write_text(json.dumps(document), encoding="utf-8")
    assert main(["boundary", path]) == 3
    assert capsys.readouterr().err.strip() == (
        f"hetdp: {path}: edges[5] ('a', 'b'): contradictory duplicate edge, ε 1.0 here, 0.5 at edges[1];"
        " a pair of neighbours has one ε for each class. Hint: edges about different people have different classes;"
        " --duplicates min keeps the smallest ε of a class"
    )
    assert output(capsys, "boundary", path, "--duplicates", "min")["counts"]["edges"] == 5

"""Every spelling of a dataset that a verb prints can be typed as an argument."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

import hetdp as library
from hetdp.cli.main import main
from tests.problem.test_spelling import ODD_LABELS

SAFE = [label for label in ODD_LABELS if not (isinstance(label, str) and "\x00" in label)]  # no argument has a NUL
MAKE_COMMANDS = {
    "votes": ("make", "votes", "--people", "3", "--majority", "--epsilon", "0.3"),
    "tallies": ("make", "tallies", "--group", "a=2", "--group", "b=1", "--majority", "--epsilon", "0.1"),
    "one group": ("make", "tallies", "--group", "a=3", "--majority", "--epsilon", "0.1"),
    "counts": ("make", "tallies", "--group", "a=2", "--values", "yes,no,blank", "--majority", "--epsilon", "0.7"),
}


@pytest.fixture(params=["odd", *MAKE_COMMANDS])
def problem(request, hetdp):
    """A problem in a file: of labels that are hard to spell, or of people."""
    if request.param != "odd":
        assert hetdp(*MAKE_COMMANDS[request.param], "-o", "problem.json").code == 0
    else:
        graph = library.DatasetGraph.from_edges(SAFE[:-1], SAFE[1:], 0.3, datasets=SAFE)
        library.save(library.Problem(graph, [1 + at % 2 for at in range(len(SAFE))]), "problem.json")
    return library.read_problem("problem.json").problem


def labels_found_by(hetdp, *names):
    """The labels that are found by some names."""
    result = hetdp("explain", "problem.json", "--mechanism", "m.json", "--json", "-q", "--", *names)
    assert result.code == 0, result.err
    return [one["dataset"] for one in result.document["explanations"]]


def plain(labels):
    return json.loads(json.dumps(list(labels)))


def test_printed_labels_are_found(hetdp, problem):
    every = plain(problem.labels.names)
    assert hetdp("design", "problem.json", "-q", "-o", "m.json").code == 0
    rows = hetdp("design", "problem.json", "-q").out.splitlines()
    width = rows[0].index("query")
    names = [row[:width].rstrip() for row in rows[1:]]
    assert labels_found_by(hetdp, *names) == every
    assert labels_found_by(hetdp, *hetdp("boundary", "problem.json", "-q").out.splitlines()) == plain(problem.boundary)
    report = hetdp("explain", "problem.json", "-q", "--mechanism", "m.json", "--", *names).out.strip().split("\n\n")
    ends = [re.findall(r"p\((.*?)\) (?:= |at most |at least )", block)[-1 if "\n" in block else 0] for block in report]
    assert labels_found_by(hetdp, *ends) == every
    others = [found for block in report for found in re.findall(r" from p\((.*?)\) = ", block)]
    assert others
    labels_found_by(hetdp, *others)
    worst = hetdp("design", "problem.json", "-o", "other.json").err
    labels_found_by(hetdp, re.search(r"worst accuracy .*?, at (.*)", worst)[1])


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_labels_in_files_are_found(hetdp, problem, form):
    hetdp("design", "problem.json", "-q", "-o", "m.json")
    assert hetdp("design", "problem.json", "-q", "-o", f"other.{form}").code == 0
    assert hetdp("verify", "problem.json", f"other.{form}", "-q").code == 0
    assert hetdp("accuracy", "problem.json", f"other.{form}", "--no-baselines", "-q").code == 0
    if form == "csv":
        with Path("other.csv").open(encoding="utf-8", newline="") as file:
            cells = [row["dataset"] for row in csv.DictReader(file)]
        assert labels_found_by(hetdp, *cells) == plain(problem.labels.names)


def test_pins_and_releases_take_the_spelling(hetdp, problem):
    names = hetdp("boundary", "problem.json", "-q").out.splitlines()
    with Path("pins.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("dataset", "p"), *((name, 0.5) for name in names)])
    assert hetdp("extend", "problem.json", "--pins", "pins.csv", "-q", "-o", "m.json").code == 0
    refused = hetdp("check", "problem.json", "--pins", "pins.csv", "-q")
    assert refused.code == 0
    assert hetdp("ledger", "init", "L", "--source", "s", "--cap", "100").code == 0
    for number, name in enumerate(names[:5]):
        line = ("release", "problem.json", "m.json", f"--dataset={name}", "--ledger", "L", "--source", "s")
        assert hetdp(*line, "--version", str(number), "-q").code == 0


@pytest.mark.parametrize("verb", ["boundary", "design", "explain", "verify", "accuracy"])
def test_json_holds_no_character_that_could_steer_a_terminal(verb, tmp_path, capsys):
    label, path = "a\x9b2J\u202e\x7f", tmp_path / "problem.json"
    problem = library.Problem(library.DatasetGraph.from_edges([label], ["b"], 1.0), [1, 2])
    library.save(problem, path)
    library.save(library.design(problem), tmp_path / "m.json")
    more = {"explain": [label, "--mechanism", str(tmp_path / "m.json")], "verify": [str(tmp_path / "m.json")]}
    assert main([verb, str(path), "--json", *more.get(verb, [])]) == 0
    printed = capsys.readouterr().out
    for text in (printed, path.read_text("utf-8")):
        assert all(line.isprintable() for line in text.split("\n"))
        assert "a\\u009b2J\\u202e\\u007f" in text
    assert library.read_problem(path).problem.identity == problem.identity

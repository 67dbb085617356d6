"""hetdp accuracy: tables on standard output, files, JSON, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import hetdp as library
from hetdp.cli import (
    accuracy,
)
from hetdp.cli import accuracy as verb
from hetdp.errors import UsageError
from hetdp.mechanism.design import OBJECTIVES

HOSTILE = r'[*]{x}\begin{a}$1&2#3_4^5~6%7<8>9|"ε'


def test_the_table_is_what_python_prints(hetdp):
    result = hetdp("accuracy", "poll.json")
    problem = library.read_problem("poll.json").problem
    assert (result.code, result.out) == (0, f"{library.accuracy(problem)}\n")
    assert "geometric noise" in result.out
    assert "are ignored" in result.err


def test_the_shell_prints_labels_that_its_verbs_read(hetdp):
    grid = library.Problem(library.spaces.grid((2, 3), 1.0), lambda label: sum(label) > 1)
    library.save(grid, "grid.json")
    where = library.accuracy(grid)["fair"].worst_at
    printed = hetdp("accuracy", "grid.json", "--objective", "fair", "-q").out
    assert json.dumps(list(where)) in printed
    assert repr(where) not in printed
    assert hetdp("design", "grid.json", "-o", "grid.csv", "-q").code == 0
    assert hetdp("explain", "grid.json", json.dumps(list(where)), "--mechanism", "grid.csv").code == 0


def test_without_baselines_and_with_one_objective_there_is_one_row(hetdp):
    result = hetdp("accuracy", "poll.json", "--no-baselines", "--objective", "balanced", "-q")
    assert (result.err, [line.split()[0] for line in result.out.splitlines()]) == (
        "",
        ["accuracy", "datasets", "balanced"],
    )


def test_objectives_are_those_of_the_library():
    assert verb.OBJECTIVE.type.choices == OBJECTIVES


def test_mechanisms_are_read_and_named_by_their_files(hetdp):
    hetdp("extend", "poll.json", "-o", "given.csv")
    hetdp("design", "poll.json", "--free", "-o", "fair.parquet")
    result = hetdp("accuracy", "poll.json", "given.csv", "fair.parquet", "--json")
    methods = {method["name"]: method for method in result.document["methods"]}
    assert list(methods)[:3] == ["given.csv", "fair.parquet", "one ε"]
    assert methods["given.csv"]["worst_error"] == pytest.approx(0.4)
    assert [method["baseline"] for method in methods.values()] == [False, False, *[True] * 6]
    assert all(method["certificate"]["private"] for method in methods.values())
    assert "are ignored" not in result.err


def test_the_accuracy_of_a_mechanism_that_is_not_private_is_refused(hetdp):
    Path("loose.json").write_text(Path("poll.json").read_text().replace('"epsilon": 1.0', '"epsilon": 9.0'))
    assert hetdp("design", "loose.json", "--free", "-o", "loose.csv").code == 0
    result = hetdp("accuracy", "poll.json", "loose.csv")
    assert (result.code, result.out) == (3, "")
    assert "loose.csv was made for another problem" in result.err
    assert "mechanism 'loose.csv': not private:" in result.err


def test_csv_reads_back_to_the_same_numbers(hetdp):
    out = hetdp("accuracy", "poll.json", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(out)))
    result = library.accuracy(library.read_problem("poll.json").problem)
    for name, column in result.columns().items():
        read = [row[name] for row in rows]
        if name.endswith(("error", "accuracy", "datasets")):
            assert [float(text) for text in read] == column
        elif name == "baseline":
            assert [text == "yes" for text in read] == column
        else:
            assert read == ["" if value is None else str(value) for value in column]
    assert {row["steps"] for row in rows} == {"all", "1", "2", "3"}


@pytest.mark.parametrize(("name", "begins"), [("a.csv", "method,"), ("a.tex", r"\begin{tab"), ("a.TXT", "accuracy ")])
def test_a_file_is_written_in_the_format_of_its_name(hetdp, name, begins):
    result = hetdp("accuracy", "poll.json", "-o", name)
    assert (result.code, result.out) == (0, "")
    assert f"wrote {name}" in result.err
    text = Path(name).read_text(encoding="utf-8")
    assert text.startswith(begins)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_json_is_the_same_on_standard_output_and_in_a_file(hetdp):
    document = hetdp("accuracy", "poll.json", "--json").document
    assert hetdp("accuracy", "poll.json", "-o", "a.json").code == 0
    assert json.loads(Path("a.json").read_text(encoding="utf-8")) == document
    assert hetdp("accuracy", "poll.json", "-o", "-").document == document
    assert hetdp("accuracy", "poll.json", "-o", "a.csv", "--json").document == document | {"output": "a.csv"}
    assert "one ε ties fair: worst, 1 step" in [each["message"] for each in document["comparisons"]]


def test_the_weights_of_the_problem_are_the_default_prior(hetdp):
    problem = json.loads(Path("poll.json").read_text())
    for at, row in enumerate(problem["datasets"]):
        row["weight"] = at
    Path("weighted.json").write_text(json.dumps(problem))
    assert "mean (weight)" in hetdp("accuracy", "weighted.json").out
    assert "mean (uniform)" in hetdp("accuracy", "weighted.json", "--prior", "uniform").out
    result = hetdp("accuracy", "poll.json", "--prior", "weight")
    assert (result.code, result.out) == (2, "")
    assert "the problem has no weights; the prior 'weight' takes the problem's own" in result.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            "--format csv --json",
            "--format together with --json; the file name, or --json, already determines the format",
        ),
        ("--format csv -o a.csv", "--format together with -o"),
        ("-o a.parquet", "no format is known for 'a.parquet'; the name after -o ends in .csv, .tex, .txt, .json"),
        ("-o - --json", "-o - together with --json"),
        ("poll.json -o poll.json", "an input is never overwritten"),
        ("fair.csv --objective fair", "an objective together with a mechanism"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_written(hetdp, options, words):
    hetdp("design", "poll.json", "--free", "-o", "fair.csv")
    before = sorted(Path().iterdir())
    result = hetdp("accuracy", "poll.json", *options.split())
    assert result.code == 2
    assert words in result.err
    assert sorted(Path().iterdir()) == before


def test_latex_output_escapes_any_label_and_name():
    graph = library.DatasetGraph.from_edges([HOSTILE], ["b\n\nc"], 1.0)
    problem = library.Problem(graph, [1, 2])
    text = library.accuracy(problem, {HOSTILE: [0.6, 0.4], "new\nline": [0.5, 0.5]}).latex()
    body = text.split(r"\hline", 1)[1].rsplit(r"\end{tabular}", 1)[0]
    width = text.splitlines()[2].count("&")
    for line in body.splitlines():
        if line and not line.startswith((r"\hline", r"\multicolumn")):
            assert len(re.findall(r"(?<!\\)&", line)) == width
            assert not line.startswith(("[", "*"))
    escaped = r"{[}{*}{]}\{x\}\textbackslash{}begin\{a\}\$1\&2\#3\_4\textasciicircum{}5\textasciitilde{}6\%7"
    escaped += r"\textless{}8\textgreater{}9\textbar{}{\char34}$\varepsilon$"
    assert text.count(escaped) > 3
    assert r"new\textbackslash{}nline & 0.5 & " in text
    assert text.count("{") == text.count("}")
    assert all(line for line in text.splitlines())


def test_csv_output_accepts_any_label_and_name():
    graph = library.DatasetGraph.from_edges([(1, "x,y")], ['"a"\nb'], 1.0)
    text = library.accuracy(library.Problem(graph, [1, 2]), {'n,"m"': [0.6, 0.4]}).csv()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert (rows[0]["method"], rows[0]["worst_at"]) == ('n,"m"', '[1, "x,y"]')
    assert all(None not in row for row in rows)


def test_the_format_of_accuracy_is_given_once():
    accuracy._refuse_both(None, "a.csv", True)
    accuracy._refuse_both("csv", None, False)
    for given, words in ((("csv", "a.csv", False), "together with -o"), (("csv", None, True), "together with --json")):
        with pytest.raises(UsageError, match=words):
            accuracy._refuse_both(*given)
    accuracy._refuse_odds_in_columns(True, None, None)
    accuracy._refuse_odds_in_columns(True, "table", None)
    accuracy._refuse_odds_in_columns(False, "csv", None)
    accuracy._refuse_odds_in_columns(True, None, "a.TXT")
    for form, name in (("csv", None), ("latex", None), (None, "a.CSV"), (None, "a.tex")):
        with pytest.raises(UsageError, match="odds are sentences"):
            accuracy._refuse_odds_in_columns(True, form, name)


def test_odds_name_their_class_where_there_are_several():
    none, named = SimpleNamespace(edge_class=None), SimpleNamespace(edge_class="a")
    assert [accuracy._of_class(none, several) for several in (False, True)] == ["", "edges without a class: "]
    assert accuracy._of_class(named, False) == "'a': "

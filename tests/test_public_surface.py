"""The public surface that others build on: every line of it runs, and `mypy --strict` knows every name in it."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import hetdp

FOLDER = Path(__file__).parent.parent
SURFACE = """
import networkx
import pandas
import scipy.sparse

import hetdp

source, target, epsilon = ["a", "b"], ["b", "c"], [2.0, 1.0]
query, pins = {"a": 1, "b": 1, "c": 2}, {"b": 0.6, "c": 0.4}
G = networkx.Graph()
G.add_edge("a", "b", epsilon=2.0)
A = scipy.sparse.coo_array(([2.0, 2.0], ([0, 1], [1, 0])), shape=(2, 2))
frame = pandas.DataFrame({"source": source, "target": target, "epsilon": epsilon})

g = hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=None, duplicates="error")
g = hetdp.DatasetGraph.from_edges([("a", "b", 2.0), ("b", "c", 1.0)])
hetdp.from_networkx(G, epsilon="epsilon")
hetdp.from_scipy(A)
hetdp.from_table(frame, source="source", target="target", epsilon="epsilon")
problem = hetdp.Problem(g, query, notion="pure")
problem = hetdp.Problem(g, [1, 1, 2])
problem = hetdp.Problem(g, lambda label: 2 if label == "c" else 1)
hetdp.save(problem, "problem.json")
problem, partial = hetdp.read_problem("problem.json")
m = hetdp.extend(problem, pins)
hetdp.save(m, "mechanism.csv")
m = hetdp.read_mechanism("mechanism.csv", problem=problem)
partial = hetdp.read_pins("pins.csv")
verdict = hetdp.check(problem, partial)
print(verdict.compatible, verdict.witness, verdict.repair)
m = hetdp.extend(problem, partial, engine="auto")
try:
    hetdp.extend(problem, {"b": 1.0, "c": 0.0})
except hetdp.NoExtensionError as refusal:
    print(refusal.witness, refusal.repair)
m = hetdp.design(problem, objective="fair", partial=None, prior=None, max_error=None)
m = hetdp.polish(problem, m)
p: float = m["a"]
print(m.items(), m.get("a"), m.get("nothing"), list(m), "a" in m, len(m), m == dict(m))
print(m.probabilities, m.coordinates, m.errors, m.explain("a"))
certificate: hetdp.Certificate = hetdp.verify(m)
certificate = hetdp.verify(problem, pins | {"a": 0.7}, pinned=["b", "c"])
accuracy: hetdp.Accuracy = hetdp.accuracy(m)
odds: hetdp.Odds = hetdp.odds(m)
print(odds.by_class)
attributes = hetdp.design(problem, "average").node_attributes()
attributes_of_balanced: dict[object, dict[str, object]] = hetdp.design(problem, "balanced").node_attributes()
solved: hetdp.SolvedEpsilon = hetdp.solve_epsilon(problem, 0.9)
hetdp.induced_bounds(g, "b", 0.7)
hetdp.path_mechanism(0.9, [1.0, 0.5])

question, rules = hetdp.questions.majority(), hetdp.privacy.rules(1.0)
votes = hetdp.spaces.votes(["Ann", "Ben", "Cem"], question, rules)
hetdp.spaces.tallies({"pupil": 2, "staff": 1}, question, rules)
hetdp.spaces.population(question, 1.0, size=3).design()
frame = pandas.DataFrame({"id": ["a", "b", "c"], "vote": ["yes", "yes", "no"], "eps": [0.5, 1.0, 2.0]})
payment = hetdp.Payment(ledger="school.ledger", version="1")
ledger = hetdp.Ledger.create("school.ledger", source="school", cap=10)
hetdp.ask(frame, "vote = 'yes'", at_least="1/2", person="id", epsilon="eps", dry_run=True, workers=None)
hetdp.ask(frame, "vote = 'yes'", at_least="1/2", person="id", epsilon="eps", payment=payment)
workers = hetdp.Workers(cluster=None, number=2, memory=None, work=None)
hetdp.Ledger.create("class.ledger", source="class", cap=10)
released: hetdp.Release = hetdp.release(m, "a", ledger="class.ledger", record="record.json")
hetdp.read_record("record.json")
simulated: hetdp.Simulation = hetdp.simulate(m, "a", seed=1)
audited: hetdp.Audit = hetdp.audit(problem, m, draws=1000, confidence=0.999)
hetdp.plot(m)
"""
REFUSED = """
import hetdp

graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
problem = hetdp.Problem(graph, [1, 2])
m = hetdp.design(problem)
"""
MODULES = {"hetdp": hetdp, **{f"hetdp.{name}": getattr(hetdp, name) for name in ("privacy", "questions", "spaces")}}
NAMES = [f"{name}.{one}" for name, module in MODULES.items() for one in module.__all__ if one != "__version__"]
NAMES += re.findall(r"(hetdp\.[A-Za-z]+\.[a-z_]+)\(", SURFACE)  # methods that make objects
MEMBERS = ("items", "get", "probabilities", "coordinates", "errors", "explain")
CHOICES = """
hetdp.Problem(graph, [1, 2], notion="pur")
hetdp.design(problem, "fairr")
hetdp.design(problem, engine="cp")
hetdp.check(problem, {"a": 0.6}, engine="cp")
hetdp.extend(problem, {"a": 0.6}, engine="cp")
hetdp.polish(problem, m, engine="cp")
hetdp.induced_bounds(graph, "a", 0.6, engine="cp")
hetdp.accuracy(problem, objectives="fairr")
hetdp.accuracy(problem, objectives=["fair", "fairr"])
hetdp.solve_epsilon(problem, 0.9, objective="fairr")
hetdp.solve_epsilon(problem, 0.9, engine="cp")
hetdp.ask("people.csv", "vote = 'yes'", design="fairr")
hetdp.spaces.population(hetdp.questions.majority(), 1.0, size=3).design("weighted")
hetdp.plot(m, "netwrok")
hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0, duplicates="mn")
hetdp.from_networkx(None, duplicates="mn")
hetdp.from_table(None, duplicates="mn")
hetdp.read_problem("problem.json", duplicates="mn")
hetdp.read_partitioned("folder", duplicates="mn")
hetdp.save(problem, "folder", tables="parqet")
""".strip().splitlines()


def copy_cache(copy: Path) -> None:
    """Copies what mypy has found in the repository, so that other runs of it neither change this one nor are changed.

    The files of a cache are databases. SQLite copies each as it is between two changes.
    """
    for original in (FOLDER / ".mypy_cache").glob("*/*.db"):
        target = copy / original.parent.name / original.name
        target.parent.mkdir(parents=True, exist_ok=True)
        source = sqlite3.connect(f"{original.as_uri()}?mode=ro", uri=True)
        with closing(source), closing(sqlite3.connect(target)) as database:
            source.backup(database)


def check_types(folder: Path, **snippets: str) -> dict[str, list[tuple[int, str]]]:
    """The line and the code of every error that mypy finds in each snippet, all checked in one run."""
    copy_cache(folder / "cache")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file", "pyproject.toml"]
    command += ["--cache-dir", str(folder / "cache")]
    for name, code in snippets.items():
        (folder / f"{name}.py").write_text(code)
        command.append(str(folder / f"{name}.py"))
    done = subprocess.run(command, capture_output=True, check=False, text=True, cwd=FOLDER)
    assert done.stderr == ""
    found: dict[str, list[tuple[int, str]]] = {name: [] for name in snippets}
    for line in done.stdout.splitlines():
        if error := re.fullmatch(r"(.+)\.py:([0-9]+): error: .*\[([a-z-]+)\]", line):
            found[Path(error[1]).name].append((int(error[2]), error[3]))
        else:
            assert ": note: " in line, done.stdout
    return found


def test_every_line_of_the_public_surface_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pins.csv").write_text("dataset,p\nb,0.6\nc,0.4\n")
    exec(compile(SURFACE, "surface", "exec"), {})
    assert "True" in capsys.readouterr().out


def test_a_type_checker_accepts_the_public_surface_and_no_misspelt_name_or_choice(tmp_path):
    names = [f"{name}x" for name in NAMES] + [f"m.{name}x" for name in MEMBERS]
    names.append('hetdp.design(problem, "balanced").was_given')  # a name of one kind of mechanism, not of all
    found = check_types(
        tmp_path,
        surface=SURFACE,
        names=REFUSED + "\n".join(names) + "\n",
        choices=REFUSED + "\n".join(CHOICES) + "\n",
    )
    assert len(NAMES) > 80
    assert found["surface"] == []
    first = REFUSED.count("\n") + 1
    assert found["names"] == [(first + at, "attr-defined") for at in range(len(names))]
    assert [line for line, _ in found["choices"]] == [first + at for at in range(len(CHOICES))]
    assert {code for _, code in found["choices"]} == {"arg-type", "call-overload", "list-item"}


def test_a_mechanism_is_a_mapping_from_labels_to_probabilities():
    m = hetdp.design(hetdp.Problem(hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0), [1, 1, 2]))
    assert dict(m.items()) == dict(zip(m, m.values(), strict=True)) == m
    assert m.get("nothing", 0.5) == 0.5
    with pytest.raises(KeyError):
        m["nothing"]

"""The public surface that others build on: every line of it runs, and `mypy --strict` knows every name in it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import hetdp

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
hetdp.accuracy(problem, objective="fairr")
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


def check_types(snippet: Path) -> list[tuple[int, str]]:
    """The line and the code of every error that mypy finds."""
    folder = Path(__file__).parent.parent
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file", "pyproject.toml"]
    done = subprocess.run([*command, str(snippet)], capture_output=True, check=False, text=True, cwd=folder)
    assert done.stderr == ""
    found = re.findall(r"^[^:\n]+:([0-9]+): error: .*\[([a-z-]+)\]$", done.stdout, re.MULTILINE)
    return [(int(line), code) for line, code in found]


def test_every_line_of_the_public_surface_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pins.csv").write_text("dataset,p\nb,0.6\nc,0.4\n")
    exec(compile(SURFACE, "surface", "exec"), {})
    assert "True" in capsys.readouterr().out


def test_a_type_checker_accepts_the_public_surface_and_no_misspelt_name(tmp_path):
    snippet, misspelt = tmp_path / "surface.py", tmp_path / "misspelt.py"
    snippet.write_text(SURFACE)
    wrong = [f"{name}x" for name in NAMES] + [f"m.{name}x" for name in MEMBERS]
    misspelt.write_text(REFUSED + "\n".join(wrong) + "\n")
    assert len(NAMES) > 80
    assert check_types(snippet) == []
    first = REFUSED.count("\n") + 1
    assert check_types(misspelt) == [(first + at, "attr-defined") for at in range(len(wrong))]


def test_a_type_checker_accepts_no_misspelt_choice(tmp_path):
    misspelt = tmp_path / "misspelt.py"
    misspelt.write_text(REFUSED + "\n".join(CHOICES) + "\n")
    first = REFUSED.count("\n") + 1
    found = check_types(misspelt)
    assert [line for line, _ in found] == [first + at for at in range(len(CHOICES))]
    assert {code for _, code in found} == {"arg-type", "call-overload"}


def test_a_mechanism_is_a_mapping_from_labels_to_probabilities():
    m = hetdp.design(hetdp.Problem(hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0), [1, 1, 2]))
    assert dict(m.items()) == dict(zip(m, m.values(), strict=True)) == m
    assert m.get("nothing", 0.5) == 0.5
    with pytest.raises(KeyError):
        m["nothing"]

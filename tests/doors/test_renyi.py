"""Rényi privacy through every door: Python, files, command line, ledger, partitions, page."""

from __future__ import annotations

import json
from pathlib import Path

import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse

import hetdp
from hetdp.certificate.certificate import Certificate
from hetdp.cli.main import main
from hetdp.studio.session import Session, new_document
from tests.partitioned.inline import coordinates, read_inline
from tests.releases.ledger.conftest import address, database  # noqa: F401

EPSILON = [0.5, 1.0, 0.3, 2.0, 0.1]
ANSWERS = dict(zip("abcdef", [1, 1, 1, 2, 2, 2], strict=True))


def problem_of(alpha: float = 2.0) -> hetdp.Problem:
    graph = hetdp.DatasetGraph.from_edges("abcde", "bcdef", EPSILON, classes=list("xxyyy"))
    return hetdp.Problem(graph, ANSWERS, "renyi", alpha=alpha)


def certificate_of(mechanism: hetdp.Mechanism) -> Certificate:
    assert mechanism.certificate is not None
    return mechanism.certificate


def test_its_repr_names_the_order():
    assert repr(problem_of()) == "Problem(6 datasets, 3 with answer 1, notion 'renyi-2')"
    assert problem_of(2).identity == problem_of(2.0).identity != problem_of(2.5).identity
    assert problem_of().identity != hetdp.Problem(problem_of().graph, ANSWERS).identity


@pytest.mark.parametrize("name", ["problem.json", "folder"])
def test_a_problem_is_unchanged_by_saving_and_reading(tmp_path, name):
    problem = problem_of(1.0 + 2.0**-15)
    hetdp.save(problem, tmp_path / name)
    read, _ = hetdp.read_problem(tmp_path / name)
    assert read.notion == problem.notion
    assert read.identity == problem.identity
    text = (tmp_path / name if name.endswith(".json") else tmp_path / name / "problem.json").read_text("utf-8")
    document = json.loads(text)
    assert (document["notion"], document["alpha"]) == ("renyi", 1.0 + 2.0**-15)


FAULTS = {
    "no alpha": ({"notion": "renyi"}, "the notion 'renyi' without alpha"),
    "alpha of 1": ({"notion": "renyi", "alpha": 1}, "the notion 'renyi' with alpha=1"),
    "alpha as text": ({"notion": "renyi", "alpha": "2"}, "the notion 'renyi' with alpha='2'"),
    "alpha for another notion": ({"notion": "pure", "alpha": 2}, "the notion 'pure' with alpha=2"),
    "alpha without a notion": ({"alpha": 2}, "the notion 'pure' with alpha=2"),
    "the key in place of the name": ({"notion": "renyi-2"}, "unknown notion"),
}


@pytest.mark.parametrize(("words", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_file_with_a_wrong_order_is_refused(tmp_path, words, message):
    rows = zip("abcde", "bcdef", EPSILON, strict=True)
    edges = [{"source": source, "target": target, "epsilon": epsilon} for source, target, epsilon in rows]
    datasets = [{"dataset": name, "query": answer} for name, answer in ANSWERS.items()]
    path = tmp_path / "problem.json"
    path.write_text(json.dumps({"schema_version": 1, **words, "datasets": datasets, "edges": edges}), "utf-8")
    with pytest.raises(hetdp.InputError, match=message):
        hetdp.read_problem(path)


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_a_mechanism_is_unchanged_by_saving_and_reading(tmp_path, suffix):
    mechanism = hetdp.design(problem_of())
    hetdp.save(mechanism, tmp_path / f"mechanism.{suffix}")
    alone = hetdp.read_mechanism(tmp_path / f"mechanism.{suffix}")
    assert alone.problem.notion == mechanism.problem.notion
    assert np.array_equal(alone.coordinates, mechanism.coordinates)
    assert np.array_equal(
        hetdp.read_mechanism(tmp_path / f"mechanism.{suffix}", mechanism.problem).links, mechanism.links
    )


def test_graphs_of_other_libraries_give_the_same_problem():
    network = networkx.path_graph(4)
    networkx.set_edge_attributes(network, 0.7, "epsilon")
    matrix = scipy.sparse.csr_array(networkx.to_scipy_sparse_array(network, weight="epsilon"))
    table = pandas.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3], "epsilon": [0.7] * 3})
    graphs = (hetdp.from_networkx(network), hetdp.from_scipy(matrix), hetdp.from_table(table))
    problems = [hetdp.Problem(graph, [1, 1, 2, 2], "renyi", alpha=3) for graph in graphs]
    assert len({problem.identity for problem in problems}) == 1
    mechanisms = [hetdp.design(problem) for problem in problems]
    assert len({tuple(mechanism.coordinates.tolist()) for mechanism in mechanisms}) == 1
    assert all(certificate_of(mechanism).optimal for mechanism in mechanisms)


def test_tables_charge_plain_epsilon_which_a_source_of_another_currency_refuses(tmp_path):
    table = pandas.DataFrame({"id": ["a", "b", "c"], "vote": ["yes", "no", "yes"]})
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="data", cap=3, currency="renyi-2", unit="person")
    for dry_run in (True, False):
        with pytest.raises(hetdp.UsageError, match="a charge of epsilon; the source 'data' counts renyi-2"):
            hetdp.ask(
                table,
                "vote = 'yes'",
                at_least=1,
                epsilon=1,
                person="id",
                dry_run=dry_run,
                payment=hetdp.Payment(ledger=ledger),
            )


def test_a_ledger_adds_epsilon_of_one_order_and_refuses_others(tmp_path, address):  # noqa: F811
    mechanism = hetdp.design(problem_of())
    hetdp.Ledger.create(address, source="data", cap=3, currency="renyi-2")
    before = hetdp.release(mechanism, "a", ledger=address)
    again = hetdp.release(mechanism, "a", ledger=address)
    assert (again.answer, again.repeated) == (before.answer, True)  # the same question is paid once
    (status,) = hetdp.Ledger(address).status()
    assert (status.currency, status.unit) == ("renyi-2", "ε")
    assert {one.name: one.spent for one in status.classes} == {"x": "1", "y": "2"}
    for other in (problem_of(3.0), hetdp.Problem(problem_of().graph, ANSWERS)):
        with pytest.raises(hetdp.UsageError, match="the source 'data' counts renyi-2"):
            hetdp.release(hetdp.design(other), "a", ledger=address)
    another = hetdp.extend(problem_of(), {"c": 0.55, "d": 0.5})
    with pytest.raises(hetdp.BudgetError):
        hetdp.release(another, "a", ledger=address)
    with pytest.raises(hetdp.UsageError, match="it must be one of epsilon, epsilon-delta, gaussian, renyi-ALPHA"):
        hetdp.Ledger.create(tmp_path / "other.db", source="data", cap=3, currency="renyi-1")


def test_a_record_names_the_order(tmp_path):
    ledger = hetdp.Ledger.create(tmp_path / "ledger.db", source="data", cap=3, currency="renyi-2")
    hetdp.release(hetdp.design(problem_of()), "a", ledger=ledger, record=tmp_path / "record.json")
    record = hetdp.read_record(tmp_path / "record.json")
    assert record["privacy"]["notion"] == "renyi-2"
    assert record["privacy"]["flavour"].startswith("Rényi differential privacy of order α = 2, ")
    assert record["composition"]["rule"] == "For each account, the ε of order α = 2 add up."


def test_an_audit_contradicts_only_mechanisms_that_are_not_private():
    problem = problem_of()
    assert not hetdp.audit(problem, hetdp.design(problem), draws=3000).contradictions
    far = dict(zip("abcdef", [0.9, 0.9, 0.9, 0.1, 0.1, 0.1], strict=True))
    assert hetdp.audit(problem, far, draws=3000).contradictions


def test_accuracy_grows_with_epsilon_in_the_worst_case():
    solved = hetdp.solve_epsilon(problem_of(), 0.9)
    assert solved.reached >= 0.9
    assert solved.problem.notion.key == "renyi-2"
    with pytest.raises(hetdp.UsageError, match="under the notion renyi-2"):
        hetdp.solve_epsilon(problem_of(), 0.9, at="mean")


def test_partitions_change_nothing(tmp_path):
    problem = problem_of()
    hetdp.save(problem, tmp_path / "problem")
    whole = hetdp.design(problem, "balanced")
    partitioned, _ = read_inline(tmp_path / "problem", tmp_path / "work", partitions=2)
    mechanism = hetdp.design(partitioned, "balanced", engine="dask")
    assert partitioned.identity == problem.identity
    assert np.array_equal(coordinates(mechanism), whole.coordinates)
    certificate = hetdp.verify(partitioned, mechanism)
    assert certificate.private
    assert certificate.optimal


def test_the_page_moves_its_edges():
    session = Session(new_document("renyi", problem_of()))
    assert session.answer.mechanism is not None
    before = session.answer.mechanism["c"]
    session.set_parameter(2, "epsilon", 1.5)
    assert session.answer.mechanism["c"] > before
    assert session.document.problem.notion.key == "renyi-2"


VERBS = {
    "boundary": ["boundary", "p.json"],
    "check": ["check", "p.json"],
    "design": ["design", "p.json", "-o", "m.json"],
    "average": ["design", "p.json", "--objective", "average"],
    "balanced": ["design", "p.json", "--objective", "balanced"],
    "verify": ["verify", "p.json", "m.json"],
    "explain": ["explain", "p.json", "a"],
    "accuracy": ["accuracy", "p.json"],
    "audit": ["audit", "p.json", "m.json", "--draws", "500"],
    "plot": ["plot", "p.json", "m.json", "-o", "plot.svg"],
}


def test_every_verb_accepts_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    hetdp.save(problem_of(), "p.json", hetdp.PartialMechanism(p={"c": 0.55, "d": 0.45}))
    for verb, arguments in VERBS.items():
        assert main(arguments) == 0, (verb, capsys.readouterr().err)
    assert Path("plot.svg").exists()
    assert main(["ledger", "init", "l.db", "--source", "s", "--cap", "5", "--currency", "renyi-2"]) == 0
    assert main(["release", "p.json", "m.json", "--dataset", "a", "--ledger", "l.db"]) == 0
    assert main(["ledger", "status", "l.db"]) == 0
    assert "renyi-2" in capsys.readouterr().out

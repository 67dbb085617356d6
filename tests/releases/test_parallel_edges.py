"""Ann and Bob on one pair: both are charged, and the release that would exceed either cap is refused."""

from __future__ import annotations

import json
import math

import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.releases.ledger.ledger import Ledger

EDGES = (("Ann", 0.1), ("Bob", 0.5))


def document(edges=EDGES) -> dict:
    return {
        "schema_version": 1,
        "datasets": [{"dataset": "more", "query": 1}, {"dataset": "less", "query": 2}],
        "edges": [
            {"source": "more", "target": "less", "epsilon": epsilon, **({} if name is None else {"class": name})}
            for name, epsilon in edges
        ],
    }


def problem_of(path, edges=EDGES) -> hetdp.Problem:
    path.write_text(json.dumps(document(edges)), encoding="utf-8")
    return hetdp.read_problem(path).problem


def spent_by_class(ledger: Ledger) -> dict[str, float]:
    return {one.name: float(one.spent) for one in ledger.status("people")[0].classes}


def test_everybody_on_an_edge_is_charged_until_a_cap_is_reached(tmp_path):
    edges = (*EDGES, (None, 0.25))
    mechanism = hetdp.design(problem_of(tmp_path / "problem.json", edges))
    ledger = Ledger.create(tmp_path / "people.ledger", source="people", cap=1.0)
    hetdp.release(mechanism, "more", ledger=ledger, source="people", version="0")
    each = spent_by_class(ledger)
    loss = math.log(mechanism["more"] / mechanism["less"])
    for name, epsilon in edges:
        assert loss - 1e-9 <= each[name or "everybody"] <= epsilon
    assert len(each) == len(edges)
    most = int(1.0 / max(each.values()) + 1e-9)  # as often as the one who is charged most can bear
    for version in range(1, most):
        hetdp.release(mechanism, "more", ledger=ledger, source="people", version=str(version))
    assert spent_by_class(ledger) == pytest.approx({name: most * amount for name, amount in each.items()})
    with pytest.raises(hetdp.BudgetError):
        hetdp.release(mechanism, "more", ledger=ledger, source="people", version=str(most))
    assert max(spent_by_class(ledger).values()) <= 1.0


@pytest.mark.parametrize("duplicates", ["error", "min"])
def test_no_option_drops_a_payer(tmp_path, capsys, duplicates):
    problem_of(tmp_path / "problem.json")
    files = [str(tmp_path / name) for name in ("problem.json", "mechanism.json", "people.ledger")]
    arguments = ["--duplicates", duplicates]
    assert main(["design", files[0], "-o", files[1], *arguments]) == 0
    assert main(["ledger", "init", files[2], "--source", "people", "--cap", "1"]) == 0
    release = [
        "release",
        files[0],
        files[1],
        "--dataset",
        "more",
        "--ledger",
        files[2],
        "--source",
        "people",
        *arguments,
    ]
    assert main([*release, "--version", "1"]) == 0
    assert spent_by_class(Ledger(files[2])).keys() == {"Ann", "Bob"}
    capsys.readouterr()


def test_the_record_has_a_promise_for_each_of_them(tmp_path):
    problem = problem_of(tmp_path / "problem.json")
    ledger = Ledger.create(tmp_path / "people.ledger", source="people", cap=1.0)
    released = hetdp.release(hetdp.design(problem), "more", ledger=ledger, source="people", version="1")
    promises = released.record["privacy"]["promises"]
    assert {one["whom"] for one in promises} == {"Ann", "Bob"}
    assert all(one["odds"] for one in promises)
    assert released.record["domain"]["words"] == "2 possible datasets, 2 edges between neighbours"


def test_the_order_of_edges_does_not_change_the_release(tmp_path):
    ledger = Ledger.create(tmp_path / "people.ledger", source="people", cap=1.0)
    repeated = []
    for edges in (EDGES, EDGES[::-1], (("Ann", 0.5), ("Bob", 0.5)), (("Bob", 0.5), ("Ann", 0.5))):
        problem = problem_of(tmp_path / "problem.json", edges)
        released = hetdp.release(hetdp.design(problem), "more", ledger=ledger, source="people", version="1")
        repeated.append(released.repeated)
    assert repeated == [False, True, False, True]

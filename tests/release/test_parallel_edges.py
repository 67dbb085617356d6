"""Ann and Bob on one pair: both are charged, and the release that would exceed either cap is refused."""

from __future__ import annotations

import json

import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.release.ledger.ledger import Ledger

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


def spent(ledger: Ledger) -> dict[str, float]:
    return {one.name: float(one.spent) for one in ledger.status("people")[0].classes}


def test_everybody_on_an_edge_is_charged_until_a_cap_is_reached(tmp_path):
    problem = problem_of(tmp_path / "problem.json", (*EDGES, (None, 0.25)))
    mechanism = hetdp.design(problem)
    ledger = Ledger.create(tmp_path / "people.ledger", source="people", cap=1.0)
    charged = {name: float(amount) for name, amount in _charged(problem).items()}
    assert charged.keys() == {"Ann", "Bob", "everybody"}
    for version in range(100):
        try:
            hetdp.release(mechanism, "more", ledger=ledger, source="people", version=str(version))
        except hetdp.BudgetError:
            break
        assert spent(ledger) == pytest.approx({name: (version + 1) * each for name, each in charged.items()})
    most = max(charged.values())
    assert version == int(1.0 / most + 1e-9)  # as often as the one who is charged most can bear
    assert max(spent(ledger).values()) <= 1.0


def _charged(problem: hetdp.Problem) -> dict:
    from hetdp.release.charges import costs_of

    costs = costs_of(problem)
    return dict(zip(costs.names, costs.written["epsilon"].tolist(), strict=True))


@pytest.mark.parametrize("duplicates", ["error", "min"])
def test_no_option_drops_a_payer(tmp_path, capsys, duplicates):
    problem_of(tmp_path / "problem.json")
    files = [str(tmp_path / name) for name in ("problem.json", "mechanism.json", "people.ledger")]
    asked = ["--duplicates", duplicates]
    assert main(["design", files[0], "-o", files[1], *asked]) == 0
    assert main(["ledger", "init", files[2], "--source", "people", "--cap", "1"]) == 0
    release = ["release", files[0], files[1], "--dataset", "more", "--ledger", files[2], "--source", "people", *asked]
    assert main([*release, "--version", "1"]) == 0
    assert spent(Ledger(files[2])).keys() == {"Ann", "Bob"}
    capsys.readouterr()


def test_the_record_has_a_promise_for_each_of_them(tmp_path):
    problem = problem_of(tmp_path / "problem.json")
    ledger = Ledger.create(tmp_path / "people.ledger", source="people", cap=1.0)
    released = hetdp.release(hetdp.design(problem), "more", ledger=ledger, source="people", version="1")
    promises = released.record["privacy"]["promises"]
    assert {one["whom"] for one in promises} == {"Ann", "Bob"}
    assert all(one["odds"] for one in promises)
    assert released.record["domain"]["words"] == "2 possible datasets, 2 edges between neighbours"


def test_a_listing_in_another_order_is_the_same_release(tmp_path):
    ledger = Ledger.create(tmp_path / "people.ledger", source="people", cap=1.0)
    repeated = []
    for edges in (EDGES, EDGES[::-1], (("Ann", 0.5), ("Bob", 0.5)), (("Bob", 0.5), ("Ann", 0.5))):
        problem = problem_of(tmp_path / "problem.json", edges)
        released = hetdp.release(hetdp.design(problem), "more", ledger=ledger, source="people", version="1")
        repeated.append(released.repeated)
    assert repeated == [False, True, False, True]

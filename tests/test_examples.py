"""The examples run, and their numbers agree with a second, plainer computation."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import accumulate
from math import exp, inf, log
from pathlib import Path

import pytest

import hetdp
from examples import (
    four_fifths,
    language_assistance,
    school_outbreak,
    security_council,
    senate,
    survey,
    three_voters,
)

FOLDER = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(path for path in FOLDER.glob("*.py") if path.stem != "__init__")
ROUNDING = 1e-9


def largest_neighbour(probability: float, epsilon: float) -> float:
    """The largest p next to a dataset with this p."""
    return min(exp(epsilon) * probability, 1 - exp(-epsilon) * (1 - probability))


def is_private(mechanism: hetdp.Mechanism, edges: list[tuple]) -> bool:
    """Whether both answers differ by a factor of at most e^ε on every edge, with ordinary floats."""
    both = [(mechanism[u], mechanism[v], epsilon) for u, v, epsilon in edges]
    both += [(q, p, epsilon) for p, q, epsilon in both]
    return all(p <= largest_neighbour(q, epsilon) + ROUNDING for p, q, epsilon in both)


def largest_private_values(values: dict, edges: list[tuple], pinned: set) -> dict:
    """The largest private values with those of `pinned` given: bounds are lowered until nothing changes."""
    bounds = {dataset: value if dataset in pinned else 1.0 for dataset, value in values.items()}
    ways = edges + [(v, u, epsilon) for u, v, epsilon in edges]
    before: dict = {}
    while bounds != before:
        before = dict(bounds)
        for u, v, epsilon in ways:
            if v not in pinned:
                bounds[v] = min(bounds[v], largest_neighbour(bounds[u], epsilon))
    return bounds


def test_every_example_is_short_and_has_a_place_on_the_page():
    """`tests/documents/test_pages.py` runs the examples on that page."""
    page = (FOLDER.parent / "docs" / "examples.md").read_text(encoding="utf-8")
    assert len(SCRIPTS) == 7
    for script in SCRIPTS:
        assert len(script.read_text(encoding="utf-8").splitlines()) <= 60
        assert f"$ python -m examples.{script.stem}" in page


def edges_of_three_voters(epsilon: Callable[[int, bool], float]) -> list[tuple[str, str, float]]:
    """Written out by hand: who changes, whether that decides, and the rest."""
    pairs = ["111-211", "112-212", "121-221", "122-222", "111-121", "112-122", "211-221", "212-222"]
    pairs += ["111-112", "121-122", "211-212", "221-222"]
    deciding = {"112-212", "121-221", "112-122", "211-221", "121-122", "211-212"}
    return [(pair[:3], pair[4:], epsilon(at // 4, pair in deciding)) for at, pair in enumerate(pairs)]


def test_three_voters():
    mechanism = hetdp.design(three_voters.problem("only when it decides"))
    edges = edges_of_three_voters(lambda voter, decides: 0.2 if voter == 0 and decides else 1.0)
    assert is_private(mechanism, edges)
    closest = 1 / (1 + exp(-0.2))  # where the protected vote decides: as far apart as 0.2 allows, evenly
    assert mechanism["112"] == pytest.approx(closest, abs=ROUNDING)
    assert mechanism["211"] == pytest.approx(1 - closest / exp(1), abs=ROUNDING)  # next to 221, with ε = 1
    assert mechanism["111"] == pytest.approx(1 - (1 - closest) / exp(1), abs=ROUNDING)  # next to 112
    always = [(u, v, 0.2) for u, v, _ in edges]
    assert is_private(hetdp.design(three_voters.problem("always, for everyone")), always)
    assert not is_private(mechanism, always)


@pytest.mark.parametrize(("call", "margin"), list(zip(senate.ROLL_CALLS, (1, 10), strict=True)))
def test_senate(call: senate.RollCall, margin: int):
    assert call.margin == margin
    wrong = exp(-0.5 * (margin - 1)) / (1 + exp(0.5))  # each further step divides the error by e^ε
    assert senate.accuracy(call) == pytest.approx(1 - wrong, abs=ROUNDING)


def test_senate_prints_what_is_known(capsys: pytest.CaptureFixture[str]):
    senate.main()
    printed = capsys.readouterr().out
    assert "probability of 62.2%" in printed
    assert "probability of 99.5%" in printed


def test_security_council():
    problem = security_council.problem("only when a veto decides")
    mechanism = hetdp.design(problem)
    adopted = {(5, elected) for elected in range(4, 11)}
    assert {tally for tally in problem.graph.datasets if security_council.passes(tally)} == adopted
    edges = [((4, e), (5, e), 0.3 if e >= 4 else 1.0) for e in range(11)]
    edges += [((p, e), (p + 1, e), 1.0) for p in range(4) for e in range(11)]
    edges += [((p, e), (p, e + 1), 1.0) for p in range(6) for e in range(10)]
    assert len(edges) == problem.graph.edge_count == 55 + 60
    assert is_private(mechanism, edges)
    boundary = adopted | {(4, elected) for elected in range(4, 11)} | {(5, 3)}
    assert set(problem.boundary) == boundary
    assert 1 - max(mechanism.errors) == pytest.approx(1 / (1 + exp(-0.3)), abs=ROUNDING)
    rejections = {tally: 1 - mechanism[tally] for tally in problem.graph.datasets}
    assert rejections == pytest.approx(largest_private_values(rejections, edges, boundary), abs=ROUNDING)


def cheapest_paths(epsilon: dict[str, float], deciding: dict[str, float]) -> dict[tuple[int, int], float]:
    """The label of every tally (pupils and staff who are ill): the cheapest way to one where one person decides."""
    people = {"pupils": 23, "staff": 2}
    tallies = [(p, s) for p in range(24) for s in range(3)]
    steps = [((p, s), (p + 1, s), "pupils") for p in range(people["pupils"]) for s in range(3)]
    steps += [((p, s), (p, s + 1), "staff") for p in range(24) for s in range(people["staff"])]
    steps += [(v, u, group) for u, v, group in steps]
    labels = dict.fromkeys(tallies, inf)
    for _ in tallies:
        for u, v, group in steps:
            if (sum(u) >= 3) != (sum(v) >= 3):
                way = log((1 + exp(deciding[group])) / 2)
            else:
                way = labels[v] + epsilon[group]
            labels[u] = min(labels[u], way)
    return labels


@pytest.mark.parametrize("deciding", [school_outbreak.DECIDING, None], ids=["deciding", "one ε each"])
def test_school_outbreak(deciding: dict[str, float] | None):
    epsilon = school_outbreak.EPSILON
    mechanism = school_outbreak.design(epsilon, deciding)
    labels = cheapest_paths(epsilon, deciding or epsilon)
    for (pupils, staff), label in labels.items():
        codes = [0] * pupils + [1] * (23 - pupils) + [0] * staff + [1] * (2 - staff)  # 0 is ill
        sign = 1 if pupils + staff >= 3 else -1
        assert mechanism.coordinate(codes) == pytest.approx(sign * label, abs=ROUNDING)
    for margin in (1, 2, 3, 13):
        worst = min(label for (pupils, staff), label in labels.items() if pupils + staff in (3 - margin, 2 + margin))
        assert mechanism.accuracy(margin) == pytest.approx(1 - exp(-worst) / 2, abs=ROUNDING)


@pytest.mark.parametrize("department", ["B", "E", "F"])
def test_four_fifths(department: str):
    (admitted, turned_away), (women, not_women) = four_fifths.DEPARTMENTS[department]
    sizes = admitted + turned_away, women + not_women

    def holds(m: int, w: int) -> bool:
        return 5 * w * sizes[0] >= 4 * m * sizes[1]

    ways = []  # from one side of the rule to the other: who goes there first, and who crosses it
    for m in range(sizes[0] + 1):
        for w in range(sizes[1] + 1):
            for (to_m, to_w), epsilon in (((m + 1, w), 1.0), ((m, w + 1), 0.5)):
                if to_m <= sizes[0] and to_w <= sizes[1] and holds(m, w) != holds(to_m, to_w):
                    near = (m, w) if holds(m, w) else (to_m, to_w)  # the rule holds in every department
                    steps = abs(near[0] - admitted) + 0.5 * abs(near[1] - women)
                    ways.append(steps + log((1 + exp(epsilon)) / 2))
    assert holds(admitted, women)
    assert four_fifths.error(*four_fifths.DEPARTMENTS[department]) == pytest.approx(exp(-min(ways)) / 2, abs=ROUNDING)


def test_the_table_of_four_fifths_has_the_same_people():
    rows = list(csv.DictReader(four_fifths.rows()))
    found = [
        sum((row["department"], row["sex"], row["outcome"]) == ("C", sex, outcome) for row in rows)
        for sex in ("men", "women")
        for outcome in ("admitted", "rejected")
    ]
    assert (len(rows), len({row["id"] for row in rows}), found) == (4526, 4526, [120, 205, 202, 391])
    assert [f"{one[0] / sum(one):.3f}" for one in four_fifths.POOLED] == ["0.445", "0.304"]


def test_language_assistance():
    citizens = 240
    little = {  # how many of those with little English have little schooling
        (low, both): low > 10 and 10_000 * both > 131 * low for low in range(citizens + 1) for both in range(low + 1)
    }
    moves = [((1, 0), 0.5), ((1, 1), 0.5), ((0, 1), 0.2)]
    moves += [((-low, -both), epsilon) for (low, both), epsilon in moves]
    labels, queue = dict.fromkeys(little, inf), []
    for low, both in little:
        steps = [((low + more, both + too), epsilon) for (more, too), epsilon in moves]
        across = [epsilon for to, epsilon in steps if to in little and little[to] != little[low, both]]
        if across:
            queue.append((log((1 + exp(min(across))) / 2), (low, both)))
    heapify(queue)
    while queue:
        label, (low, both) = heappop(queue)
        if label < labels[low, both]:
            labels[low, both] = label
            for (more, too), epsilon in moves:
                to = low + more, both + too
                if to in little and little[to] == little[low, both] and label + epsilon < labels[to]:
                    heappush(queue, (label + epsilon, to))
    problem = language_assistance.problem()
    mechanism = hetdp.design(problem, "balanced")
    assert len(mechanism) == len(labels)
    for low, both in list(labels)[::37] + language_assistance.COUNTIES:
        at = problem.graph.index(((citizens - low, low - both, both),))
        assert (problem.answers[at] == 1) == little[low, both]
        assert mechanism.errors[at] == pytest.approx(exp(-labels[low, both]) / 2, abs=ROUNDING)


def test_a_survey_can_be_kept_as_parquet(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    tables = [tmp_path / f"survey.{form}" for form in ("csv", "parquet")]
    output = []
    for table in tables:
        assert survey.main(["--people", "300", "--table", str(table), "--json"]) == 0
        output.append(json.loads(capsys.readouterr().out))
    assert output[0]["promises"] == output[1]["promises"]
    assert output[0]["simulated"] == output[1]["simulated"]
    assert tables[1].read_bytes().startswith(b"PAR1")


def test_survey(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    table = tmp_path / "survey.csv"
    assert survey.main(["--people", "300", "--table", str(table), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 300
    epsilons = sorted({"strict": 0.05, "usual": 0.2, "open": 1.0}[row["level"]] for row in rows)
    before = [0.0, *accumulate(epsilons)]
    (promise,) = document["promises"]
    assert len(promise["accuracy"]) > 3
    for row in promise["accuracy"]:  # the cheapest people go first; the last of them decides
        way = before[row["margin"] - 1], epsilons[row["margin"] - 1]
        assert row["accuracy"] == pytest.approx(1 - exp(-way[0]) / (1 + exp(way[1])), abs=ROUNDING)


def test_survey_overwrites_nothing(tmp_path: Path):
    table = tmp_path / "mine.csv"
    table.write_text("mine", encoding="utf-8")
    with pytest.raises(SystemExit):
        survey.main(["--table", str(table)])
    assert table.read_text(encoding="utf-8") == "mine"

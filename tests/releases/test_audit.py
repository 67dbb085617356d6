"""audit: sound mechanisms pass, broken values and broken coins are caught, under every notion."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.releases.audit import AuditedEdge, arcs_between, audit_with, bounds_of, worst_edges
from hetdp.releases.draw import Coin
from hetdp.theory.catalogue import NOTIONS

ENDS = [0, 1, 2, 3], [1, 2, 3, 4]
PARAMETERS: dict[str, dict[str, Any]] = {
    "pure": {"epsilon": [1, 0.5, 1, 1]},
    "directed": {"epsilon": [1, 0.5, 1, 2], "epsilon_back": [0.5, 0.5, math.inf, 1]},
    "approximate": {"epsilon": [1, 0.5, 1, 1], "delta": 0.01},
    "gaussian": {"mu": [1, 0.5, 1, 1]},
    "bounded-range": {"epsilon": [1, 0.5, 1, 1]},
}
DRAWS, FEW = 20_000, 10_000


def problem_of(notion: Any):
    graph = hetdp.DatasetGraph.from_edges(*ENDS, **PARAMETERS[notion])
    return hetdp.Problem(graph, [2, 2, 1, 1, 1], notion=notion)


@pytest.fixture(autouse=True)
def _fixed_bits(monkeypatch):
    """Fixes the random bits, since the result of an audit depends on them; other tests check the real bits."""
    monkeypatch.setattr("os.urandom", random.Random(6).randbytes)


def coin(coordinate: str, z: float):
    return Coin(coordinate, z).toss


def test_every_notion_can_be_audited():
    assert set(NOTIONS) == set(PARAMETERS)


@pytest.mark.parametrize("notion", PARAMETERS)
def test_a_sound_mechanism_is_not_contradicted_though_it_uses_all_that_is_promised(notion):
    problem = problem_of(notion)
    found = hetdp.audit(problem, hetdp.design(problem), draws=FEW)
    assert found.contradictions == ()
    assert found.worst.at_least > 0.6 * found.worst.promised
    assert str(found).startswith("no contradiction found, which proves nothing (10,000 draws at each of 5 datasets")


@pytest.mark.parametrize("notion", PARAMETERS)
def test_broken_values_are_caught(notion):
    problem = problem_of(notion)
    sound = hetdp.design(problem)
    z = sound.coordinates.copy()
    z[1] -= 0.4
    found = hetdp.audit(problem, replace(sound, coordinates=z), draws=DRAWS)
    assert found.contradictions
    assert {found.worst.source, found.worst.target} == {1, 2}
    assert found.worst.at_least > found.worst.promised
    assert str(found).startswith("CONTRADICTED: the loss exceeds the promise in ")


def float_coin(coordinate: str, z: float):
    """A common mistake: p rounded to a few digits and compared with a random float."""
    p = round(rounded_probability(coordinate, z), 1)
    generator = random.Random(5)
    return lambda: generator.random() < p


def rounded_probability(coordinate: str, z: float) -> float:
    (known,) = {n.coordinate for n in NOTIONS.values() if n.coordinate.name == coordinate}
    return float(known.probability(z))


def stuck_coin(coordinate: str, z: float):
    """A coin whose bits are drawn only once."""
    answer = Coin(coordinate, z).toss(lambda count: 1 << count - 2)
    return lambda: answer


def doubled_coin(coordinate: str, z: float):
    """A coin with the wrong calibration."""
    return Coin(coordinate, 2.0 * z).toss


def other_coin(_: str, z: float):
    """The right z, read as another coordinate."""
    return Coin("probit", z).toss


@pytest.mark.parametrize("broken", [float_coin, stuck_coin, doubled_coin, other_coin])
def test_broken_coins_are_caught(broken):
    problem = problem_of("pure")
    mechanism = hetdp.design(problem)
    assert audit_with(problem, mechanism, FEW, 0.999999, 10, broken).contradictions
    assert not audit_with(problem, mechanism, FEW, 0.999999, 10, coin).contradictions


def test_certain_answers_next_to_uncertain_ones_are_caught():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0), {"a": 1, "b": 2})
    found = hetdp.audit(problem, {"a": 1.0, "b": 0.9}, draws=1000)
    assert found.worst == found.contradictions[0]
    assert (found.worst.source, found.worst.answer, found.worst.observed) == ("b", 2, math.inf)


def test_an_edge_without_a_promise_is_never_contradicted():
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0, epsilon_back=math.inf)
    problem = hetdp.Problem(graph, {"a": 1, "b": 2})
    mechanism = hetdp.PartialMechanism(p={"a": 0.2, "b": 0.95})
    found = hetdp.audit(problem, mechanism, draws=2000)
    assert [(edge.source, edge.target) for edge in found.edges] == [("a", "b")]
    assert found.edges[0].contradicted
    assert not hetdp.audit(problem, {"a": 0.2, "b": 0.25}, draws=2000).contradictions


def test_without_edges_nothing_is_drawn(monkeypatch):
    monkeypatch.setattr("os.urandom", lambda count: pytest.fail("bits were drawn"))
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], math.inf)
    found = hetdp.audit(hetdp.Problem(graph, {"a": 1, "b": 2}), {"a": 1.0, "b": 0.0})
    assert (found.edges, found.worst, found.contradictions) == ((), None, ())
    assert str(found) == "no edge promises anything, so nothing can be contradicted."


def test_a_hundred_audits_of_a_sound_mechanism_rarely_contradict_it():
    problem = problem_of("pure")
    mechanism = hetdp.design(problem)
    audits = [hetdp.audit(problem, mechanism, draws=300, confidence=0.9, edges=1) for _ in range(100)]
    assert sum(bool(found.contradictions) for found in audits) <= 10


def tossing(ones: dict[float, int], draws: int):
    """Coins that give answer 1 exactly so often, by the sign of z."""
    return lambda _, z: iter([at < ones[math.copysign(1.0, z)] for at in range(draws)]).__next__


def test_all_bounds_hold_together_with_the_confidence():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0), {"a": 1, "b": 2})
    found = audit_with(problem, {"a": 0.9, "b": 0.1}, 100, 0.99, 1, tossing({1.0: 80, -1.0: 30}, 100))
    least, most = (bounds_of(count, 100, 0.01 / 4)[0] for count in (80, 30))  # two bounds at each of two datasets
    assert found.edges[0].at_least == pytest.approx(math.log(least[0] / most[1]), rel=1e-12)
    assert (found.edges[0].source_count, found.edges[0].target_count) == (80, 30)


def test_where_neither_answer_contradicts_anything_the_one_seen_more_often_is_shown():
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0, delta=0.5)
    problem = hetdp.Problem(graph, {"a": 1, "b": 2}, notion="approximate")
    found = audit_with(problem, {"a": 0.9, "b": 0.1}, 20, 0.999, [("b", "a")], tossing({1.0: 12, -1.0: 8}, 20))
    assert [(edge.source, edge.answer, edge.at_least) for edge in found.edges] == [
        ("b", 2, -math.inf),
        ("a", 1, -math.inf),
    ]


# Which edges ----------------------------------------------------------------------------------------------------------


def test_the_worst_edges_are_those_that_a_broken_value_touches():
    size = 400
    graph = hetdp.DatasetGraph.from_edges(range(size - 1), range(1, size), 0.1)
    problem = hetdp.Problem(graph, [2] * (size // 2) + [1] * (size // 2))
    z = hetdp.design(problem).coordinates.copy()
    z[150] += 1.5
    assert sorted(worst_edges(problem, z, 2, DRAWS)) == [(149, 150), (150, 151)]
    assert len(worst_edges(problem, z, 7, DRAWS)) == 7


def pairs(notion: Any = "pure", source: Any = (0, 2), target: Any = (1, 3), **promised: Any) -> hetdp.Problem:
    """Four datasets and, by default, two edges apart from each other."""
    graph = hetdp.DatasetGraph.from_edges(list(source), list(target), datasets=range(4), **promised)
    return hetdp.Problem(graph, [1, 2, 1, 2], notion=notion)


def z_of(problem: hetdp.Problem, *p: float) -> Any:
    return problem.notion.coordinate.from_probability(np.array(p))


def test_an_edge_may_be_worst_by_its_other_answer_in_one_direction():
    problem = pairs(epsilon=0.1)
    z = z_of(problem, 0.99, 0.96, 0.3, 0.25)  # 0.04 against 0.01, and 0.3 against 0.25
    assert worst_edges(problem, z, 1, DRAWS) == [(0, 1)]
    assert worst_edges(problem, z[[2, 3, 0, 1]], 1, DRAWS) == [(2, 3)]
    problem = pairs(epsilon=[0.1, 0.01])  # in its better direction, the first edge is not violated at all
    assert worst_edges(problem, z_of(problem, 0.99, 0.96, 0.505, 0.495), 2, DRAWS) == [(0, 1), (2, 3)]


def test_both_directions_of_an_edge_and_parallel_edges_count_once():
    problem = pairs(epsilon=0.1)
    z = z_of(problem, 0.4, 0.6, 0.45, 0.55)
    assert worst_edges(problem, z, 2, DRAWS) == [(0, 1), (2, 3)]
    parallel = pairs(source=[0, 0, 0, 2], target=[1, 1, 1, 3], epsilon=0.1, classes=list("abcd"))
    assert worst_edges(parallel, z, 2, DRAWS) == [(0, 1), (2, 3)]


def test_a_delta_of_one_promises_nothing():
    problem = pairs("approximate", epsilon=0.1, delta=[1.0, 0.5])
    assert worst_edges(problem, z_of(problem, 1.0, 0.0, 0.9, 0.1), 5, DRAWS) == [(2, 3)]
    with pytest.raises(hetdp.UsageError, match="nothing is promised between 0 and 1"):
        arcs_between(problem, 0, 1)
    assert [arc.delta for arc in arcs_between(problem, 2, 3)] == [0.5, 0.5]


def test_delta_is_taken_into_account_when_edges_are_ranked():
    problem = pairs("approximate", epsilon=0.1, delta=[0.4, 0.0])
    assert worst_edges(problem, z_of(problem, 0.7, 0.3, 0.6, 0.4), 1, DRAWS) == [(2, 3)]


def test_certain_answers_that_differ_are_the_worst():
    problem = pairs(epsilon=1.0)
    z = z_of(problem, 0.9, 0.1, 1.0, 0.0)
    assert worst_edges(problem, z, 1, DRAWS) == [(2, 3)]
    assert len(hetdp.audit(problem, {0: 0.5, 1: 0.5, 2: 1.0, 3: 0.0}, draws=100, edges=1).contradictions) == 2


def test_spaces_of_people_are_audited_too():
    problem = hetdp.spaces.votes(6, hetdp.questions.majority(), 0.5)
    found = hetdp.audit(problem, hetdp.design(problem, "balanced"), draws=2000, edges=3)
    assert len(found.edges) == 6
    assert not found.contradictions


def test_edges_can_be_named():
    problem = problem_of("pure")
    found = hetdp.audit(problem, hetdp.design(problem), draws=100, edges=[(4, 3), (0, 1)])
    assert [(edge.source, edge.target) for edge in found.edges] == [(4, 3), (3, 4), (0, 1), (1, 0)]
    assert (found.draws, found.datasets) == (100, 4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"draws": 0}, "draws=0; it must be a whole number ≥ 1 and ≤ 100,000,000"),
        ({"confidence": 0.5}, "confidence=0.5; it must be a number between 0.5 and 1"),
        ({"confidence": 1.0}, "confidence=1.0; it must be a number between 0.5 and 1"),
        ({"confidence": math.nan}, "confidence=nan; it must be"),
        ({"confidence": "most"}, "confidence='most'; it must be"),
        ({"edges": 0}, "edges=0; it must be a whole number ≥ 1"),
        ({"edges": [(0, 2)]}, "nothing is promised between 0 and 2; an audit looks at neighbours"),
        ({"edges": [0, 1]}, "edges with 0; each must be a pair of labels"),
    ],
)
def test_invalid_audits_are_refused(given, words):
    problem = problem_of("pure")
    with pytest.raises(hetdp.UsageError, match=words):
        hetdp.audit(problem, hetdp.design(problem), **{"draws": 10, **given})


def test_values_that_do_not_fit_are_refused():
    problem = problem_of("pure")
    with pytest.raises(hetdp.InputError):
        hetdp.audit(problem, np.full(4, 0.5))
    with pytest.raises(hetdp.InputError, match="every dataset has a value"):
        hetdp.audit(problem, {0: 0.5})
    with pytest.raises(hetdp.UsageError, match="expected a Problem, got a"):
        hetdp.audit(3, {0: 0.5})


# The losses -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("notion", NOTIONS)
def test_a_loss_grows_with_one_probability_and_falls_with_the_other(notion):
    grid = [0.0, 1e-300, 0.1, 0.5, 0.9, 1.0]
    for delta in (0.0, 0.05):
        table = np.array([[NOTIONS[notion].loss(high, low, delta) for low in grid] for high in grid])
        assert not np.isnan(table).any()
        assert all(table[at][k] <= table[at + 1][k] for at in range(5) for k in range(6))
        assert all(table[at][k] >= table[at][k + 1] for at in range(6) for k in range(5))


@pytest.mark.parametrize("notion", PARAMETERS)
def test_a_tight_edge_has_just_the_loss_that_is_promised(notion):
    problem = problem_of(notion)
    mechanism = hetdp.design(problem)
    losses = [
        NOTIONS[notion].loss(p[0], p[1], arc.delta)
        for arc in arcs_between(problem, 1, 2)
        for p in (
            mechanism.probabilities[[arc.source, arc.target]],
            1 - mechanism.probabilities[[arc.source, arc.target]],
        )
    ]
    assert max(losses) == pytest.approx(0.5, abs=1e-12)


def test_the_text_of_an_edge_describes_its_result():
    edge = AuditedEdge("a", "b", 2, 0.5, 0.01, 700, 300, 0.83, 0.6123)
    assert str(edge) == "a to b, answer 2: at least 0.6123, promised 0.5, δ = 0.01"
    assert edge.contradicted
    assert not edge._replace(at_least=0.5).contradicted

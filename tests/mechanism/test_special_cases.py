"""Well-known kinds of privacy as special cases of a graph: one line each, and what is known about them."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import hetdp

VOTES = ["".join(votes) for votes in product("12", repeat=5)]
MAJORITY = {votes: 1 if votes.count("1") > 2 else 2 for votes in VOTES}


def differing_people(u: str, v: str) -> list[int]:
    return [person for person in range(len(u)) if u[person] != v[person]]


EDGES = [(u, v) for u, v in combinations(VOTES, 2) if len(differing_people(u, v)) == 1]
PAIRS = list(combinations(VOTES, 2))


def design_votes(pairs: list[tuple[str, str]], epsilon: list[float], objective: Any = "fair") -> hetdp.Mechanism:
    source, target = zip(*pairs, strict=True)
    graph = hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=VOTES)
    return hetdp.design(hetdp.Problem(graph, MAJORITY), objective)


# Personalised privacy -------------------------------------------------------------------------------------------------

EPSILON_OF_PERSON = [0.1, 0.3, 0.5, 0.9, 2.0]  # one ε for each person


def test_with_an_epsilon_for_each_person_the_cheapest_change_of_the_answer_decides():
    """error = e^−D, D the least ε of who must change to reach a deciding vote, and log(1 + e^ε) of who then decides."""
    mechanism = design_votes(EDGES, [EPSILON_OF_PERSON[differing_people(u, v)[0]] for u, v in EDGES], "balanced")
    for votes, error in zip(mechanism.problem.graph.datasets, mechanism.errors.tolist(), strict=True):
        mine = str(MAJORITY[votes])
        movable = sorted(EPSILON_OF_PERSON[person] for person in range(5) if votes[person] == mine)
        steps = votes.count(mine) - 3
        farthest = sum(movable[:steps]) + math.log1p(math.exp(movable[steps]))
        assert error == pytest.approx(math.exp(-farthest), rel=1e-12)


def test_nobody_learns_more_about_a_person_than_their_own_epsilon_allows():
    mechanism = design_votes(EDGES, [EPSILON_OF_PERSON[differing_people(u, v)[0]] for u, v in EDGES])
    for u, v in EDGES:
        for p, q in ((mechanism[u], mechanism[v]), (1 - mechanism[u], 1 - mechanism[v])):
            assert abs(math.log(p / q)) <= EPSILON_OF_PERSON[differing_people(u, v)[0]] + 1e-9


# Metric privacy -------------------------------------------------------------------------------------------------------


def test_a_metric_that_adds_up_along_edges_costs_nothing():
    edges = design_votes(EDGES, [0.5] * len(EDGES))
    pairs = design_votes(PAIRS, [0.5 * len(differing_people(u, v)) for u, v in PAIRS])
    assert len(PAIRS) == 496 > len(EDGES) == 80
    assert pairs.errors.tolist() == pytest.approx(edges.errors.tolist(), rel=1e-12)


def test_a_metric_with_short_cuts_costs_accuracy_at_every_dataset_away_from_the_boundary():
    edges = design_votes(EDGES, [0.5] * len(EDGES))
    pairs = design_votes(PAIRS, [0.5 * math.sqrt(len(differing_people(u, v))) for u, v in PAIRS])
    inner = np.array([abs(votes.count("1") - 2.5) > 1 for votes in VOTES])
    assert (pairs.errors >= edges.errors - 1e-12).all()
    assert (pairs.errors > edges.errors + 0.01)[inner].all()


# One-sided and individual privacy -------------------------------------------------------------------------------------

PEOPLE = 8  # datasets are counts of people who have a condition; only having it is to be protected
COUNTS = {count: 1 if count >= 4 else 2 for count in range(PEOPLE + 1)}


def design_counts(epsilon: float, back: float) -> hetdp.Mechanism:
    graph = hetdp.DatasetGraph.from_edges(range(1, PEOPLE + 1), range(PEOPLE), epsilon, epsilon_back=back)
    return hetdp.design(hetdp.Problem(graph, COUNTS))


def test_one_sided_privacy_protects_people_with_the_condition_and_is_nowhere_worse():
    one_sided, both = design_counts(1.0, math.inf), design_counts(1.0, 1.0)
    p = one_sided.probabilities
    for count in range(1, PEOPLE + 1):
        assert p[count] <= math.e * p[count - 1] + 1e-12
        assert 1 - p[count] <= math.e * (1 - p[count - 1]) + 1e-12
    assert (one_sided.errors <= both.errors + 1e-12).all()
    assert (one_sided.errors < both.errors - 1e-3).any()
    assert one_sided.certificate.private
    assert one_sided.certificate.optimal


def test_one_sided_privacy_follows_the_condition_in_one_direction_only():
    """Below the threshold p falls by e^−ε a step; above it 1 − p ≥ 1 − e^ε p is all that is asked, and soon nothing."""
    one_sided = design_counts(1.0, math.inf)
    below = one_sided.probabilities[:4][::-1]
    assert below.tolist() == pytest.approx([math.exp(-i) / (1 + math.e) for i in range(4)], rel=1e-12)
    assert one_sided.probabilities[4] == pytest.approx(math.e / (1 + math.e))
    above = 1 - one_sided.probabilities[4:]
    recursion = [1 / (1 + math.e)]
    for _ in range(4):
        recursion.append(max(0.0, 1 - math.e * (1 - recursion[-1])))
    assert above.tolist() == pytest.approx(recursion, abs=1e-12)


def test_individual_privacy_constrains_only_the_given_dataset_and_its_neighbours():
    actual = "11122"
    mechanism = design_votes(EDGES, [0.5 if actual in pair else math.inf for pair in EDGES])
    for votes in VOTES:
        if len(differing_people(votes, actual)) == 1:
            loss = math.log(mechanism[votes] / mechanism[actual])
            assert abs(loss) <= 0.5 + 1e-12
        elif votes != actual:
            assert mechanism[votes] == float(MAJORITY[votes] == 1)


def test_an_edge_that_promises_something_in_one_direction_makes_a_boundary():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [1.0, math.inf], epsilon_back=[math.inf, math.inf])
    assert hetdp.Problem(graph, {"a": 1, "b": 2, "c": 1}).boundary == ["a", "b"]

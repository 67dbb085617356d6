"""Balanced pins: private as they stand, by the formula, and with the best possible worst error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import dijkstra

import hetdp
from hetdp.cli.demo import voters
from hetdp.mechanism.balanced import balanced_pins
from tests.loops import for_each
from tests.mechanism.problems import graph_of
from tests.oracle.leximin import fair_problems
from tests.oracle.linear import least_worst_errors


def random_problem(seed: int) -> hetdp.Problem:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    pairs = [(a, b) for a in range(size) for b in range(a) if rng.random() < 0.5]
    epsilon = rng.uniform(0.01, 3.0, len(pairs))
    graph = hetdp.DatasetGraph.from_edges([a for a, _ in pairs], [b for _, b in pairs], epsilon, datasets=range(size))
    return hetdp.Problem(graph, rng.integers(1, 3, size))


def expected_errors(problem: hetdp.Problem) -> np.ndarray:
    """e^−D by plain shortest paths and a minimum over the edges between the answers."""
    graph = problem.graph
    source, target, epsilon = graph.edges()
    lengths = sparse.csr_array((epsilon, (source, target)), (graph.size, graph.size))
    distance = dijkstra(lengths, directed=False)
    across = problem.answers[source] != problem.answers[target]
    least = np.full(graph.size, np.inf)
    for end in (source[across], target[across]):
        ways = distance[:, end] + np.log1p(np.exp(epsilon[across]))
        least = np.minimum(least, ways.min(axis=1, initial=np.inf))
    return np.exp(-least)


def least_worst_error(problem: hetdp.Problem) -> float:
    """The smallest worst error of any private mechanism, by a linear program over p and the worst error."""
    source, target, epsilon = problem.graph.edges()
    size = problem.graph.size
    rows, right = [], []
    for u, v, e in [*zip(source, target, epsilon, strict=True), *zip(target, source, epsilon, strict=True)]:
        for sign, bound in ((1.0, 0.0), (-1.0, np.exp(e) - 1.0)):
            row = np.zeros(size + 1)
            row[u], row[v] = sign, -sign * np.exp(e)
            rows.append(row)
            right.append(bound)
    for v, answer in enumerate(problem.answers):
        row = np.zeros(size + 1)
        row[v], row[size] = (-1.0, -1.0) if answer == 1 else (1.0, -1.0)
        rows.append(row)
        right.append(-1.0 if answer == 1 else 0.0)
    cost = np.zeros(size + 1)
    cost[size] = 1.0
    return float(linprog(cost, A_ub=np.array(rows), b_ub=right, bounds=(0.0, 1.0), method="highs").fun)


@for_each("seed", range(60))
def test_balanced_pins_follow_the_formula_and_are_private_as_they_stand(seed: int):
    problem = random_problem(seed)
    mechanism = hetdp.extend(problem, balanced_pins(problem))
    assert mechanism.moved == 0.0
    assert mechanism.certificate is not None
    assert mechanism.certificate.private
    assert mechanism.certificate.optimal
    np.testing.assert_allclose(mechanism.errors, expected_errors(problem), rtol=1e-12)


@for_each("seed", range(60))
def test_no_private_mechanism_has_a_smaller_worst_error(seed: int):
    problem = random_problem(seed)
    mechanism = hetdp.extend(problem, balanced_pins(problem))
    assert mechanism.errors.max() == pytest.approx(least_worst_error(problem), abs=1e-8)


def test_with_given_values_no_private_mechanism_has_a_smaller_worst_error():
    problems = list(fair_problems(11, 300))
    assert sum(bool(small.pins) for small in problems) > 50
    strictly = 0
    for small, least in zip(problems, least_worst_errors(problems), strict=True):
        graph = graph_of(list(small.edges), len(small.answers))
        problem = hetdp.Problem(graph, np.array([small.answers[v] for v in range(len(small.answers))]))
        mechanism = hetdp.design(problem, "balanced", small.pins, engine="reference")
        assert mechanism.certificate is not None
        assert mechanism.certificate.private
        assert mechanism.errors.max() == pytest.approx(least, abs=1e-8)
        for v, p in small.pins.items():
            assert mechanism[v] == pytest.approx(p, abs=1e-9)
        strictly += bool(small.pins) and 0.0 < least < 1.0
    assert strictly > 50


def test_given_values_that_contradict_each_other_are_refused():
    with pytest.raises(hetdp.NoExtensionError) as refusal:
        hetdp.design(voters(3, "first, when deciding"), "balanced", {"112": 0.99, "212": 0.01})
    assert refusal.value.witness.path.datasets == ["212", "112"]

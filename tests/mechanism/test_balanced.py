"""Balanced pins: private as they stand, by the formula, and with the best possible worst error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import dijkstra

import hetdp
from hetdp.mechanism.balanced import balanced_pins


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


@pytest.mark.parametrize("seed", range(60))
def test_balanced_pins_follow_the_formula_and_are_private_as_they_stand(seed: int):
    problem = random_problem(seed)
    mechanism = hetdp.extend(problem, balanced_pins(problem))
    assert mechanism.moved == 0.0
    assert mechanism.certificate is not None
    assert mechanism.certificate.private
    assert mechanism.certificate.optimal
    np.testing.assert_allclose(mechanism.errors, expected_errors(problem), rtol=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_no_private_mechanism_has_a_smaller_worst_error(seed: int):
    problem = random_problem(seed)
    mechanism = hetdp.extend(problem, balanced_pins(problem))
    assert mechanism.errors.max() == pytest.approx(least_worst_error(problem), abs=1e-8)

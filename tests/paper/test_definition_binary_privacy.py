"""Definition 5: binary-valued ε-differential privacy, two inequalities for each ordered pair of neighbours."""

from __future__ import annotations

import math

import hetdp
from tests.paper.library import extension_of
from tests.paper.test_definition_differential_privacy import homogeneous_problems, is_private


def satisfies_both(pu: float, pv: float, epsilon: float) -> bool:
    """The two inequalities exactly as printed, for u ~ v."""
    return pu <= math.exp(epsilon) * pv + 1e-12 and 1 - pv <= math.exp(epsilon) * (1 - pu) + 1e-12


def test_an_extension_satisfies_both_inequalities_in_both_directions():
    for small in homogeneous_problems(seed=51, count=40, epsilon=0.5):
        p = extension_of(small)
        assert all(satisfies_both(p[u], p[v], 0.5) and satisfies_both(p[v], p[u], 0.5) for u, v, _ in small.edges)


def test_one_direction_alone_is_not_privacy():
    edges = [("u", "v", 0.5)]
    p = {"u": 0.1, "v": 0.9}
    assert satisfies_both(p["u"], p["v"], 0.5)
    assert not satisfies_both(p["v"], p["u"], 0.5)
    assert not is_private(p, edges, 0.5)


def test_the_library_refuses_two_neighbours_that_break_either_inequality():
    graph = hetdp.DatasetGraph.from_edges(["u"], ["v"], [0.5])
    problem = hetdp.Problem(graph, {"u": 1, "v": 2})
    for low, high, fine in [(0.1, 0.16, True), (0.1, 0.17, False), (0.84, 0.9, True), (0.83, 0.9, False)]:
        assert hetdp.check(problem, {"u": low, "v": high}).compatible is fine
        assert hetdp.check(problem, {"u": high, "v": low}).compatible is fine

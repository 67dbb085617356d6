"""Definition 10, corrected: compatible means p(v) ≤ min U_{ρ,p(u)}(v) for every ordered pair of pinned datasets."""

from __future__ import annotations

from itertools import pairwise

import hetdp
from tests.oracle.literal import compatible, neighbourhoods
from tests.oracle.paths import along
from tests.oracle.random_problems import SmallProblem, compatible_problems, incompatible_problems
from tests.paper.library import problem_of


def test_compatible_pins_are_accepted_and_need_no_witness():
    for small in compatible_problems(seed=181, count=150):
        assert compatible(small)
        verdict = hetdp.check(problem_of(small), small.pins)
        assert verdict.compatible
        assert verdict.witness is None


def test_incompatible_pins_are_refused():
    for small in incompatible_problems(seed=182, count=150):
        assert not compatible(small)
        assert not hetdp.check(problem_of(small), small.pins).compatible


def test_a_witness_is_a_path_between_two_pins_whose_bound_is_broken():
    for small in incompatible_problems(seed=183, count=150):
        witness = hetdp.check(problem_of(small), small.pins).witness.path
        near = neighbourhoods(small)
        u, v = witness.datasets[0], witness.datasets[-1]
        epsilons = [near[x][y] for x, y in pairwise(witness.datasets)]
        assert {u, v} <= small.pins.keys()
        assert u != v
        too_high = small.pins[v] > along(small.pins[u], epsilons)
        too_low = 1 - small.pins[v] > along(1 - small.pins[u], epsilons)
        assert too_high or too_low


def test_a_repair_is_compatible_and_pins_the_same_datasets():
    for small in incompatible_problems(seed=184, count=100):
        problem = problem_of(small)
        repair = hetdp.check(problem, small.pins).repair
        repaired = SmallProblem(small.edges, small.answers, repair.probabilities)
        assert repaired.pins.keys() == small.pins.keys()
        assert compatible(repaired)
        assert hetdp.check(problem, repair.pins).compatible


def test_pins_that_are_tight_to_the_last_digit_are_accepted():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.1, 0.2])
    problem = hetdp.Problem(graph, {"a": 2, "b": 1, "c": 1})
    low = 0.3
    tight = along(low, [0.1])
    assert hetdp.check(problem, {"a": low, "b": tight, "c": along(tight, [0.2])}).compatible
    assert not hetdp.check(problem, {"a": low, "b": tight + 1e-6}).compatible

"""Before the library is compared with the oracles, the oracles are compared with each other."""

from __future__ import annotations

import math

import pytest

from tests.oracle import linear, literal, paths, shortest_paths
from tests.oracle.random_problems import compatible_problems, incompatible_problems, random_paths

FEASIBLE = list(compatible_problems(seed=11, count=250))
INFEASIBLE = list(incompatible_problems(seed=12, count=120))


def largest_difference(one: dict, other: dict) -> float:
    assert one.keys() == other.keys()
    return max((abs(one[v] - other[v]) for v in one), default=0.0)


def test_the_literal_algorithm_finds_what_all_simple_paths_find():
    for problem in FEASIBLE:
        assert largest_difference(literal.algorithm_2(problem), paths.extension(problem)) < 1e-12


def test_plain_shortest_paths_run_twice_find_what_the_literal_algorithm_finds():
    for problem in FEASIBLE:
        assert largest_difference(literal.algorithm_2(problem), shortest_paths.extension(problem)) < 1e-12


def test_the_linear_program_finds_what_the_literal_algorithm_finds():
    for problem, best in zip(FEASIBLE, linear.optima(FEASIBLE), strict=True):
        assert largest_difference(literal.algorithm_2(problem), best) < 1e-7


def test_the_literal_extension_satisfies_the_four_conditions_on_every_edge():
    for problem in FEASIBLE:
        assert literal.worst_violation(problem, literal.algorithm_2(problem)) < 1e-12


def test_all_oracles_refuse_incompatible_pins():
    for problem in INFEASIBLE:
        assert not literal.compatible(problem)
        for extend in (literal.algorithm_2, paths.extension, shortest_paths.extension):
            with pytest.raises(literal.IncompatibleError):
                extend(problem)


def test_the_linear_program_refuses_incompatible_pins():
    for problem in INFEASIBLE[:40]:
        with pytest.raises(literal.IncompatibleError):
            linear.optimum(problem)


def test_the_least_move_of_the_pins_is_zero_exactly_where_an_extension_exists():
    assert max(linear.distances(FEASIBLE)) < 1e-9
    assert min(linear.distances(INFEASIBLE)) > 1e-6


def test_the_corrected_path_theorem_finds_what_one_edge_at_a_time_finds():
    for alpha, epsilons in random_paths(seed=13, count=500):
        closed = literal.path_corrected(alpha, epsilons)
        steps = [paths.along(alpha, epsilons[:i]) for i in range(len(epsilons) + 1)]
        assert closed == pytest.approx(steps, rel=1e-12, abs=1e-12)


def test_the_random_problems_contain_the_odd_cases():
    def holds_somewhere(holds):
        return any(holds(problem) for problem in FEASIBLE)

    assert holds_somewhere(lambda problem: any(epsilon == 0 for *_, epsilon in problem.edges))
    assert holds_somewhere(lambda problem: any(epsilon == math.inf for *_, epsilon in problem.edges))
    assert holds_somewhere(lambda problem: 0.0 in problem.pins.values())
    assert holds_somewhere(lambda problem: 1.0 in problem.pins.values())
    assert holds_somewhere(lambda problem: len(problem.components()) > 1)
    assert holds_somewhere(lambda problem: not problem.pins)
    assert holds_somewhere(
        lambda problem: any(not component & problem.pins.keys() for component in problem.components())
    )
    assert sum(bool(problem.free and problem.pins) for problem in FEASIBLE) > 100

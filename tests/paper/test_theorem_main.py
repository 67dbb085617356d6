"""Theorem 1: either no private extension exists, or the algorithm finds the unique best one.

Checked on every graph with up to seven datasets (NetworkX's atlas, 1,253 graphs) against a linear program that knows
nothing but the four initial DP conditions.
"""

from __future__ import annotations

import random
from functools import cache

import networkx
import pytest

import hetdp
from tests.oracle import linear
from tests.oracle.random_problems import (
    SmallProblem,
    compatible_problems,
    on_graph,
    random_pinned,
    with_compatible_pins,
    with_incompatible_pins,
)
from tests.paper.library import extension_of, largest_difference, problem_of
from tests.stress import long

ENGINES = ["reference", pytest.param("cpu", marks=long)]  # both find the same bits, as the conformance suite shows


def problems_on_every_small_graph(pins) -> list[SmallProblem]:
    rng = random.Random(1253)
    drawn = [pins(rng, on_graph(rng, len(graph), graph.edges)) for graph in networkx.graph_atlas_g()]
    assert len(drawn) == 1253
    return [problem for problem in drawn if problem is not None]


def random_pins(rng: random.Random, problem: SmallProblem) -> SmallProblem:
    """Values chosen at random: mostly incompatible, sometimes not."""
    pinned = random_pinned(rng, problem)
    return SmallProblem(
        problem.edges, problem.answers, {v: rng.uniform(0.3, 0.7) for v in problem.answers if v in pinned}
    )


@cache
def random_pins_and_moves() -> tuple[list[SmallProblem], list[float]]:
    """Random pins on every small graph, and how far each would have to move to be compatible."""
    problems = problems_on_every_small_graph(random_pins)
    return problems, list(linear.distances(problems))


@pytest.mark.parametrize("engine", ENGINES)
def test_on_every_small_graph_the_extension_is_the_optimum_of_the_linear_program(engine):
    problems = problems_on_every_small_graph(with_compatible_pins)
    assert sum(bool(small.pins and small.free) for small in problems) > 400
    for small, best in zip(problems, linear.optima(problems), strict=True):
        assert largest_difference(extension_of(small, engine), best) < 1e-7


def test_on_every_small_graph_an_extension_exists_exactly_where_the_linear_program_is_feasible():
    problems, moves = random_pins_and_moves()
    assert all(move < 1e-9 or move > 1e-6 for move in moves)
    for small, move in zip(problems, moves, strict=True):
        assert hetdp.check(problem_of(small), small.pins).compatible == (move < 1e-9)
    assert 200 < sum(move < 1e-9 for move in moves) < 1000


def test_where_random_pins_happen_to_be_compatible_the_extension_is_the_optimum_too():
    feasible = [small for small, move in zip(*random_pins_and_moves(), strict=True) if move < 1e-9]
    for small, best in zip(feasible, linear.optima(feasible), strict=True):
        assert largest_difference(extension_of(small), best) < 1e-7


def test_on_every_small_graph_a_pin_pushed_out_of_its_interval_is_refused():
    problems = problems_on_every_small_graph(with_incompatible_pins)
    assert len(problems) > 600
    for small in problems:
        with pytest.raises(hetdp.NoExtensionError):
            extension_of(small)


def test_the_extension_agrees_with_the_pins_and_is_certified_private_and_optimal():
    for small in compatible_problems(seed=121, count=60):
        p = extension_of(small)
        assert all(abs(p[v] - given) < 1e-12 for v, given in small.pins.items())
        certificate = hetdp.verify(problem_of(small), hetdp.extend(problem_of(small), small.pins, verify=False))
        assert certificate.private
        assert certificate.optimal


def test_a_component_without_a_pin_is_answered_without_error():
    graph = hetdp.DatasetGraph.from_edges(["a", "c"], ["b", "d"], [0.5, 0.5])
    mechanism = hetdp.extend(hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2, "d": 2}), {})
    assert mechanism.probabilities.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert mechanism.errors.tolist() == [0.0] * 4

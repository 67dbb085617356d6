"""From the oracles' small problems to the library's objects, and back to plain dictionaries."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import hetdp
from tests.oracle.random_problems import SmallProblem

TOLERANCE = 1e-12


def graph_of(small: SmallProblem) -> hetdp.DatasetGraph:
    source, target, epsilon = ([edge[i] for edge in small.edges] for i in range(3))
    return hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=small.datasets)


def problem_of(small: SmallProblem) -> hetdp.Problem:
    return hetdp.Problem(graph_of(small), small.answers)


def mechanism_of(small: SmallProblem, engine: Any = "reference") -> hetdp.Mechanism:
    return hetdp.extend(problem_of(small), small.pins, engine=engine)


def extension_of(small: SmallProblem, engine: Any = "reference") -> dict[Hashable, float]:
    return dict(zip(small.datasets, map(float, mechanism_of(small, engine).probabilities), strict=True))


def induced_bounds_of(small: SmallProblem, dataset: Hashable, alpha: float) -> dict[Hashable, float]:
    bounds = hetdp.induced_bounds(graph_of(small), dataset, alpha)
    return dict(zip(small.datasets, map(float, bounds), strict=True))


def largest_difference(one: dict[Hashable, float], other: dict[Hashable, float]) -> float:
    assert one.keys() == other.keys()
    return max((abs(one[v] - other[v]) for v in one), default=0.0)


def path(epsilons: list[float], alpha: float, answer_at_head: int = 1) -> SmallProblem:
    """The path v₀ … v_n with p(v₀) = α, answer 1 after the head."""
    edges = tuple((i, i + 1, epsilon) for i, epsilon in enumerate(epsilons))
    answers: dict[Hashable, int] = dict.fromkeys(range(len(epsilons) + 1), 1)
    return SmallProblem(edges, answers | {0: answer_at_head}, {0: alpha})

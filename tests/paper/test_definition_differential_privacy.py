"""Definition 4: ε-differential privacy, one ε for the whole graph, over all sets of answers."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable

from tests.oracle.random_problems import SmallProblem, random_answers, random_edges, with_compatible_pins
from tests.paper.library import extension_of

SETS_OF_ANSWERS: list[set[int]] = [set(), {1}, {2}, {1, 2}]


def probability(p: float, answers: set[int]) -> float:
    return (p if 1 in answers else 0.0) + (1 - p if 2 in answers else 0.0)


def is_private(p: dict[Hashable, float], edges, epsilon: float, slack: float = 1e-12) -> bool:
    return all(
        probability(p[x], answers) <= math.exp(epsilon) * probability(p[y], answers) + slack
        for u, v, *_ in edges
        for x, y in ((u, v), (v, u))
        for answers in SETS_OF_ANSWERS
    )


def homogeneous_problems(seed: int, count: int, epsilon: float):
    rng = random.Random(seed)
    for _ in range(count):
        edges = tuple((u, v, epsilon) for u, v in random_edges(rng, 7))
        yield with_compatible_pins(rng, SmallProblem(edges, random_answers(rng, 7)))


def test_an_extension_with_one_epsilon_is_private_for_every_set_of_answers():
    for epsilon in (0.0, 0.1, 0.7, 2.0):
        for small in homogeneous_problems(seed=41, count=15, epsilon=epsilon):
            assert is_private(extension_of(small), small.edges, epsilon)


def test_an_extension_is_as_a_rule_not_private_for_a_smaller_epsilon():
    broken = [
        not is_private(extension_of(small), small.edges, 0.6)
        for small in homogeneous_problems(seed=42, count=40, epsilon=0.7)
        if small.pins and small.free
    ]
    assert sum(broken) > 10

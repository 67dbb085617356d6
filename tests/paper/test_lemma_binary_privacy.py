"""Lemma 1: a mechanism is ε-DP if its p is binary-valued ε-DP (and only if)."""

from __future__ import annotations

import random
from itertools import product

from tests.oracle.literal import worst_violation
from tests.oracle.random_problems import SmallProblem
from tests.paper.test_definition_differential_privacy import is_private


def test_the_four_conditions_hold_exactly_where_every_set_of_answers_is_protected():
    rng = random.Random(61)
    outcomes = set()
    for epsilon in (0.0, 0.2, 1.0, 3.0):
        for x, y in product([0.0, 1e-3, 0.25, 0.5, 0.75, 0.999, 1.0, rng.random(), rng.random()], repeat=2):
            edge = SmallProblem((("u", "v", epsilon),), {"u": 1, "v": 2})
            p = {"u": x, "v": y}
            binary = worst_violation(edge, p) <= 1e-12
            assert binary == is_private(p, edge.edges, epsilon)
            outcomes.add(binary)
    assert outcomes == {True, False}

"""Theorem 2: on a path, taking the smaller of the two bounds at each step is the unique best mechanism."""

from __future__ import annotations

from tests.oracle import linear
from tests.oracle.literal import worst_violation
from tests.oracle.paths import along
from tests.oracle.random_problems import random_paths
from tests.paper.library import extension_of, largest_difference, path

PATHS = list(random_paths(seed=131, count=150))


def test_the_extension_on_a_path_is_the_recursion():
    for alpha, epsilons in PATHS:
        p = extension_of(path(epsilons, alpha))
        assert all(abs(p[i] - along(alpha, epsilons[:i])) < 1e-12 for i in range(len(epsilons) + 1))


def test_the_extension_on_a_path_is_the_optimum_of_the_linear_program():
    problems = [path(epsilons, alpha) for alpha, epsilons in PATHS]
    for small, best in zip(problems, linear.optima(problems), strict=True):
        assert largest_difference(extension_of(small), best) < 1e-7


def test_no_value_on_the_path_can_be_raised():
    tried = 0
    for alpha, epsilons in PATHS[:60]:
        small = path(epsilons, alpha)
        p = extension_of(small)
        for v in small.free:
            if p[v] < 1 - 1e-6:
                tried += 1
                assert worst_violation(small, {**p, v: p[v] + 1e-4 * (1 - p[v])}) > 0
    assert tried > 60


def test_the_recursion_holds_too_where_the_head_has_the_other_answer():
    for alpha, epsilons in PATHS[:60]:
        small = path(epsilons, alpha, answer_at_head=2)
        first = along(alpha, epsilons[:1])
        p = extension_of(type(small)(small.edges, small.answers, {0: alpha, 1: first}))
        assert all(abs(p[i] - along(alpha, epsilons[:i])) < 1e-12 for i in range(len(epsilons) + 1))

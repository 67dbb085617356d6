"""Corollary 1, corrected: the path with one ε."""

from __future__ import annotations

import random

import pytest

import hetdp
from hetdp.theory.path import homogeneous_path_mechanism
from tests.oracle.literal import corollary
from tests.oracle.paths import along


def random_paths():
    rng = random.Random(151)
    for _ in range(300):
        yield rng.choice([rng.uniform(0.001, 1), 10 ** rng.uniform(-5, -1)]), rng.uniform(0.05, 2), rng.randint(1, 15)


def test_the_corrected_corollary_is_the_path_theorem_with_one_epsilon():
    for alpha, epsilon, n in random_paths():
        expected = hetdp.path_mechanism(alpha, [epsilon] * n).tolist()
        assert corollary(alpha, epsilon, n) == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_the_library_has_the_corrected_corollary_under_its_own_name():
    for alpha, epsilon, n in random_paths():
        found = homogeneous_path_mechanism(alpha, epsilon, n).tolist()
        assert found == pytest.approx(corollary(alpha, epsilon, n), rel=1e-10, abs=1e-12)


def test_the_corrected_corollary_is_the_recursion():
    for alpha, epsilon, n in random_paths():
        steps = [along(alpha, [epsilon] * i) for i in range(n + 1)]
        assert corollary(alpha, epsilon, n) == pytest.approx(steps, rel=1e-10, abs=1e-12)


def test_the_probability_of_the_wrong_answer_decays_geometrically_beyond_the_turn():
    p = hetdp.path_mechanism(0.5, [0.7] * 10)
    wrong = 1 - p
    assert (wrong[1:] / wrong[:-1]).tolist() == pytest.approx([2.718281828459045**-0.7] * 10)

"""Theorem 3, corrected: the path mechanism in closed form, with a single turn τ."""

from __future__ import annotations

import pytest

import hetdp
from tests.oracle.literal import path_corrected, path_with_turn
from tests.oracle.paths import along
from tests.oracle.random_problems import random_paths
from tests.paper.library import extension_of, path

PATHS = list(random_paths(seed=141, count=400))


def test_the_closed_form_is_the_recursion():
    for alpha, epsilons in PATHS:
        closed = hetdp.path_mechanism(alpha, epsilons)
        assert closed.tolist() == pytest.approx(
            [along(alpha, epsilons[:i]) for i in range(len(epsilons) + 1)], rel=1e-12, abs=1e-12
        )


def test_the_closed_form_is_the_corrected_theorem_word_for_word():
    for alpha, epsilons in PATHS:
        assert hetdp.path_mechanism(alpha, epsilons).tolist() == pytest.approx(
            path_corrected(alpha, epsilons), rel=1e-12, abs=1e-12
        )


def test_the_closed_form_is_the_extension_on_the_path_graph():
    for alpha, epsilons in PATHS[:150]:
        closed = hetdp.path_mechanism(alpha, epsilons).tolist()
        assert list(extension_of(path(epsilons, alpha)).values()) == pytest.approx(closed, rel=1e-11, abs=1e-12)


def test_every_other_turning_point_gives_a_bound_that_is_no_smaller():
    for alpha, epsilons in PATHS[:100]:
        best = hetdp.path_mechanism(alpha, epsilons)
        for tau in range(len(epsilons) + 1):
            turned = path_with_turn(alpha, epsilons, tau)
            assert all(x <= y + 1e-12 for x, y in zip(best, turned, strict=True))


def test_a_head_above_the_threshold_turns_at_once():
    assert hetdp.path_mechanism(0.5, [1.0]).tolist() == pytest.approx([0.5, 0.8160602794142788], abs=1e-15)


def test_a_short_path_may_never_turn():
    assert hetdp.path_mechanism(0.01, [1.0, 1.0]).tolist() == pytest.approx(
        [0.01, 0.027182818284590453, 0.0738905609893065]
    )


def test_certainty_at_the_head_is_certainty_everywhere():
    assert hetdp.path_mechanism(0.0, [1.0, 2.0]).tolist() == [0.0, 0.0, 0.0]
    assert hetdp.path_mechanism(1.0, [1.0, 2.0]).tolist() == [1.0, 1.0, 1.0]

"""The result that the paper generalises: one (ε, δ) on a path, both ends of the edge between the answers alike.

D'Oliveira, Médard and Sadeghi, "Differential privacy for binary functions via randomized graph colorings" (2021), the
paper's reference for the homogeneous case; its Corollary 1 recovers it for δ = 0.
"""

from __future__ import annotations

import math

import pytest

import hetdp
from tests.loops import for_each

CASES = [(epsilon, delta) for epsilon in (0.1, 0.5, 1.0, 2.5) for delta in (0.0, 1e-9, 0.001, 0.05, 0.3)]
LENGTH = 24  # datasets of each answer


def problem_of(epsilon: float, delta: float) -> hetdp.Problem:
    graph = hetdp.DatasetGraph.from_edges(range(2 * LENGTH - 1), range(1, 2 * LENGTH), epsilon, delta=delta)
    return hetdp.Problem(graph, [1] * LENGTH + [2] * LENGTH)


def errors_away_from_the_boundary(epsilon: float, delta: float) -> list[float]:
    """(1 − δ)/(1 + e^ε) where the answers meet; then what e = e^−ε(e − δ) makes of it in i steps, until it is 0.

    Solved: e_i = e^(−iε)·(e₀ + c) − c with c = δ/(e^ε − 1), so that from i = log(1 + e₀/c)/ε on the answer is exact.
    """
    w = math.exp(epsilon)
    first, fixed = (1 - delta) / (1 + w), delta / (w - 1)
    return [max(0.0, w**-i * (first + fixed) - fixed) for i in range(LENGTH)]


@for_each(("epsilon", "delta"), CASES)
@for_each("objective", ["balanced", "fair"])
def test_both_objectives_find_the_homogeneous_mechanism(objective, epsilon, delta):
    mechanism = hetdp.design(problem_of(epsilon, delta), objective)
    expected = errors_away_from_the_boundary(epsilon, delta)
    assert mechanism.errors.tolist() == pytest.approx([*expected[::-1], *expected], rel=1e-9, abs=1e-13)
    assert mechanism.certificate.private
    assert mechanism.certificate.optimal


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.05), (1.0, 0.001), (0.1, 0.3)])
def test_with_delta_the_answer_is_exact_after_finitely_many_steps(epsilon, delta):
    mechanism = hetdp.design(problem_of(epsilon, delta))
    ratio = (1 - delta) / (1 + math.exp(epsilon)) * (math.exp(epsilon) - 1) / delta
    exact = math.ceil(math.log1p(ratio) / epsilon)
    errors = mechanism.errors[LENGTH:]
    assert (errors[:exact] > 0.0).all()
    assert (errors[exact:] == 0.0).all()
    assert exact < LENGTH


def test_without_delta_no_answer_is_exact():
    assert (hetdp.design(problem_of(0.5, 0.0)).errors > 0.0).all()


def test_no_smaller_error_where_the_answers_meet_is_private():
    """Two errors below (1 − δ)/(1 + e^ε) break their edge: 1 − e ≤ e^ε·e + δ fails."""
    for epsilon, delta in CASES:
        problem = problem_of(epsilon, delta)
        errors = errors_away_from_the_boundary(epsilon, delta)
        better = [1 - errors[0] * 0.999, errors[0] * 0.999]
        pins = {LENGTH - 1: better[0], LENGTH: better[1]}
        assert not hetdp.check(problem, pins).compatible


def test_values_given_at_the_boundary_are_extended_by_the_same_recursion():
    """Any head, not only the balanced one: p(v_i) = min(e^ε p + δ, 1 − e^−ε(1 − p − δ), 1), step by step."""
    for epsilon, delta in CASES:
        w = math.exp(epsilon)
        expected = [0.01]
        for _ in range(LENGTH):
            p = expected[-1]
            expected.append(min(w * p + delta, 1 - (1 - p - delta) / w, 1.0))
        graph = hetdp.DatasetGraph.from_edges(range(LENGTH), range(1, LENGTH + 1), epsilon, delta=delta)
        mechanism = hetdp.extend(hetdp.Problem(graph, [1] * (LENGTH + 1)), {0: 0.01})
        assert mechanism.probabilities.tolist() == pytest.approx(expected, rel=1e-11)

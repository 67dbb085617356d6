"""The objective average comes close to the best on hard random problems of every notion; average_trials has more."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import hetdp
from hetdp.mechanism.scaling import Pattern
from tests.mechanism.average_trials import MAX_GAP, NOTIONS, random_problem, run_trial, trials
from tests.oracle.barrier import mean_error_inside
from tests.stress import stress, times

CURVED = ("gaussian", "bounded-range")


def mean_error(problem: hetdp.Problem, mechanism: hetdp.Mechanism) -> float:
    weights = np.asarray(problem.weights)
    return float(weights @ mechanism.errors / weights.sum())


@stress
@pytest.mark.parametrize("notion", NOTIONS)
def test_the_gap_is_small_and_the_mean_is_never_below_that_of_fair(notion):
    for found in (run_trial(trial) for trial in trials(15, times(10), notion)):
        assert found.private
        assert found.within
        assert 0.0 <= found.gap <= MAX_GAP
        assert found.error <= found.fair


@pytest.mark.parametrize("notion", CURVED)
def test_under_a_curved_bound_it_is_what_a_barrier_method_finds(notion):
    for seed in range(5):
        problem = random_problem(np.random.default_rng((7, seed)), notion, ordinary=True)
        inside, found = mean_error_inside(problem), hetdp.design(problem, "average", engine="reference")
        assert found.objective_gap is not None
        error = mean_error(problem, found)
        assert error - found.objective_gap <= inside  # no private mechanism is better than the bound
        assert error <= inside + 1e-7


@pytest.mark.parametrize("notion", CURVED)
def test_the_least_multiple_is_exact_to_a_millionth(notion):
    for seed in (2,):
        problem = random_problem(np.random.default_rng((9, seed)), notion, ordinary=True)
        always = min(np.average(problem.answers == answer, weights=problem.weights) for answer in (1, 2))
        target = 1.0 - 0.5 * float(always)
        solved = hetdp.solve_epsilon(problem, target, at="mean", objective="average", engine="reference")
        assert solved.reached >= target - 1e-15
        assert solved.below is not None
        assert solved.multiple - solved.below <= 1e-5 * solved.multiple

        def excess(multiple: float, problem=problem, target=target) -> float:
            return mean_error_inside(Pattern(problem).times(multiple)) - (1.0 - target)

        expected = brentq(excess, 0.999 * solved.multiple, 1.001 * solved.multiple, xtol=1e-12, rtol=1e-9)
        assert solved.multiple == pytest.approx(expected, rel=1e-6)


def test_a_multiple_is_never_printed_too_small():
    graph = hetdp.DatasetGraph.from_edges([0], [1], [1.0], datasets=[0, 1])
    solved = hetdp.solve_epsilon(hetdp.Problem(graph, [1, 2]), 0.9)
    assert float(str(solved).split(" times")[0]) >= solved.multiple

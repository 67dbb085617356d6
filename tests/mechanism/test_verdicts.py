"""check never contradicts extend, and a witness is right in exact arithmetic; verdict_trials has more of the same."""

from __future__ import annotations

import math

import pytest

import hetdp
from hetdp.certificate.certificate import contradicts
from hetdp.theory.catalogue import find_notion
from tests.mechanism.average_trials import NOTIONS
from tests.mechanism.verdict_trials import run_trial, trials
from tests.stress import stress, times


@stress
@pytest.mark.parametrize("notion", NOTIONS)
def test_check_says_what_extend_does_and_every_witness_is_right(notion):
    found = [run_trial(*trial) for trial in trials(16, times(80), notion)]
    assert all(checked == extends and right for checked, extends, right in found)
    assert {checked for checked, _, _ in found} == {True, False}


def test_values_that_are_exactly_as_good_as_a_delta_next_to_1_allows_are_compatible():
    graph = hetdp.DatasetGraph.from_edges([0], [1], [2.5], epsilon_back=[1.0], delta=[1.0 - 4e-11], datasets=[0, 1])
    problem = hetdp.Problem(graph, [1, 2], "approximate")
    met = hetdp.design(problem, "fair")
    given = hetdp.PartialMechanism(z=dict(enumerate(met.coordinates.tolist())))
    verdict = hetdp.check(problem, given)
    assert verdict.compatible
    assert verdict.moved <= 1e-9
    assert hetdp.extend(problem, given).certificate.private


def test_a_path_that_exact_arithmetic_does_not_contradict_is_not_a_witness():
    edge = {"epsilon": 1.0}
    assert contradicts(find_notion("pure"), -2.0, [edge], -0.9)
    assert not contradicts(find_notion("pure"), -2.0, [edge], -1.0)
    assert contradicts(find_notion("pure"), -2.0, [edge], math.nextafter(-1.0, 0.0))
    assert contradicts(find_notion("gaussian"), -2.0, [{"mu": 1.0}], math.nextafter(-1.0, 0.0))
    assert not contradicts(find_notion("gaussian"), -2.0, [{"mu": 1.0}], -1.0)
    assert contradicts(find_notion("bounded-range"), -math.inf, [edge], -700.0)
    assert not contradicts(find_notion("bounded-range"), 0.0, [{"epsilon": math.inf}], math.inf)
    half = {"epsilon": 0.0, "epsilon_back": 0.0, "delta": 0.5, "delta_back": 0.5}
    assert not contradicts(find_notion("approximate"), 0.0, [half], math.inf)
    assert contradicts(find_notion("approximate"), math.nextafter(0.0, -1.0), [half], math.inf)
    assert contradicts(find_notion("directed"), -math.inf, [{"epsilon": 1.0, "epsilon_back": 1.0}], -1e6)
    one_way = {"epsilon": 1.0, "epsilon_back": math.inf}
    assert not contradicts(find_notion("directed"), -math.inf, [one_way], -0.5)

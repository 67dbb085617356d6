"""The objective average for notions other than pure, against linear programs written from the definitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.engines.registry import engine_for
from hetdp.mechanism.average import search
from hetdp.mechanism.average.program import Tangents
from hetdp.mechanism.average.search import complete_fairly
from tests.oracle.average_of_notions import CURVES, Case, cases, least_mean_errors
from tests.stress import stress, times

COUNTS = {
    "directed": times(30, stressed=50),
    "approximate": times(30, stressed=50),
    "gaussian": times(14, stressed=20),
    "bounded-range": times(14, stressed=20),
}


def design_case(case: Case, objective: Any = "average") -> hetdp.Mechanism:
    limit = case.max_error if objective == "average" else None
    return hetdp.design(case.problem, objective, case.pins, max_error=limit, engine="reference")


def mean_error(case: Case, mechanism: hetdp.Mechanism) -> float:
    weights = np.asarray(case.problem.weights)
    return float(weights @ mechanism.errors / weights.sum())


@stress
@pytest.mark.parametrize("notion", COUNTS)
@pytest.mark.parametrize("way", ["as it is", "datasets left out"])
def test_it_is_as_good_as_the_plain_linear_program_up_to_the_gap_it_states(notion, way, monkeypatch):
    if way == "datasets left out":
        monkeypatch.setattr(search, "SMALL_PROBLEM", 0)
        monkeypatch.setattr(search, "MASSES", (1e-2, 1e-4, 0.0, 0.0))
    tried = list(cases(5 if way == "as it is" else 6, COUNTS[notion] // (1 if way == "as it is" else 2), notion))
    assert {case.max_error is None for case in tried} == {bool(case.pins) for case in tried} == {True, False}
    for case, least in zip(tried, least_mean_errors(tried), strict=True):
        mechanism = design_case(case)
        assert mechanism.objective_gap is not None
        assert 0.0 <= mechanism.objective_gap <= 1e-7
        error = mean_error(case, mechanism)
        assert least - 1e-8 <= error <= least + mechanism.objective_gap + 1e-7
        assert mechanism.certificate is not None
        assert mechanism.certificate.private
        free = ~np.isin(np.arange(len(mechanism)), list(case.pins))
        assert np.max(mechanism.errors[free], initial=0.0) <= (case.max_error or 1.0) + 1e-9
        for v, p in case.pins.items():
            assert mechanism[v] == pytest.approx(p, abs=1e-9)
        if case.max_error is None:
            assert error <= min(mean_error(case, design_case(case, other)) for other in ("fair", "balanced")) + 1e-12


def test_the_random_problems_contain_the_odd_cases():
    blocks = [block for case in cases(5, 100, "approximate") for block in case.problem.graph.edge_blocks()]
    epsilon, back, delta, _ = (np.concatenate([block.parameters[i] for block in blocks]) for i in range(4))
    assert (np.isinf(epsilon) & np.isfinite(back)).any()
    assert {0.0, 1.0} <= set(delta.tolist())
    assert ((delta > 0.0) & (delta < 1e-9)).any()
    given = [p for case in cases(5, 100, "directed") for p in case.pins.values()]
    assert {0.0, 1.0} <= set(given)


@pytest.mark.parametrize("notion", CURVES)
def test_no_tangent_cuts_off_a_private_mechanism(notion):
    for case in cases(8, 30, notion):
        problem, rng = case.problem, np.random.default_rng(8)
        size = problem.graph.size
        reference = np.clip(rng.normal(0.0, 3.0, size), -8.0, 8.0)
        tail = problem.notion.coordinate.probability(-np.abs(reference))
        tangents = Tangents(problem, np.arange(size), reference <= 0.0, np.log(tail))
        engine = engine_for("reference", problem.graph, problem.notion, "grow")
        private = np.clip(rng.normal(0.0, 2.0, size), -8.0, 8.0)
        private = engine.grow(problem.graph, problem.notion, private).labels
        probability = problem.notion.coordinate.probability
        x = np.where(reference <= 0.0, probability(private), probability(-private)) / tail
        rows = tangents.tangents_at(reference)
        room = 1e-12 * (1.0 + np.abs(rows.limit) + np.maximum(np.abs(x[rows.first]), np.abs(x[rows.second])))
        assert (rows.excess(x) <= room).all()
        tail = probability(-np.abs(private))
        own = Tangents(problem, np.arange(size), private <= 0.0, np.log(tail))
        assert not len(own.violated_rows(np.ones(size)).a)


@pytest.mark.parametrize("notion", COUNTS)
def test_certainty_spreads_unless_delta_or_a_missing_direction_stops_it(notion):
    name = "mu" if notion == "gaussian" else "epsilon"
    parameters = {name: [1.0, 1.0]}
    if notion in ("directed", "approximate"):
        parameters["epsilon_back"] = [math.inf, 1.0]
    if notion == "approximate":
        parameters |= {"delta": [0.1, 0.1], "delta_back": [0.1, 0.1]}
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], datasets=range(3), **parameters)
    found = hetdp.design(hetdp.Problem(graph, [2, 1, 1], notion), "average", {0: 0.0})
    expected = {"directed": 1.0 - math.exp(-1.0), "approximate": 1.0 - 0.9 * math.exp(-1.0)}.get(notion, 0.0)
    assert found[1] == pytest.approx(expected)
    assert found.objective_gap == pytest.approx(0.0, abs=1e-9)


def test_a_tail_beyond_every_tolerance_is_not_a_contradiction():
    graph = hetdp.DatasetGraph.from_edges([0], [1], epsilon=[math.inf], epsilon_back=[1.5], datasets=range(2))
    problem = hetdp.Problem(graph, [2, 1], "directed")
    z = problem.notion.coordinate.from_probability(math.exp(-1.5) * (1.0 - 1e-10))
    engine = engine_for("reference", graph, problem.notion, "settle")
    found = complete_fairly(problem, np.full(2, np.nan), np.array([z, math.inf]), np.array([0.1, 0.9]), engine)
    assert found[0] == pytest.approx(z)
    assert found[1] > 20.0

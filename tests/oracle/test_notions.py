"""The other notions against linear programs, bisection and closed forms."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit, ndtr, ndtri

import hetdp
from hetdp.engines.reference.engine import ReferenceEngine
from tests.oracle import leximin, linear
from tests.oracle.boxes import Boxes
from tests.oracle.directed import DirectedProblem, directed_problems

FORMULAS = {
    "gaussian": lambda x, mu: ndtr(ndtri(x) + mu),
    "bounded-range": lambda x, epsilon: expit(logit(x) + epsilon),
}
SIZE, COUNT = 6, 150


def problem_of(small: DirectedProblem) -> hetdp.Problem:
    source, target, epsilon = ([edge[i] for edge in small.edges] for i in range(3))
    back, delta, delta_back = ([more[i] for more in small.more] for i in range(3))
    columns: dict[str, Any] = {"epsilon_back": back} | (
        {"delta": delta, "delta_back": delta_back} if any(delta + delta_back) else {}
    )
    graph = hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=small.datasets, **columns)
    return hetdp.Problem(graph, small.answers)


def fair_errors(problem: hetdp.Problem, pins: np.ndarray) -> np.ndarray:
    """The errors that `settle` finds; pins are p, and NaN where free."""
    coordinate, ones = problem.notion.coordinate, problem.answers == 1
    z = coordinate.from_probability(np.where(np.isnan(pins), 0.5, pins))
    signed = np.where(np.isnan(pins), np.nan, np.where(ones, z, -z))
    labels = ReferenceEngine().settle(problem.graph, problem.notion, problem.answers, signed).labels
    return coordinate.probability(-labels)


def test_extensions_under_directed_epsilon_and_delta_are_those_of_a_linear_program():
    problems = list(directed_problems(seed=71, count=320, boundary=True))
    notions = set()
    for small, best in zip(problems, linear.optima(problems), strict=True):
        problem = problem_of(small)
        found = hetdp.extend(problem, small.pins)
        assert found.certificate.private
        assert found.probabilities.tolist() == pytest.approx(list(best.values()), abs=1e-7)
        notions.add(problem.notion.name)
    assert notions == {"directed", "approximate"}
    assert sum(math.inf in [e for *_, e in small.edges] + [m[0] for m in small.more] for small in problems) > 50


def test_fair_mechanisms_under_directed_epsilon_and_delta_are_those_of_a_sequence_of_linear_programs():
    problems = list(directed_problems(seed=72, count=280))
    for small, errors in zip(problems, leximin.fair(problems), strict=True):
        pins = np.array([small.pins.get(v, math.nan) for v in small.answers])
        found = fair_errors(problem_of(small), pins)
        assert found.tolist() == pytest.approx([errors[v] for v in small.answers], abs=1e-8)
    assert sum(bool(small.pins) for small in problems) > 80


def random_boxes(name: Any, seed: int) -> tuple[Boxes, list[hetdp.Problem]]:
    """Random graphs of one size under a notion that adds, half of them with a few pins that fit."""
    rng = np.random.default_rng(seed)
    formula = FORMULAS[name]
    shift = np.where(rng.random((COUNT, SIZE, SIZE)) < 0.5, rng.uniform(0.02, 2.0, (COUNT, SIZE, SIZE)), math.inf)
    shift = np.where(rng.random(shift.shape) < 0.05, 0.0, shift)
    shift = np.minimum(shift, shift.transpose(0, 2, 1))

    def bound(p: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(shift), 1.0, formula(p, np.where(np.isinf(shift), 0.0, shift)))

    ones = rng.random((COUNT, SIZE)) < 0.5
    private = rng.uniform(0.05, 0.95, (COUNT, SIZE))
    for _ in range(SIZE):
        private = np.minimum(private, bound(private[:, :, None]).min(axis=1))
    pinned = (rng.random((COUNT, SIZE)) < 0.25) & (np.arange(COUNT)[:, None] % 2 == 0)
    pins = np.where(pinned, private, math.nan)
    problems = []
    for edges, answers in zip(shift, ones, strict=True):
        source, target = np.nonzero(np.triu(edges < math.inf, 1))
        column = {"mu" if name == "gaussian" else "epsilon": edges[source, target]}
        graph = hetdp.DatasetGraph.from_edges(source, target, datasets=range(SIZE), **column)
        problems.append(hetdp.Problem(graph, np.where(answers, 1, 2), name))
    return Boxes(bound, ones, pins), problems


@pytest.mark.parametrize("name", FORMULAS)
def test_fair_mechanisms_under_notions_that_add_are_those_of_bisection(name):
    boxes, problems = random_boxes(name, seed=73)
    for errors, problem, pins in zip(boxes.fair(), problems, boxes.pins, strict=True):
        assert fair_errors(problem, pins).tolist() == pytest.approx(errors.tolist(), abs=1e-7)


@pytest.mark.parametrize("name", FORMULAS)
def test_extensions_under_notions_that_add_are_the_greatest_and_least_private_values(name):
    boxes, problems = random_boxes(name, seed=74)
    values = np.array([hetdp.design(problem, "balanced").probabilities for problem in problems])
    pins = np.where([problem.boundary_mask for problem in problems], values, boxes.pins)
    pins = boxes.close_downward(np.where(np.isnan(pins), 1.0, pins)) + np.where(np.isnan(pins), np.nan, 0.0)
    for best, given, problem in zip(replace(boxes, pins=pins).extension(), pins, problems, strict=True):
        found = hetdp.extend(problem, given, "reference")
        assert found.probabilities.tolist() == pytest.approx(best.tolist(), rel=1e-9, abs=1e-12)
        assert found.certificate.private
        assert found.certificate.optimal


# Closed forms on paths ------------------------------------------------------------------------------------------------


def path_extension(length: int, alpha: float, **parameters) -> hetdp.Mechanism:
    notion = parameters.pop("notion", None)
    graph = hetdp.DatasetGraph.from_edges(range(length), range(1, length + 1), **parameters)
    return hetdp.extend(hetdp.Problem(graph, [1] * (length + 1), notion), {0: alpha})


def test_the_path_from_zero_with_one_epsilon_and_delta_is_optimal_partition_selection():
    rng = random.Random(75)
    for _ in range(40):
        epsilon, delta = rng.choice([0.1, 0.5, 1.0, 3.0]), 10 ** rng.uniform(-8, -1)
        found = path_extension(60, 0.0, epsilon=epsilon, delta=delta)
        expected, w = [0.0], math.exp(epsilon)
        for _ in range(60):
            last = expected[-1]
            expected.append(min(w * last + delta, 1 - (1 - last - delta) / w, 1.0))
        assert found.probabilities.tolist() == pytest.approx(expected, rel=1e-11)
        assert found.certificate.private
        assert found.certificate.optimal


def test_on_a_path_gaussian_privacy_moves_the_quantile_and_bounded_range_the_log_odds():
    for alpha in (1e-12, 0.02, 0.5, 0.9):
        steps = np.arange(31)
        gaussian = path_extension(30, alpha, mu=0.25)
        assert gaussian.probabilities.tolist() == pytest.approx(ndtr(ndtri(alpha) + 0.25 * steps).tolist(), rel=1e-11)
        ranged = path_extension(30, alpha, epsilon=0.25, notion="bounded-range")
        assert ranged.probabilities.tolist() == pytest.approx(expit(logit(alpha) + 0.25 * steps).tolist(), rel=1e-12)
        assert gaussian.certificate.optimal
        assert ranged.certificate.optimal


def test_two_gaussian_neighbours_meet_at_half_mu_and_two_of_bounded_range_at_half_epsilon():
    graph = hetdp.DatasetGraph.from_edges([0], [1], mu=1.0)
    assert hetdp.design(hetdp.Problem(graph, [1, 2])).errors.tolist() == pytest.approx([ndtr(-0.5)] * 2, rel=1e-14)
    graph = hetdp.DatasetGraph.from_edges([0], [1], 1.0)
    ranged = hetdp.design(hetdp.Problem(graph, [1, 2], "bounded-range"))
    assert ranged.errors.tolist() == pytest.approx([expit(-0.5)] * 2, rel=1e-14)

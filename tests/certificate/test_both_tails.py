"""A certificate never calls a value optimal if its error could be smaller, in any notion and for any size of error."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hetdp
from tests.loops import for_each
from tests.mechanism.average_trials import NOTIONS

FACTORS = (1.0 + 1e-6, 1.001, 2.0, 100.0, 2981.0, 1e4)


def with_larger_error(
    problem: hetdp.Problem, mechanism: hetdp.Mechanism, dataset: int, factor: float
) -> SimpleNamespace:
    """The same claim with the error at one dataset multiplied by a factor, if the result is a probability."""
    z = mechanism.coordinates.copy()
    coordinate, answer = problem.notion.coordinate, int(problem.answers[dataset])
    error = float(coordinate.error(z[dataset], answer)) * factor
    if 0.0 < error < 1.0:
        z[dataset] = float(coordinate.from_error(error, answer))
    return SimpleNamespace(coordinates=z, pinned=mechanism.pinned, links=mechanism.links)


def stretched_path(notion: Any, seed: int) -> hetdp.Problem:
    """A path that leads far away from the one edge between the answers, so that errors become very small."""
    rng, steps = np.random.default_rng((31, seed)), 4
    largest = 5.0 if notion == "gaussian" else 12.0

    def epsilons():
        return np.concatenate([[1.0], rng.uniform(0.5 * largest, largest, steps - 1)])

    parameters = {"mu" if notion == "gaussian" else "epsilon": epsilons()}
    if notion in ("directed", "approximate"):
        parameters["epsilon_back"] = epsilons()
    if notion == "approximate":
        parameters |= {"delta": 10.0 ** rng.uniform(-30, -20, steps)}
    graph = hetdp.DatasetGraph.from_edges(range(steps), range(1, steps + 1), datasets=range(steps + 1), **parameters)
    answer = int(rng.integers(1, 3))
    return hetdp.Problem(graph, [3 - answer] + [answer] * steps, notion)


@for_each("notion", NOTIONS)
def test_an_error_that_could_be_smaller_by_any_factor_is_not_optimal(notion):
    tried = dict.fromkeys(FACTORS, 0)
    deepest = 1.0
    for seed in range(20):
        problem = stretched_path(notion, seed)
        mechanism = hetdp.design(problem, "fair", engine="reference")
        assert mechanism.certificate is not None
        assert mechanism.certificate.optimal
        for dataset in np.flatnonzero(~mechanism.pinned & (mechanism.errors > 0.0)).tolist():
            for factor in FACTORS:
                claim = with_larger_error(problem, mechanism, dataset, factor)
                found = hetdp.verify(problem, claim)
                if found.private and claim.coordinates[dataset] != mechanism.coordinates[dataset]:
                    tried[factor] += 1
                    deepest = min(deepest, float(mechanism.errors[dataset]))
                    assert not found.optimal, (seed, dataset, factor)
                    assert found.gap == math.inf
    assert min(tried.values()) >= 5
    assert deepest < 1e-9


def test_a_tiny_error_is_judged_by_its_own_size():
    """p = 1 − 1e-12 where 1 − 1e-16 would be private: the right answer's probability hardly differs, the error does."""
    for notion, more in (("directed", {}), ("approximate", {"delta": [0.0]})):
        graph = hetdp.DatasetGraph.from_edges([0], [1], [8.0], epsilon_back=[9.0], datasets=[0, 1], **more)
        problem = hetdp.Problem(graph, [1, 1], notion)
        best = hetdp.extend(problem, hetdp.PartialMechanism(error={0: 1e-9}))
        assert best.certificate is not None
        assert best.certificate.optimal
        assert best.errors[1] == pytest.approx(1e-9 * math.exp(-8.0), rel=1e-9)
        for factor in FACTORS[:-1]:
            found = hetdp.verify(problem, with_larger_error(problem, best, 1, factor))
            assert found.private
            assert not found.optimal


def test_a_gap_is_never_printed_smaller_than_it_is():
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], [0.1, 0.7], datasets=range(3))
    found = hetdp.extend(hetdp.Problem(graph, [1, 1, 1]), {0: 0.3}).certificate
    assert found is not None
    assert 0.0 < found.gap < 1e-14
    printed = float(str(found).split("gap ")[1].split(")")[0])
    assert found.gap <= printed <= found.gap * 1.1
    assert f"{printed:.1e}" in found._repr_html_()

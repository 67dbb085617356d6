"""Pins written as decimals: tight ones miss by a rounding and are closed; clear misses are refused."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import hetdp
from tests.mechanism.problems import ENGINES, bits, violated_arcs
from tests.oracle.random_problems import compatible_problems
from tests.paper.library import problem_of

PAIR = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], [1.0]), {"a": 1, "b": 2})
TIGHT = list(compatible_problems(seed=51, count=90))


def written(small, digits: int, share: float = 0.6):
    """The values of an extension, on its pins and some more datasets, as decimals of so many digits."""
    rng = random.Random(digits)
    problem = problem_of(small)
    mechanism = hetdp.extend(problem, small.pins)
    chosen = [v for v in small.answers if v in small.pins or rng.random() < share]
    return problem, {v: float(f"{mechanism[v]:.{digits}g}") for v in chosen}


@pytest.mark.parametrize("digits", [6, 7, 8, 9, 10, 12, 14, 15, 16, 17])
def test_tight_decimals_are_closed_or_refused_but_never_break_privacy(digits):
    outcomes = {"as they are": 0, "closed": 0, "refused": 0}
    for small in TIGHT[:30]:
        problem, pins = written(small, digits)
        verdict = hetdp.check(problem, pins)
        if not verdict.compatible:
            assert verdict.moved > 1e-9
            with pytest.raises(hetdp.NoExtensionError) as refused:
                hetdp.extend(problem, pins)
            assert hetdp.extend(problem, refused.value.repair.pins).certificate.private
            outcomes["refused"] += 1
            continue
        mechanism = hetdp.extend(problem, pins)
        assert mechanism.moved <= 1e-9
        assert violated_arcs(problem, mechanism.coordinates) == []
        assert mechanism.certificate.optimal
        outcomes["closed" if mechanism.moved else "as they are"] += 1
    assert digits < 12 or outcomes["refused"] == 0
    assert digits not in (12, 14, 15) or outcomes["closed"] > 3
    assert digits > 7 or outcomes["refused"] > 3


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_closed_is_the_same_on_every_engine_and_with_or_without_proof(engine):
    for small in TIGHT[30:60]:
        problem, pins = written(small, 14)
        mechanism = hetdp.extend(problem, pins, engine=engine)
        for other in (hetdp.extend(problem, pins), hetdp.extend(problem, pins, engine=engine, verify=False)):
            assert bits(other.coordinates) == bits(mechanism.coordinates)
            assert other.moved == mechanism.moved


def test_the_farthest_move_is_reported():
    for small in TIGHT[60:]:
        problem, pins = written(small, 13)
        mechanism = hetdp.extend(problem, pins)
        z = np.array([hetdp.extend(problem, pins).coordinates[v] for v in pins])
        given = np.array([_z(p) for p in pins.values()])
        with np.errstate(invalid="ignore"):
            assert float(np.nanmax(np.abs(z - given), initial=0.0)) == pytest.approx(mechanism.moved, abs=1e-15)


def _z(p: float) -> float:
    if p in (0.0, 1.0):
        return math.inf if p else -math.inf
    return math.log(2 * p) if p <= 0.5 else -math.log(2 * (1 - p))


MEETING = math.log((1 + math.e) / 2)


@pytest.mark.parametrize("miss", [0.0, 1e-16, 1e-15, 1e-12, 4e-10])
def test_a_miss_of_less_than_a_billionth_is_closed(miss):
    pins = hetdp.PartialMechanism(z={"a": MEETING + miss, "b": -MEETING})
    mechanism = hetdp.extend(PAIR, pins)
    assert mechanism.moved == pytest.approx(miss, abs=2e-15)
    assert mechanism.certificate is not None
    assert mechanism.certificate.private
    assert hetdp.check(PAIR, pins).compatible


@pytest.mark.parametrize("miss", [3e-9, 1e-8, 1e-3, 1.0])
def test_a_miss_of_more_than_a_billionth_is_refused(miss):
    pins = hetdp.PartialMechanism(z={"a": MEETING + miss, "b": -MEETING})
    assert not hetdp.check(PAIR, pins).compatible
    with pytest.raises(hetdp.NoExtensionError):
        hetdp.extend(PAIR, pins)


@pytest.mark.parametrize("z", [0.5, -1.5, 30.0])
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0])
def test_one_float_too_many_on_a_plain_edge_is_closed_exactly(z, epsilon):
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], [epsilon])
    problem = hetdp.Problem(graph, [1, 1])
    bound = hetdp.extend(problem, hetdp.PartialMechanism(z={"a": z})).coordinates[1]
    above = math.nextafter(bound, math.inf)
    mechanism = hetdp.extend(problem, hetdp.PartialMechanism(z={"a": z, "b": above}))
    assert mechanism.coordinates.tolist() == [z, bound]
    assert mechanism.moved == above - bound


def test_pins_that_fit_are_not_touched():
    mechanism = hetdp.extend(PAIR, {"a": 0.6, "b": 0.4})
    assert mechanism.moved == 0.0
    assert mechanism.coordinates.tolist() == [_z(0.6), _z(0.4)]

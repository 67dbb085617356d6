"""average: the private mechanism of the largest mean accuracy, and how far it can be from that at most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from hetdp import progress
from hetdp.engines.contract import Engine
from hetdp.engines.registry import engine_for
from hetdp.mechanism.average.bound import ROUNDING
from hetdp.mechanism.average.filling import filled_in
from hetdp.mechanism.average.nearby import improved
from hetdp.mechanism.average.program import best_on_average
from hetdp.mechanism.average.reference import mean_error, reference
from hetdp.mechanism.compatibility import NEAR_MISS
from hetdp.mechanism.extension import extend
from hetdp.mechanism.limits import Limits, limits
from hetdp.mechanism.mechanism import Mechanism, sealed
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats
from hetdp.problem.stored import explicit

CLOSE = 3e-8  # in mean accuracy; a result that is proved to be this close to the best is taken
CLOSER = 1e-8  # of the mean error; on small problems it is to be this close as well
SMALL = 5_000  # datasets, of which none is left out
MASSES = (1e-11, 0.0, 0.0)  # of weight·error left out, one round after the other


def best_average(
    problem: Problem, pins: Floats, fair: Floats, weights: Floats, max_error: float | None, engine: str
) -> Mechanism:
    """Rounds of a linear program, each in the scale of the best mechanism so far, until that is proved to be close.

    Args:
        problem: datasets, ε and query.
        pins: z of the datasets whose values are given, NaN elsewhere; compatible.
        fair: z of the fair mechanism with these pins, at every dataset.
        weights: of the mean; they add up to 1.
        max_error: what no free dataset's error may exceed; the fair mechanism's do not.
        engine: which engine searches.
    """
    if isinstance(problem.graph, ProductSpace):
        return _on_people(problem, problem.graph, pins, fair, weights, max_error, engine)
    chosen = engine_for(engine, problem.graph, problem.notion, "settle")
    allowed = limits(problem, pins, chosen, max_error)
    scale = reference(problem, fair, weights, allowed, chosen)
    best, least = _extended(problem, pins, fair, engine), 0.0
    is_close = partial(_is_close, problem.graph.size)
    for mass in MASSES if problem.graph.size > SMALL else MASSES[1:]:
        progress.stage("searching for the best average")
        answer = best_on_average(problem, scale, weights, allowed, mass)
        least = max(least, answer.error)
        for z in _private(problem, pins, answer.z, scale, weights, allowed, chosen):
            best = _better(best, _extended(problem, pins, z, engine), weights)
            if is_close(mean_error(problem, best.coordinates, weights), least):
                break
        if is_close(mean_error(problem, best.coordinates, weights), least):
            break
        if mean_error(problem, best.coordinates, weights) < mean_error(problem, scale, weights):
            scale = np.where(np.isfinite(best.coordinates), best.coordinates, scale)
    else:
        z, least = improved(problem, best.coordinates, weights, allowed, chosen, least, is_close)
        best = _better(best, _extended(problem, pins, z, engine), weights)
    gap = max(0.0, mean_error(problem, best.coordinates, weights) * (1.0 + ROUNDING) - least)
    return sealed(replace(best, objective="average", objective_gap=gap, given=~np.isnan(pins)))


def _is_close(size: int, error: float, least: float) -> bool:
    """Whether the mean error of a mechanism is proved to be near the least possible one."""
    return error - least <= (CLOSE if size > SMALL else min(CLOSE, CLOSER * error))


def _better(one: Mechanism, other: Mechanism, weights: Floats) -> Mechanism:
    """The one with the smaller mean error; of equals the first, and also where the other would move given values."""
    assert isinstance(one.problem, Problem)
    if other.moved > NEAR_MISS:
        return one
    problem = one.problem
    return min(one, other, key=lambda mechanism: mean_error(problem, mechanism.coordinates, weights))


def _on_people(
    problem: Problem,
    space: ProductSpace,
    pins: Floats,
    fair: Floats,
    weights: Floats,
    max_error: float | None,
    engine: str,
) -> Mechanism:
    """The same on people: searched with edges that are stored, for which the program has rows; proved on their own."""
    stored = Problem(explicit(space), problem.answers, problem.notion.name)
    found = best_average(stored, pins, fair, weights, max_error, engine)
    best = _extended(problem, pins, found.coordinates, engine)
    best = replace(best, objective=found.objective, objective_gap=found.objective_gap)
    return sealed(replace(best, given=~np.isnan(pins)))


def _private(
    problem: Problem, pins: Floats, z: Floats, scale: Floats, weights: Floats, allowed: Limits, engine: Engine
) -> Iterator[Floats]:
    """Private mechanisms near what a solver found, the most promising first; the last ones hold where it is far off."""
    whole = np.where(np.isnan(z), scale, z)
    for values in (z, whole, scale):
        yield filled_in(problem, pins, values, weights, engine)
    for values in (whole, scale):
        yield allowed.between(engine.grow(problem.graph, problem.notion, values).labels)
        yield allowed.between(-engine.grow(problem.graph, problem.notion, -values).labels)
    yield from (allowed.most, allowed.least)


def _extended(problem: Problem, pins: Floats, z: Floats, engine: str) -> Mechanism:
    """The best mechanism with these values at the boundary, and the given ones."""
    kept = np.where(np.isnan(pins), np.where(problem.boundary_mask, z, np.nan), pins)
    return extend(problem, PartialMechanism(z=kept), engine)

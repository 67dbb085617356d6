"""From a solver's values to a private mechanism: what contradicts is left aside, the rest closed and filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from hetdp import progress
from hetdp.engines.contract import Engine, Growth
from hetdp.engines.registry import engine_for
from hetdp.mechanism.average.program import best_nearby, best_on_average, mean_error, reference
from hetdp.mechanism.average.solver import ROUNDING
from hetdp.mechanism.compatibility import NEAR_MISS, Limits, drops, limits
from hetdp.mechanism.extension import extend
from hetdp.mechanism.mechanism import LocalMechanism, sealed
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace, as_graph
from hetdp.problem.space import Floats, Indices

NOISE = 1e-5  # in z; a solver's tolerance, along a path
NOISE_IN_P = (
    1e-8  # what that tolerance may be in p where z has a tail that no tolerance keeps: next to one that is not small
)
ROUNDS = 20


def filled_in(problem: Problem, pins: Floats, z: Floats, weights: Floats, engine: Engine) -> Floats:
    """A private mechanism near the values, NaN where there are none: closed downward, the rest filled in fairly."""
    graph, notion, ones = problem.graph, problem.notion, problem.answers == 1
    kept, growth = _without_contradictions(problem, pins, z, weights, engine)
    given = ~np.isnan(kept)
    closed = np.where(given, growth.labels, np.nan)
    signed = np.where(ones, closed, -closed)
    labels = engine.settle(graph, notion, problem.answers, signed if given.any() else None).labels
    return engine.grow(graph, notion, np.where(ones, labels, -labels) + 0.0).labels


def _without_contradictions(
    problem: Problem, pins: Floats, z: Floats, weights: Floats, engine: Engine
) -> tuple[Floats, Growth]:
    """The values without those that contradict others by more than noise, and the growth from what is left.

    A value that lies too low pulls down all that it is connected to: one that weighs less than what it pulls down goes;
    otherwise, what it pulls down. Such values are of datasets whose neighbours were left out of the program.
    """
    free = np.isnan(pins)
    kept = np.where(free, z, pins)
    for _ in range(ROUNDS):
        growth = engine.grow(problem.graph, problem.notion, np.where(np.isnan(kept), np.inf, kept))
        fell = drops(kept, growth.labels) > NOISE
        if not problem.notion.adds:
            probability = problem.notion.coordinate.probability
            fell &= ~(probability(kept) - probability(growth.labels) <= NOISE_IN_P)
        if not fell.any():
            return kept, growth
        origin = _origins(growth)
        harm = np.bincount(origin[fell], np.where(free, weights, np.inf)[fell], len(kept))
        harmful = free & (harm > weights)
        kept[free & (harmful | (fell & ~harmful[origin]))] = np.nan
    kept = pins
    return kept, engine.grow(problem.graph, problem.notion, np.where(free, np.inf, kept))


def _origins(growth: Growth) -> Indices:
    """For each dataset the one from which its label came in the end."""
    origin = np.where(growth.links < 0, np.arange(len(growth.links)), growth.links)
    while True:
        further = origin[origin]
        if np.array_equal(further, origin):
            return origin
        origin = further


# Rounds of linear programs close to the best mechanism so far, for problems on which one program is not enough.


SHALLOW = (1e-10, 1e-3, 1e-6, 1e-10)  # of the mean error: no tail is smaller, and no more than this is lost by that
SMALLEST = 1e-20
NEARBY_ROUNDS = 80
FACTORS = (1.5, 20.0, 1e3)  # by which a tail may change in a round: at least, at first, at most
PATIENCE = 4  # rounds without progress before the search ends
PROGRESS = 1e-11  # of the mean error; less is none


def improved(
    problem: Problem,
    z: Floats,
    weights: Floats,
    allowed: Limits,
    engine: Engine,
    least: float,
    is_close: Callable[[float, float], bool],
) -> tuple[Floats, float]:
    """A private mechanism that is at least as good, and the largest lower bound on the mean error that was found.

    Args:
        problem: datasets, ε and query.
        z: a private mechanism within the limits, at every dataset.
        weights: of the mean; they add up to 1.
        allowed: what given values, and a largest error, allow.
        engine: which engine makes values private.
        least: a lower bound on the mean error that is known already.
        is_close: whether an error and a bound are close enough.
    """
    best = z
    for shallow in SHALLOW:
        z, least = _rounds(problem, z, weights, allowed, engine, least, is_close, shallow)
        best = min(best, z, key=lambda z: mean_error(problem, z, weights))
        if is_close(mean_error(problem, best, weights), least):
            break
    return best, least


def _rounds(
    problem: Problem,
    z: Floats,
    weights: Floats,
    allowed: Limits,
    engine: Engine,
    least: float,
    is_close: Callable[[float, float], bool],
    shallow: float,
) -> tuple[Floats, float]:
    """The same for mechanisms without tails below a part of the mean error."""
    smallest = max(shallow * mean_error(problem, z, weights), SMALLEST)
    best = _shallow(problem, z, allowed, smallest)
    error, factor, stalled = mean_error(problem, best, weights), FACTORS[1], 0
    for _ in range(NEARBY_ROUNDS):
        if is_close(error, least) or stalled == PATIENCE:
            break
        answer = best_nearby(problem, best, weights, allowed, factor, 1.01 * smallest)
        candidates = [_shallow(problem, z, allowed, smallest) for z in _private(problem, answer.z, engine)]
        errors = [mean_error(problem, z, weights) for z in candidates]
        gain, hoped = error - min(errors), error - mean_error(problem, answer.z, weights)
        moved = max(gain, answer.error - least) > PROGRESS * error
        stalled = 0 if moved else stalled + 1
        if gain > 0.0:
            best, error = candidates[int(np.argmin(errors))], min(errors)
        least = max(least, answer.error)
        factor = min(factor**1.5, FACTORS[2]) if gain > 0.5 * hoped and moved else max(factor**0.6, FACTORS[0])
    return best, least


def _shallow(problem: Problem, z: Floats, allowed: Limits, smallest: float) -> Floats:
    """The same mechanism without deep tails, as far as it is allowed; if it was private, it still is."""
    deepest = -float(problem.notion.coordinate.of_tail(np.array(smallest)))
    return allowed.between(np.clip(z, -deepest, deepest))


def _private(problem: Problem, z: Floats, engine: Engine) -> list[Floats]:
    """The values lowered until they are private, and raised."""
    lowered = engine.grow(problem.graph, problem.notion, z).labels
    return [lowered, -engine.grow(problem.graph, problem.notion, -z).labels + 0.0]


# average: the private mechanism of the largest mean accuracy, and how far it can be from that at most.


CLOSE = 3e-8  # in mean accuracy; a result that is proved to be this close to the best is taken
CLOSER = 1e-8  # of the mean error; on small problems it is to be this close as well
SMALL = 5_000  # datasets, of which none is left out
MASSES = (1e-11, 0.0, 0.0)  # of weight·error left out, one round after the other


def best_average(
    problem: Problem, pins: Floats, fair: Floats, weights: Floats, max_error: float | None, engine: str
) -> LocalMechanism:
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
        progress.report_stage("searching for the best average")
        answer = best_on_average(problem, scale, weights, allowed, mass)
        least = max(least, answer.error)
        for z in _proved_private(problem, pins, answer.z, scale, weights, allowed, chosen):
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


def _better(one: LocalMechanism, other: LocalMechanism, weights: Floats) -> LocalMechanism:
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
) -> LocalMechanism:
    """The same on people: searched with edges that are stored, for which the program has rows; proved on their own."""
    stored = Problem(as_graph(space), problem.answers, problem.notion)
    found = best_average(stored, pins, fair, weights, max_error, engine)
    best = _extended(problem, pins, found.coordinates, engine)
    best = replace(best, objective=found.objective, objective_gap=found.objective_gap)
    return sealed(replace(best, given=~np.isnan(pins)))


def _proved_private(
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


def _extended(problem: Problem, pins: Floats, z: Floats, engine: str) -> LocalMechanism:
    """The best mechanism with these values at the boundary, and the given ones."""
    kept = np.where(np.isnan(pins), np.where(problem.boundary_mask, z, np.nan), pins)
    return extend(problem, PartialMechanism(z=kept), engine)

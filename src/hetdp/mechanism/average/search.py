"""best_average: the private mechanism with the largest mean accuracy, with a proved bound on its distance to the best.

Each round solves a linear program in the scale of the best mechanism so far. Its values are made private: those that
contradict others are dropped, the rest are closed downward and completed fairly. If this does not get close enough to
the proved bound, further rounds search near the best mechanism so far. docs/theory/average.md has the proofs.

The reference is the best mechanism known at the start: its tails give the scale of every variable. The fair mechanism
is far from the best average where people have very different ε. A weighted vote, in which every step away from one far
dataset counts by its ε, is close to it. On any graph this is a growth from the deepest dataset of one answer, shifted
to where the average is best. Where edges do not add far from ½ (with δ, or without a bound in one direction) the vote
is not private, and it is lowered until it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from hetdp import progress
from hetdp.engines.contract import Engine, Growth
from hetdp.engines.registry import EngineName, engine_for
from hetdp.mechanism.average.program import best_nearby, best_on_average, mean_error
from hetdp.mechanism.average.solver import ROUNDING
from hetdp.mechanism.extension import extend_local
from hetdp.mechanism.mechanism import LocalMechanism, seal
from hetdp.mechanism.repair import Limits, limits
from hetdp.mechanism.steps import NEAR_MISS, drops
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace, as_graph
from hetdp.problem.space import Floats, Indices

NOISE = 1e-5  # in z: the solver's tolerance, accumulated along a path
NOISE_IN_P = 1e-8  # the same in p, for notions where a small tail next to a large one is lost in the tolerance
ROUNDS = 20
FAR_BELOW = 1e4  # so far below ½ that a growth from there never reaches it
SHIFTS = 24  # steps of the golden-section search


def complete_fairly(problem: Problem, pins: Floats, z: Floats, weights: Floats, engine: Engine) -> Floats:
    """A private mechanism near the values (NaN where there are none): closed downward and completed fairly."""
    graph, notion, ones = problem.graph, problem.notion, problem.answers == 1
    consistent, growth = _without_contradictions(problem, pins, z, weights, engine)
    given = ~np.isnan(consistent)
    closed = np.where(given, growth.labels, np.nan)
    signed = np.where(ones, closed, -closed)
    labels = engine.settle(graph, notion, problem.answers, signed if given.any() else None).labels
    return engine.grow(graph, notion, np.where(ones, labels, -labels) + 0.0).labels


def _without_contradictions(
    problem: Problem, pins: Floats, z: Floats, weights: Floats, engine: Engine
) -> tuple[Floats, Growth]:
    """Drops values that contradict others by more than noise; returns the rest and the growth from them.

    A value that is too low lowers everything it is connected to. It is dropped if it weighs less than what it lowers;
    otherwise the values it lowers are dropped. Such values belong to datasets whose neighbours are not in the program.
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
    """For each dataset, the dataset from which its label originates."""
    origin = np.where(growth.links < 0, np.arange(len(growth.links)), growth.links)
    while True:
        further = origin[origin]
        if np.array_equal(further, origin):
            return origin
        origin = further


# Rounds near the best mechanism so far --------------------------------------------------------------------------------


SMALLEST_TAILS = (1e-10, 1e-3, 1e-6, 1e-10)  # the smallest tail in a series of rounds, relative to the mean error
SMALLEST = 1e-20
NEARBY_ROUNDS = 80
FACTORS = (1.5, 20.0, 1e3)  # the factor by which a tail may change in a round: least, first, largest
MOST_IDLE_ROUNDS = 4  # rounds without progress before the search ends
LEAST_PROGRESS = 1e-11  # a smaller relative change of the mean error is no progress


def improve_nearby(
    problem: Problem,
    z: Floats,
    weights: Floats,
    allowed: Limits,
    engine: Engine,
    least: float,
    is_close: Callable[[float, float], bool],
) -> tuple[Floats, float]:
    """Improves a private mechanism; returns it with the largest lower bound on the mean error that was found.

    Args:
        problem: datasets, ε and query.
        z: a private mechanism within the limits, at every dataset.
        weights: the weights of the mean; they add up to 1.
        allowed: the limits set by given values and a largest error.
        engine: the engine that makes values private.
        least: the lower bound on the mean error that is known so far.
        is_close: whether an error and a bound are close enough.
    """
    best = z
    for shallow in SMALLEST_TAILS:
        z, least = _improve_without_deep_tails(problem, z, weights, allowed, engine, least, is_close, shallow)
        best = min(best, z, key=lambda z: mean_error(problem, z, weights))
        if is_close(mean_error(problem, best, weights), least):
            break
    return best, least


def _improve_without_deep_tails(
    problem: Problem,
    z: Floats,
    weights: Floats,
    allowed: Limits,
    engine: Engine,
    least: float,
    is_close: Callable[[float, float], bool],
    shallow: float,
) -> tuple[Floats, float]:
    """One series of rounds, over mechanisms without tails smaller than `shallow` times the mean error."""
    smallest = max(shallow * mean_error(problem, z, weights), SMALLEST)
    best = _clip_tails(problem, z, allowed, smallest)
    error, factor, stalled = mean_error(problem, best, weights), FACTORS[1], 0
    for _ in range(NEARBY_ROUNDS):
        if is_close(error, least) or stalled == MOST_IDLE_ROUNDS:
            break
        answer = best_nearby(problem, best, weights, allowed, factor, 1.01 * smallest)
        candidates = [_clip_tails(problem, z, allowed, smallest) for z in _make_private(problem, answer.z, engine)]
        errors = [mean_error(problem, z, weights) for z in candidates]
        gain, hoped = error - min(errors), error - mean_error(problem, answer.z, weights)
        moved = max(gain, answer.error - least) > LEAST_PROGRESS * error
        stalled = 0 if moved else stalled + 1
        if gain > 0.0:
            best, error = candidates[int(np.argmin(errors))], min(errors)
        least = max(least, answer.error)
        factor = min(factor**1.5, FACTORS[2]) if gain > 0.5 * hoped and moved else max(factor**0.6, FACTORS[0])
    return best, least


def _clip_tails(problem: Problem, z: Floats, allowed: Limits, smallest: float) -> Floats:
    """Clips deep tails as far as the limits allow. A private mechanism stays private."""
    deepest = -float(problem.notion.coordinate.of_tail(np.array(smallest)))
    return allowed.between(np.clip(z, -deepest, deepest))


def _make_private(problem: Problem, z: Floats, engine: Engine) -> list[Floats]:
    """Two private mechanisms near the values: one by lowering them and one by raising them."""
    lowered = engine.grow(problem.graph, problem.notion, z).labels
    return [lowered, -engine.grow(problem.graph, problem.notion, -z).labels + 0.0]


# The search -----------------------------------------------------------------------------------------------------------


ACCEPTED_GAP = 3e-8  # a result that is proved to be this close to the best mean accuracy is accepted
ACCEPTED_RELATIVE_GAP = 1e-8  # the same relative to the mean error, required in addition on small problems
SMALL_PROBLEM = 5_000  # up to this many datasets, no dataset is left out
MASSES = (1e-11, 0.0, 0.0)  # the weight·error left out in each round


def best_average(
    problem: Problem, pins: Floats, fair: Floats, weights: Floats, max_error: float | None, engine: EngineName
) -> LocalMechanism:
    """Searches for the best mean accuracy until the result is proved to be close to it.

    Args:
        problem: datasets, ε and query.
        pins: z of the datasets whose values are given, NaN elsewhere; compatible.
        fair: z of the fair mechanism with these pins, at every dataset.
        weights: the weights of the mean; they add up to 1.
        max_error: the largest error of a free dataset; the fair mechanism satisfies it.
        engine: the engine that searches.
    """
    if isinstance(problem.graph, ProductSpace):
        return _best_average_of_people(problem, problem.graph, pins, fair, weights, max_error, engine)
    chosen = engine_for(engine, problem.graph, problem.notion, "settle")
    allowed = limits(problem, pins, chosen, max_error)
    scale = reference(problem, fair, weights, allowed, chosen)
    best, least = _extend(problem, pins, fair, engine), 0.0
    is_close = partial(_is_close, problem.graph.size)
    for mass in MASSES if problem.graph.size > SMALL_PROBLEM else MASSES[1:]:
        progress.report_stage("searching for the best average")
        answer = best_on_average(problem, scale, weights, allowed, mass)
        least = max(least, answer.error)
        for z in _private_candidates(problem, pins, answer.z, scale, weights, allowed, chosen):
            best = _better_of(best, _extend(problem, pins, z, engine), weights)
            if is_close(mean_error(problem, best.coordinates, weights), least):
                break
        if is_close(mean_error(problem, best.coordinates, weights), least):
            break
        if mean_error(problem, best.coordinates, weights) < mean_error(problem, scale, weights):
            scale = np.where(np.isfinite(best.coordinates), best.coordinates, scale)
    else:
        z, least = improve_nearby(problem, best.coordinates, weights, allowed, chosen, least, is_close)
        best = _better_of(best, _extend(problem, pins, z, engine), weights)
    gap = max(0.0, mean_error(problem, best.coordinates, weights) * (1.0 + ROUNDING) - least)
    return seal(replace(best, objective="average", objective_gap=gap, given=~np.isnan(pins)))


def _is_close(size: int, error: float, least: float) -> bool:
    """True if the mean error of a mechanism is proved to be close to the least possible one."""
    return error - least <= (ACCEPTED_GAP if size > SMALL_PROBLEM else min(ACCEPTED_GAP, ACCEPTED_RELATIVE_GAP * error))


def _better_of(one: LocalMechanism, other: LocalMechanism, weights: Floats) -> LocalMechanism:
    """The mechanism with the smaller mean error; the first if they are equal or if the other moves given values."""
    assert isinstance(one.problem, Problem)
    if other.moved > NEAR_MISS:
        return one
    problem = one.problem
    return min(one, other, key=lambda mechanism: mean_error(problem, mechanism.coordinates, weights))


def _best_average_of_people(
    problem: Problem,
    space: ProductSpace,
    pins: Floats,
    fair: Floats,
    weights: Floats,
    max_error: float | None,
    engine: EngineName,
) -> LocalMechanism:
    """`best_average` on a space of people: the search stores the edges; the result is proved on the space itself."""
    stored = Problem(as_graph(space), problem.answers, problem.notion)
    found = best_average(stored, pins, fair, weights, max_error, engine)
    best = _extend(problem, pins, found.coordinates, engine)
    best = replace(best, objective=found.objective, objective_gap=found.objective_gap)
    return seal(replace(best, given=~np.isnan(pins)))


def _private_candidates(
    problem: Problem, pins: Floats, z: Floats, scale: Floats, weights: Floats, allowed: Limits, engine: Engine
) -> Iterator[Floats]:
    """Private mechanisms near a solver's values, the most promising first; the last ones are fallbacks."""
    whole = np.where(np.isnan(z), scale, z)
    for values in (z, whole, scale):
        yield complete_fairly(problem, pins, values, weights, engine)
    for values in (whole, scale):
        yield allowed.between(engine.grow(problem.graph, problem.notion, values).labels)
        yield allowed.between(-engine.grow(problem.graph, problem.notion, -values).labels)
    yield from (allowed.most, allowed.least)


def _extend(problem: Problem, pins: Floats, z: Floats, engine: EngineName) -> LocalMechanism:
    """Extends these values at the boundary, together with the given values."""
    boundary_values = np.where(np.isnan(pins), np.where(problem.boundary_mask, z, np.nan), pins)
    return extend_local(problem, boundary_values, engine)


# The reference --------------------------------------------------------------------------------------------------------


def reference(problem: Problem, fair: Floats, weights: Floats, allowed: Limits, engine: Engine) -> Floats:
    """z of the fair mechanism or of a vote, whichever is better on average."""
    candidates = [fair, *(allowed.between(vote) for vote in _votes(problem, fair, weights, engine))]
    return min(candidates, key=lambda z: mean_error(problem, z, weights))


def _votes(problem: Problem, fair: Floats, weights: Floats, engine: Engine) -> Iterator[Floats]:
    for answer, sign in ((2, 1.0), (1, -1.0)):
        depth = np.where((problem.answers == answer) & np.isfinite(fair), -sign * fair, -np.inf)
        if not np.isfinite(depth).any():
            continue
        start = np.full(len(fair), np.inf)
        start[int(np.argmax(depth))] = -FAR_BELOW
        away = engine.grow(problem.graph, problem.notion, start).labels + FAR_BELOW
        reached = away < (np.inf if problem.notion.adds else 0.5 * FAR_BELOW)  # z stays away from p = ½
        where = away[reached & problem.boundary_mask]
        if len(where):
            away = np.where(reached, away, np.inf)
            shift = _best_shift(problem, away, sign, weights, (float(where.min()), float(where.max())))
            vote = np.where(reached, sign * (away - shift), fair)
            yield engine.grow(problem.graph, problem.notion, vote).labels if not problem.notion.adds else vote


def _best_shift(problem: Problem, away: Floats, sign: float, weights: Floats, between: tuple[float, float]) -> float:
    """The best shift, approximately, by golden-section search."""
    counted = np.where(np.isfinite(away), weights, 0.0)
    far = np.where(np.isfinite(away), away, 0.0)

    def loss(shift: float) -> float:
        return mean_error(problem, sign * (far - shift), counted)

    low, high = between
    for _ in range(SHIFTS):
        left, right = low + 0.382 * (high - low), low + 0.618 * (high - low)
        low, high = (left, high) if loss(left) > loss(right) else (low, right)
    return (low + high) / 2.0

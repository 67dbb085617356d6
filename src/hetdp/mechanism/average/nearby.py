"""Rounds of linear programs close to the best mechanism so far, for problems on which one program is not enough.

A program in the scale of a reference is exact where its solution has tails of about the same size. Where the best
mechanism is far from the reference, a solver's tolerance may be larger than a tail that others hang on. So each round
here lets no tail change by more than a factor: the solution is exact, making it private costs next to nothing, and it
is the next reference. Since the set of private mechanisms is convex, a round that gains nothing has found the best.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetdp.engines.contract import Engine
from hetdp.mechanism.average.program import best_nearby
from hetdp.mechanism.average.reference import mean_error
from hetdp.mechanism.limits import Limits
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats

SHALLOW = (1e-10, 1e-3, 1e-6, 1e-10)  # of the mean error: no tail is smaller, and no more than this is lost by that
SMALLEST = 1e-20
ROUNDS = 80
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
    for _ in range(ROUNDS):
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

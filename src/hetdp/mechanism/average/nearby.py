"""Rounds of linear programs close to the best mechanism so far, for problems on which one program is not enough.

A program in the scale of a reference is exact where its solution has tails of about the same size. Where the best
mechanism is far from the reference, a solver's tolerance may be larger than a tail that others hang on. So each round
here lets no tail change by more than a factor: the solution is exact, making it private costs next to nothing, and it
is the next reference. Since the set of private mechanisms is convex, a round that gains nothing has found the best.
"""

from __future__ import annotations

import numpy as np

from hetdp.engines.contract import Engine
from hetdp.mechanism.average.program import best_nearby
from hetdp.mechanism.average.reference import mean_error
from hetdp.mechanism.limits import Limits
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats

SHALLOW = 1e-10  # no tail is smaller here: with all of them, what is lost is less than this
ROUNDS = 80
FACTORS = (1.5, 20.0, 1e3)  # by which a tail may change in a round: at least, at first, at most
PATIENCE = 4  # rounds without progress before the search ends
PROGRESS = 1e-11


def improved(
    problem: Problem, z: Floats, weights: Floats, allowed: Limits, engine: Engine, least: float, close: float
) -> tuple[Floats, float]:
    """A private mechanism that is at least as good, and the largest lower bound on the mean error that was found.

    Args:
        problem: datasets, ε and query.
        z: a private mechanism within the limits, at every dataset.
        weights: of the mean; they add up to 1.
        allowed: what given values, and a largest error, allow.
        engine: which engine makes values private.
        least: a lower bound on the mean error that is known already.
        close: the distance between the two that is small enough.
    """
    best = _shallow(problem, z, allowed)
    error, factor, stalled = mean_error(problem, best, weights), FACTORS[1], 0
    for _ in range(ROUNDS):
        if error - least <= close or stalled == PATIENCE:
            break
        answer = best_nearby(problem, best, weights, allowed, factor, 1.01 * SHALLOW)
        candidates = [_shallow(problem, z, allowed) for z in _private(problem, answer.z, engine)]
        errors = [mean_error(problem, z, weights) for z in candidates]
        gain, hoped = error - min(errors), error - mean_error(problem, answer.z, weights)
        moved = gain > PROGRESS or answer.error > least + PROGRESS
        stalled = 0 if moved else stalled + 1
        if gain > 0.0:
            best, error = candidates[int(np.argmin(errors))], min(errors)
        least = max(least, answer.error)
        factor = min(factor**1.5, FACTORS[2]) if gain > 0.5 * hoped and moved else max(factor**0.6, FACTORS[0])
    return best, least


def _shallow(problem: Problem, z: Floats, allowed: Limits) -> Floats:
    """The same mechanism without deep tails, as far as it is allowed; if it was private, it still is."""
    deepest = -float(problem.notion.coordinate.of_tail(np.array(SHALLOW)))
    return allowed.between(np.clip(z, -deepest, deepest))


def _private(problem: Problem, z: Floats, engine: Engine) -> list[Floats]:
    """The values lowered until they are private, and raised."""
    lowered = engine.grow(problem.graph, problem.notion, z).labels
    return [lowered, -engine.grow(problem.graph, problem.notion, -z).labels + 0.0]

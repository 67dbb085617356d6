"""Where the linear program starts from: the best mechanism at hand, whose tails give the scale of every variable.

The fair mechanism is far from the best average where people have very different ε. There a weighted vote is near it, in
which every step away from one far dataset counts by its ε. On any graph that is a growth from the deepest dataset of
one answer, shifted to where the average is best. Where an edge is no addition far from ½ either (with δ, or nothing
promised in one direction) that is not private, and is lowered until it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hetdp.engines.contract import Engine
from hetdp.mechanism.limits import Limits
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats

FAR = 1e4  # so far below ½ that a growth from there never meets it
SHIFTS = 24  # of the golden section


def mean_error(problem: Problem, z: Floats, weights: Floats) -> float:
    """The mean probability of the wrong answer."""
    return float(
        np.sum(weights * problem.notion.coordinate.error(z, problem.answers))
    )  # `@` may differ from run to run


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
        start[int(np.argmax(depth))] = -FAR
        away = engine.grow(problem.graph, problem.notion, start).labels + FAR
        reached = away < (0.5 * FAR if problem.notion.is_directed else np.inf)  # and never came near ½
        where = away[reached & problem.boundary_mask]
        if len(where):
            away = np.where(reached, away, np.inf)
            shift = _best_shift(problem, away, sign, weights, (float(where.min()), float(where.max())))
            vote = np.where(reached, sign * (away - shift), fair)
            yield engine.grow(problem.graph, problem.notion, vote).labels if problem.notion.is_directed else vote


def _best_shift(problem: Problem, away: Floats, sign: float, weights: Floats, between: tuple[float, float]) -> float:
    """By golden section; it need not be the very best."""
    counted = np.where(np.isfinite(away), weights, 0.0)
    far = np.where(np.isfinite(away), away, 0.0)

    def loss(shift: float) -> float:
        return mean_error(problem, sign * (far - shift), counted)

    low, high = between
    for _ in range(SHIFTS):
        left, right = low + 0.382 * (high - low), low + 0.618 * (high - low)
        low, high = (left, high) if loss(left) > loss(right) else (low, right)
    return (low + high) / 2.0

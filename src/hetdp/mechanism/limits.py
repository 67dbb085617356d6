"""The greatest and the least private mechanism that given values, and a largest error, allow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetdp.engines.contract import Engine
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats


class Limits(NamedTuple):
    """z at every dataset; every private mechanism with the given values lies between, and both are private."""

    least: Floats
    most: Floats

    @classmethod
    def of(cls, most: Floats, below: Floats) -> Limits:
        """From the labels of two growths, from the values and from their negatives."""
        return cls(-below + 0.0, np.maximum(most, -below) + 0.0)

    def between(self, z: Floats) -> Floats:
        """The same mechanism, moved to where it is allowed; if it was private, it still is."""
        return np.maximum(self.least, np.minimum(self.most, z))


def limits(problem: Problem, pins: Floats, engine: Engine, max_error: float | None = None) -> Limits:
    """Two growths over all edges, from the pins and from what the largest error demands of free datasets."""
    free, ones = np.isnan(pins), problem.answers == 1
    above, below = np.where(free, np.inf, pins), np.where(free, np.inf, -pins)
    if max_error is not None:
        worst = problem.notion.coordinate.from_error(np.full(len(pins), max_error), problem.answers)
        above = np.where(free & ~ones, worst, above)
        below = np.where(free & ones, -worst, below)
    most, least = (engine.grow(problem.graph, problem.notion, start).labels for start in (above, below))
    return Limits.of(most, least)

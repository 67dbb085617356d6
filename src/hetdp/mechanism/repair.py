"""Repair: what incompatible pins could be instead; and the limits that given values put on every private mechanism.

docs/theory/compatibility-and-repair.md has the proofs.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from hetdp.engines.contract import Engine
from hetdp.problem.labels import Labels
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats


class Repair:
    """Compatible values near incompatible pins; everything is computed when first asked for.

    All mappings go from the label of a pinned dataset to a probability. The middle of the greatest compatible values
    below and the least above is a compromise that extends; it need not be the nearest one.
    """

    def __init__(self, problem: Problem, pins: Floats, engine: Engine) -> None:
        self._problem, self._pins, self._engine = problem, pins, engine
        self._coordinate = problem.notion.coordinate
        self._where = np.flatnonzero(~np.isnan(pins))

    def __repr__(self) -> str:
        return f"Repair({len(self._where)} pins; .pins extends, .below, .above, .intervals())"

    @property
    def labels(self) -> Labels:
        """The names of the problem's datasets, both ways."""
        return self._problem.labels

    @property
    def below(self) -> dict[Any, float]:
        """The greatest compatible p that is nowhere above the given one."""
        return self._by_label(self._coordinate.probability(self._below))

    @property
    def above(self) -> dict[Any, float]:
        """The least compatible p that is nowhere below the given one."""
        return self._by_label(self._coordinate.probability(self._above))

    @cached_property
    def pins(self) -> PartialMechanism:
        """The compromise, ready for `extend`: the middle in p of `below` and `above`, as z, so that nothing is lost."""
        middle = np.full(len(self._pins), np.nan)
        middle[self._where] = self._coordinate.middle(self._below, self._above)
        closed = self._grow(middle)[self._where]
        return PartialMechanism(z=self._by_label(closed))

    @property
    def probabilities(self) -> dict[Any, float]:
        """The compromise as p, for reading."""
        return self._by_label(self._coordinate.probability(np.array(list(self.pins.z.values()))))

    def intervals(self) -> dict[Any, tuple[float, float]]:
        """For each pin the least and the greatest p it could take if all others stayed; if none would do, low > high.

        Any two pins differ in some bit of their number, so growing from the pins with that bit set, and from those
        without, for every bit, lets each pin hear from every other and never from itself.
        """
        high = self._from_others(self._pins)
        low = -self._from_others(-self._pins)
        bounds = zip(
            self._coordinate.probability(low).tolist(), self._coordinate.probability(high).tolist(), strict=True
        )
        return dict(zip(self._labels, bounds, strict=True))

    @cached_property
    def _below(self) -> Floats:
        return self._grow(self._pins)[self._where]

    @cached_property
    def _above(self) -> Floats:
        return -self._grow(-self._pins)[self._where]

    @cached_property
    def _labels(self) -> list[Any]:
        return [self._problem.graph.label(index) for index in self._where.tolist()]

    def _by_label(self, values: Floats) -> dict[Any, float]:
        return dict(zip(self._labels, values.tolist(), strict=True))

    def _grow(self, pins: Floats) -> Floats:
        start = np.where(np.isnan(pins), np.inf, pins)
        return self._engine.grow(self._problem.graph, self._problem.notion, start).labels

    def _from_others(self, pins: Floats) -> Floats:
        numbers = np.arange(len(self._where))
        bound = np.full(len(self._where), np.inf)
        for bit in range(len(numbers).bit_length()):
            for side in (0, 1):
                speaks = (numbers >> bit) & 1 == side
                some = np.full(len(pins), np.nan)
                some[self._where[speaks]] = pins[self._where[speaks]]
                heard = self._grow(some)[self._where]
                bound = np.where(speaks, bound, np.minimum(bound, heard))
        return bound


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

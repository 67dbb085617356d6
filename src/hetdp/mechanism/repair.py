"""Compatible values near incompatible pins, and the limits that given values impose on every private mechanism.

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
from hetdp.problem.spelling import spell_label
from hetdp.text import html_table, pluralize


class Repair:
    """Compatible values near incompatible pins, computed on first access.

    All mappings go from the label of a pinned dataset to a probability. The midpoint of the greatest compatible values
    below and the smallest above is a compromise that can be extended; it need not be the nearest one.
    """

    def __init__(self, problem: Problem, pins: Floats, engine: Engine) -> None:
        self._problem, self._pins, self._engine = problem, pins, engine
        self._coordinate = problem.notion.coordinate
        self._where = np.flatnonzero(~np.isnan(pins))

    def __repr__(self) -> str:
        return f"Repair({pluralize(len(self._where), 'pin')}; .pins extends, .below, .above, .intervals())"

    def _repr_html_(self) -> str:
        """For notebooks: the given values, and compatible ones around them."""
        given = self._coordinate.probability(self._pins[self._where]).tolist()
        columns = (self._labels, given, self.probabilities.values(), self.below.values(), self.above.values())
        rows = [(spell_label(label, self.labels), *rest) for label, *rest in zip(*columns, strict=True)]
        header = ["dataset", "p given", "p that works", "greatest below", "smallest above"]
        return html_table("Compatible values", header, rows)

    @property
    def labels(self) -> Labels:
        """The labels of the problem's datasets."""
        return self._problem.labels

    @property
    def below(self) -> dict[Any, float]:
        """The greatest compatible p that nowhere exceeds the given one."""
        return self._by_label(self._coordinate.probability(self._below))

    @property
    def above(self) -> dict[Any, float]:
        """The smallest compatible p that is nowhere below the given one."""
        return self._by_label(self._coordinate.probability(self._above))

    @cached_property
    def pins(self) -> PartialMechanism:
        """The compromise, ready for `extend`: the midpoint in p of `below` and `above`, as z to keep precision."""
        middle = np.full(len(self._pins), np.nan)
        middle[self._where] = self._coordinate.middle(self._below, self._above)
        closed = self._grow(middle)[self._where]
        return PartialMechanism(z=self._by_label(closed))

    @property
    def probabilities(self) -> dict[Any, float]:
        """The compromise as p, for reading."""
        return self._by_label(self._coordinate.probability(np.array(list(self.pins.z.values()))))

    def intervals(self) -> dict[Any, tuple[float, float]]:
        """For each pin the smallest and largest p that it could take if all others stayed; low > high if there is none.

        Any two pins differ in some bit of their number. So for every bit, one growth starts from the pins with that bit
        set and one from those without: together they bring each pin the bounds of all others, but never its own.
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
                others_bound = self._grow(some)[self._where]
                bound = np.where(speaks, bound, np.minimum(bound, others_bound))
        return bound


class Limits(NamedTuple):
    """Bounds on z at every dataset: all private mechanisms with the given values lie between; both are private."""

    least: Floats
    most: Floats

    @classmethod
    def of(cls, most: Floats, below: Floats) -> Limits:
        """The limits from the labels of two growths, one from the values and one from their negatives."""
        return cls(-below + 0.0, np.maximum(most, -below) + 0.0)

    def between(self, z: Floats) -> Floats:
        """A mechanism clipped to the limits; a private mechanism stays private."""
        return np.maximum(self.least, np.minimum(self.most, z))


def limits(problem: Problem, pins: Floats, engine: Engine, max_error: float | None = None) -> Limits:
    """The limits from the pins and from a largest error at free datasets, by two growths over all edges."""
    free, ones = np.isnan(pins), problem.answers == 1
    above, below = np.where(free, np.inf, pins), np.where(free, np.inf, -pins)
    if max_error is not None:
        worst = problem.notion.coordinate.from_error(np.full(len(pins), max_error), problem.answers)
        above = np.where(free & ~ones, worst, above)
        below = np.where(free & ones, -worst, below)
    most, least = (engine.grow(problem.graph, problem.notion, start).labels for start in (above, below))
    return Limits.of(most, least)

"""Balanced, in closed form: the cheapest way to the other answer, in whole units of ε (docs/theory/population.md).

For each *price* of one step of the sum, everybody pays the price of the steps they could go, but at most their ε. What
all pay, less the price of the steps that need not be gone, is a lower bound on the way to the other answer; and each
such bound changes by at most ε when one person's value does. The largest of them is the label. If everybody has two
scores, one apart, it is the exact length of the way.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.people.populations.classes import Classes
from hetdp.people.populations.folding import Whole
from hetdp.people.populations.levels import Level, least_meeting
from hetdp.people.populations.population import Population
from hetdp.people.privacy.epsilons import UNBOUNDED
from hetdp.problem.scores import Way

Label = int | float  # units; or an infinity


class Prices:
    """Prices at which what people pay may bend: nothing, everybody's ε in order, and perhaps one more."""

    def __init__(self, epsilon: Whole, last: tuple[int, ...]) -> None:
        self._epsilon, self._last = epsilon, last

    def __len__(self) -> int:
        return 1 + len(self._epsilon) + len(self._last)

    def __getitem__(self, at: int) -> int:
        if at == 0:
            return 0
        return int(self._epsilon[at - 1]) if at <= len(self._epsilon) else self._last[0]

    def after(self, at: int) -> int:
        """The place of the next price that is larger."""
        return 1 + int(np.searchsorted(self._epsilon, self[at], side="right"))


class Balanced:
    """The balanced mechanism of a population."""

    def __init__(self, population: Population) -> None:
        self.population = population
        self.classes, self.scores = population.classes, population.scores
        self.counted = self.classes.by_class(self.scores.most > 0)
        bounded = slice(0, self.classes.bounded)
        finite = self.classes.units[bounded]
        if not self._all_count:
            finite = finite[self.counted[bounded]]
        self.dearest = int(finite[-1]) if len(finite) else 0
        beyond = slice(self.classes.bounded, None)
        only_deciding = self.counted[beyond] & (self.classes.deciding[beyond] < UNBOUNDED)
        self.mixed = bool(only_deciding.any())  # protected when deciding, and only then
        highest = self.dearest + (self._largest_meeting() if self.mixed else 0)
        self.prices: range | Prices = range(highest + 1)
        if self.scores.is_count:
            self.prices = Prices(finite, (highest,) if highest > self.dearest else ())

    @cached_property
    def is_plain(self) -> bool:
        """Whether everybody has one finite ε for all steps."""
        classes = self.classes
        alike = classes.deciding is classes.units or bool((classes.deciding == classes.units).all())
        return alike and classes.bounded == len(classes.units)

    @property
    def _all_count(self) -> bool:
        return bool((self.scores.most > 0).all())

    @cached_property
    def movable(self) -> Whole:
        """How many people of each class count."""
        return self.classes.sizes if self._all_count else np.where(self.counted, self.classes.sizes, 0)

    @cached_property
    def everybody(self) -> Level:
        """Everybody who counts, as if all could go one step."""
        return Level(self.classes, 1, self.movable)

    @property
    def gap(self) -> Label:
        """How far the label of any table can be below the exact length of the cheapest way, in units."""
        if self.scores.is_count:
            return 0
        if self.mixed:
            return math.inf
        return self._most_saved + self._grain() + self._largest_meeting()

    def label(self, counts: Whole) -> Label:
        """The label of a table in units, positive for answer 1; `counts` is by class and value."""
        if self.scores.constant:
            return math.inf if self.scores.constant == 1 else -math.inf
        way = self.scores.way(by_group(self.classes, counts))
        levels, least = [], UNBOUNDED
        for gain in np.unique(way.gains).tolist():
            there = self._having(counts, way.gains == gain)
            if gain:
                levels.append(Level(self.classes, int(gain), there))
            else:
                least = least_meeting(self.classes, there if self._all_count else there * self.counted)
        found = self._highest(levels, least, way)
        return found if way.answer == 1 else -found

    def worst(self, margin: int) -> Label:
        """The least label, signed so that larger is better, of all tables that many people from the other answer.

        For questions that are no count it is a lower bound of it.
        """
        if self.scores.is_count:
            way = Way(1, self.scores.scores, margin, self.everybody.size - margin)
            return self._highest([self.everybody], UNBOUNDED, way)
        least = self.everybody.least_from(0)
        if self.mixed:
            return least
        last = self.everybody.class_of(margin - 1)
        before = self.everybody.up_to(last)
        rest = margin - 1 - int(before.people)
        if last >= self.classes.bounded and rest > 0:
            return math.inf
        paid = before.epsilon + rest * int(self.classes.units[last])
        return max(least, paid - self._most_saved - self._grain())

    def _having(self, counts: NDArray[Any], chosen: NDArray[np.bool_]) -> NDArray[Any]:
        """How many people of each class have one of the values that are chosen for their group."""
        if len(counts.T) == 2 and (chosen == [True, False]).all():
            return counts[:, 0]
        if len(counts.T) == 2 and (chosen == [False, True]).all():
            return counts[:, 1]
        there = np.zeros(len(counts), dtype=np.int64)
        for value in np.flatnonzero(chosen.any(axis=0)):
            there += np.where(self.classes.by_class(chosen[:, value]), counts[:, value], 0)
        return there

    def _highest(self, levels: list[Level], least: int, way: Way) -> Label:
        """The largest bound over all prices. Bounds rise and then fall as prices do, so halving finds it."""
        bounded = self.classes.bounded
        within_reach = sum(one.gain * one.up_to(bounded).people for one in levels)
        if bounded < len(self.classes.units):  # who is protected only when deciding may go last
            last = [one.gain for one in levels if one.least_from(bounded) < UNBOUNDED]
            within_reach += max(last, default=0)
        if way.need > within_reach:
            return math.inf

        def bound(price: int) -> int:
            paid, saved = -price * way.reserve, -least
            for one in levels:
                pays, saves = one.paid(price)
                paid, saved = paid + pays, max(saved, saves)
            return paid - saved

        low, high = 0, len(self.prices) - 1
        for _ in range(high.bit_length()):  # as often for every table
            middle = (low + high) // 2
            after = self.prices.after(middle) if isinstance(self.prices, Prices) else middle + 1
            after = min(after, high)
            if bound(self.prices[middle]) < bound(self.prices[after]):
                low = after
            else:
                high = middle
        return bound(self.prices[low])

    @cached_property
    def _most_saved(self) -> int:
        bounded = slice(0, self.classes.bounded)
        saved = self.classes.units[bounded] - self.classes.meeting[bounded]
        return int(np.max(saved, where=self.counted[bounded], initial=0))

    def _largest_meeting(self) -> int:
        return int(np.max(self.classes.meeting, where=self.classes.meeting < UNBOUNDED, initial=0))

    def _grain(self) -> int:
        """What whole prices cost, instead of fractions of units."""
        return max(self.scores.threshold, self.scores.total - self.scores.threshold + 1)


def by_group(classes: Classes, counts: NDArray[Any]) -> Whole:
    """Counts by group and value, from counts by class and value."""
    return np.stack([classes.by_group(column) for column in counts.T], axis=1)

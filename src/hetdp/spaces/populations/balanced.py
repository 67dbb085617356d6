"""Balanced, in closed form: the cheapest way to the other answer, in whole units of ε (docs/theory/population.md).

For each *price* of one step of the sum, everybody pays the price of the steps they could go, but at most their ε. What
all pay, less the price of the steps that need not be gone, is a lower bound on the way to the other answer; and each
such bound changes by at most ε when one person's value does. The largest of them is the label. If everybody has two
scores, one apart, it is the exact length of the way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hetdp.problem.scores import Way
from hetdp.spaces.populations.people import Classes, Whole
from hetdp.spaces.populations.population import Population
from hetdp.spaces.privacy.grid import UNBOUNDED

PART = 31  # an ε is added in two parts of so many bits, so that no sum overflows
Label = int | float  # units; or an infinity


class Level(NamedTuple):
    """All who can go equally far, in order of ε: sums over the first of them, and extremes.

    Attributes:
        gain: how far each can go.
        people: how many there are up to each class.
        high: the sum of the upper parts of their ε.
        low: the sum of the lower parts.
        saved: the largest ε minus meeting label up to each class: what is saved if that person goes last.
        least: the least meeting label from each class on.
    """

    gain: int
    people: Whole
    high: Whole
    low: Whole
    saved: Whole
    least: Whole

    def paid(self, units: Whole, price: int) -> tuple[int, int]:
        """What these people pay at a price, and the most that one of them saves by going last."""
        asked = min(price * self.gain, UNBOUNDED)
        last = int(np.searchsorted(units, asked, side="right")) - 1
        whole, beyond = (0, int(self.people[-1])) if last < 0 else (self._whole(last), self._beyond(last))
        saved = -UNBOUNDED if last < 0 else int(self.saved[last])
        least = UNBOUNDED if last + 1 == len(units) else int(self.least[last + 1])
        return whole + asked * beyond, max(saved, asked - least)

    def _whole(self, last: int) -> int:
        return (int(self.high[last]) << PART) + int(self.low[last])

    def _beyond(self, last: int) -> int:
        return int(self.people[-1]) - int(self.people[last])


class Balanced:
    """The balanced mechanism of a population."""

    def __init__(self, population: Population) -> None:
        self.population = population
        self.classes, self.scores = population.classes, population.scores
        self.counted = self.scores.most[self.classes.group] > 0
        finite = self.classes.units[self.counted & (self.classes.units < UNBOUNDED)]
        self.dearest = int(finite[-1]) if len(finite) else 0
        only_deciding = (self.classes.units == UNBOUNDED) & (self.classes.deciding < UNBOUNDED)
        self.mixed = bool((only_deciding & self.counted).any())  # protected when deciding, and only then
        highest = self.dearest + (self._largest_meeting() if self.mixed else 0)
        self.prices: Sequence[int] | Whole = range(highest + 1)
        if self.scores.is_count:
            different = np.append(True, finite[1:] != finite[:-1]) if len(finite) else np.zeros(0, dtype=np.bool_)
            self.prices = np.concatenate([[0], finite[different], [highest] if highest > self.dearest else []])
            self.prices = self.prices.astype(np.int64, copy=False)

    @property
    def gap(self) -> Label:
        """How far the label of any table can be below the exact length of the cheapest way, in units."""
        if self.scores.is_count:
            return 0
        if self.mixed:
            return math.inf
        return self._most_saved() + self._grain() + self._largest_meeting()

    def label(self, counts: Whole) -> Label:
        """The label of a table in units, positive for answer 1; `counts` is by class and value."""
        if self.scores.constant:
            return math.inf if self.scores.constant == 1 else -math.inf
        way = self.scores.way(by_group(self.classes, counts))
        gains = way.gains[self.classes.group]
        levels, least = [], UNBOUNDED
        for gain in np.unique(way.gains).tolist():
            there = np.zeros(len(counts), dtype=np.int64)
            for value in np.flatnonzero((way.gains == gain).any(axis=0)):
                there += np.where(gains[:, value] == gain, counts[:, value], 0)
            if gain:
                levels.append(level(self.classes, int(gain), there))
            else:
                least = int(np.min(self.classes.meeting, where=(there > 0) & self.counted, initial=UNBOUNDED))
        found = self._highest(levels, least, way)
        return found if way.answer == 1 else -found

    def worst(self, margin: int) -> Label:
        """The least label, signed so that larger is better, of all tables that many people from the other answer.

        For questions that are no count it is a lower bound of it.
        """
        movable = np.where(self.counted, self.classes.sizes, 0)
        if self.scores.is_count:
            way = Way(1, self.scores.scores, margin, int(movable.sum()) - margin)
            return self._highest([self._all_movable], UNBOUNDED, way)
        least = int(np.min(self.classes.meeting, where=self.counted, initial=UNBOUNDED))
        if self.mixed:
            return least
        before = np.cumsum(movable) - movable
        taken = np.clip(margin - 1 - before, 0, movable)
        if (taken[self.classes.units == UNBOUNDED] > 0).any():
            return math.inf
        parts = ((self.classes.units >> PART) @ taken, (self.classes.units & ((1 << PART) - 1)) @ taken)
        paid = (int(parts[0]) << PART) + int(parts[1])
        return max(least, paid - self._most_saved() - self._grain())

    @cached_property
    def _all_movable(self) -> Level:
        """Everybody who counts, as if all could go one step."""
        return level(self.classes, 1, np.where(self.counted, self.classes.sizes, 0))

    def _highest(self, levels: list[Level], least: int, way: Way) -> Label:
        """The largest bound over all prices. Bounds rise and then fall as prices do, so halving finds it."""
        units = self.classes.units
        bounded = int(np.searchsorted(units, UNBOUNDED)) - 1
        within_reach = sum(one.gain * int(one.people[bounded]) for one in levels) if bounded >= 0 else 0
        if bounded + 1 < len(units):  # who is protected only when deciding may go last
            last = [one.gain for one in levels if one.least[bounded + 1] < UNBOUNDED]
            within_reach += max(last, default=0)
        if way.need > within_reach:
            return math.inf

        def bound(price: int) -> int:
            paid, saved = -price * way.reserve, -least
            for one in levels:
                pays, saves = one.paid(units, price)
                paid, saved = paid + pays, max(saved, saves)
            return paid - saved

        low, high = 0, len(self.prices) - 1
        for _ in range(high.bit_length()):  # as often for every table
            middle = (low + high) // 2
            if bound(int(self.prices[middle])) < bound(int(self.prices[min(middle + 1, high)])):
                low = middle + 1
            else:
                high = middle
        return bound(int(self.prices[low]))

    def _most_saved(self) -> int:
        saved = self.classes.units - self.classes.meeting
        return int(np.max(saved, where=self.counted & (self.classes.units < UNBOUNDED), initial=0))

    def _largest_meeting(self) -> int:
        return int(np.max(self.classes.meeting, where=self.classes.meeting < UNBOUNDED, initial=0))

    def _grain(self) -> int:
        """What whole prices cost, instead of fractions of units."""
        return max(self.scores.threshold, self.scores.total - self.scores.threshold + 1)


def by_group(classes: Classes, counts: Whole) -> Whole:
    """Counts by group and value, from counts by class and value."""
    columns = (np.bincount(classes.group, column, len(classes.names)) for column in counts.T)
    return np.stack([column.astype(np.int64) for column in columns], axis=1)  # below 2³¹, so floats are exact


def level(classes: Classes, gain: int, people: Whole) -> Level:
    """The sums and extremes of people who can go equally far; `people` is by class."""
    there = (people > 0) & (classes.deciding < UNBOUNDED)
    saved = np.where(there, classes.units - classes.meeting, -UNBOUNDED)
    least = np.where(there, classes.meeting, UNBOUNDED)
    return Level(
        gain,
        np.cumsum(people),
        np.cumsum(people * (classes.units >> PART)),
        np.cumsum(people * (classes.units & ((1 << PART) - 1))),
        np.maximum.accumulate(saved),
        np.minimum.accumulate(least[::-1])[::-1],
    )

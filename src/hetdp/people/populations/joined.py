"""The balanced mechanism of counts of disjoint groups that are joined by and / or, in closed form.

docs/theory/population.md has the formulas and the proofs. Each part of the question is a count about people who are in
no other part, and is computed by `Balanced` for these people alone; this module combines the parts. *Or* is computed
as *and* of the opposite counts, with the signs exchanged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.people.populations.balanced import Balanced, CheapestChange, Label, Level
from hetdp.people.populations.classes import Classes
from hetdp.people.populations.folding import Fold, Whole
from hetdp.people.populations.population import Population
from hetdp.people.populations.scores import JoinedCounts
from hetdp.people.privacy.epsilons import UNBOUNDED
from hetdp.problem.scores import Scores


class Part(NamedTuple):
    """One count of a joined question.

    Attributes:
        rows: the classes of its people, among all classes.
        groups: the groups of its people, among all groups.
        formula: the balanced mechanism of these people, as if nothing else were asked.
    """

    rows: Whole
    groups: Whole
    formula: Balanced


class JoinedBalanced:
    """The balanced mechanism of a population whose question joins several counts.

    Args:
        population: the population.
    """

    gap = 0  # labels are exact

    def __init__(self, population: Population) -> None:
        assert isinstance(population.scores, JoinedCounts)
        self.population, self.classes = population, population.classes
        self._asks_all = population.scores.asks_all
        parts = population.scores.parts if self._asks_all else map(_opposite, population.scores.parts)
        self.parts = tuple(self._part(scores) for scores in parts)

    def _part(self, scores: Scores) -> Part:
        classes, groups = self.classes, np.flatnonzero((scores.most > 0) & (scores.sizes > 0))
        place = np.full(len(classes.names), -1)
        place[groups] = np.arange(len(groups))
        rows = np.flatnonzero(place[classes.group] >= 0)
        fold = Fold(classes.sizes[rows], lambda: rows)
        names = tuple(classes.names[group] for group in groups.tolist())
        own = Classes(fold, place[classes.group[rows]], classes.units[rows], classes.deciding[rows], names)
        reduced = Scores(scores.scores[groups], scores.most[groups], scores.sizes[groups], scores.threshold)
        people = self.population
        return Part(rows, groups, Balanced(Population(people.question, people.values, names, own, reduced)))

    @property
    def mixed(self) -> bool:
        """True if somebody is protected only when deciding."""
        return any(part.formula.mixed for part in self.parts)

    def label(self, counts: Whole) -> Label:
        """The label of a table in units, positive for answer 1; `counts` is by class and value."""
        changes = [part.formula.change(_take_rows(counts, part.rows)) for part in self.parts]
        one, several = min(change.label for change in changes), _change_all(changes)
        found = one if all(change.answer == 1 for change in changes) else -several
        return found if self._asks_all else -found

    def worst(self, margin: int) -> Label:
        """The least label, signed so that larger is better, of all tables at this margin from the other answer."""
        return min(self._worst_of_one(margin), self._worst_of_several(margin))

    def _worst_of_one(self, margin: int) -> Label:
        """The same for tables where all parts hold, so that one part must change."""
        scores = [part.formula.scores for part in self.parts]
        if margin > min(one.farthest(1) for one in scores):
            return math.inf  # there is no such table
        return min(part.formula.worst(margin) for part in self.parts)

    def _worst_of_several(self, margin: int) -> Label:
        """The same for tables where some parts fail, all of which must change.

        At most its threshold can be missing from a part, so these are the people with the least ε within these limits.
        """
        parts = self._levels
        if margin > sum(threshold for *_, threshold in parts):
            return math.inf
        within = [min(threshold, int(level.up_to(one.classes.bounded).people)) for one, level, threshold in parts]
        if margin > sum(within):
            if margin > sum(within) + 1:
                return math.inf
            paid = sum(level.least_sum(number) for (_, level, _), number in zip(parts, within, strict=True))
            last = [
                level.least_from(one.classes.bounded)
                for (one, level, threshold), number in zip(parts, within, strict=True)
                if number < threshold
            ]
            least = min(last, default=UNBOUNDED)
            return math.inf if least == UNBOUNDED else paid + least
        price = self._price(margin)
        chosen = [min(threshold, _people_up_to(level, one.classes, price - 1)) for one, level, threshold in parts]
        rest = margin - sum(chosen)  # of those who have exactly this price
        paid, saved = 0, -UNBOUNDED
        for at, (one, level, threshold) in enumerate(parts):
            more = min(rest, min(threshold, _people_up_to(level, one.classes, price)) - chosen[at])
            number, rest = chosen[at] + more, rest - more
            paid += level.least_sum(number)
            if number:
                saved = max(saved, int(level.up_to(level.class_of(number - 1) + 1).saved))
            if (
                number < level.size
            ):  # somebody else of this part goes last, in place of the person with the largest ε, who may be left out
                dearest = int(one.classes.units[level.class_of(number - 1)]) if number == threshold else price
                saved = max(saved, dearest - level.least_from(level.class_of(number)))
        return paid - saved

    @property
    def _levels(self) -> list[tuple[Balanced, Level, int]]:
        """The formula of each part, its people sorted by ε, and its threshold."""
        return [(part.formula, part.formula.movable_people, part.formula.scores.threshold) for part in self.parts]

    def _price(self, margin: int) -> int:
        """The least ε, in units, up to which so many people can be found, at most the threshold of each part."""
        parts = [
            (part.formula.classes, part.formula.movable_people, part.formula.scores.threshold) for part in self.parts
        ]
        low, high = 0, max(part.formula.dearest for part in self.parts)
        while low < high:
            middle = (low + high) // 2
            there = sum(min(limit, _people_up_to(level, classes, middle)) for classes, level, limit in parts)
            low, high = (low, middle) if there >= margin else (middle + 1, high)
        return low


def _opposite(scores: Scores) -> Scores:
    """The opposite of a count, as a count of the others."""
    counted = np.where(scores.most[:, None] > 0, scores.most[:, None] - scores.scores, 0)
    return Scores(counted, scores.most, scores.sizes, scores.total - scores.threshold + 1)


def _take_rows(counts: NDArray[Any], rows: Whole) -> NDArray[Any]:
    """Some rows of counts by class and value; columns are contiguous, so they are taken one by one."""
    return np.stack([column[rows] for column in counts.T]).T


def _people_up_to(level: Level, classes: Classes, price: int) -> int:
    """The number of people whose ε is at most a price."""
    return int(level.up_to(classes.end_of(price)).people)


def _change_all(changes: Iterable[CheapestChange]) -> Label:
    """The cheapest change of all parts that fail; the person who saves the most goes last."""
    failing = [change for change in changes if change.answer == 2]
    unpaid = [change for change in failing if change.total == math.inf]
    if len(unpaid) > 1:
        return math.inf
    if unpaid:
        return sum(change.total for change in failing if change.total < math.inf) + unpaid[0].label
    return sum(change.total for change in failing) - max((change.total - change.label for change in failing), default=0)

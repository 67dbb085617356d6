"""The ε-weighted vote of a population: everybody counts ε times the part of their largest score (theory/voting.py)."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from hetdp.errors import UsageError
from hetdp.people.populations.balanced import Label
from hetdp.people.populations.classes import PART_BITS
from hetdp.people.populations.folding import Whole
from hetdp.people.populations.population import Population
from hetdp.people.privacy.epsilons import UNBOUNDED
from hetdp.problem.decimals import GRID
from hetdp.theory import voting


class WeightedVote:
    """The ε-weighted vote of a population. Where steps that decide have an ε of their own, that one is the weight."""

    def __init__(self, population: Population) -> None:
        self.population = population
        self.classes, self.scores = population.classes, population.require_sum()
        self.weights = weights_of(population)
        self.total = exact_dot(self.classes.sizes, self.weights)
        self.shift = voting.shift(self.total, self.scores.threshold, self.scores.total)

    gap = 0

    def label(self, counts: Whole) -> Label:
        """z of a table in units; `counts` is by class and value."""
        if self.scores.constant:
            return math.inf if self.scores.constant == 1 else -math.inf
        most = np.maximum(self.scores.most, 1)[self.classes.group]
        total = 0
        for value in range(counts.shape[1]):
            score = self.scores.scores[:, value][self.classes.group]
            total += exact_dot(counts[:, value], voting.contribution(self.weights, score, most))
        return total - self.shift

    def worst(self, margin: int) -> Label:
        """The least label, signed so that larger is better, of all tables that many people from the other answer.

        Raises:
            UsageError: the question is not a count.
        """
        if not self.scores.is_count:
            rule = "the worst accuracy of a weighted vote by margin is known for counts, shares and majorities of all"
            raise UsageError(f"the question is {self.population.question}", rule)
        found = []
        people, threshold = self.scores.total, self.scores.threshold
        if threshold + margin - 1 <= people:
            found.append(self.worst_of(1, threshold + margin - 1))
        if threshold - margin >= 0:
            found.append(self.worst_of(2, threshold - margin))
        return min(found)

    def worst_of(self, answer: int, people: int) -> Label:
        """The least label, signed likewise, of all tables where so many people have the largest score, and others 0."""
        if answer == 1:  # those who have it weigh least
            return self._least(people) - self.shift
        counted = int(self.scores.sizes[self.scores.most > 0].sum())
        return self.shift - (self.total - self._least(counted - people))  # they weigh most

    def _least(self, people: int) -> int:
        """The sum of the least weights of so many people."""
        weights, before, sums = self._in_order
        last = int(np.searchsorted(before, people, side="right")) - 1
        return (
            (int(sums[0][last]) << PART_BITS) + int(sums[1][last]) + (people - int(before[last])) * int(weights[last])
        )

    @cached_property
    def _in_order(self) -> tuple[Whole, Whole, tuple[Whole, Whole]]:
        """Weights in increasing order; how many people come before each, and the sum of their weights, in two parts."""
        order = np.argsort(self.weights, kind="stable")
        weights = self.weights[order]
        sizes = np.where(self.scores.most[self.classes.group[order]] > 0, self.classes.sizes[order], 0)
        parts = (weights >> PART_BITS, weights & ((1 << PART_BITS) - 1))
        high, low = (np.append(0, np.cumsum(sizes * part)[:-1]) for part in parts)
        return weights, np.append(0, np.cumsum(sizes)[:-1]), (high, low)


def weights_of(population: Population) -> Whole:
    """The weight of each class, in units; people without a promise weigh as much as the heaviest of the others."""
    classes = population.classes
    counts = population.require_sum().most[classes.group] > 0
    return voting.weights(classes.deciding, classes.deciding < UNBOUNDED, counts, 1 << GRID)


def exact_dot(people: Whole, units: Whole) -> int:
    """Σ people × units, without overflow."""
    return (int(people @ (units >> PART_BITS)) << PART_BITS) + int(people @ (units & ((1 << PART_BITS) - 1)))

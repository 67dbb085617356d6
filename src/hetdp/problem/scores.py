"""Threshold questions as integer scores: what each person adds to the sum that is compared with the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]


class OtherAnswerDistance(NamedTuple):
    """The distance from a table to the other answer.

    Attributes:
        answer: the true answer of the table, 1 (yes) or 2.
        gains: [group, value]: how far a person who has this value can move the sum toward the other answer.
        need: how far the sum must move.
        reserve: how much further it would move if everybody moved; the same for all tables of this answer.
    """

    answer: int
    gains: Whole
    need: int
    reserve: int


@dataclass(frozen=True, eq=False)
class Scores:
    """A threshold question in the smallest integers: the answer is yes if Σ score ≥ threshold.

    Attributes:
        scores: [group, value], from zero for each group, without common factors.
        most: the largest score of each group; people of a group where it is zero do not count.
        sizes: the number of people of each group.
        threshold: the sum from which the answer is yes.
        all_decide: True if every person who counts is known to decide the answer of some table.
    """

    scores: Whole
    most: Whole
    sizes: Whole
    threshold: int
    all_decide: bool = True

    @cached_property
    def total(self) -> int:
        """The largest sum."""
        return sum(most * size for most, size in zip(self.most.tolist(), self.sizes.tolist(), strict=True))

    @property
    def is_count(self) -> bool:
        """True if everybody who counts has two scores that differ by 1, so that the sum is a count of people."""
        return bool((self.most <= 1).all())

    @property
    def constant(self) -> int:
        """The answer if it is the same for every table, otherwise 0."""
        return 1 if self.threshold <= 0 else 2 if self.threshold > self.total else 0

    def way(self, counts: Whole) -> OtherAnswerDistance:
        """The distance from a table to the other answer.

        Args:
            counts: [group, value]: the number of people.
        """
        reached = sum((counts * self.scores).ravel().tolist())
        yes = OtherAnswerDistance(1, self.scores, reached - self.threshold + 1, self.threshold - 1)
        no = OtherAnswerDistance(2, self._gains, self.threshold - reached, self.total - self.threshold)
        return yes if reached >= self.threshold else no  # both are made, so that the time does not tell which

    @cached_property
    def _gains(self) -> Whole:
        """The most that a person of each group who has each value can raise the sum."""
        return self.most[:, None] - self.scores

    def farthest(self, answer: int) -> int:
        """The largest margin that a table of this answer can have; 0 if there is no such table."""
        need = self.total - self.threshold + 1 if answer == 1 else self.threshold
        if self.constant:
            return 0
        people = 0
        for group in np.argsort(-self.most):
            most, size = int(self.most[group]), int(self.sizes[group])
            if most * size >= need:
                return people - (-need // most)
            people, need = people + size, need - most * size
        return people

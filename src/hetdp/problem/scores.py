"""What everybody counts toward the threshold: whole scores from zero, by group and value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]


class Way(NamedTuple):
    """From a table toward the other answer.

    Attributes:
        answer: the true answer of the table, 1 (yes) or 2.
        gains: [group, value]: how far somebody who has this value can bring the sum toward the other answer.
        need: how far the sum must go.
        reserve: how much further than that it would go if everybody went; the same for all tables of this answer.
    """

    answer: int
    gains: Whole
    need: int
    reserve: int


class Scores(NamedTuple):
    """A threshold question in its smallest whole numbers: the answer is yes if Σ score ≥ threshold.

    Attributes:
        scores: [group, value], from zero for each group, without common factors.
        most: the largest score of each group; people of a group where it is zero do not count.
        sizes: how many people each group has.
        threshold: what the sum must reach.
        all_decide: whether everybody who counts is known to decide at some table, where the answer depends on them.
    """

    scores: Whole
    most: Whole
    sizes: Whole
    threshold: int
    all_decide: bool = True

    @property
    def total(self) -> int:
        """The largest sum."""
        return sum(most * size for most, size in zip(self.most.tolist(), self.sizes.tolist(), strict=True))

    @property
    def is_count(self) -> bool:
        """Whether everybody who counts has two scores, one apart: the question is how many have the larger one."""
        return bool((self.most <= 1).all())

    @property
    def constant(self) -> int:
        """The answer if it is the same for every table, else 0."""
        return 1 if self.threshold <= 0 else 2 if self.threshold > self.total else 0

    def way(self, counts: Whole) -> Way:
        """How far a table is from the other answer.

        Args:
            counts: [group, value]: how many people.
        """
        reached = sum((counts * self.scores).ravel().tolist())
        if reached >= self.threshold:
            return Way(1, self.scores, reached - self.threshold + 1, self.threshold - 1)
        gains = self.most[:, None] - self.scores
        return Way(2, gains, self.threshold - reached, self.total - self.threshold)

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

"""What everybody counts toward the threshold: whole scores from zero, by group and value."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError
from hetdp.spaces.names import require_known
from hetdp.spaces.questions.question import Question

Whole = NDArray[np.int64]
LARGEST_SCORE = 1 << 31


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
    """

    scores: Whole
    most: Whole
    sizes: Whole
    threshold: int

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


def scores_of(question: Any, groups: Sequence[str], sizes: Whole, values: Sequence[str]) -> Scores:
    """The scores that a question gives to groups and values.

    Raises:
        UsageError: the question is no threshold of a sum, or names what is not there.
    """
    form = question.linear() if isinstance(question, Question) else None
    if form is None:
        rule = "a population answers a threshold question: a count, a share, a majority, A against B, a weighted sum"
        raise UsageError(f"the question is {question}", rule, "other questions are for spaces whose tables are listed")
    require_known(question.groups_used(), groups, "group")
    require_known(question.values_used(), values, "value")
    rows = [[form.score(group, value) for value in values] for group in groups]
    threshold = form.at_least - sum(min(row) * size for row, size in zip(rows, sizes.tolist(), strict=True))
    rows = [[score - min(row) for score in row] for row in rows]
    common = gcd(*(score for row in rows for score in row)) or 1
    rows = [[score // common for score in row] for row in rows]
    if max(map(max, rows)) >= LARGEST_SCORE:
        raise UsageError("the scores of the question are too large", f"without common factors they are below {2**31:,}")
    scores = np.array(rows, dtype=np.int64)
    return Scores(scores, scores.max(axis=1), sizes, -(-threshold // common))

"""Comparison of a mechanism with a coin toss: at how many datasets it is worse, and which dataset is the worst.

The sign of z decides, never a rounded p.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hetdp.mechanism.formatting import LEAST, format_accuracy
from hetdp.problem.labels import Labels
from hetdp.problem.space import Floats, Mask
from hetdp.problem.spelling import shorten_label
from hetdp.text import pluralize
from hetdp.theory.coordinate import Coordinate

EXTENSION = "extension"
BEST_FOR = {
    EXTENSION: "with the given values, no private mechanism answers any dataset better",
    "fair": "with the given values, no private mechanism serves the worst-off datasets better",
    "balanced": "with the given values, no private mechanism has a smaller worst error",
    "average": "it maximises the mean accuracy, not the accuracy at each dataset",
    "weighted-vote": "a weighted vote is not optimal for any objective",
}


class CoinCounts(NamedTuple):
    """Counts over some of the datasets, which can be combined over partitions.

    Attributes:
        datasets: the number of datasets.
        worse: how many are answered wrongly more often than correctly.
        given: how many of these have a given value.
        even: how many are answered wrongly exactly as often as correctly.
        lowest: the least z, signed so that larger is better; infinite if there are no datasets.
        at: the index of the first dataset with that z; −1 if there are none.
    """

    datasets: int = 0
    worse: int = 0
    given: int = 0
    even: int = 0
    lowest: float = np.inf
    at: int = -1

    def combine(self, other: CoinCounts) -> CoinCounts:
        """The counts over both sets of datasets; of two equally bad worst datasets, the first one."""
        there = [one for one in (self, other) if one.at >= 0]
        worst = min(there, key=lambda one: (one.lowest, one.at), default=self)
        return CoinCounts(
            self.datasets + other.datasets,
            self.worse + other.worse,
            self.given + other.given,
            self.even + other.even,
            worst.lowest,
            worst.at,
        )


@dataclass(frozen=True)
class CoinComparison:
    """The comparison of a mechanism with a coin toss, which is right half of the time. As text, a sentence or empty.

    Attributes:
        datasets: the number of datasets.
        worse: how many are answered worse than by a coin, that is, wrongly more often than correctly.
        given: how many of these have a given value rather than one chosen by an objective.
        even: how many are answered exactly as by a coin.
        worst: the dataset with the least accurate answer; None if there are no datasets.
        name: the spelling of its label.
        right: the probability of the right answer there.
        error: the probability of the wrong answer there.
        objective: the objective that chose the values; "extension" if they were given.
        is_best: whether the mechanism is proved to be the best one for that objective.
    """

    datasets: int
    worse: int
    given: int
    even: int
    worst: Any
    name: str
    right: float
    error: float
    objective: str
    is_best: bool

    @property
    def is_better(self) -> bool:
        """True if no dataset is answered worse than by a coin and at least one is answered better."""
        return not self.worse and (self.even < self.datasets or not self.datasets)

    def __str__(self) -> str:
        if not self.worse and self.even == self.datasets and self.datasets:
            return "no dataset is answered better than by a coin"
        if not self.worse:
            return f"{self._share_words(self.even)} answered as by a coin" if self.even else ""
        right = format_accuracy(self.error, 3, self.right)
        best = BEST_FOR.get(self.objective) if self.is_best else None
        return (
            f"{self.worse_words()}; the worst is {self.name}, right with probability {right}"
            f"{'' if best is None else f'; {best}'}"
        )

    def worse_words(self) -> str:
        """How many datasets are answered worse than by a coin, and how many of them have a given value."""
        have = "it has" if self.worse == 1 else f"{self.given:,} of them {'has' if self.given == 1 else 'have'}"
        given = f" ({have} a given value)" if self.given else ""
        return f"{self._share_words(self.worse)} answered worse than by a coin{given}"

    def short(self) -> str:
        """A short form for titles."""
        if self.worse:
            return f"worse than a coin at {self.worse:,} of {pluralize(self.datasets, 'dataset')}"
        return "no better than a coin" if not self.is_better else ""

    def document(self) -> dict[str, Any]:
        """The comparison as a JSON document."""
        worst = {"dataset": self.worst, "p_right": self.right, "error": self.error} if self.worse else None
        return {"count": self.worse, "given": self.given, "as_a_coin": self.even, "worst": worst}

    def _share_words(self, number: int) -> str:
        verb = "is" if number == 1 else "are"
        return f"{number:,} of {pluralize(self.datasets, 'dataset')} {verb}"


def count_against_coin(z: Floats, ones: Mask, was_given: Mask, first: int = 0) -> CoinCounts:
    """Counts over a range of datasets.

    Args:
        z: their coordinates.
        ones: where the true answer is 1.
        was_given: where the value was given.
        first: the index of the first of them.
    """
    if not len(z):
        return CoinCounts()
    signed = np.where(ones, z, -z)
    worse, at = signed < 0.0, int(np.argmin(signed))
    bad, given, even = (int(np.count_nonzero(mask)) for mask in (worse, worse & was_given, signed == 0.0))
    return CoinCounts(len(z), bad, given, even, float(signed[at]), first + at)


def compare_with_coin(
    counts: CoinCounts,
    coordinate: Coordinate,
    objective: str,
    is_best: bool,
    label: Callable[[int], Any],
    labels: Labels,
) -> CoinComparison:
    """The comparison for the counts over all datasets."""
    right, error = (float(coordinate.error(sign * counts.lowest, 1)) for sign in (-1.0, 1.0))
    if np.isfinite(counts.lowest):
        right, error = max(right, LEAST), max(error, LEAST)
    worst = label(counts.at) if counts.at >= 0 else None
    name = shorten_label(worst, labels) if counts.at >= 0 else ""
    numbers = counts.datasets, counts.worse, counts.given, counts.even
    return CoinComparison(*numbers, worst, name, right, error, objective, is_best)

"""Where a baseline is as good as a mechanism, or better: said in words, on every measure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hetdp.mechanism.accuracy.distance import NOWHERE
from hetdp.mechanism.accuracy.measures import Method
from hetdp.mechanism.digits import LEAST
from hetdp.problem.space import Floats, Mask

SAME = 1e-9  # errors that differ by less than this part of themselves are the same
TIES, BEATS = "ties", "beats"
LISTED = 6  # distances that are named one by one


class Comparison(NamedTuple):
    """A baseline that ties with a mechanism, or beats it, on some measures.

    Attributes:
        baseline: its name.
        outcome: "ties" or "beats".
        method: the name of the mechanism.
        measures: "worst", "mean", or both, or neither.
        distances: at which distances: a tie in both worst and mean error there, or a win in one of them without a loss
            in the other.
        everywhere: whether these are all distances that there are. (Where no path leads to the other answer, nothing
            is compared, nor where both errors are too small for a float.)
    """

    baseline: str
    outcome: str
    method: str
    measures: tuple[str, ...]
    distances: tuple[int, ...]
    everywhere: bool

    def __str__(self) -> str:
        """One line, such as ``geometric then threshold ties fair: worst, mean, every distance``."""
        places = list(self.measures)
        if self.everywhere and self.distances:
            places.append("every distance")
        elif self.distances:
            named = ", ".join(map(str, self.distances[:LISTED]))
            more = len(self.distances) - LISTED
            word = "distance" if len(self.distances) == 1 else "distances"
            places.append(f"{word} {named}" + (f" and {more:,} more" if more > 0 else ""))
        return f"{self.baseline} {self.outcome} {self.method}: {', '.join(places)}"


def compare(methods: list[Method]) -> Iterator[Comparison]:
    """Every tie and every win of a baseline, one mechanism after the other."""
    for method in methods:
        for baseline in methods:
            if baseline.baseline and not method.baseline:
                yield from _outcomes(baseline, method)


def _outcomes(baseline: Method, method: Method) -> Iterator[Comparison]:
    ties, wins = _against(_overall(baseline), _overall(method))
    vanished = np.maximum(baseline.worst_errors, method.worst_errors) <= LEAST  # too small for a float; both may differ
    counted = (method.levels.distances != NOWHERE) & ~vanished
    worst_ties, worst_wins = _against(baseline.worst_errors, method.worst_errors)
    mean_ties, mean_wins = _against(baseline.mean_errors, method.mean_errors)
    no_mean = np.isnan(method.mean_errors)
    here_ties = worst_ties & (mean_ties | no_mean)
    here_wins = (worst_wins & (mean_wins | mean_ties | no_mean)) | (mean_wins & worst_ties)
    for outcome, overall, here in ((TIES, ties, here_ties), (BEATS, wins, here_wins)):
        measures = tuple(name for name, holds in zip(("worst", "mean"), overall, strict=True) if holds)
        distances = tuple(method.levels.distances[here & counted].tolist())
        if measures or distances:
            everywhere = len(distances) == int(np.count_nonzero(counted))
            yield Comparison(baseline.name, outcome, method.name, measures, distances, everywhere)


def _overall(method: Method) -> Floats:
    return np.array([method.worst_error, method.mean_error])


def _against(errors: Floats, others: Floats) -> tuple[Mask, Mask]:
    """Where errors are the same as others, and where they are smaller."""
    margin = SAME * np.fmax(errors, others)
    ties = np.abs(errors - others) <= margin
    return ties, (errors < others) & ~ties

"""The sentence of odds: whole numbers of runs, rounded so that no difference is understated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hetdp.errors import printable
from hetdp.problem.spelling import brief

if TYPE_CHECKING:
    from hetdp.mechanism.odds import Change

FEWEST_RUNS = 100
MOST_RUNS = 10**9
ENOUGH = 5.0  # runs that the smaller number, and the difference, come to at least, unless there are no more runs
ROUNDING = 1e-9  # in runs; 62.000000000000001 of 100 is 62
THE_SAME = 1.0 - 1e-9
MOST_TIMES = 700.0  # as a logarithm; how many times more would be no number


class Words(NamedTuple):
    """How a sentence names things.

    Attributes:
        answers: the two answers.
        change: what people do, after "If"; empty if the two datasets are to be named instead.
        name: the class, as it is shown; empty if there is none.
    """

    answers: tuple[str, str]
    change: str
    name: str

    @classmethod
    def of(cls, about: Mapping[str, str], edge_class: Any) -> Words:
        """The words that a problem has, for one class of edges."""
        told = "" if edge_class is None else (edge_class if isinstance(edge_class, str) else brief(edge_class))
        answers = printable(about.get("answer_1", "1")), printable(about.get("answer_2", "2"))
        return cls(answers, printable(about.get("change", "").replace("{class}", told or "somebody")), printable(told))


def sentence(
    words: Words, largest: Change | None, strongest: Change | None, edges: int, unprotected: int, one_sided: int
) -> str:
    """What a person is told: the largest difference, the largest ratio if it is elsewhere, and what is not promised."""
    group = f" of class {words.name}" if words.name else ""
    if largest is None or strongest is None:
        return _unprotected(edges, edges, group)
    parts = [f"If {_change(words, largest)}, the published answer is {_runs(words, largest)}."]
    if edges - unprotected > 1:
        protected = " protected" if unprotected else ""
        parts.append(f"No other{protected} change{group} makes a larger difference.")
    if strongest.log_ratio > largest.log_ratio + ROUNDING:
        parts.append(
            f"In proportion, {brief(strongest.target)} instead of {brief(strongest.source)} makes the largest:"
            f" {_runs(words, strongest) if strongest.high * MOST_RUNS >= 1.0 else _times(words, strongest)}."
        )
    if one_sided:
        which = "The one change" if edges == 1 else f"{one_sided:,} of {edges:,} changes"
        parts.append(f"{which}{group} {'is' if one_sided == 1 else 'are'} protected in one direction only.")
    if unprotected:
        parts.append(_unprotected(unprotected, edges, group))
    return " ".join(parts)


def runs_of(low: float, high: float) -> tuple[int, int, int]:
    """In how many runs, of how many, an answer is published: of all runs, at most, and at least.

    >>> runs_of(0.38, 0.62), runs_of(1.1e-6, 2.9e-6), runs_of(0.4999, 0.5001), runs_of(0.4, 0.998)
    ((100, 62, 38), (10000000, 29, 11), (100000, 50010, 49990), (1000, 998, 400))
    """
    runs = FEWEST_RUNS
    enough = [value for value in (low, high - low) if value > 0.0]
    while runs < MOST_RUNS and (
        any(value * runs < ENOUGH - ROUNDING for value in enough) or 0.0 < (1.0 - high) * runs < 1.0 - ROUNDING
    ):  # the answer that may not be published is seen, too
        runs *= 10
    most = math.ceil(high * runs - ROUNDING) if high * runs > 1.0 else int(high > 0.0)
    return runs, min(runs, most), math.floor(low * runs + ROUNDING)


def how_often(low: float, high: float, certain: bool = False) -> str:
    """How often an answer is published, at most, and how often it would be instead; rounded outward.

    Args:
        low: its probability at one end.
        high: its probability at the other.
        certain: whether it can be certain at either end: only then are all runs, or none, said to have it.

    >>> how_often(0.42, 0.74), how_often(1e-12, 1.0 - 1e-12)
    ('in at most 74 of 100 runs instead of 42', 'in nearly all of 1,000,000,000 runs instead of less than 1')
    """
    runs, most, least = runs_of(low, high)
    instead = "less than 1" if least == 0 and not (certain and low == 0.0) else f"{least:,}"
    often = f"at most {most:,} of {runs:,}" if most < runs or certain else f"nearly all of {runs:,}"
    return f"in {often} runs instead of {instead}"


def _unprotected(number: int, edges: int, group: str) -> str:
    which = f"{number:,} of {edges:,} changes" if number < edges else f"all {edges:,} changes"
    which = "the one change" if edges == 1 else which
    shows = "it" if number == 1 else "them"
    return f"About {which}{group} no promise is made (ε = ∞): the published answer may show {shows} for certain."


def _change(words: Words, change: Change) -> str:
    if words.change:
        return words.change
    return f"the dataset is {brief(change.target)} instead of {brief(change.source)}"


def _runs(words: Words, change: Change) -> str:
    answer = words.answers[change.answer - 1]
    if change.low >= change.high * THE_SAME and change.low > 0.0:
        runs, most, _ = runs_of(change.high, change.high)
        return f"{answer} in at most {most:,} of {runs:,} runs either way"
    return f"{answer} {how_often(change.low, change.high, change.log_ratio == math.inf)}"


def _times(words: Words, change: Change) -> str:
    """A change between two probabilities that are both too small to be seen in any number of runs."""
    answer = words.answers[change.answer - 1]
    if change.log_ratio > MOST_TIMES:
        return f"{answer} is many times as probable, but in less than 1 of {MOST_RUNS:,} runs"
    ratio = math.exp(change.log_ratio)
    digit = 10.0 ** (math.floor(math.log10(ratio)) - 2)  # the third one, which is rounded up
    times = math.ceil(ratio / digit - ROUNDING) * digit
    return f"{answer} is at most {times:.3g} times as probable, and in less than 1 of {MOST_RUNS:,} runs"

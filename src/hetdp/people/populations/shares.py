"""Accuracy by true share: the worst accuracy over all tables in which a given number of people have a value.

`ShareScale` lists the possible numbers and what each means for the question. docs/theory/population.md proves that
the least label depends on the distance of the sum from the threshold alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import UsageError
from hetdp.mechanism.formatting import accuracy_of
from hetdp.numbers import comma_hint, parse_exact, parse_whole, percentage_hint
from hetdp.people.names import join_names, quote_if_needed
from hetdp.people.questions.question import Question
from hetdp.people.questions.thresholds import BLANK
from hetdp.problem.answer_words import NO, YES
from hetdp.problem.scores import Scores
from hetdp.text import format_value

SHARE_RULE = 'a share is a number from 0 to 1, or "0%" to "100%"'
MOST_POINTS = 200  # of a curve at which every number is listed
NEAR_POINTS = 60  # numbers and margins near the threshold of a curve where they are too many to list
LAST_ERROR = 1e-6  # the error at which a curve ends
ANSWERED_RULE = (
    "how many people answer matters for shares of respondents and A against B, where everybody's answer counts the same"
)
NOT_OFFERED = (
    "accuracy by true share is known for counts, shares, majorities, A against B, weighted sums and vetoes; here it is"
    " known by margin"
)


class Distance(NamedTuple):
    """The distance of a table from the other answer.

    Attributes:
        answer: the true answer: 1 (yes), or 2.
        need: how far the sum must move before the answer changes; 0 if it never does.
    """

    answer: int
    need: int


@dataclass(frozen=True)
class AccuracyPoint:
    """The worst accuracy over all tables of one margin, or with one number of people who have the counted value.

    Attributes:
        number: the number of people who have the value, or their weight; None at a point by margin.
        share: the same as a share of all who count; None at a point by margin.
        answer: the true answer there, ``"yes"`` or ``"no"``; None at a point by margin.
        margin: how many people must change before the answer does; None if this depends on who they are, or if no
            change of people changes the answer.
        accuracy: the smallest probability of the right answer.
        error: 1 − accuracy, without the rounding of an accuracy close to 1.
        baselines: the same error of other methods, by name.
        answered: the point is about all tables in which at least this many people answer, and `number` and `share` are
            of these; None if it does not matter how many answer.
    """

    number: int | None
    share: float | None
    answer: str | None
    margin: int | None
    accuracy: float
    error: float
    baselines: Mapping[str, float] = field(default_factory=dict)
    answered: int | None = None

    def document(self) -> dict[str, Any]:
        """The point as an object for JSON."""
        by_margin: dict[str, Any] = {"margin": self.margin}
        by_share = {"number": self.number, "share": self.share, "answer": self.answer, "margin": self.margin}
        by_share |= {} if self.answered is None else {"answered": self.answered}
        found = by_margin if self.number is None else by_share
        others = {
            name: {"accuracy": accuracy_of(error), "error": float(error)} for name, error in self.baselines.items()
        }
        return found | {"accuracy": self.accuracy, "error": self.error, "baselines": others}


@dataclass(frozen=True)
class AccuracyCurves:
    """The guaranteed accuracy of a mechanism and of baselines, by margin and by true share.

    Attributes:
        by_margin: the accuracy at some margins, from 1 on.
        by_share: the accuracy at some numbers of people who have the value, in increasing order; empty where it is not
            known.
        value: the value that these people have.
        of: how many people count, or their weight; 0 where it is not known.
        weighted: True if the people have different weights, so that numbers are sums of weights.
        assumption: what the numbers assume about all others, in words; empty if they assume nothing.
        not_offered: why `by_share` is empty, in words.
    """

    by_margin: tuple[AccuracyPoint, ...]
    by_share: tuple[AccuracyPoint, ...] = ()
    value: str = ""
    of: int = 0
    weighted: bool = False
    assumption: str = ""
    not_offered: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the baselines."""
        return tuple(dict.fromkeys(name for point in (*self.by_share, *self.by_margin) for name in point.baselines))

    def document(self) -> dict[str, Any]:
        """The curves as objects for JSON."""
        share: dict[str, Any] = {"value": self.value, "of": self.of, "unit": "weight" if self.weighted else "people"}
        share |= {"assumption": self.assumption or None, "points": [point.document() for point in self.by_share]}
        return {
            "by_margin": {"points": [point.document() for point in self.by_margin]},
            "by_share": None if self.not_offered else share,
            "not_offered": self.not_offered or None,
        }


@dataclass(frozen=True, eq=False)
class ShareScale:
    """The numbers of people who may have a value, and the distance of each from the other answer.

    Attributes:
        scores: the question in whole scores.
        value: the value.
        unit: the score of each person who counts; 0 if they differ.
        rises: whether this value moves the sum toward yes, rather than away from it.
        opposing: the values that the scale leaves out, since they are neither for nor against, such as ``"blank"``.
        between: the score of these values, if it is one for all and a table of them alone is a tie; else None.
    """

    scores: Scores
    value: str
    unit: int
    rises: bool
    opposing: tuple[str, ...] = ()
    between: int | None = None

    @property
    def assumption(self) -> str:
        """What is assumed about everybody else, in words; empty if nothing is assumed."""
        if self.opposing == (BLANK,):
            return "everybody answers"
        return f"nobody counts as {join_names(self.opposing, 'or')}" if self.opposing else ""

    @property
    def weighted(self) -> bool:
        """True if people have different weights; then numbers are sums of weights."""
        return self.unit == 0

    @property
    def of(self) -> int:
        """The largest number: all people who count, or their weight."""
        return self.scores.total // max(self.unit, 1)

    def distance(self, number: int) -> Distance:
        """The answer at a number, and how far the sum is from the other one."""
        if self.scores.constant:
            return Distance(self.scores.constant, 0)
        reached = (number if self.rises else self.of - number) * max(self.unit, 1)
        if reached >= self.scores.threshold:
            return Distance(1, reached - self.scores.threshold + 1)
        return Distance(2, self.scores.threshold - reached)

    def distance_of(self, share: Any, answered: int) -> Distance:
        """The answer, and the least distance of the sum from the other one, over all tables where enough people answer.

        Args:
            share: the share of the people who answer that have the value.
            answered: how many people answer at least.

        Raises:
            UsageError: it is not a share, or the number of people who answer does not matter for the question.
        """
        if self.between is None:
            raise UsageError("people who do not answer are not left out of this question", ANSWERED_RULE)
        if self.scores.constant:
            return Distance(self.scores.constant, 0)
        part = parse_share(share)
        lean = self.unit * (part if self.rises else 1 - part) - self.between  # of each person who answers
        reached = self.between * self.of + lean * answered
        if lean > 0 or (lean == 0 and reached >= self.scores.threshold):
            return Distance(1, math.ceil(reached) - self.scores.threshold + 1)
        return Distance(2, self.scores.threshold - math.floor(reached))

    def margin(self, number: int) -> int | None:
        """How many people must change before the answer does; None if weights differ or no change does."""
        need = self.distance(number).need
        return -(-need // self.unit) if need and self.unit else None

    def top(self, number: int) -> int:
        """How many people have the largest score, where weights do not differ."""
        return number if self.rises else self.of - number

    def number_at(self, share: Any) -> int:
        """The number that a share stands for; between two numbers, the one that is nearer to the other answer.

        So what is promised at this number holds for the share, too.

        Raises:
            UsageError: it is not a share.
        """
        part = parse_share(share)
        low, high = math.floor(part * self.of), math.ceil(part * self.of)
        below, above = self.distance(low), self.distance(high)
        if below.answer == above.answer and below.need != above.need:
            return low if below.need < above.need else high
        return low if part * self.of - low < Fraction(1, 2) else high

    def threshold_number(self) -> int:
        """The number at which the answer changes, as the larger of the two beside it."""
        part = -(-self.scores.threshold // max(self.unit, 1))
        return part if self.rises else self.of - part + 1

    def numbers(self, points: int = MOST_POINTS) -> list[int]:
        """The numbers of a curve: all of them, or whole per cents and those near the threshold, ever more densely."""
        if self.of <= points:
            return list(range(self.of + 1))
        near = np.unique(np.round(np.geomspace(1, self.of, NEAR_POINTS)).astype(np.int64)).tolist()
        middle = self.threshold_number()
        found = {self.of * percent // 100 for percent in range(101)} | {middle - one for one in near}
        return sorted(one for one in found | {middle - 1 + one for one in near} if 0 <= one <= self.of)

    def words_answered(self, share: str, answered: int) -> str:
        """The tables in which at least this many people answer and a share of them has the value, in words."""
        all_of = answered == self.of
        value = quote_if_needed(self.value)
        if self.opposing == (BLANK,):
            who = f"all {self.of:,} people answer" if all_of else f"at least {answered:,} of {self.of:,} people answer"
            return f"{share} of those who answer count as {value}, and {who}"
        others = join_names(self.opposing, "or")
        who = f"nobody of {self.of:,} people" if all_of else f"at most {self.of - answered:,} of {self.of:,} people"
        does = "counts" if all_of else "count"
        return f"{share} of those who do not count as {others} count as {value}, and {who} {does} as {others}"

    def words(self, share: str, number: int) -> str:
        """The tables with a number, in words.

        >>> import hetdp
        >>> people = hetdp.spaces.population(hetdp.questions.majority(), 0.5, size=600)
        >>> people.share_scale.words("55%", 330)
        '55% count as yes (330 of 600)'
        """
        value = quote_if_needed(self.value)
        if self.weighted:
            return f"people with {share} of the weight count as {value}"
        return f"{share} count as {value} ({number:,} of {self.of:,})"


def parse_share(share: Any, what: str = "the share") -> Fraction:
    """A share, exactly as written.

    Raises:
        UsageError: it is not a number from 0 to 1.

    >>> parse_share("55%"), parse_share(0.5)
    (Fraction(11, 20), Fraction(1, 2))
    """
    try:
        part = parse_exact(share, what)
    except UsageError:
        raise UsageError(f"{what} is {format_value(share)}", SHARE_RULE, comma_hint(share)) from None
    if not 0 <= part <= 1:
        raise UsageError(f"{what} is {format_value(share)}", SHARE_RULE, percentage_hint(share))
    return part


def share_scale(question: Question, values: Sequence[str], scores: Scores) -> ShareScale | None:
    """The scale of a question; None if no value moves the sum the same way for all people.

    Args:
        question: the question.
        values: the values that a person may have.
        scores: the question in whole scores.
    """
    counted = np.flatnonzero((scores.most > 0) & (scores.sizes > 0))
    rows, most = scores.scores[counted], scores.most[counted]
    named = [at for at, value in enumerate(values) if value in question.values_used()] or list(range(len(values)))
    for at in named:
        rises = bool((rows[:, at] == most).all())
        if not rises and not (rows[:, at] == 0).all():
            continue
        others = np.zeros_like(most) if rises else most
        opposing = [value for other, value in enumerate(values) if other != at and (rows[:, other] != others).any()]
        if len(opposing) == len(values) - 1:
            continue  # nobody could be on the other side
        unit = int(most[0]) if len(most) and (most == most[0]).all() else 0
        between = {int(rows[group, values.index(value)]) for value in opposing for group in range(len(rows))}
        (score,) = between if unit and len(between) == 1 else (None,)
        if score is not None and scores.threshold - score * (scores.total // unit) not in (0, 1):
            score = None  # without any answer, there is no tie
        return ShareScale(scores, values[at], unit if len(most) else 1, rises, tuple(sorted(opposing)), score)
    return None


def require_scale(scale: ShareScale | None, question: Question) -> ShareScale:
    """The scale, if there is one.

    Raises:
        UsageError: accuracy by true share is not known for the question.
    """
    if scale is None:
        raise UsageError(f"the question is {question}", NOT_OFFERED)
    return scale


# Curves ---------------------------------------------------------------------------------------------------------------


class ComputesCurves(ABC):
    """A mechanism whose worst accuracy is known by margin and, for most questions, by true share."""

    @property
    @abstractmethod
    def share_scale(self) -> ShareScale:
        """The numbers of people who may have the counted value.

        Raises:
            UsageError: accuracy by true share is not known for the question.
        """

    @abstractmethod
    def error_at_number(self, number: int) -> float:
        """The worst probability of the wrong answer over all tables with a number of the share scale."""

    @abstractmethod
    def error_beyond(self, distance: Distance) -> float:
        """An upper bound on the probability of the wrong answer over all tables at this distance or a larger one.

        Raises:
            UsageError: it is not known.
        """

    @abstractmethod
    def errors_by_margin(self) -> list[tuple[int, float]]:
        """Some margins from 1 on, and the worst probability of the wrong answer over all tables of each."""

    @abstractmethod
    def other_methods(self) -> Mapping[str, Callable[[Distance], float]]:
        """The baselines: functions that compute the worst error at a distance, by name."""

    def accuracy_at_share(self, share: Any, answered: Any = None) -> AccuracyPoint:
        """The worst accuracy over all tables in which a share of the people have the counted value. It is public.

        It holds whoever these people are. A share between two whole numbers of people stands for the one that is nearer
        to the other answer.

        Args:
            share: a number from 0 to 1, or a text such as ``"55%"`` or ``"2/3"``.
            answered: for shares of respondents and A against B: how many people answer at least. The share is that of
                the people who answer. By default, everybody answers.

        Raises:
            UsageError: it is not a share, or the accuracy is not known for the question.

        >>> import hetdp
        >>> people = hetdp.spaces.population(hetdp.questions.majority(), 0.1, size=600)
        >>> point = people.design().accuracy_at_share("55%")
        >>> point.number, point.answer, point.margin, round(point.accuracy, 3)
        (330, 'yes', 30, 0.974)
        >>> asked = hetdp.questions.majority(of="respondents")
        >>> people = hetdp.spaces.population(asked, 0.1, ("yes", "no", "blank"), size=600)
        >>> [round(people.design().accuracy_at_share("55%", answered=number).accuracy, 3) for number in (600, 300)]
        [0.974, 0.883]
        """
        scale = self.share_scale
        if answered is None:
            return self._point(scale, scale.number_at(share), {})
        people = parse_whole(answered, "the number of people who answer", 1)
        if people > scale.of:
            raise UsageError(f"{people:,} people answer", f"only {scale.of:,} count")
        distance, part = scale.distance_of(share, people), parse_share(share)
        error = self.error_beyond(distance)
        number = math.floor(part * people) if (distance.answer == 1) == scale.rises else math.ceil(part * people)
        answer = YES if distance.answer == 1 else NO
        margin = -(-distance.need // scale.unit) or None
        return AccuracyPoint(number, float(part), answer, margin, accuracy_of(error), error, {}, people)

    def accuracy_at_number(self, number: int) -> AccuracyPoint:
        """The worst accuracy over all tables in which this number of people have the counted value.

        Raises:
            UsageError: no table has such a number, or the accuracy is not known for the question.
        """
        scale = self.share_scale
        found = parse_whole(number, f"the number of {format_value(scale.value)}", 0)
        if found > scale.of:
            raise UsageError(f"{found:,} people count as {quote_if_needed(scale.value)}", f"only {scale.of:,} count")
        return self._point(scale, found, {})

    def curves(self, baselines: bool = True, numbers: Iterable[int] | None = None) -> AccuracyCurves:
        """The guaranteed accuracy by margin and by true share, beside the baselines *one ε* and *geometric noise*.

        Args:
            baselines: whether to compute the baselines, too.
            numbers: the numbers of people who have the counted value. By default all or, for many people, whole per
                cents and, increasingly dense, the numbers near the threshold.

        >>> import hetdp
        >>> curves = hetdp.spaces.population(hetdp.questions.majority(), [0.1] * 50 + [1.0] * 51).design().curves()
        >>> point = curves.by_share[60]
        >>> point.number, point.answer, round(point.accuracy, 2), round(1 - point.baselines["geometric noise"], 2)
        (60, 'yes', 0.81, 0.81)
        """
        try:
            scale, why = self.share_scale, ""
        except UsageError as refusal:
            scale, why = None, refusal.rule
        others = self.other_methods() if baselines and scale is not None else {}
        by_margin = tuple(
            AccuracyPoint(None, None, None, margin, accuracy_of(error), error, _at_margin(scale, margin, others))
            for margin, error in self.errors_by_margin()
        )
        if scale is None:
            return AccuracyCurves(by_margin, not_offered=why)
        wanted = scale.numbers() if numbers is None else numbers
        by_share = tuple(self._point(scale, number, others) for number in wanted)
        return AccuracyCurves(by_margin, by_share, scale.value, scale.of, scale.weighted, scale.assumption)

    def _point(
        self, scale: ShareScale, number: int, others: Mapping[str, Callable[[Distance], float]]
    ) -> AccuracyPoint:
        distance, error = scale.distance(number), self.error_at_number(number)
        return AccuracyPoint(
            number,
            number / scale.of if scale.of else 0.0,
            YES if distance.answer == 1 else NO,
            scale.margin(number),
            accuracy_of(error),
            error,
            {name: method(distance) for name, method in others.items()},
        )


def _at_margin(
    scale: ShareScale | None, margin: int, others: Mapping[str, Callable[[Distance], float]]
) -> dict[str, float]:
    """The errors of baselines at a margin: the larger of those at the two numbers that have it.

    There are none if a number of the scale assumes what others say: a margin assumes nothing, so the two cannot be
    compared.
    """
    if scale is None or scale.weighted or scale.assumption:
        return {}
    middle = scale.threshold_number()
    distances = [scale.distance(one) for one in (middle - margin, middle - 1 + margin) if 0 <= one <= scale.of]
    return {name: max(map(method, distances)) for name, method in others.items() if distances}


def margins_to_show(error_at: Callable[[int], float], farthest: int) -> Iterator[tuple[int, float]]:
    """Margins from 1 on with their errors, until the answer is nearly always right; small margins are denser.

    >>> [margin for margin, _ in margins_to_show(lambda margin: 2.0**-margin, 8)]
    [1, 2, 3, 4, 5, 6, 7, 8]
    """
    if farthest < 1:
        return
    last = 1
    while last < farthest and error_at(last) > LAST_ERROR:
        last = min(farthest, 2 * last)
    for margin in np.unique(np.round(np.geomspace(1, last, NEAR_POINTS)).astype(np.int64)).tolist():
        yield margin, error_at(margin)

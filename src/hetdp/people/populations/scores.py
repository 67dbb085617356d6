"""Scores: the contribution of each group and value to the threshold of a question, in the smallest whole numbers.

`scores_of` is for one threshold, `formula_scores` also for counts of disjoint groups that are joined by and / or.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np

from hetdp.errors import UsageError
from hetdp.people.names import require_known
from hetdp.people.questions.logic import And, Combination, Not
from hetdp.people.questions.question import Question, require_question
from hetdp.problem.scores import Scores, Whole

LARGEST_SCORE = 1 << 31
MOST_SUM = 1 << 26  # bits, one for each sum
MOST_WORK = 1 << 33  # bits that are shifted to find who decides; about a second
FORMULA_RULE = (
    "a population answers a threshold question: a count, a share, a majority, A against B, a weighted sum;"
    " or counts of disjoint groups, joined by and / or"
)
FORMULA_HINT = "other questions are for spaces whose tables are listed"
Row = list[int]


def scores_of(question: Any, groups: Sequence[str], sizes: Whole, values: Sequence[str]) -> Scores:
    """The scores that a question gives to groups and values.

    Raises:
        UsageError: the question is not a threshold of a sum, or names what is not there.
    """
    form = require_question(question).linear()
    if form is None:
        raise UsageError(f"the question is {question}", FORMULA_RULE, FORMULA_HINT)
    require_known(question.groups_used(), groups, "group")
    require_known(question.values_used(), values, "value")
    rows = [[form.score(group, value) for value in values] for group in groups]
    threshold = form.at_least - sum(min(row) * size for row, size in zip(rows, sizes.tolist(), strict=True))
    rows, threshold = _reduce([[score - min(row) for score in row] for row in rows], threshold)
    deciding, all_decide = _deciding_groups(rows, sizes.tolist(), threshold)
    rows, threshold = _reduce([row if decides else [0] * len(row) for row, decides in deciding], threshold)
    if max(map(max, rows)) >= LARGEST_SCORE:
        raise UsageError("the scores of the question are too large", f"without common factors they are below {2**31:,}")
    scores = np.array(rows, dtype=np.int64)
    return Scores(scores, scores.max(axis=1), sizes, threshold, all_decide)


def _reduce(rows: list[Row], threshold: int) -> tuple[list[Row], int]:
    """Scores without common factors, and the equivalent threshold."""
    common = gcd(*(score for row in rows for score in row)) or 1
    return [[score // common for score in row] for row in rows], -(-threshold // common)


def _deciding_groups(rows: list[Row], sizes: list[int], threshold: int) -> tuple[list[tuple[Row, bool]], bool]:
    """For each group, whether its people decide at some table; and whether that is known of all.

    Who decides at no table may have any score, and so has none: the question stays the same. docs/theory/population.md
    has the proof. Where it would take too long to find out, everybody is taken to decide.
    """
    people = [(max(row), row, size) for row, size in zip(rows, sizes, strict=True)]
    levels = sorted({most for most, _, size in people if most and size}, reverse=True)
    below = sum(most * size for most, _, size in people)  # the most that the people from a level on can add together
    if not levels or not 0 < threshold <= below:
        return [(row, True) for row in rows], True
    by_level: dict[int, list[tuple[Row, int]]] = {level: [] for level in [0, *levels]}
    for most, row, size in people:
        by_level[most if size else 0].append((row, size))
    least, sums, work = levels[-1], 1, 0  # bit s of sums: those above a level can have the sum s
    if least * sum(size for _, size in by_level[least]) >= levels[0]:
        levels = []  # the smallest scores fill every hole
    for above in levels[:-1]:
        for row, size in by_level[above]:
            below -= above * size
            work += threshold * _steps(row, size)
            if work > MOST_WORK or threshold > MOST_SUM:
                return [(row, True) for row in rows], False
            sums = _sums(sums, row, size, threshold)
        if not sums >> max(
            0, threshold - below
        ):  # no table is short of the threshold by exactly what those below can add
            least = above
            break
    return [(row, most >= least and size > 0) for most, row, size in people], True


def _sums(sums: int, row: Row, size: int, threshold: int) -> int:
    """The sums below the threshold that can be reached with more people, each of whom has a score of the row."""
    scores = sorted({score for score in row if score})
    if len(scores) == 1:  # by 1, 2, 4 … people at once
        count = 1
        while size:
            count = min(count, size)
            sums |= _shift_sums(sums, scores[0] * count, threshold)
            size, count = size - count, 2 * count
        return sums
    for _ in range(size):
        found = sums
        for score in scores:
            found |= _shift_sums(sums, score, threshold)
        sums = found
    return sums


def _shift_sums(sums: int, score: int, threshold: int) -> int:
    """All sums plus a score, as far as they are below the threshold."""
    return 0 if score >= threshold else (sums << score) & ((1 << threshold) - 1)


def _steps(row: Row, size: int) -> int:
    """The number of shifts of all sums for the people of a group."""
    scores = len({score for score in row if score})
    return size.bit_length() + 1 if scores == 1 else size * scores


def constant_answer(question: Question, groups: Sequence[str], sizes: Whole, values: Sequence[str]) -> int:
    """1 or 2 if every table of so many people has this answer, as far as the parts of the question tell; else 0.

    >>> import hetdp
    >>> asked = hetdp.questions.count("yes", 9) & hetdp.questions.majority()
    >>> [constant_answer(asked, ["all"], np.array([size]), ["yes", "no"]) for size in (8, 9)]
    [2, 0]
    """
    if isinstance(question, Not):
        return (0, 2, 1)[constant_answer(question.part, groups, sizes, values)]
    if isinstance(question, Combination):
        found = {constant_answer(part, groups, sizes, values) for part in question.parts}
        enough = 2 if isinstance(question, And) else 1  # one part that has this answer decides
        return enough if enough in found else 3 - enough if found == {3 - enough} else 0
    return 0 if question.linear() is None else scores_of(question, groups, sizes, values).constant


# Counts of disjoint groups, joined by and / or ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class JoinedCounts:
    """Two counts or more, each about groups of its own, joined by and / or.

    Attributes:
        parts: the counts, none of which is constant; nobody counts in two of them.
        asks_all: True if the answer is yes where all of them are (and), False if one suffices (or).
    """

    parts: tuple[Scores, ...]
    asks_all: bool

    constant = 0
    is_count = False
    all_decide = True  # the other parts can have any answer

    def farthest(self, answer: int) -> int:
        """The largest margin that a table of this answer can have."""
        each = [part.farthest(answer) for part in self.parts]
        return min(each) if self.asks_all == (answer == 1) else sum(each)


def formula_scores(
    question: Any, groups: Sequence[str], sizes: Whole, values: Sequence[str]
) -> Scores | JoinedCounts | None:
    """The scores of a question for which a population has a formula; None if no formula is known.

    These are sums over people, and counts of disjoint groups joined by and / or, after constant parts are left out.

    Raises:
        UsageError: the question names what is not there.

    >>> import hetdp
    >>> asked = hetdp.questions.count("yes", 2, "a") & hetdp.questions.count("yes", 1, "b")
    >>> [part.threshold for part in formula_scores(asked, ["a", "b"], np.array([4, 5]), ["yes", "no"]).parts]
    [2, 1]
    >>> formula_scores(asked, ["a", "b"], np.array([4, 0]), ["yes", "no"]).constant  # nobody of b can count as yes
    2
    """
    require_known(question.groups_used(), groups, "group")
    require_known(question.values_used(), values, "value")
    return _reduce_question(question, False, groups, sizes, values)


def _reduce_question(
    question: Question, negated: bool, groups: Sequence[str], sizes: Whole, values: Sequence[str]
) -> Scores | JoinedCounts | None:
    """The same for a question or, if `negated`, its opposite."""
    if question.linear() is not None:
        try:
            return scores_of(Not(question) if negated else question, groups, sizes, values)
        except UsageError:  # its scores are too large
            return None
    if isinstance(question, Not):
        return _reduce_question(question.part, not negated, groups, sizes, values)
    if not isinstance(question, Combination):
        return None
    asks_all = isinstance(question, And) != negated
    found = [_reduce_question(part, negated, groups, sizes, values) for part in question.parts]
    if any(part is not None and part.constant == (2 if asks_all else 1) for part in found):
        return _constant_scores(not asks_all, sizes, len(values))
    parts: list[Scores] = []
    for part in found:
        if part is None or (isinstance(part, JoinedCounts) and part.asks_all != asks_all):
            return None
        if not part.constant:
            parts += part.parts if isinstance(part, JoinedCounts) else [part]
    return _join_counts(parts, asks_all) if parts else _constant_scores(asks_all, sizes, len(values))


def _join_counts(given: list[Scores], asks_all: bool) -> Scores | JoinedCounts | None:
    """Joins scores, of which none is constant; None if they are not counts of disjoint groups.

    Of two thresholds of one sum one decides; and parts that everybody can veto, or pass, are one such part.
    """
    by_scores: dict[bytes, Scores] = {}
    for part in given:
        other = by_scores.setdefault(part.scores.tobytes(), part)
        if (part.threshold > other.threshold) == asks_all:
            by_scores[part.scores.tobytes()] = part
    parts = list(by_scores.values())
    if len(parts) == 1:
        return parts[0]
    people = sum(part.most * (part.sizes > 0) for part in parts)
    if not all(part.is_count for part in parts) or int(np.max(people)) > 1:
        return None
    alike = [part for part in parts if part.threshold == (part.total if asks_all else 1)]
    if len(alike) > 1:
        scores = sum((part.scores for part in alike[1:]), alike[0].scores)
        whole = sum(part.total for part in alike)
        alike = [Scores(scores, scores.max(axis=1), alike[0].sizes, whole if asks_all else 1)]
    parts = alike + [part for part in parts if part.threshold != (part.total if asks_all else 1)]
    return parts[0] if len(parts) == 1 else JoinedCounts(tuple(parts), asks_all)


def _constant_scores(is_yes: bool, sizes: Whole, values: int) -> Scores:
    """The scores of a question with one answer for every table."""
    nothing = np.zeros((len(sizes), values), dtype=np.int64)
    return Scores(nothing, nothing[:, 0], sizes, 0 if is_yes else 1)

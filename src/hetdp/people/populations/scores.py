"""Scores: the contribution of each group and value to the threshold of a question, in the smallest whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any

import numpy as np

from hetdp.errors import UsageError
from hetdp.people.names import require_known
from hetdp.people.questions.logic import And, Combination, Not
from hetdp.people.questions.question import Question
from hetdp.problem.scores import Scores, Whole

LARGEST_SCORE = 1 << 31
MOST_SUM = 1 << 26  # bits, one for each sum
MOST_WORK = 1 << 33  # bits that are shifted to find who decides; about a second
Row = list[int]


def scores_of(question: Any, groups: Sequence[str], sizes: Whole, values: Sequence[str]) -> Scores:
    """The scores that a question gives to groups and values.

    Raises:
        UsageError: the question is not a threshold of a sum, or names what is not there.
    """
    form = question.linear() if isinstance(question, Question) else None
    if form is None:
        rule = "a population answers a threshold question: a count, a share, a majority, A against B, a weighted sum"
        raise UsageError(f"the question is {question}", rule, "other questions are for spaces whose tables are listed")
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
    below = sum(most * size for most, _, size in people)  # what those from a level on can add, all together
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
        if not sums >> max(0, threshold - below):  # no table lacks just what those below can add
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

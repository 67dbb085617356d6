"""From a question to what everybody counts toward its threshold."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any

import numpy as np

from hetdp.errors import UsageError
from hetdp.problem.scores import Scores, Whole
from hetdp.spaces.names import require_known
from hetdp.spaces.questions.logic import And, Joined, Not
from hetdp.spaces.questions.question import Question

LARGEST_SCORE = 1 << 31


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


def constant_of(question: Question, groups: Sequence[str], sizes: Whole, values: Sequence[str]) -> int:
    """1 or 2 if every table of so many people has this answer, as far as the parts of the question tell; else 0.

    >>> import hetdp
    >>> asked = hetdp.questions.count("yes", 9) & hetdp.questions.majority()
    >>> [constant_of(asked, ["all"], np.array([size]), ["yes", "no"]) for size in (8, 9)]
    [2, 0]
    """
    if isinstance(question, Not):
        return (0, 2, 1)[constant_of(question.part, groups, sizes, values)]
    if isinstance(question, Joined):
        found = {constant_of(part, groups, sizes, values) for part in question.parts}
        enough = 2 if isinstance(question, And) else 1  # one part that has this answer decides
        return enough if enough in found else 3 - enough if found == {3 - enough} else 0
    return 0 if question.linear() is None else scores_of(question, groups, sizes, values).constant

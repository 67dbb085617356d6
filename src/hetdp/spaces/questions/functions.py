"""A Python function as a question: for spaces only, since it cannot be written down, nor read by who approves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetdp.errors import UsageError
from hetdp.spaces.questions.arithmetic import Truth
from hetdp.spaces.questions.question import People, Question, Tables


@dataclass(frozen=True)
class Function(Question):
    """What a Python function says; see `questions.function`."""

    call: Callable[[Tables], Any]
    words: str

    def groups_used(self) -> frozenset[str]:
        return frozenset()

    def values_used(self) -> frozenset[str]:
        return frozenset()

    def _holds(self, people: People) -> Truth:
        answers = np.asarray(self.call(people.counts))
        if answers.dtype != np.bool_:
            what = f"the function of the question {self.words!r} gave values of the type {answers.dtype}"
            raise UsageError(what, "it returns booleans, one for each table")
        return answers

    def body(self) -> dict[str, Any]:
        raise UsageError(
            f"the question {self.words!r} is a Python function",
            "only questions that are data can be written down",
            "count, share, majority, versus, weighted_sum, all_of and ratio_of_shares, joined by &, | and ~, can be",
        )

    def __str__(self) -> str:
        return f"{self.words} (a Python function)"

"""Questions made of questions: and, or, not; the same question about parts of groups; and Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from hetdp.errors import UsageError
from hetdp.people.names import require_name
from hetdp.people.questions.question import QUESTION_KINDS, Linear, People, Question, Tables, Truth, width_for
from hetdp.text import format_value


@dataclass(frozen=True)
class Combination(Question):
    """Two or more questions, joined."""

    parts: tuple[Question, ...]

    def groups_used(self) -> frozenset[str]:
        return frozenset().union(*(part.groups_used() for part in self.parts))

    def values_used(self) -> frozenset[str]:
        return frozenset().union(*(part.values_used() for part in self.parts))

    def _body(self, asks: str) -> dict[str, Any]:
        return {"asks": asks, "parts": [part.body() for part in self.parts]}

    def _words(self, word: str) -> str:
        return f" {word} ".join(f"({part})" for part in self.parts)


class And(Combination):
    """All of the questions hold."""

    def evaluate(self, people: People) -> Truth:
        return reduce(np.logical_and, (part.evaluate(people) for part in self.parts))

    def body(self) -> dict[str, Any]:
        return self._body("and")

    def __str__(self) -> str:
        return self._words("and")


class Or(Combination):
    """One or more of the questions hold."""

    def evaluate(self, people: People) -> Truth:
        return reduce(np.logical_or, (part.evaluate(people) for part in self.parts))

    def body(self) -> dict[str, Any]:
        return self._body("or")

    def __str__(self) -> str:
        return self._words("or")


@dataclass(frozen=True)
class Not(Question):
    """A question does not hold."""

    part: Question

    def groups_used(self) -> frozenset[str]:
        return self.part.groups_used()

    def values_used(self) -> frozenset[str]:
        return self.part.values_used()

    def linear(self) -> Linear | None:
        form = self.part.linear()
        return None if form is None else form.negation()

    def evaluate(self, people: People) -> Truth:
        return np.logical_not(self.part.evaluate(people))

    def body(self) -> dict[str, Any]:
        return {"asks": "not", "part": self.part.body()}

    def __str__(self) -> str:
        return f"not ({self.part})"

    def __invert__(self) -> Question:
        return self.part


def combine(how: type[Combination], *questions: Question) -> Question:
    """Joins questions; parts that are joined in the same way already are not put in brackets."""
    parts: list[Question] = []
    for question in questions:
        parts += question.parts if type(question) is how and isinstance(question, Combination) else [question]
    return how(tuple(parts))


# A question about groups, asked about parts of these groups: people of a group who differ in ε are counted apart.


def alike_groups(question: Question, groups: Sequence[str], values: Sequence[str]) -> dict[str, str]:
    """For each group the first of those whose people the question treats alike: nothing tells their answers apart.

    >>> import hetdp
    >>> asked = hetdp.questions.count("yes", 3) & hetdp.questions.all_of("staff")
    >>> alike_groups(asked, ["guest", "pupil", "staff"], ["yes", "no"])
    {'guest': 'guest', 'pupil': 'guest', 'staff': 'staff'}
    """
    first: dict[Any, str] = {}
    return {group: first.setdefault(_treatment(question, group, values), group) for group in groups}


def _treatment(question: Question, group: str, values: Sequence[str]) -> Any:
    """Equal for two groups only if the question stays the same where their people are exchanged."""
    if isinstance(question, Combination):
        return tuple(_treatment(part, group, values) for part in question.parts)
    if isinstance(question, Not):
        return _treatment(question.part, group, values)
    form = question.linear()
    if form is not None:
        return tuple(form.score(group, value) for value in values)
    is_named = group in question.groups_used() or isinstance(question, FunctionQuestion)
    return group if is_named else None


@dataclass(frozen=True)
class RegroupedQuestion(Question):
    """The same question, where each part of a group is an axis of its own.

    Attributes:
        question: what is asked.
        group_of: part → the group it belongs to.
        groups: all groups, those without people included.
    """

    question: Question
    group_of: Mapping[str, str]
    groups: tuple[str, ...]

    def groups_used(self) -> frozenset[str]:
        return frozenset()

    def values_used(self) -> frozenset[str]:
        return self.question.values_used()

    def evaluate(self, people: People) -> Truth:
        counts: dict[str, dict[str, Any]] = {}
        sizes: dict[str, int] = {}
        for group in self.groups:
            parts = [part for part in people.counts if self.group_of[part] == group]
            sizes[group] = sum(people.sizes[part] for part in parts)
            width = width_for(sizes[group])
            counts[group] = {
                value: sum((people.of(part, value)[0].astype(width) for part in parts), np.zeros((), dtype=width))
                for value in next(iter(people.counts.values()))
            }
        return self.question.holds(counts, sizes)

    def body(self) -> dict[str, Any]:
        return self.question.body()

    def __str__(self) -> str:
        return str(self.question)


# A Python function as a question: for spaces only, since it can neither be saved nor be read by those who approve it.


@dataclass(frozen=True)
class FunctionQuestion(Question):
    """A question that a Python function answers; see `questions.function`."""

    call: Callable[[Tables], Any]
    words: str

    def groups_used(self) -> frozenset[str]:
        return frozenset()

    def values_used(self) -> frozenset[str]:
        return frozenset()

    def evaluate(self, people: People) -> Truth:
        answers = np.asarray(self.call(people.counts))
        if answers.dtype != np.bool_:
            what = f"the function of the question {self.words!r} gave values of the type {answers.dtype}"
            raise UsageError(what, "it returns booleans, one for each table")
        return answers

    def body(self) -> dict[str, Any]:
        raise UsageError(
            f"the question {self.words!r} is a Python function",
            "only questions that are data can be saved",
            f"{', '.join(sorted(QUESTION_KINDS))}, joined by &, | and ~, can be",
        )

    def __str__(self) -> str:
        return f"{self.words} (a Python function)"


def function(f: Callable[[Tables], Any], words: str) -> Question:
    """A Python function as a question, for spaces only: it cannot be saved, so nothing is released for it.

    Args:
        f: gets the counts, group → value → array, and returns booleans.
        words: what it asks, in words.

    Raises:
        UsageError: an argument is invalid.

    >>> import hetdp
    >>> odd = hetdp.questions.function(lambda counts: counts["Class"]["ill"] % 2 == 1, words="an odd number are ill")
    >>> import numpy as np
    >>> odd.holds({"Class": {"ill": np.arange(3), "well": 2 - np.arange(3)}}, {"Class": 2})
    array([False,  True, False])
    """
    if not callable(f):
        raise UsageError(f"f is {format_value(f)}", "it must be a function that gets the counts and returns booleans")
    return FunctionQuestion(f, require_name(words, "words"))

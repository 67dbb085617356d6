"""Questions made of questions: and, or, not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from hetdp.spaces.questions.arithmetic import Truth
from hetdp.spaces.questions.question import Linear, People, Question


@dataclass(frozen=True)
class Joined(Question):
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


class And(Joined):
    """All of the questions hold."""

    def _holds(self, people: People) -> Truth:
        return reduce(np.logical_and, (part._holds(people) for part in self.parts))

    def body(self) -> dict[str, Any]:
        return self._body("and")

    def __str__(self) -> str:
        return self._words("and")


class Or(Joined):
    """One or more of the questions hold."""

    def _holds(self, people: People) -> Truth:
        return reduce(np.logical_or, (part._holds(people) for part in self.parts))

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
        return None if form is None else form.negated()

    def _holds(self, people: People) -> Truth:
        return np.logical_not(self.part._holds(people))

    def body(self) -> dict[str, Any]:
        return {"asks": "not", "part": self.part.body()}

    def __str__(self) -> str:
        return f"not ({self.part})"

    def __invert__(self) -> Question:
        return self.part


def joined(how: type[Joined], *questions: Question) -> Question:
    """Questions joined; what is joined in the same way already is not put in brackets."""
    parts: list[Question] = []
    for question in questions:
        parts += question.parts if type(question) is how and isinstance(question, Joined) else [question]
    return how(tuple(parts))

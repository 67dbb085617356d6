"""Situations that ε may depend on, and the small states of datasets that tell them apart.

Two neighbouring tables u and v are in a situation if one of them is, so that a rule never protects less than its words
say. The *margin* of a table is how many people must change their value before the answer changes: 1 where one suffices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError
from hetdp.numbers import parse_whole
from hetdp.text import format_value

DECIDING, WITHIN, ANSWER = "deciding", "within", "answer"
WHEN_RULE = 'it is "deciding", within(d), answer(1), answer(2), or not given'
MOST_STATES = 256  # a state is stored as one byte


@dataclass(frozen=True)
class When:
    """A situation.

    Attributes:
        kind: ``deciding``, ``within`` or ``answer``.
        number: the distance, or the answer; 0 for ``deciding``.
    """

    kind: str
    number: int = 0

    def __str__(self) -> str:
        if self.kind == DECIDING:
            return "when deciding"
        if self.kind == ANSWER:
            return f"where the answer is {self.number}"
        return f"within {self.number} of the threshold"

    def body(self) -> Any:
        """The situation in a document."""
        return DECIDING if self.kind == DECIDING else {self.kind: self.number}


def within(distance: int) -> When:
    """The answer changes if at most `distance` people change their value, from either of the two tables.

    Args:
        distance: how many people, 1 or more.

    Raises:
        UsageError: it is not a whole number ≥ 1.

    >>> import hetdp
    >>> print(hetdp.privacy.within(2))
    within 2 of the threshold
    """
    return When(WITHIN, parse_whole(distance, "the distance", 1))


def answer(which: int) -> When:
    """The true answer is this one, at one of the two tables or at both.

    Args:
        which: 1 or 2.

    Raises:
        UsageError: it is neither 1 nor 2.

    >>> import hetdp
    >>> print(hetdp.privacy.answer(2))
    where the answer is 2
    """
    if parse_whole(which, "the answer") not in (1, 2):
        raise UsageError(f"the answer is {format_value(which)}", "answers are 1 and 2")
    return When(ANSWER, int(which))


def as_when(given: Any) -> When | None:
    """A situation as people give it, or as a document has it.

    Raises:
        UsageError: that is none.
    """
    if given is None or isinstance(given, When):
        return given
    if given == DECIDING:
        return When(DECIDING)
    makers = {WITHIN: within, ANSWER: answer}
    if isinstance(given, dict) and len(given) == 1 and next(iter(given)) in makers:
        kind, number = next(iter(given.items()))
        return makers[kind](number)
    raise UsageError(f"when is {format_value(given)}", WHEN_RULE)


@dataclass(frozen=True)
class States:
    """The states that ε may depend on, besides the person and the change: the answer, and the range of the margin.

    Attributes:
        distances: the distances that rules name, in increasing order; margins are told apart no finer than by these.
    """

    distances: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.count > MOST_STATES:
            what = f"the rules name {len(self.distances)} distances from the threshold"
            raise UsageError(what, f"there are at most {MOST_STATES // 2 - 1}")

    @property
    def count(self) -> int:
        """The number of states."""
        return 2 * (len(self.distances) + 1)

    @property
    def farthest(self) -> int:
        """The largest margin that must be known exactly; all larger ones are alike."""
        return self.distances[-1] if self.distances else 0

    def state(self, answers: Any, margins: Any = None) -> NDArray[np.uint8]:
        """The states of datasets.

        Args:
            answers: the true answers, 1 or 2.
            margins: how many people must change before the answer does; only needed where rules name distances.

        Raises:
            UsageError: the rules need margins, and none are given.

        >>> import hetdp
        >>> hetdp.privacy.States((1, 3)).state([1, 1, 1, 2], [1, 2, 9, 3])
        array([0, 1, 2, 4], dtype=uint8)
        """
        if self.distances and margins is None:
            raise UsageError("the margins are missing", "rules that name a distance from the threshold need them")
        steps = np.searchsorted(self.distances, margins) if self.distances else 0
        side = np.asarray(answers, dtype=np.int64) - 1
        return np.asarray(side * (len(self.distances) + 1) + steps, dtype=np.uint8)

    def answers(self) -> NDArray[np.int64]:
        """The answer of each state."""
        return np.repeat(np.array([1, 2]), len(self.distances) + 1)

    def applies(self, when: When | None) -> NDArray[np.bool_]:
        """Between which states a situation is given: booleans [state of u, state of v], symmetric."""
        answers = self.answers()
        if when is None:
            return np.ones((self.count, self.count), dtype=np.bool_)
        if when.kind == DECIDING:
            return np.asarray(answers[:, None] != answers[None, :], dtype=np.bool_)
        if when.kind == ANSWER:
            is_there = answers == when.number
        else:
            is_there = np.tile(np.arange(len(self.distances) + 1) <= self.distances.index(when.number), 2)
        return np.asarray(is_there[:, None] | is_there[None, :], dtype=np.bool_)

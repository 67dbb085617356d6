"""Situations that ε may depend on, and the small states of datasets that tell them apart.

Two neighbouring tables u and v are in a situation if one of them is, so that a rule never protects less than its words
say. The *margin* of a table is how many people must change their value before the answer changes: 1 where one suffices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError
from hetdp.numbers import parse_whole
from hetdp.problem.axis import Axis
from hetdp.problem.query import Answers
from hetdp.problem.space import Mask
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


def read_situation(given: Any) -> When | None:
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


# States and margins of datasets ---------------------------------------------------------------------------------------


def states_of(axes: Sequence[Axis], answers: Answers, states: States) -> NDArray[np.uint8]:
    """The state of each dataset.

    The datasets with one answer grow by one change of one person at a time, until the farthest distance that a rule
    names; those of the other answer that are reached in step d have the margin d.

    Args:
        axes: the people, or groups.
        answers: the true answers, 1 or 2.
        states: what is told apart.

    >>> states_of([Axis.tally("all", 4, 1)], np.array([2, 2, 2, 1, 1], dtype=np.int8), States((1,)))
    array([3, 3, 2, 0, 1], dtype=uint8)
    """
    margins = [*states.distances, states.farthest + 1]
    names = states.state(np.array([[1], [2]]), np.array(margins) if states.distances else None)
    found = names[:, -1][answers - 1]
    if not states.distances:
        return found
    for answer in (1, 2):
        reached = answers == answer
        for distance in range(1, states.farthest + 1):
            grown = _grow(axes, reached)
            news = grown & ~reached
            if not news.any():
                break
            found[news] = names[2 - answer, np.searchsorted(states.distances, distance)]
            reached = grown
    return found


def _grow(axes: Sequence[Axis], reached: Mask) -> Mask:
    """Extends the marked datasets by all their neighbours."""
    grown, low = reached.copy(), len(reached)
    for axis in axes:
        low //= axis.length
        source, target = (array.reshape(-1, axis.length, low) for array in (reached, grown))
        moves = axis.moves()
        degrees = np.diff(moves.indptr)
        for place in range(int(degrees.max(initial=0))):
            rows = np.flatnonzero(degrees > place)
            target[:, rows, :] |= source[:, moves.targets[moves.indptr[rows] + place], :]
    return grown


def margins_of(axes: Sequence[Axis], answers: Answers) -> NDArray[np.int32]:
    """The number of people who must change before the answer does, at each dataset; larger than all if it never does.

    Changes along different axes add up, so the nearest dataset of the other answer is found one axis at a time.

    Args:
        axes: the people, or groups.
        answers: the true answers, 1 or 2.

    >>> margins_of([Axis.tally("all", 4, 1)], np.array([2, 2, 2, 1, 1], dtype=np.int8))
    array([3, 2, 1, 1, 2], dtype=int32)
    """
    never = sum(axis.people for axis in axes) + 1
    found = np.zeros(len(answers), dtype=np.int32)
    for answer in (1, 2):
        steps = np.where(answers == answer, np.int32(0), np.int32(never))
        low = len(steps)
        for axis in axes:
            low //= axis.length
            _spread(axis, steps.reshape(-1, axis.length, low))
        np.copyto(found, steps, where=answers != answer)
    return found


def _spread(axis: Axis, steps: NDArray[np.int32]) -> None:
    """Lowers numbers of steps to those reached along one axis, in place; it is axis 1 of the array."""
    if axis.shape == "count":
        place = np.arange(axis.length, dtype=np.int32)[:, None]
        for line in (steps, steps[:, ::-1]):
            line -= place
            np.minimum.accumulate(line, axis=1, out=line)
            line += place
        return
    moves = axis.moves()
    degrees = np.diff(moves.indptr)
    before = None
    while before is None or (before != steps).any():
        before = steps.copy()
        for nth in range(int(degrees.max(initial=0))):
            rows = np.flatnonzero(degrees > nth)
            steps[:, rows, :] = np.minimum(steps[:, rows, :], steps[:, moves.targets[moves.indptr[rows] + nth], :] + 1)

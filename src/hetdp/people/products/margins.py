"""States of datasets: the answer, and the number of people who must change before it does, as far as rules need it.

The datasets with one answer grow by one change of one person at a time, until the farthest distance that a rule names;
those of the other answer that are reached in step d have the margin d.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hetdp.people.privacy.situations import States
from hetdp.problem.axis import Axis
from hetdp.problem.query import Answers

Mask = NDArray[np.bool_]


def states_of(axes: Sequence[Axis], answers: Answers, states: States) -> NDArray[np.uint8]:
    """The state of each dataset.

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

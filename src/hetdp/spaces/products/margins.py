"""States of datasets: the answer, and how many people must change before it does, as far as rules ask.

The datasets with one answer grow by one change of one person at a time, until the farthest distance that a rule names;
those of the other answer that are reached in step d have the margin d.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hetdp.problem.axis import Axis
from hetdp.problem.query import Answers
from hetdp.spaces.privacy.situations import States

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
            grown = _grown(axes, reached)
            news = grown & ~reached
            if not news.any():
                break
            found[news] = names[2 - answer, np.searchsorted(states.distances, distance)]
            reached = grown
    return found


def _grown(axes: Sequence[Axis], reached: Mask) -> Mask:
    """What was reached, and all their neighbours."""
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

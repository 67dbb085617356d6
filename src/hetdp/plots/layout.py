"""The layout of a small graph: columns of datasets by their distance to the other answer.

Answer 2 stands on the left, answer 1 on the right, the boundary in the middle. Since distances of neighbours differ by
at most one, every edge joins two columns side by side, or stays within one. In a column, datasets stand near their
neighbours. Everything is computed from the graph alone, so that the same graph always looks the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.problem.space import Floats, Indices

SWEEPS = 24
TALLEST_COLUMN = 24  # datasets in a column; a larger column is split into several close ones if there is room
CLOSE_COLUMNS = 4  # close columns that fill CLOSE_WIDTH; fewer have the same distance
CLOSE_WIDTH = 0.72  # of close columns, where 1 is the distance between columns


@dataclass(frozen=True, eq=False)
class Layout:
    """The positions of datasets.

    Attributes:
        across: from left to right; 0 is the boundary, and the datasets next to it are at ±½.
        up: from bottom to top, between −½ and ½.
        levels: the column of each dataset: its distance to the other answer, negative for answer 2; where no path leads
            there, one more than the largest.
        nowhere: the number of that last column; 0 if it is empty.
        lanes: how many datasets the broadest column has beside each other.
        tallest: how many datasets a column has above each other, at most.
        given: whether the caller chose the positions; then columns have no meaning, and both directions have one scale.
    """

    across: Floats
    up: Floats
    levels: NDArray[np.int64]
    nowhere: int
    lanes: int
    tallest: int
    given: bool = False


def layered_layout(source: Indices, target: Indices, steps: NDArray[np.int64], answers: NDArray[Any]) -> Layout:
    """Computes the layout of a graph.

    Args:
        source: one end of each edge.
        target: the other end.
        steps: the distance of each dataset to the other answer, 0 where no path leads there.
        answers: the answers, 1 and 2.
    """
    lost = steps == 0
    nowhere = int(steps.max(initial=0)) + 1 if lost.any() else 0
    levels = np.where(lost, nowhere, steps) * np.where(answers == 1, 1, -1)
    _, column, counts = np.unique(levels, return_inverse=True, return_counts=True)
    height = np.sqrt(counts / counts.max(initial=1))
    starts = np.concatenate([[0], np.cumsum(counts)])[:-1]
    up = rank = np.zeros(len(steps))
    degree = np.maximum(np.bincount(source, minlength=len(steps)) + np.bincount(target, minlength=len(steps)), 1)
    for sweep in range(SWEEPS + 1):
        if sweep:
            pull = np.bincount(source, up[target], len(steps)) + np.bincount(target, up[source], len(steps))
            wanted_height = 0.5 * up + 0.5 * pull / degree
        else:
            wanted_height = np.zeros(len(steps))
        order = np.lexsort((np.arange(len(steps)), np.round(wanted_height, 9), column))
        rank = np.empty(len(steps))
        rank[order] = np.arange(len(steps)) - np.repeat(starts, counts)
        up = _spread(rank, counts[column]) * height[column]
    lanes = (
        np.where(counts > TALLEST_COLUMN, np.rint(np.sqrt(CLOSE_WIDTH * counts / len(counts))), 1)
        .clip(1)
        .astype(np.int64)
    )
    rows = -(-counts // lanes)
    row, lane = np.divmod(rank, lanes[column])
    aside = (lane - (lanes[column] - 1) / 2.0) * CLOSE_WIDTH / np.maximum(lanes[column] - 1, CLOSE_COLUMNS)
    up = _spread(row, rows[column]) * height[column]
    across = levels - 0.5 * np.sign(levels) + aside
    return Layout(across, -up, levels, nowhere, int(lanes.max(initial=1)), int(rows.max(initial=1)))


def _spread(rank: Floats, count: NDArray[np.int64]) -> Floats:
    """Ranks as positions between −½ and ½."""
    return np.where(count > 1, rank / np.maximum(count - 1, 1) - 0.5, 0.0)

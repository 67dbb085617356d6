"""All axes of a product in a few arrays, for kernels that go through every neighbour of some datasets."""

from __future__ import annotations

import numpy as np

from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices

LENGTH, LOW, ROWS, TABLE, STATES = range(5)  # of an axis: length, distance, where its moves and its table begin, states
WIDE = 16  # datasets of a row that are worth being worked on at once
PIECE = 1 << 14  # datasets that are worked on together, axis by axis


def flat(space: ProductSpace) -> tuple[Indices, Indices, Indices, Indices, Floats]:
    """All axes in one: what each is like, and moves and tables one after the other."""
    every = [space.lines(axis) for axis in range(len(space.axes))]
    axes, rows, arcs, table = list[list[int]](), [np.zeros(1, dtype=np.int64)], 0, 0
    row = 1
    for lines in every:
        axes.append([lines.length, lines.low, row, table, lines.epsilon.shape[1]])
        rows.append(lines.moves.indptr + arcs)
        row, arcs, table = row + lines.length + 1, arcs + len(lines.moves.targets), table + lines.epsilon.size
    whole = [np.zeros(0, dtype=np.int64)]
    return (
        np.array(axes, dtype=np.int64).reshape(-1, 5),
        np.concatenate(rows),
        np.concatenate([*whole, *(lines.moves.targets for lines in every)]),
        np.concatenate([*whole, *(lines.moves.kinds for lines in every)]),
        np.concatenate([np.empty(0), *(lines.epsilon.ravel() for lines in every)]),
    )

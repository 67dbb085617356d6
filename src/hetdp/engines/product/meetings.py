"""Start labels of the balanced search: the meeting points at both ends of every edge between the answers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from hetdp.engines.compiling import Function, compiled
from hetdp.engines.product.grow import INFINITE
from hetdp.engines.product.links import LENGTH, LOW, PIECE, ROWS, STATES, TABLE, WIDE, flat
from hetdp.problem.grid import round_labels_down
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.space import Floats, Indices
from hetdp.theory.notion import Notion
from hetdp.threads import run_in_threads, slices


def meeting_labels(space: ProductSpace, notion: Notion, answers: Answers) -> Floats:
    """For each dataset the smallest label, on the grid, at which it meets a neighbour of the other answer; or +inf."""
    start, meet = np.empty(space.size), _compiled_meet()
    states = np.empty(0, dtype=np.uint8) if space.states is None else space.states
    *moves, epsilon = flat(space)
    points = round_labels_down(np.array([notion.meet(each) if each < np.inf else np.inf for each in epsilon.tolist()]))

    def work(piece: slice) -> None:
        meet(answers, states, *moves, points, start, piece.start, piece.stop)

    run_in_threads(work, slices(space.size, PIECE), space.size)
    return start


@cache
def _compiled_meet() -> Function:
    return compiled(meet_others, "meet_others", {})


def meet_others(
    answers: Any,
    states: Any,
    axes: Indices,
    indptr: Indices,
    targets: Indices,
    kinds: Indices,
    points: Floats,
    start: Floats,
    first: int,
    last: int,
) -> None:
    """Sets the start labels of a range of datasets."""
    for dataset in range(first, last):
        start[dataset] = INFINITE
    for axis in range(len(axes)):
        length, low, count = axes[axis, LENGTH], axes[axis, LOW], axes[axis, STATES]
        if count == 1 and low >= WIDE:
            meet_rows(answers, axes, indptr, targets, kinds, points, start, axis, first, last)
            continue
        position, within = first // low % length, first % low
        for dataset in range(first, last):
            row = axes[axis, ROWS] + position
            for arc in range(indptr[row], indptr[row + 1]):
                other = dataset + (targets[arc] - position) * low
                if answers[dataset] != answers[other]:
                    place = axes[axis, TABLE] + kinds[arc] * count * count
                    if count > 1:
                        place += states[dataset] * count + states[other]
                    start[dataset] = min(start[dataset], points[place])
            within += 1
            if within == low:
                within, position = 0, position + 1
                if position == length:
                    position = 0


def meet_rows(
    answers: Any,
    axes: Indices,
    indptr: Indices,
    targets: Indices,
    kinds: Indices,
    points: Floats,
    start: Floats,
    axis: int,
    first: int,
    last: int,
) -> None:
    """Does the same along one axis, vectorized over rows."""
    length, low = axes[axis, LENGTH], axes[axis, LOW]
    begin = first
    while begin < last:
        position, end = begin // low % length, min(last, (begin // low + 1) * low)
        row = axes[axis, ROWS] + position
        for arc in range(indptr[row], indptr[row + 1]):
            shift, point = (targets[arc] - position) * low, points[axes[axis, TABLE] + kinds[arc]]
            meet_row(answers[begin:end], answers[begin + shift : end + shift], start[begin:end], point)
        begin = end


def meet_row(here: Any, there: Any, row: Floats, point: float) -> None:
    """Does the same for a row of datasets and a row of neighbours with one ε."""
    for at in range(len(row)):
        bound = point if here[at] != there[at] else INFINITE
        row[at] = bound if bound < row[at] else row[at]

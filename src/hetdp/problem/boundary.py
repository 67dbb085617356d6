"""The boundary: the datasets with a neighbour of the other answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetdp.interrupts import uninterrupted
from hetdp.problem.axis import Part, cut_lines
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.space import SMALL, Mask
from hetdp.threads import run_in_threads


def boundary_of(graph: DatasetGraph | ProductSpace, answers: Answers) -> Mask:
    """Marks the datasets on the boundary; edges without a constraint do not count.

    Paper: Definition 3 (boundary set).
    """
    mask = np.zeros(graph.size, dtype=np.bool_)
    if isinstance(graph, ProductSpace):
        _mark_along_axes(graph, answers, mask)
    elif graph.arc_count > SMALL:
        with uninterrupted():
            from hetdp.problem import compiled

        compiled.mark_boundary(graph.indptr, graph.targets, answers, mask)
    else:
        mark_boundary(graph.indptr.tolist(), graph.targets.tolist(), answers.tolist(), mask)
    mask.flags.writeable = False
    return mask


def mark_boundary(indptr: Any, targets: Any, answers: Any, mask: Any) -> None:
    """Marks each dataset with a neighbour of the other answer. Plain Python; compiled for large graphs."""
    for dataset in range(len(indptr) - 1):
        for arc in range(indptr[dataset], indptr[dataset + 1]):
            if answers[targets[arc]] != answers[dataset]:
                mask[dataset] = True
                break


def _mark_along_axes(space: ProductSpace, answers: Answers, mask: Mask) -> None:
    mark: Any = mark_lines
    if space.size > SMALL:
        with uninterrupted():
            from hetdp.problem import compiled

        mark = compiled.mark_lines
    states = space.states if space.states is not None else np.empty(0, dtype=np.uint8)
    for axis in range(len(space.axes)):
        lines = space.lines(axis)
        table = (lines.epsilon.ravel() < np.inf, lines.epsilon.shape[1])
        columns: Any = (answers, states, *table, *lines.moves, lines.length, lines.low)

        def look(part: Part, columns: Any = columns) -> None:
            mark(*columns, *part, mask)

        run_in_threads(look, cut_lines(lines), space.size)


def mark_lines(
    answers: Any,
    states: Any,
    finite: Any,
    state_count: int,
    indptr: Any,
    targets: Any,
    kinds: Any,
    length: int,
    low: int,
    first: int,
    last: int,
    begin: int,
    end: int,
    mask: Any,
) -> None:
    """Does the same for one part of the lines along one axis of a product."""
    for line in range(first, last):
        for position in range(length):
            own = (line * length + position) * low
            here = slice(own + begin, own + end)
            for arc in range(indptr[position], indptr[position + 1]):
                other = (line * length + targets[arc]) * low
                there = slice(other + begin, other + end)
                row, answers_here, answers_there = mask[here], answers[here], answers[there]
                if state_count == 1:
                    if finite[kinds[arc]]:
                        for at in range(end - begin):
                            row[at] |= answers_here[at] != answers_there[at]
                    continue
                states_here, states_there = states[here], states[there]
                for at in range(end - begin):
                    place = (kinds[arc] * state_count + states_here[at]) * state_count + states_there[at]
                    row[at] |= finite[place] and answers_here[at] != answers_there[at]

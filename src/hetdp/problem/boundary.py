"""The boundary: the datasets with a neighbour of the other answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetdp.compilation import BUILDING, uses_compiled
from hetdp.interrupts import delay_interrupts
from hetdp.problem.axis import Lines, Part, cut_lines, runs_of
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.space import SMALL_SPACE, Mask
from hetdp.threads import run_in_threads, slices

SHORTEST_VECTOR = 16  # shortest row for which vectorized code pays off
SKIPPED_PIECE = 256  # datasets of a row that are passed over together if all have the same answer
NARROW_ROW = 64  # rows shorter than this are joined
MOST_JOINED = 1 << 10  # most datasets of joined rows
JOINED_PART = 1 << 19  # datasets whose joined rows are looked at together
MOST_DISTANCES = 8  # to neighbours, where rows are joined
NO_STATES: Any = np.empty(0, dtype=np.uint8)


def boundary_of(graph: DatasetGraph | ProductSpace, answers: Answers) -> Mask:
    """Marks the datasets on the boundary; edges without a constraint do not count.

    Paper: Definition 3 (boundary set).
    """
    mask = np.zeros(graph.size, dtype=np.bool_)
    if isinstance(graph, ProductSpace):
        _mark_along_axes(graph, answers, mask)
    elif graph.arc_count > SMALL_SPACE and uses_compiled(BUILDING, graph.arc_count):
        with delay_interrupts():
            from hetdp.problem import compiled

        compiled.mark_boundary(graph.indptr, graph.targets, answers, mask)
    else:
        for source, target, _ in graph.edge_blocks():
            mask[source[answers[source] != answers[target]]] = True
    mask.flags.writeable = False
    return mask


def mark_boundary(indptr: Any, targets: Any, answers: Any, mask: Any) -> None:
    """Marks each dataset with a neighbour of the other answer; for numba."""
    for dataset in range(len(indptr) - 1):
        for arc in range(indptr[dataset], indptr[dataset + 1]):
            if answers[targets[arc]] != answers[dataset]:
                mask[dataset] = True
                break


def _mark_along_axes(space: ProductSpace, answers: Answers, mask: Mask) -> None:
    rows: Any = mark_lines
    joined: Any = mark_joined
    if space.size > SMALL_SPACE:
        with delay_interrupts():
            from hetdp.problem import compiled

        rows, joined = compiled.mark_lines, compiled.mark_joined
    for axis in range(len(space.axes)):
        lines = space.lines(axis)
        finite, states = _constrained(lines.epsilon < np.inf, space.states)
        short = _short_rows(lines, finite) if states is NO_STATES else []
        for shift, constrained in short:

            def look_at_joined(part: slice, shift: int = shift, constrained: Mask = constrained) -> None:
                joined(answers, constrained, shift, part.start, part.stop, mask)

            run_in_threads(look_at_joined, slices(space.size, JOINED_PART), space.size)
        if not short:
            table = finite.ravel(), finite.shape[1]
            columns: Any = (answers, states, *table, runs_of(lines.moves), lines.length, lines.low)

            def look(part: Part, columns: Any = columns) -> None:
                rows(*columns, *part, mask)

            run_in_threads(look, cut_lines(lines), space.size)


def _constrained(finite: Mask, states: Any) -> tuple[Mask, Any]:
    """The kinds of moves that are constrained, and the states they depend on; none, if all states are treated alike."""
    kinds = finite.reshape(len(finite), -1)
    if states is None or (kinds.all(axis=1) == kinds.any(axis=1)).all():
        return kinds[:, :1, None], NO_STATES
    return finite, states


def _short_rows(lines: Lines, finite: Mask) -> list[tuple[int, Mask]]:
    """For an axis whose rows are too short for vectorized code: each distance to neighbours, and who has one there.

    The latter is a mask over several whole lines, which repeats along the datasets. The list is empty for other axes.
    """
    starts = np.repeat(np.arange(lines.length), np.diff(lines.moves.indptr))
    hops, period = lines.moves.targets - starts, lines.length * lines.low
    distances = np.unique(hops).tolist()
    if lines.low >= NARROW_ROW or period > MOST_JOINED or len(distances) > MOST_DISTANCES:
        return []
    found = list[tuple[int, Mask]]()
    for hop in distances:
        own = np.zeros(lines.length, dtype=np.bool_)
        np.logical_or.at(own, starts[hops == hop], finite[lines.moves.kinds[hops == hop], 0, 0])
        found.append((hop * lines.low, np.tile(np.repeat(own, lines.low), MOST_JOINED // period)))
    return found


def mark_joined(answers: Any, constrained: Any, shift: int, first: int, last: int, mask: Any) -> None:
    """Marks datasets whose neighbour, so far away, has the other answer; for axes with short rows.

    Args:
        answers: the answer at each dataset.
        constrained: who has a neighbour there; this repeats along all datasets.
        shift: the distance.
        first: the first dataset.
        last: the dataset after the last.
        mask: takes the marks.
    """
    size = len(constrained)
    for block in range(first // size, (last + size - 1) // size):
        begin, end = max(block * size, first, -shift), min(block * size + size, last, len(answers) - shift)
        if begin < end:
            mark_pattern(answers, constrained, shift, begin, end, begin - block * size, mask)


def mark_pattern(answers: Any, constrained: Any, shift: int, begin: int, end: int, offset: int, mask: Any) -> None:
    """Does the same for datasets that belong to one copy of the pattern."""
    here, there = answers[begin:end], answers[begin + shift : end + shift]
    own, marks = constrained[offset : offset + end - begin], mask[begin:end]
    for i in range(end - begin):
        marks[i] |= (here[i] != there[i]) & own[i]


def mark_lines(
    answers: Any,
    states: Any,
    finite: Any,
    state_count: int,
    runs: Any,
    length: int,
    low: int,
    first: int,
    last: int,
    begin: int,
    end: int,
    mask: Any,
) -> None:
    """Does the same for one part of the lines along one axis of a product, given the runs of its moves."""
    whole = begin == 0 and end == low
    for line in range(first, last):
        for run in range(len(runs)):
            rows = 1 if whole else runs[run, 1] - runs[run, 0]
            width = (runs[run, 1] - runs[run, 0]) * low if whole else end - begin
            shift, kind = runs[run, 2] * low, runs[run, 3] * state_count * state_count
            for row in range(rows):
                at = (line * length + runs[run, 0] + row) * low + begin
                for piece in range(at, at + width, SKIPPED_PIECE):
                    count = min(SKIPPED_PIECE, at + width - piece)
                    mark_row(answers, states, finite, kind, state_count, piece, shift, count, mask)


def mark_row(
    answers: Any,
    states: Any,
    finite: Any,
    kind: int,
    state_count: int,
    at: int,
    shift: int,
    width: int,
    mask: Any,
) -> None:
    """Marks the datasets of a row whose neighbours, so far away, have the other answer."""
    here, there, marks = answers[at : at + width], answers[at + shift : at + shift + width], mask[at : at + width]
    differ = width < SHORTEST_VECTOR
    if not differ:
        for i in range(width):
            differ |= here[i] != there[i]
    if differ and state_count == 1:
        for i in range(width if finite[kind] else 0):
            marks[i] |= here[i] != there[i]
    elif differ:
        for i in range(width):
            place = kind + states[at + i] * state_count + states[at + shift + i]
            marks[i] |= (here[i] != there[i]) & finite[place]

"""Where the balanced search starts: at both ends of every edge between the answers, where the two meet."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from hetdp.engines.compiling import Function, compiled
from hetdp.problem.building.threads import spread
from hetdp.problem.grid import floored_labels
from hetdp.problem.lines import Part, parts
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.space import Floats
from hetdp.theory.notion import Notion


def meeting_labels(space: ProductSpace, notion: Notion, answers: Answers) -> Floats:
    """For each dataset the least label at which it meets a neighbour of the other answer, on the grid; or +inf."""
    start = np.full(space.size, np.inf)
    states = np.empty(0, dtype=np.uint8) if space.states is None else space.states
    meet = _compiled_meet()
    for axis in range(len(space.axes)):
        lines = space.lines(axis)
        points = np.array([notion.meet(epsilon) if epsilon < np.inf else np.inf for epsilon in lines.epsilon.flat])
        table = floored_labels(points), lines.epsilon.shape[1]
        columns: Any = (answers, states, *table, *lines.moves, lines.length, lines.low)

        def work(part: Part, columns: Any = columns) -> None:
            meet(*columns, *part, start)

        spread(work, parts(lines), space.size)
    return start


@cache
def _compiled_meet() -> Function:
    return compiled(meet_lines, "meet_lines", {})


INFINITE = float("inf")


def meet_lines(
    answers: Any,
    states: Any,
    points: Floats,
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
    start: Floats,
) -> None:
    """Lowers the start labels of one part of the lines along an axis."""
    for line in range(first, last):
        for position in range(length):
            own = (line * length + position) * low
            row, answers_here = start[own + begin : own + end], answers[own + begin : own + end]
            for arc in range(indptr[position], indptr[position + 1]):
                other = (line * length + targets[arc]) * low
                answers_there = answers[other + begin : other + end]
                point = points[kinds[arc] * state_count * state_count]
                for at in range(end - begin):
                    if state_count > 1:
                        place = kinds[arc] * state_count + states[own + begin + at]
                        point = points[place * state_count + states[other + begin + at]]
                    bound = point if answers_here[at] != answers_there[at] else INFINITE
                    row[at] = bound if bound < row[at] else row[at]

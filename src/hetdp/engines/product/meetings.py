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
WIDE = 16  # datasets that are worth being worked on at once


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
            own = (line * length + position) * low + begin
            for arc in range(indptr[position], indptr[position + 1]):
                other, kind = (line * length + targets[arc]) * low + begin, kinds[arc]
                if state_count == 1 and end - begin >= WIDE:
                    meet_rows(
                        answers[own : own + end - begin],
                        answers[other : other + end - begin],
                        start[own : own + end - begin],
                        points[kind],
                    )
                    continue
                for at in range(end - begin):
                    if answers[own + at] != answers[other + at]:
                        place = kind * state_count * state_count
                        if state_count > 1:
                            place += states[own + at] * state_count + states[other + at]
                        start[own + at] = min(start[own + at], points[place])


def meet_rows(here: Any, there: Any, row: Floats, point: float) -> None:
    """The same for a row with one ε, several datasets at once."""
    for at in range(len(row)):
        bound = point if here[at] != there[at] else INFINITE
        row[at] = bound if bound < row[at] else row[at]

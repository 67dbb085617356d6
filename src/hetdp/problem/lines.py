"""The datasets of a product as lines along one axis, and parts of them that can be worked on at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hetdp.problem.axis import Moves
from hetdp.problem.space import Floats

BLOCK = 1 << 18


class Lines(NamedTuple):
    """All datasets, seen along one axis: dataset (h · length + position) · low + l, for h < high and l < low.

    Attributes:
        high: how many combinations of positions on the axes before.
        length: how many positions on this axis.
        low: how many combinations on the axes after.
        moves: between positions.
        epsilon: ε by kind of move, state and state; one state if it does not depend on them.
    """

    high: int
    length: int
    low: int
    moves: Moves
    epsilon: Floats


Part = tuple[int, int, int, int]  # lines from the first to the last, and of each the datasets from begin to end


def parts(lines: Lines, most: int = BLOCK) -> Iterator[Part]:
    """Cuts all lines along one axis into parts of bounded size, none of which shares a dataset with another."""
    width = max(1, most // max(lines.length, 1))
    if lines.low >= width:
        for line in range(lines.high):
            for begin in range(0, lines.low, width):
                yield line, line + 1, begin, min(begin + width, lines.low)
        return
    several = max(1, width // max(lines.low, 1))
    for first in range(0, lines.high, several):
        yield first, min(first + several, lines.high), 0, lines.low

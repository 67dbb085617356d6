"""What was written, from what is used: floored numbers and one bit each; and the arcs that constrain nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.problem.building.decimals import Marks, raise_to_written, unmarked
from hetdp.problem.space import Floats, Indices

Bits = NDArray[np.uint8]


class FreeArcs(NamedTuple):
    """The arcs that constrain nothing: only their ends, and what was written, are kept."""

    source: Indices
    target: Indices
    marks: tuple[Marks, ...]

    @classmethod
    def of(cls, indptr: NDArray[np.int64], targets: Indices, marks: tuple[Marks, ...], at: Indices) -> FreeArcs:
        """Those at some positions."""
        source = (np.searchsorted(indptr, at, side="right") - 1).astype(targets.dtype)
        return cls(source, targets[at], tuple(column[at] for column in marks))

    def once(self) -> FreeArcs:
        """One arc of each edge."""
        once = self.source < self.target
        return FreeArcs(self.source[once], self.target[once], tuple(column[once] for column in self.marks))

    def written(self) -> Iterator[Floats]:
        """The parameters as written."""
        for floored, lowered in (unmarked(column.copy()) for column in self.marks):
            yield all_written(floored, lowered)


def all_written(floored: Floats, lowered: Bits) -> Floats:
    """A whole column as it was written."""
    return raise_to_written(floored, np.unpackbits(lowered, count=len(floored)).astype(np.bool_))


def one_written(floored: Floats, lowered: Bits, at: int) -> float:
    """One of its numbers."""
    is_lowered = np.array([lowered[at // 8] >> (7 - at % 8) & 1], dtype=np.bool_)
    return float(raise_to_written(floored[at : at + 1], is_lowered)[0])

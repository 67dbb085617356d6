"""What one partition knows: its own datasets, and its *ghosts*, the neighbours that others own.

Here both are numbered together in the order that they have among all datasets: ghosts before, own ones, ghosts after.
So whatever is first among equals on one machine is first here as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import count, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.problem.parts import Part
from hetdp.problem.space import EdgeBlock, Floats, Indices, blocks_of


def columns_of(part: Part, name: str) -> tuple[Floats, ...]:
    """All columns of parameters that arcs have."""
    known = takewhile(part.has, (f"{name}_{column}" for column in count()))
    return tuple(part.load(column) for column in known)


class LocalGraph:
    """The edges of one partition: `rows` from its own datasets to all, in the form that the verifier takes.

    Args:
        part: the partition.
    """

    def __init__(self, part: Part) -> None:
        self.part = part
        self.ghosts: NDArray[np.int64] = part.load("ghosts")
        self.before = int(np.searchsorted(self.ghosts, part.first))
        self.size = part.size + len(self.ghosts)

    @property
    def own(self) -> slice:
        """Where its own datasets stand."""
        return slice(self.before, self.before + self.part.size)

    @cached_property
    def indptr(self) -> NDArray[np.int64]:
        """Where the row of each own dataset begins, and the last one ends."""
        return self.part.load("rows_indptr")

    @cached_property
    def targets(self) -> Indices:
        """The other end of each arc."""
        return self.part.load("rows_targets")

    @cached_property
    def parameters(self) -> tuple[Floats, ...]:
        """What each arc promises, floored."""
        return columns_of(self.part, "rows")

    @property
    def arc_count(self) -> int:
        """How many arcs begin at its own datasets."""
        return len(self.targets)

    def edge_blocks(self) -> Iterator[EdgeBlock]:
        """The arcs from own datasets, in pieces."""
        return blocks_of(self.indptr, self.targets, self.parameters, self.before)

    def with_ghosts(self, own: NDArray[Any], ghosts: NDArray[Any]) -> NDArray[Any]:
        """One array of both, in their order."""
        return np.concatenate([ghosts[: self.before], own, ghosts[self.before :]])

    def gather(self, name: str) -> NDArray[Any]:
        """An array of its own, with the entries of the ghosts from their owners."""
        return self.with_ghosts(self.part.load(name), self.part.everywhere(name, self.ghosts))

    def numbers(self, places: Indices) -> NDArray[np.int64]:
        """The numbers that some of them have among all datasets; −1 stays."""
        places = np.asarray(places, dtype=np.int64)
        is_own = (places >= self.before) & (places < self.own.stop)
        ghost = np.where(places < self.before, places, places - self.part.size)
        known = np.append(self.ghosts, -1)
        at = np.where(is_own | (places < 0), -1, ghost)
        return np.where(is_own, places - self.before + self.part.first, known[at])

    def place(self, number: int) -> int:
        """Where a dataset stands here."""
        if self.part.first <= number < self.part.first + self.part.size:
            return number - self.part.first + self.before
        at = int(np.searchsorted(self.ghosts, number))
        return at if at < self.before else at + self.part.size

    def places(self, numbers: Indices) -> NDArray[np.int64]:
        """Where some of them stand here; −1 stays, and stands for what is neither own nor a ghost."""
        numbers = np.asarray(numbers, dtype=np.int64)
        own = (numbers >= self.part.first) & (numbers < self.part.first + self.part.size)
        at = np.minimum(np.searchsorted(self.ghosts, numbers), max(len(self.ghosts) - 1, 0))
        found = self.ghosts[at] == numbers if len(self.ghosts) else np.zeros(len(numbers), dtype=np.bool_)
        ghost = np.where(found, np.where(at < self.before, at, at + self.part.size), -1)
        return np.where(own, numbers - self.part.first + self.before, ghost)

"""The arrays of one partition, each a file of its own: written whole or not at all, and read without being loaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SUFFIX = ".npy"


class Part(NamedTuple):
    """A partition of a problem, known by its place: what a task is told, and all that it needs to know.

    Attributes:
        work: the folder that all workers reach.
        number: which partition.
        offsets: the number of the first dataset of each partition, and at the end how many datasets there are.
    """

    work: str
    number: int
    offsets: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many datasets it owns."""
        return self.offsets[self.number + 1] - self.offsets[self.number]

    @property
    def first(self) -> int:
        """The number of its first dataset among all."""
        return self.offsets[self.number]

    def other(self, number: int) -> Part:
        """Another partition of the same problem."""
        return self._replace(number=number)

    def path(self, name: str) -> Path:
        """The file of an array."""
        return Path(self.work, str(self.number), name + SUFFIX)

    def load(self, name: str) -> NDArray[Any]:
        """An array, mapped from its file, not to be written to."""
        return mapped(self.path(name))

    def copy(self, name: str) -> NDArray[Any]:
        """An array in memory."""
        return np.array(self.load(name))

    def has(self, name: str) -> bool:
        """Whether there is such an array."""
        return self.path(name).exists()

    def save(self, name: str, values: NDArray[Any]) -> None:
        """Writes an array."""
        written(self.path(name), values)

    def owners(self, numbers: NDArray[Any]) -> NDArray[np.int64]:
        """The partitions that own some datasets; empty partitions own none."""
        return np.searchsorted(np.asarray(self.offsets[1:]), numbers, side="right").astype(np.int64)

    def everywhere(self, name: str, numbers: NDArray[Any]) -> NDArray[Any]:
        """The entries of ascending dataset numbers, from the arrays of their owners."""
        bounds = np.searchsorted(numbers, np.asarray(self.offsets))
        found = [
            self.other(at).load(name)[numbers[bounds[at] : bounds[at + 1]] - self.offsets[at]]
            for at in np.flatnonzero(np.diff(bounds)).tolist()
        ]
        return np.concatenate(found) if found else np.empty(0, dtype=self.load(name).dtype)


def mapped(path: Path) -> NDArray[Any]:
    """An array that is read where it is looked at."""
    try:
        return np.asarray(np.lib.format.open_memmap(path, mode="r"))
    except ValueError:  # what is empty cannot be mapped
        with path.open("rb") as file:
            values: NDArray[Any] = np.lib.format.read_array(file)
        values.flags.writeable = False
        return values


def written(path: Path, values: NDArray[Any]) -> None:
    """Writes an array to a name of its own first, so that a task that runs twice does no harm."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with draft.open("wb") as file:
            np.save(file, np.asarray(values))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)

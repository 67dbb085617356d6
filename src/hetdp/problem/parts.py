"""The arrays of one partition, each a file of its own: written whole or not at all, and read without being loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import ClusterError
from hetdp.problem.shared import fresh_file, open_plain, require_real

SUFFIX = ".npy"
RUN = "run-"  # begins the name of a folder for what one run needs; the driver makes it, and removes it at the end


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
        """The file of an array; what is named after a run lies in the folder of that run."""
        run, _, rest = name.partition("/") if name.startswith(RUN) else ("", "", name)
        return Path(self.work, run, str(self.number), rest + SUFFIX)

    def load(self, name: str) -> NDArray[Any]:
        """An array, mapped from its file, not to be written to."""
        return mapped(self.work, self.path(name))

    def copy(self, name: str) -> NDArray[Any]:
        """An array in memory."""
        return np.array(self.load(name))

    def has(self, name: str) -> bool:
        """Whether there is such an array."""
        return self.path(name).exists()

    def save(self, name: str, values: NDArray[Any]) -> None:
        """Writes an array."""
        root = Path(self.work, name.partition("/")[0] if name.startswith(RUN) else "")
        written(root, self.path(name), values)

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


def mapped(root: str | Path, path: Path) -> NDArray[Any]:
    """An array that is read where it is looked at.

    Args:
        root: the folder below which no link is followed.
        path: its file.

    Raises:
        ClusterError: it is no plain file, or holds no array.
    """
    require_real(root, path.parent)
    with open_plain(path) as file:
        try:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, in_fortran_order, dtype = read(file)
            if dtype.hasobject:
                raise ValueError("an array of numbers is expected")
            if 0 in shape:  # what is empty cannot be mapped
                values: NDArray[Any] = np.empty(shape, dtype)
                values.flags.writeable = False
                return values
            order: Any = "F" if in_fortran_order else "C"
            return np.asarray(np.memmap(file, dtype, "r", file.tell(), shape, order))
        except (ValueError, EOFError):
            rule = "a run leaves whole files there; one that was changed or cut short is not used"
            hint = "remove the work folder, or name another one"
            raise ClusterError(f"in the work folder, {str(path)!r} holds no array", rule, hint) from None


def written(root: str | Path, path: Path, values: NDArray[Any]) -> None:
    """Writes an array to a name of its own first, so that a task that runs twice does no harm.

    Args:
        root: a folder that is there; folders below it are made.
        path: the file.
        values: the array.
    """
    require_real(root, path.parent, make=True)
    with fresh_file(path) as draft, draft.open("r+b") as file:
        np.save(file, np.asarray(values))

"""The arrays of one partition, each a file of its own: written whole or not at all, and read without being loaded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import count, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import ClusterError
from hetdp.partitioned.shared_files import fresh_file, open_plain, require_real
from hetdp.problem.columns import sort_distinct
from hetdp.problem.labels import Lookup
from hetdp.problem.space import EdgeBlock, Floats, Indices, blocks_of

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


# What one partition knows: its own datasets, and its *ghosts*, the neighbours that others own.


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


# The files of one partition's graph: its ghosts, whom it tells what, its rows, and what a search goes along.


Numbers = NDArray[np.int64]


def is_far(part: Part, numbers: Numbers) -> NDArray[np.bool_]:
    """Which datasets others own."""
    return (numbers < part.first) | (numbers >= part.first + part.size)


def ghosts_among(part: Part, *ends: Numbers) -> Numbers:
    """The datasets that others own, each once, in order."""
    return sort_distinct(np.concatenate([numbers[is_far(part, numbers)] for numbers in ends]))


def placed(part: Part, ghosts: Numbers, numbers: Numbers) -> Indices:
    """Where datasets stand among own ones and ghosts."""
    before = int(np.searchsorted(ghosts, part.first))
    places = numbers - (part.first - before)
    if len(ghosts):
        far = np.flatnonzero(is_far(part, numbers))
        found = Lookup(ghosts).positions(numbers[far]).astype(np.int64)
        places[far] = np.where(found < before, found, found + part.size)
    return places


def write_cut(part: Part, source: Numbers, target: Numbers) -> None:
    """For each other partition, the own datasets that are its ghosts: those whose changes it is told."""
    count, width, pairs = len(part.offsets) - 1, max(part.size, 1), []
    for near, far in ((source, target), (target, source)):
        cut = np.flatnonzero(~is_far(part, near) & is_far(part, far))
        pairs.append(part.owners(far[cut]) * width + (near[cut] - part.first))
    keys = sort_distinct(np.concatenate(pairs))
    receivers = keys // width
    part.save("cut_bounds", np.searchsorted(receivers, np.arange(count + 1)))
    part.save("cut_places", keys - receivers * width)


def write_rows(part: Part, name: str, indptr: Numbers, targets: Indices, columns: tuple[Floats, ...]) -> None:
    """Rows in compressed form."""
    part.save(f"{name}_indptr", indptr)
    part.save(f"{name}_targets", targets)
    for at, column in enumerate(columns):
        part.save(f"{name}_{at}", column)

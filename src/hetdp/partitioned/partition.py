"""One partition: its arrays, each in a file, and its graph.

A partition's graph covers its own datasets and its *ghosts*, the neighbours that other partitions own. Arrays are
written atomically and memory-mapped when they are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from io import BytesIO
from itertools import count, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import ClusterError
from hetdp.partitioned.shared_files import open_plain, replace_file, require_real
from hetdp.problem.columns import sort_distinct
from hetdp.problem.labels import Lookup
from hetdp.problem.space import EdgeBlock, Floats, Indices, blocks_of

SUFFIX = ".npy"
RUN = "run-"  # prefix of the folder with the arrays of one run, which the driver makes and removes


class Partition(NamedTuple):
    """A partition of a problem, identified by its location; this is all that a task needs to find its arrays.

    Attributes:
        work: the folder that all workers can access.
        number: index of the partition.
        offsets: the number of the first dataset of each partition, followed by the number of datasets.
    """

    work: str
    number: int
    offsets: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of own datasets."""
        return self.offsets[self.number + 1] - self.offsets[self.number]

    @property
    def first(self) -> int:
        """The number of its first dataset."""
        return self.offsets[self.number]

    def other(self, number: int) -> Partition:
        """Another partition of the same problem."""
        return self._replace(number=number)

    def path(self, name: str) -> Path:
        """The file of an array; arrays named after a run are in the folder of that run."""
        run, _, rest = name.partition("/") if name.startswith(RUN) else ("", "", name)
        return Path(self.work, run, str(self.number), rest + SUFFIX)

    def load(self, name: str) -> NDArray[Any]:
        """Maps an array from its file, read-only."""
        return map_array(self.work, self.path(name))

    def copy(self, name: str) -> NDArray[Any]:
        """Reads an array into memory."""
        return np.array(self.load(name))

    def has(self, name: str) -> bool:
        """True if the array exists."""
        return self.path(name).exists()

    def save(self, name: str, values: NDArray[Any]) -> None:
        """Writes an array."""
        root = Path(self.work, name.partition("/")[0] if name.startswith(RUN) else "")
        write_array(root, self.path(name), values)

    def owners(self, numbers: NDArray[Any]) -> NDArray[np.int64]:
        """The partitions that own some datasets; empty partitions own none."""
        return np.searchsorted(np.asarray(self.offsets[1:]), numbers, side="right").astype(np.int64)

    def gather_from_owners(self, name: str, numbers: NDArray[Any]) -> NDArray[Any]:
        """The entries of ascending dataset numbers, from the arrays of their owners."""
        bounds = np.searchsorted(numbers, np.asarray(self.offsets))
        found = [
            self.other(at).load(name)[numbers[bounds[at] : bounds[at + 1]] - self.offsets[at]]
            for at in np.flatnonzero(np.diff(bounds)).tolist()
        ]
        return np.concatenate(found) if found else np.empty(0, dtype=self.load(name).dtype)


def map_array(root: str | Path, path: Path) -> NDArray[Any]:
    """Maps an array from its file, read-only.

    Args:
        root: the folder below which no link is followed.
        path: the file.

    Raises:
        ClusterError: it is not a plain file, or does not contain an array.
    """
    require_real(root, path.parent)
    with open_plain(path) as file:
        try:
            head = file.read(10)
            head += file.read(int.from_bytes(head[8:], "little"))  # the rest of the header, in version 1.0
            shape, in_fortran_order, dtype = _parse_header(head)
            if dtype.hasobject:
                raise ValueError("an array of numbers is expected")
            if 0 in shape:  # an empty array cannot be mapped
                values: NDArray[Any] = np.empty(shape, dtype)
                values.flags.writeable = False
                return values
            order: Any = "F" if in_fortran_order else "C"
            return np.asarray(np.memmap(file, dtype, "r", file.tell(), shape, order))
        except (ValueError, EOFError):
            rule = "a run leaves complete files there; a changed or truncated file is not used"
            hint = "remove the work folder, or name another one"
            raise ClusterError(f"in the work folder, {str(path)!r} holds no array", rule, hint) from None


@lru_cache(4096)
def _parse_header(head: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of an array; NumPy compiles the header as Python, and many arrays have the same one."""
    file = BytesIO(head)
    if np.lib.format.read_magic(file) != (1, 0):  # `write_array` writes no other
        raise ValueError("version 1.0 is expected")
    return np.lib.format.read_array_header_1_0(file)


def write_array(root: str | Path, path: Path, values: NDArray[Any]) -> None:
    """Writes an array to a temporary name and renames it, so that running a task twice does no harm.

    Args:
        root: an existing folder; missing folders below it are made.
        path: the file.
        values: the array.
    """
    require_real(root, path.parent, make=True)
    with replace_file(path) as draft, draft.open("r+b") as file:
        np.save(file, np.asarray(values))


# Graph of one partition: own datasets and ghosts ----------------------------------------------------------------------


def load_columns(partition: Partition, name: str) -> tuple[Floats, ...]:
    """All parameter columns of the arcs."""
    known = takewhile(partition.has, (f"{name}_{column}" for column in count()))
    return tuple(partition.load(column) for column in known)


class LocalGraph:
    """The edges of one partition, as rows from its own datasets, in the form that the verifier takes.

    Args:
        partition: the partition.
    """

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.ghosts: NDArray[np.int64] = partition.load("ghosts")
        self.before = int(np.searchsorted(self.ghosts, partition.first))
        self.size = partition.size + len(self.ghosts)

    @property
    def own(self) -> slice:
        """The positions of its own datasets."""
        return slice(self.before, self.before + self.partition.size)

    @cached_property
    def indptr(self) -> NDArray[np.int64]:
        """The start of each own dataset's row, followed by the end of the last row."""
        return self.partition.load("rows_indptr")

    @cached_property
    def targets(self) -> Indices:
        """The other end of each arc."""
        return self.partition.load("rows_targets")

    @cached_property
    def parameters(self) -> tuple[Floats, ...]:
        """The floored parameters of each arc."""
        return load_columns(self.partition, "rows")

    @property
    def arc_count(self) -> int:
        """Number of arcs that begin at its own datasets."""
        return len(self.targets)

    def edge_blocks(self) -> Iterator[EdgeBlock]:
        """The arcs from own datasets, in pieces."""
        return blocks_of(self.indptr, self.targets, self.parameters, self.before)

    def with_ghosts(self, own: NDArray[Any], ghosts: NDArray[Any]) -> NDArray[Any]:
        """One array with the entries of own datasets and ghosts, in order of their numbers."""
        return np.concatenate([ghosts[: self.before], own, ghosts[self.before :]])

    def gather(self, name: str) -> NDArray[Any]:
        """An array of the partition, extended by the ghosts' entries from their owners."""
        return self.with_ghosts(self.partition.load(name), self.partition.gather_from_owners(name, self.ghosts))

    def numbers(self, places: Indices) -> NDArray[np.int64]:
        """The dataset numbers of some positions; −1 stays −1."""
        places = np.asarray(places, dtype=np.int64)
        is_own = (places >= self.before) & (places < self.own.stop)
        ghost = np.where(places < self.before, places, places - self.partition.size)
        known = np.append(self.ghosts, -1)
        at = np.where(is_own | (places < 0), -1, ghost)
        return np.where(is_own, places - self.before + self.partition.first, known[at])

    def place(self, number: int) -> int:
        """The position of a dataset in this partition's arrays."""
        if self.partition.first <= number < self.partition.first + self.partition.size:
            return number - self.partition.first + self.before
        at = int(np.searchsorted(self.ghosts, number))
        return at if at < self.before else at + self.partition.size

    def places(self, numbers: Indices) -> NDArray[np.int64]:
        """The positions of some datasets; −1 for −1 and for datasets that are neither own nor ghosts."""
        numbers = np.asarray(numbers, dtype=np.int64)
        own = (numbers >= self.partition.first) & (numbers < self.partition.first + self.partition.size)
        at = np.minimum(np.searchsorted(self.ghosts, numbers), max(len(self.ghosts) - 1, 0))
        found = self.ghosts[at] == numbers if len(self.ghosts) else np.zeros(len(numbers), dtype=np.bool_)
        ghost = np.where(found, np.where(at < self.before, at, at + self.partition.size), -1)
        return np.where(own, numbers - self.partition.first + self.before, ghost)


# Building the files of the graph --------------------------------------------------------------------------------------


Numbers = NDArray[np.int64]


def is_in_other_partition(partition: Partition, numbers: Numbers) -> NDArray[np.bool_]:
    """A mask of the datasets that other partitions own."""
    return (numbers < partition.first) | (numbers >= partition.first + partition.size)


def ghosts_among(partition: Partition, *ends: Numbers) -> Numbers:
    """The distinct datasets that other partitions own, sorted."""
    return sort_distinct(np.concatenate([numbers[is_in_other_partition(partition, numbers)] for numbers in ends]))


def places_among(partition: Partition, ghosts: Numbers, numbers: Numbers) -> Indices:
    """The positions of datasets among own ones and ghosts."""
    before = int(np.searchsorted(ghosts, partition.first))
    places = numbers - (partition.first - before)
    if len(ghosts):
        far = np.flatnonzero(is_in_other_partition(partition, numbers))
        found = Lookup(ghosts).positions(numbers[far]).astype(np.int64)
        places[far] = np.where(found < before, found, found + partition.size)
    return places


def write_cut(partition: Partition, source: Numbers, target: Numbers) -> None:
    """Writes, for each other partition, which own datasets are its ghosts: it receives their changes."""
    count, width, pairs = len(partition.offsets) - 1, max(partition.size, 1), []
    for near, far in ((source, target), (target, source)):
        cut = np.flatnonzero(~is_in_other_partition(partition, near) & is_in_other_partition(partition, far))
        pairs.append(partition.owners(far[cut]) * width + (near[cut] - partition.first))
    keys = sort_distinct(np.concatenate(pairs))
    receivers = keys // width
    partition.save("cut_bounds", np.searchsorted(receivers, np.arange(count + 1)))
    partition.save("cut_places", keys - receivers * width)


def write_rows(partition: Partition, name: str, indptr: Numbers, targets: Indices, columns: tuple[Floats, ...]) -> None:
    """Writes rows in compressed form (CSR)."""
    partition.save(f"{name}_indptr", indptr)
    partition.save(f"{name}_targets", targets)
    for at, column in enumerate(columns):
        partition.save(f"{name}_{at}", column)

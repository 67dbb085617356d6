"""Which problems are about counts, so that their datasets fill a line, a rectangle, or slices that are rectangles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import compress
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError, shown
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace

MOST_CELLS = 4_000_000
MOST_LABELS = 1 << 17  # that are looked at one by one
LEAST_SLICE = 3  # cells along each side of a slice, or else it shows nothing
COUNTS = re.compile(r"\d{1,6}(,\d{1,6}){1,9}", re.ASCII)


class Grid(NamedTuple):
    """Where each dataset of a rectangle stands.

    Attributes:
        shape: how many rows and columns there are; one row if there is one count only.
        order: the dataset of each cell, row by row.
        names: what the counts of rows and of columns are of; empty if nobody says.
        fixed: of three or more counts, those that are the same in all cells, by name.
    """

    shape: tuple[int, int]
    order: NDArray[np.int64]
    names: tuple[str, str]
    fixed: Mapping[str, int]

    def of(self, values: Any) -> Any:
        """Values of datasets as a rectangle: rows from bottom to top, columns from left to right."""
        return np.asarray(values)[self.order].reshape(self.shape)


class Counted(NamedTuple):
    """Datasets by their counts: what each count is of, and the dataset for each combination, along as many axes."""

    names: tuple[str, ...]
    cells: NDArray[np.int64]


def grid_of(problem: Problem, at: Mapping[str, int] | None = None) -> Grid | None:
    """The rectangle of a problem about counts, or a slice where there are more than two; None if it has none.

    >>> import hetdp
    >>> problem = hetdp.spaces.tallies({"pupils": 3, "staff": 1}, hetdp.questions.majority(), 1)
    >>> grid_of(problem).shape, grid_of(problem).names
    ((2, 4), ('staff', 'pupils'))
    """
    found = counted(problem)
    return None if found is None else slice_of(problem, found, at)


def counted(problem: Problem) -> Counted | None:
    """The datasets of a problem by their counts; None if it is about something else."""
    graph = problem.graph
    if not 0 < graph.size <= MOST_CELLS:
        return None
    if isinstance(graph, ProductSpace):
        if any(axis.shape != "count" for axis in graph.axes):
            return None
        names, shape = tuple(str(axis.name) for axis in graph.axes), graph.shape
        cells = np.arange(graph.size)
    else:
        counts = _counts(graph.datasets) if graph.size <= MOST_LABELS else None
        if counts is None or not _steps_by_one(problem, counts):
            return None
        names, shape = _names(problem, counts), tuple((counts.max(axis=0) + 1).tolist())
        cells = np.empty(graph.size, dtype=np.int64)
        cells[np.ravel_multi_index(tuple(counts.T), shape)] = np.arange(graph.size)
    if len(shape) > 2 and sorted(shape)[-2] < LEAST_SLICE:
        return None
    return Counted(names, cells.reshape(shape))


def slice_of(problem: Problem, found: Counted, at: Mapping[str, int] | None = None, through: int | None = None) -> Grid:
    """Two of the counts as a rectangle, the longer one across.

    Args:
        problem: the problem.
        found: its datasets by counts.
        at: the others, by name. What is not said is as at `through`, and the two largest counts are shown.
        through: a dataset; by default one in the middle of the boundary, so that both answers are seen.

    Raises:
        UsageError: there is no such count, it is out of range, or fewer than two are left.
    """
    names, cells = found
    if len(names) == 1:
        return Grid((1, cells.size), cells, ("", names[0]), {})
    fixed = _fixed(names, cells.shape, at or {})
    free = sorted((axis for axis in range(len(names)) if axis not in fixed), key=lambda axis: -cells.shape[axis])
    if len(free) > 2:
        if through is None:
            boundary = problem.boundary_mask.nonzero()[0]
            through = int(boundary[len(boundary) // 2]) if len(boundary) else 0
        here = np.argwhere(cells == through)[0]
        fixed |= {axis: int(here[axis]) for axis in free[2:]}
    one, other = sorted(free[:2])
    flat = cells[tuple(fixed.get(axis, slice(None)) for axis in range(len(names)))]
    if flat.shape[0] > flat.shape[1]:  # the longer one goes across
        flat, one, other = flat.T, other, one
    said = {names[axis] or f"count {axis + 1}": count for axis, count in sorted(fixed.items())}
    return Grid((flat.shape[0], flat.shape[1]), flat.ravel(), (names[one], names[other]), said)


def _fixed(names: tuple[str, ...], shape: tuple[int, ...], at: Mapping[str, Any]) -> dict[int, int]:
    """The counts that are said, by the number of their axis."""
    known = [name or f"count {axis + 1}" for axis, name in enumerate(names)]
    fixed: dict[int, int] = {}
    for name, count in at.items():
        if name not in known:
            raise UsageError(f"there is no count of {shown(name)}", f"there are {', '.join(known)}")
        axis = known.index(name)
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count < shape[axis]:
            raise UsageError(f"{name} = {shown(count)}", f"it is a whole number from 0 to {shape[axis] - 1}")
        fixed[axis] = count
    if at and len(names) - len(fixed) < 2:
        raise UsageError(f"{len(fixed)} of {len(names)} counts are said", "a map shows two of them: leave two out")
    return fixed


def _counts(labels: Any) -> NDArray[np.int64] | None:
    """Labels such as (3, 2) or "3,2" as counts, if they are all that there can be."""
    found: list[list[int]] = []
    for label in labels:
        if isinstance(label, str):
            row: Any = label.split(",") if COUNTS.fullmatch(label) else None
        else:
            row = label if isinstance(label, tuple) and len(label) > 1 and {*map(type, label)} == {int} else None
        if row is None or not all(0 <= int(count) <= MOST_CELLS for count in row):
            return None
        found.append([int(count) for count in row])
        if len(found[-1]) != len(found[0]):
            return None
    counts = np.array(found, dtype=np.int64)
    shape = tuple((counts.max(axis=0) + 1).tolist())
    if prod(shape) != len(counts):
        return None
    return counts if len(np.unique(np.ravel_multi_index(tuple(counts.T), shape))) == len(counts) else None


def _steps_by_one(problem: Problem, counts: NDArray[np.int64]) -> bool:
    """Whether neighbours differ by one in one count."""
    source, target, *_ = problem.graph.edges()
    return bool((np.abs(counts[source] - counts[target]).sum(axis=1) == 1).all())


def _names(problem: Problem, counts: NDArray[np.int64]) -> tuple[str, ...]:
    """The class of the edges along each direction, if that is the same for all of them."""
    classes = problem.graph.edge_classes()
    if classes is None:
        return tuple("" for _ in range(counts.shape[1]))
    source, target, *_ = problem.graph.edges()
    found = []
    for way in range(counts.shape[1]):
        kinds = set(compress(classes, (counts[source, way] != counts[target, way]).tolist()))
        found.append(str(kinds.pop()) if len(kinds) == 1 and None not in kinds else "")
    return tuple(found)

"""Which problems are about one or two counts, so that their datasets fill a line or a rectangle."""

from __future__ import annotations

import re
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace

MOST_CELLS = 4_000_000
MOST_LABELS = 1 << 17  # that are looked at one by one
PAIR = re.compile(r"(\d{1,6}),(\d{1,6})", re.ASCII)


class Grid(NamedTuple):
    """Where each dataset of a rectangle stands.

    Attributes:
        shape: how many rows and columns there are; one row if there is one count only.
        order: the dataset of each cell, row by row.
        names: what the counts of rows and of columns are of; empty if nobody says.
    """

    shape: tuple[int, int]
    order: NDArray[np.int64]
    names: tuple[str, str]

    def of(self, values: Any) -> Any:
        """Values of datasets as a rectangle: rows from bottom to top, columns from left to right."""
        return np.asarray(values)[self.order].reshape(self.shape)


def grid_of(problem: Problem) -> Grid | None:
    """The rectangle of a problem about one or two counts; None if it is about something else.

    >>> import hetdp
    >>> problem = hetdp.spaces.tallies({"pupils": 3, "staff": 1}, hetdp.questions.majority(), 1)
    >>> grid_of(problem).shape, grid_of(problem).names
    ((2, 4), ('staff', 'pupils'))
    """
    graph = problem.graph
    if not 0 < graph.size <= MOST_CELLS:
        return None
    if isinstance(graph, ProductSpace):
        if len(graph.axes) > 2 or any(axis.shape != "count" for axis in graph.axes):
            return None
        names = tuple(str(axis.name) for axis in graph.axes)
        shape, cells = graph.shape, np.arange(graph.size)
    else:
        found = _counts(graph.datasets) if graph.size <= MOST_LABELS else None
        if found is None or not _steps_by_one(problem, found):
            return None
        names, shape = _names(problem, found), (int(found[:, 0].max()) + 1, int(found[:, 1].max()) + 1)
        cells = np.empty(graph.size, dtype=np.int64)
        cells[found[:, 0] * shape[1] + found[:, 1]] = np.arange(graph.size)
    if len(shape) == 1:
        return Grid((1, shape[0]), cells, ("", names[0]))
    if shape[0] > shape[1]:  # the longer one goes across
        return Grid((shape[1], shape[0]), cells.reshape(shape).T.ravel(), (names[1], names[0]))
    return Grid((shape[0], shape[1]), cells, (names[0], names[1]))


def _counts(labels: Any) -> NDArray[np.int64] | None:
    """Labels such as (3, 2) or "3,2" as counts, if they are all that there can be."""
    found = []
    for label in labels:
        if isinstance(label, str):
            match = PAIR.fullmatch(label)
            pair: Any = match.groups() if match else None
        else:
            pair = label if isinstance(label, tuple) and len(label) == 2 and {*map(type, label)} == {int} else None
        if pair is None or not all(0 <= int(count) <= MOST_CELLS for count in pair):
            return None
        found.append((int(pair[0]), int(pair[1])))
    counts = np.array(found, dtype=np.int64)
    rows, columns = counts.max(axis=0) + 1
    full = rows * columns == len(counts) and len(np.unique(counts @ [columns, 1])) == len(counts)
    return counts if full else None


def _steps_by_one(problem: Problem, counts: NDArray[np.int64]) -> bool:
    """Whether neighbours differ by one in one count."""
    source, target, *_ = problem.graph.edges()
    return bool((np.abs(counts[source] - counts[target]).sum(axis=1) == 1).all())


def _names(problem: Problem, counts: NDArray[np.int64]) -> tuple[str, str]:
    """The class of the edges along each direction, if that is the same for all of them."""
    classes = problem.graph.edge_classes()
    if classes is None:
        return "", ""
    source, target, *_ = problem.graph.edges()
    found = []
    for way in (0, 1):
        kinds = set(compress(classes, (counts[source, way] != counts[target, way]).tolist()))
        found.append(str(kinds.pop()) if len(kinds) == 1 and None not in kinds else "")
    return found[0], found[1]

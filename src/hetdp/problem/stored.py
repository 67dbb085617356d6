"""A product with all its edges written down, where they fit: for looking inside, and for searches that need rows."""

from __future__ import annotations

import numpy as np

from hetdp.errors import UsageError
from hetdp.problem.building.rows import Rows, rows_of
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.labels import NamedLabels
from hetdp.problem.product import MOST_ARCS, ProductSpace, edges_once, require_few_edges
from hetdp.problem.space import SMALL

MOST_WRITTEN = 1 << 16  # datasets
WRITTEN_RULE = f"at most {MOST_WRITTEN:,} datasets of people are written to a file"
INSTEAD = (
    "hetdp.spaces in Python stores no edges, so balanced, check, extend and verify work there; tallies have fewer"
    " datasets than votes; hetdp ask needs none"
)


def is_written_down(space: ProductSpace) -> bool:
    """True if a space of people is small enough for a file that lists its edges; then the file is the same problem."""
    return space.size <= MOST_WRITTEN and space.arc_count <= MOST_ARCS


def require_written_down(space: ProductSpace) -> None:
    """Refuses a space of people that is too large for a file.

    Raises:
        UsageError: it has too many datasets, or too many edges.
    """
    if space.size > MOST_WRITTEN:
        raise UsageError(f"{space.size:,} datasets whose edges are computed", WRITTEN_RULE, INSTEAD)
    require_few_edges(space)


def explicit(space: ProductSpace) -> DatasetGraph:
    """The same datasets, neighbours and ε (as used, on the grid) as a graph that stores its edges.

    Raises:
        UsageError: there are too many edges.

    >>> from hetdp.problem.axis import Axis
    >>> explicit(ProductSpace([Axis.person("Ann", ["yes", "no"], 0.5), Axis.person("Bob", ["yes", "no"], 0.25)]))
    DatasetGraph(4 datasets, 4 edges)
    """
    source, target, epsilon, _ = edges_once(space)
    marks = (epsilon + 0.0).view(np.uint64) << np.uint64(1)  # not lowered: they are on the grid, whatever was written
    if 2 * len(source) > SMALL:
        return DatasetGraph(NamedLabels(space.datasets), rows_of(source, target, marks, space.size))
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    order = np.lexsort((ends[1], ends[0]))
    indptr = np.searchsorted(ends[0][order], np.arange(space.size + 1)).astype(np.int64)
    rows = Rows(indptr, ends[1][order], np.concatenate([marks, marks])[order])
    return DatasetGraph(NamedLabels(space.datasets), rows)

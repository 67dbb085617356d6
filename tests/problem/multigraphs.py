"""Random problems in which several edges of different classes join the same two datasets."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import hetdp
from hetdp.theory.catalogue import NOTIONS
from hetdp.theory.notion import reversed_places

CLASSES = ("Ann", "Bob", 3, None)
EPSILONS = (0.0, 0.1, 0.3, 0.5, 1.0, 2.0, math.inf)
DELTAS = (0.0, 0.01, 0.2, 1.0)


class Row(NamedTuple):
    """One edge as it is listed."""

    source: int
    target: int
    edge_class: Any
    parameters: tuple[float, ...]

    def seen_from_first(self, notion: Any) -> tuple[float, ...]:
        """Its parameters seen from the end with the smaller number."""
        places = reversed_places(NOTIONS[notion].parameters)
        return self.parameters if self.source < self.target else tuple(self.parameters[at] for at in places)


class Multigraph(NamedTuple):
    """Rows, at most one for each pair and class, and a query."""

    notion: Any
    size: int
    rows: list[Row]
    answers: list[int]

    def problem(self, rows: list[Row] | None = None) -> hetdp.Problem:
        """The problem with its own rows, or with the given ones."""
        rows = self.rows if rows is None else rows
        names = NOTIONS[self.notion].parameters
        columns: dict[str, Any] = {name: [row.parameters[at] for row in rows] for at, name in enumerate(names)}
        graph = hetdp.DatasetGraph.from_edges(
            [row.source for row in rows],
            [row.target for row in rows],
            datasets=range(self.size),
            classes=[row.edge_class for row in rows],
            **columns,
        )
        return hetdp.Problem(graph, self.answers, self.notion)

    def simple(self) -> hetdp.Problem:
        """The problem with one edge for each pair, which has the least of each parameter, and no classes."""
        least: dict[tuple[int, int], tuple[float, ...]] = {}
        for row in self.rows:
            pair = min(row.source, row.target), max(row.source, row.target)
            seen = row.seen_from_first(self.notion)
            least[pair] = tuple(map(min, least.get(pair, seen), seen))
        return self.problem([Row(*pair, None, values) for pair, values in least.items()])

    def by_class(self) -> dict[Any, list[Row]]:
        """The rows of each class."""
        found = defaultdict(list)
        for row in self.rows:
            found[row.edge_class].append(row)
        return dict(found)

    def values(self, rng: np.random.Generator) -> np.ndarray:
        """Private values of z on the boundary and some more datasets, NaN elsewhere."""
        problem = self.problem()
        z = hetdp.design(problem, "balanced", engine="reference").coordinates
        return np.where(problem.boundary_mask | (rng.random(self.size) < 0.3), z, np.nan)


@st.composite
def multigraphs(draw: st.DrawFn, notion: Any = None, max_size: int = 6) -> Multigraph:
    """A problem of any notion, with up to four edges between two datasets."""
    notion = draw(st.sampled_from(sorted(NOTIONS))) if notion is None else notion
    size = draw(st.integers(2, max_size))
    ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda pair: pair[0] != pair[1])
    columns = [st.sampled_from(DELTAS if "delta" in name else EPSILONS) for name in NOTIONS[notion].parameters]
    rows = st.builds(
        lambda pair, name, values: Row(pair[0], pair[1], name, values),
        ends,
        st.sampled_from(CLASSES),
        st.tuples(*columns),
    )
    listed = draw(
        st.lists(rows, min_size=1, max_size=4 * size, unique_by=lambda row: (frozenset(row[:2]), row.edge_class))
    )
    answers = draw(st.lists(st.integers(1, 2), min_size=size, max_size=size))
    return Multigraph(notion, size, listed, answers)

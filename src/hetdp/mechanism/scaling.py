"""Scaling: the same problem with every ε multiplied by a number, or with only the edges of ε = 0 left."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hetdp.problem.decimals import multiply_down
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.problem import Problem, replace_edges
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.theory.catalogue import PARAMETERS
from hetdp.theory.notion import directions

SCALED_PARAMETERS = tuple(name for name, one in PARAMETERS.items() if one.scales)

Columns = dict[str, Floats]


def edges_as_written(graph: DatasetGraph | ProductSpace) -> tuple[Indices, Indices, Columns]:
    """Both ends of every edge, each edge once, and its parameters as written, by name."""
    source, target, *columns = graph.edges()
    return source, target, dict(zip(graph.parameter_names, columns, strict=True))


def unconstrained_directions(columns: Columns) -> Iterator[Mask]:
    """For each direction, a mask of the edges that constrain nothing: some parameter has its largest value."""
    for way in directions(tuple(columns)):
        yield np.asarray(np.logical_or.reduce([columns[name] >= PARAMETERS[name].most for name in way]))


class Pattern:
    """The ε of a problem up to a common factor: all grow or shrink together, and their ratios stay the same."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._source, self._target, self._columns = edges_as_written(problem.graph)

    def times(self, multiple: float, with_classes: bool = True) -> Problem:
        """The problem with every ε as written times a number ≥ 0, rounded down; ε = ∞ stays.

        It has the same labels, answers, weights and words. Classes are kept with `with_classes`, or if edges are
        parallel; building the problem is faster without them.

        >>> graph = DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.1, np.inf])
        >>> Pattern(Problem(graph, [1, 2, 2])).times(3.0).graph.edges()[2]
        array([0.3, inf])
        """
        return self._with_columns(
            {
                name: multiply_down(values, multiple) if name in SCALED_PARAMETERS else values
                for name, values in self._columns.items()
            },
            with_classes,
        )

    def limit(self) -> Problem:
        """The limit of the problem for infinite multiples: only ε = 0 still binds."""
        return self._with_columns(
            {
                name: np.where(values > 0.0, np.inf, values) if name in SCALED_PARAMETERS else values
                for name, values in self._columns.items()
            },
            with_classes=False,
        )

    def _with_columns(self, columns: Columns, with_classes: bool) -> Problem:
        graph = self.problem.graph
        parallel = isinstance(graph, DatasetGraph) and graph.is_parallel  # classes distinguish these edges
        return replace_edges(self.problem, (self._source, self._target), columns, with_classes or parallel)

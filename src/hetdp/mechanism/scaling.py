"""Scaling: the same problem with every ε multiplied by a number, or with only the edges of ε = 0 left."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hetdp.problem.graph import DatasetGraph
from hetdp.problem.problem import Problem, replace_edges
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.theory.catalogue import PARAMETERS
from hetdp.theory.notion import directions

SCALED_PARAMETERS = tuple(name for name, one in PARAMETERS.items() if one.scales)
SPLITTER = 2.0**27 + 1.0
SMALLEST_EXACT = 1e-280  # below it, the error of a product may itself be rounded

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
        return self._with(
            {
                name: multiply_down(values, multiple) if name in SCALED_PARAMETERS else values
                for name, values in self._columns.items()
            },
            with_classes,
        )

    def limit(self) -> Problem:
        """The limit of the problem for infinite multiples: only ε = 0 still binds."""
        return self._with(
            {
                name: np.where(values > 0.0, np.inf, values) if name in SCALED_PARAMETERS else values
                for name, values in self._columns.items()
            },
            with_classes=False,
        )

    def _with(self, columns: Columns, with_classes: bool) -> Problem:
        graph = self.problem.graph
        parallel = isinstance(graph, DatasetGraph) and graph.is_parallel  # classes distinguish these edges
        return replace_edges(self.problem, (self._source, self._target), columns, with_classes or parallel)


def multiply_down(values: Floats, multiple: float) -> Floats:
    """Products rounded down: none exceeds the exact one, and finite ones stay finite.

    >>> multiply_down(np.array([0.1, 1e308, np.inf]), 3.0).tolist()
    [0.3, 1.7976931348623157e+308, inf]
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        product = values * multiple
        exact = (_error(values, multiple, product) >= 0.0) & (product > SMALLEST_EXACT)
        rounded = np.where(exact | (multiple == 1.0), product, np.nextafter(product, 0.0))
    return np.where(np.isinf(values), values, rounded)


def _error(values: Floats, multiple: float, product: Floats) -> Floats:
    """The exact error of a rounded product, by splitting each factor into halves; NaN if these overflow."""
    big, small = _halves(values)
    high, low = _halves(np.float64(multiple))
    return np.asarray(((big * high - product) + big * low + small * high) + small * low)


def _halves(values: Floats | np.float64) -> tuple[Floats, Floats]:
    shifted = SPLITTER * values
    big = shifted - (shifted - values)
    return np.asarray(big), np.asarray(values - big)

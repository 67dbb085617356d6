"""A problem with one number of one edge changed; everything else stays, the numbers of the edges included."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetdp.errors import UsageError
from hetdp.mechanism.solving.scaling import Columns, written_edges
from hetdp.problem.classes import classes_of
from hetdp.problem.findings import Findings
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.labels import Labels
from hetdp.problem.parameters import Parameters, rule_of
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Indices
from hetdp.problem.validation import Edges


class Ends(NamedTuple):
    """All edges of a problem, each once: both ends, what it carries as written, and its place among the graph's edges.

    They are in the order of their ends, whatever they carry: a graph lists those with ε = ∞ last.
    """

    source: Indices
    target: Indices
    columns: Columns
    places: Indices

    def between(self, one: int, other: int) -> int | None:
        """The number of the edge between two datasets; None if they are no neighbours."""
        low, high = min(one, other), max(one, other)
        found = np.flatnonzero((self.source == low) & (self.target == high))
        return int(found[0]) if len(found) else None


def ends_of(problem: Problem) -> Ends:
    """The edges of a problem; source is the end that comes first in graph order."""
    source, target, columns = written_edges(problem.graph)
    places = np.lexsort((target, source))
    return Ends(source[places], target[places], {name: values[places] for name, values in columns.items()}, places)


def with_parameter(problem: Problem, one: int, other: int, name: str, value: float) -> Problem:
    """The problem with another ε, δ or μ on one edge; the same one, if that is not another.

    Labels stay, and the edges of people become stored ones.

    Args:
        problem: the problem.
        one: an end of the edge, by its number.
        other: its other end.
        name: which of its numbers; those of the two directions are as seen from the end that comes first.
        value: what it becomes.

    Raises:
        UsageError: there is no such edge or number, or the value is out of range.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.1, 1.0])
    >>> with_parameter(hetdp.Problem(graph, [1, 1, 2]), 2, 1, "epsilon", 0.3).graph.edges()[2]
    array([0.1, 0.3])
    """
    source, target, columns = written_edges(problem.graph)
    found = np.flatnonzero((source == min(one, other)) & (target == max(one, other)))
    if name not in columns or len(found) != 1:
        raise UsageError(f"no {name} between datasets {one} and {other}", f"edges have {', '.join(columns)}")
    if not 0.0 <= value <= (1.0 if name.startswith("delta") else np.inf):
        raise UsageError(f"{name} = {value}", rule_of(name))
    if columns[name][found[0]] == value:
        return problem
    columns[name] = columns[name].copy()
    columns[name][found[0]] = value
    return _with(problem, problem.labels, source, target, columns)


def _with(problem: Problem, labels: Labels, source: Indices, target: Indices, columns: Columns) -> Problem:
    """A problem with other labels or numbers on the same edges, which are as the graph lists them."""
    findings = Findings("edges")
    on_grid = isinstance(problem.graph, ProductSpace) or problem.graph.on_grid
    classes = classes_of(problem.graph.edge_classes(), findings)
    edges = Edges(source, target, Parameters(tuple(columns), tuple(columns.values())), classes)
    graph = DatasetGraph.from_ends(labels, (source, target), edges, "error", findings, on_grid)
    return Problem(graph, problem.answers, problem.notion.name, weights=problem.weights, about=problem.about)

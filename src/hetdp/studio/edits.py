"""A problem with one number of one edge changed; everything else stays, the numbers of the edges included."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetdp.errors import UsageError
from hetdp.mechanism.solving.scaling import Columns, written_edges
from hetdp.problem.classes import classes_of
from hetdp.problem.findings import Findings
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.parameters import Parameters, rule_of
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Indices
from hetdp.problem.validation import Edges
from hetdp.spaces.products.written import MOST_WRITTEN, WRITTEN_RULE, with_edges


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


def stored(problem: Problem) -> Problem:
    """The same problem on a graph whose edges can be written to; datasets keep their order.

    Raises:
        UsageError: it is made of people, and too large for that.
    """
    if not isinstance(problem.graph, ProductSpace):
        return problem
    if problem.graph.size > MOST_WRITTEN:
        raise UsageError(f"{problem.graph.size:,} datasets whose edges are computed", WRITTEN_RULE)
    return with_edges(problem)


def with_parameter(problem: Problem, edge: int, name: str, value: float) -> Problem:
    """The problem with another ε, δ or μ on one edge.

    Args:
        problem: the problem.
        edge: the number of the edge, in the order of `ends_of`.
        name: which of its numbers.
        value: what it becomes.

    Raises:
        UsageError: there is no such edge or number, or the value is out of range.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.1, 1.0])
    >>> with_parameter(hetdp.Problem(graph, [1, 1, 2]), 1, "epsilon", 0.3).graph.edges()[2]
    array([0.1, 0.3])
    """
    given = stored(problem)
    source, target, written = written_edges(given.graph)
    if name not in written or not 0 <= edge < len(source):
        raise UsageError(f"no {name} on edge {edge}", f"edges have {', '.join(written)}")
    if not 0.0 <= value <= (1.0 if name.startswith("delta") else np.inf):
        raise UsageError(f"{name} = {value}", rule_of(name))
    columns = {each: values.copy() for each, values in written.items()}
    columns[name][np.lexsort((target, source))[edge]] = value
    findings = Findings("edges")
    classes = classes_of(given.graph.edge_classes(), findings)
    parameters = Parameters(tuple(columns), tuple(columns.values()))
    edges = Edges(source, target, parameters, classes)
    graph = DatasetGraph.from_ends(given.labels, (source, target), edges, "error", findings)
    return Problem(graph, given.answers, given.notion.name, weights=given.weights, about=given.about)

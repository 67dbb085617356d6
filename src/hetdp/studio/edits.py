"""A problem with one number of one edge changed; everything else stays, the numbers of the edges included."""

from __future__ import annotations

from typing import Any, NamedTuple

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
from hetdp.problem.space import Indices, Mask
from hetdp.problem.validation import Edges


class Ends(NamedTuple):
    """All edges of a problem, each once: both ends, what it carries as written, and its place among the graph's edges.

    They are in the order of their ends, then of their classes, whatever they carry: a graph lists those with ε = ∞
    last, and parallel ones by their ε.
    """

    source: Indices
    target: Indices
    columns: Columns
    places: Indices
    classes: list[Any]

    def number(self, one: int, other: int, edge_class: Any = None) -> int:
        """The number of the edge of a class between two datasets; −1 if there is none."""
        low, high = min(one, other), max(one, other)
        found = np.flatnonzero((self.source == low) & (self.target == high)).tolist()
        return next((at for at in found if self.classes[at] == edge_class), -1)

    def parallel(self) -> Mask:
        """Which edges are not the only ones between their ends."""
        same = (self.source[1:] == self.source[:-1]) & (self.target[1:] == self.target[:-1])
        return np.asarray(np.append(same, False) | np.append(False, same))[: len(self.source)]


def ends_of(problem: Problem) -> Ends:
    """The edges of a problem; source is the end that comes first in graph order."""
    source, target, columns = written_edges(problem.graph)
    classes = classes_of(problem.graph.edge_classes(), Findings("edges"))
    ranks = np.zeros(len(source)) if classes is None else classes.ranks()
    names = [None] * len(source) if classes is None else classes.by_name()
    places = np.lexsort((ranks, target, source))
    ordered = {name: values[places] for name, values in columns.items()}
    return Ends(source[places], target[places], ordered, places, [names[place] for place in places.tolist()])


def with_parameter(problem: Problem, place: int, name: str, value: float) -> Problem:
    """The problem with another ε, δ or μ on one edge; the same one, if that is not another.

    Labels stay, and the edges of people become stored ones.

    Args:
        problem: the problem.
        place: which of the graph's edges.
        name: which of its numbers; those of the two directions are as seen from the end that comes first.
        value: what it becomes.

    Raises:
        UsageError: there is no such edge or number, or the value is out of range.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.1, 1.0])
    >>> with_parameter(hetdp.Problem(graph, [1, 1, 2]), 1, "epsilon", 0.3).graph.edges()[2]
    array([0.1, 0.3])
    """
    source, target, columns = written_edges(problem.graph)
    if name not in columns or not 0 <= place < len(source):
        raise UsageError(f"no {name} on edge {place}", f"the {len(source)} edges have {', '.join(columns)}")
    if not 0.0 <= value <= (1.0 if name.startswith("delta") else np.inf):
        raise UsageError(f"{name} = {value}", rule_of(name))
    if columns[name][place] == value:
        return problem
    columns[name] = columns[name].copy()
    columns[name][place] = value
    return _with(problem, problem.labels, source, target, columns)


def _with(problem: Problem, labels: Labels, source: Indices, target: Indices, columns: Columns) -> Problem:
    """A problem with other labels or numbers on the same edges, which are as the graph lists them."""
    findings = Findings("edges")
    on_grid = isinstance(problem.graph, ProductSpace) or problem.graph.on_grid
    classes = classes_of(problem.graph.edge_classes(), findings)
    edges = Edges(source, target, Parameters(tuple(columns), tuple(columns.values())), classes)
    graph = DatasetGraph.from_ends(labels, (source, target), edges, "error", findings, on_grid)
    return Problem(graph, problem.answers, problem.notion.name, weights=problem.weights, about=problem.about)

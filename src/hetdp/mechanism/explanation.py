"""A path of bounds, step by step: why a value cannot be better, or why two pins cannot stand together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hetdp.errors import shown
from hetdp.mechanism.digits import value_digits
from hetdp.problem.notebook import label, table_of
from hetdp.problem.parameters import in_words
from hetdp.problem.problem import Problem
from hetdp.problem.space import Constraint, Floats
from hetdp.theory.notion import Notion


@dataclass(frozen=True)
class BindingPath:
    """What one pinned dataset imposes along a path; a single dataset if it is itself pinned, or if nothing binds it.

    Attributes:
        datasets: labels from the pinned dataset to the last one.
        parameters: what the edge of each step promises, as written, by name; seen from its start. Of parallel edges it
            is the one that binds.
        classes: the class of the edge of each step; None where it has none.
        bounds: p at the pinned dataset, then the bound on p after each step.
        complements: 1 − p at each step, which keeps what p next to 1 rounds away.
        coordinates: the same as z.
        upper: whether the bounds are upper ones ("at most", answer 1) or lower ones ("at least", answer 2).

    Paper: Definition 9 (the path upper bound function).
    """

    datasets: list[Any]
    parameters: list[dict[str, float]]
    classes: list[Any]
    bounds: list[float]
    complements: list[float]
    coordinates: list[float]
    upper: bool

    @property
    def epsilons(self) -> list[float]:
        """ε of each step (for the notion gaussian, μ), as written."""
        return [next(iter(edge.values())) for edge in self.parameters]

    def steps(self) -> list[str]:
        """The edge of each step in words: what it promises, and its class if it has one."""
        edges = zip(self.parameters, self.classes, strict=True)
        return [in_words(tuple(edge), edge.values()) + _whose(edge_class) for edge, edge_class in edges]

    def values(self) -> list[str]:
        """p, or its bound, at each step, in digits that tell what is next to 1 from 1."""
        tails = zip(self.bounds, self.complements, self.coordinates, strict=True)
        return [value_digits(*each) for each in tails]

    def _repr_html_(self) -> str:
        """For notebooks: step by step."""
        word = "at most" if self.upper else "at least"
        edges = ["given", *self.steps()]
        values = self.values()
        rows = zip(map(label, self.datasets), edges, values, strict=True)
        title = f"Why p({label(self.datasets[-1])}) is {word} {values[-1]}"
        return table_of(title, ["dataset", "step", f"p {word}"], rows, len(self.datasets))

    def __str__(self) -> str:
        word = "at most" if self.upper else "at least"
        values = self.values()
        if math.isinf(self.coordinates[-1]) and len(self.datasets) == 1:
            return f"p({shown(self.datasets[0])}) = {values[0]}, exactly; nothing binds it"
        lines = [f"p({shown(self.datasets[0])}) = {values[0]} is given"]
        steps = zip(self.datasets[1:], self.steps(), values[1:], strict=True)
        lines += [f"over {edge}: p({shown(dataset)}) {word} {value}" for dataset, edge, value in steps]
        return "\n".join(lines)


def _whose(edge_class: Any) -> str:
    return "" if edge_class is None else f" (class {shown(edge_class)})"


def binding_path(problem: Problem, chain: list[int], z: Floats, upper: bool) -> BindingPath:
    """The path along a chain of neighbours, with the bound z at each of them."""
    graph, coordinate = problem.graph, problem.notion.coordinate
    signed = (z if upper else -z).tolist()
    edges = [binding_edge(problem, *pair, label) for pair, label in zip(pairwise(chain), signed, strict=False)]
    return BindingPath(
        datasets=[graph.label(index) for index in chain],
        parameters=[edge.parameters for edge in edges],
        classes=[edge.edge_class for edge in edges],
        bounds=coordinate.probability(z).tolist(),
        complements=coordinate.probability(-z).tolist(),
        coordinates=z.tolist(),
        upper=upper,
    )


def binding_edge(problem: Problem, start: int, end: int, label: float) -> Constraint:
    """Of the edges from one dataset to the next, the one with the tightest bound, given the label at the first.

    Args:
        problem: whose edges they are.
        start: the dataset that binds.
        end: the neighbour that is bound.
        label: z at the start, with the other sign for a lower bound.
    """
    edges = problem.graph.edges_between(start, end)
    if len(edges) == 1:
        return edges[0]
    neighbours, columns = problem.graph.neighbours(start)
    used = zip(*(column[neighbours == end].tolist() for column in columns), strict=True)
    return edges[tightest(problem.notion, label, used)]


def tightest(notion: Notion, label: float, edges: Iterable[tuple[float, ...]]) -> int:
    """Which of some parallel edges has the tightest bound after this label; of equals the first."""
    bounds = [notion.step(label, *edge) for edge in edges]
    return bounds.index(min(bounds))

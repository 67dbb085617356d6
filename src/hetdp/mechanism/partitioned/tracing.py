"""Paths of bounds across partitions: each stretch is followed by the partition that owns it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetdp.mechanism.explanation import BindingPath, tightest
from hetdp.problem.building.written import one_written
from hetdp.problem.classes import Classes, names_from_bytes
from hetdp.problem.local import LocalGraph
from hetdp.problem.partitioned import PartitionedProblem
from hetdp.problem.parts import Part
from hetdp.theory.notion import turned


class Edge(NamedTuple):
    """An edge between a dataset and the one before it on a path, seen from the dataset.

    Attributes:
        used: its parameters as the search used them, floored.
        written: the same as written.
        edge_class: its class; None if it has none.
    """

    used: tuple[float, ...]
    written: tuple[float, ...]
    edge_class: Any


class Step(NamedTuple):
    """One dataset on a path.

    Attributes:
        number: the dataset.
        z: the value there.
        pin: what is given there; NaN if nothing is.
        edges: the edges to the dataset before; none at the first, several where edges are parallel.
    """

    number: int
    z: float
    pin: float
    edges: list[Edge]


def follow(part: Part, name: str, pins: str, number: int) -> tuple[list[Step], int]:
    """The steps from a dataset back along its links, as far as this partition owns them; and who comes next, or −1."""
    graph = LocalGraph(part)
    z, links, given = part.load(f"{name}/z"), part.load(f"{name}/links"), part.load(pins)
    classes = names_from_bytes(part.load("class_names")) if part.has("class_names") else None
    steps = []
    while part.first <= number < part.first + part.size:
        at = number - part.first
        link = int(links[at])
        edges = _edges_between(part, graph, at, graph.place(link), classes) if link >= 0 else []
        steps.append(Step(number, float(z[at]), float(given[at]), edges))
        number = link
    return steps, number


def _edges_between(part: Part, graph: LocalGraph, row: int, target: int, classes: tuple[Any, ...] | None) -> list[Edge]:
    """The edges from an own dataset to a neighbour."""
    begin, end = int(graph.indptr[row]), int(graph.indptr[row + 1])
    found = (begin + np.flatnonzero(graph.targets[begin:end] == target)).tolist()
    lowered = [part.load(f"lowered_{column}") for column in range(len(graph.parameters))]
    columns = list(zip(graph.parameters, lowered, strict=True))
    names: list[Any] = [None] * len(found)
    if classes is not None:
        names = Classes(classes, part.load("rows_class")[found]).by_name()
    return [
        Edge(
            tuple(float(values[at]) for values in graph.parameters),
            tuple(one_written(*one, at) for one in columns),
            name,
        )
        for at, name in zip(found, names, strict=True)
    ]


def trace(problem: PartitionedProblem, name: str, pins: str, number: int) -> list[Step]:
    """The whole path to a dataset, from where it begins."""
    steps: list[Step] = []
    parts = problem.parts
    while number >= 0:
        owner = int(parts[0].owners(np.array([number]))[0])
        found, number = problem.workers.run(follow, [(parts[owner], name, pins, number)])[0]
        steps += found
    return steps[::-1]


def path_of(problem: PartitionedProblem, steps: list[Step], z: Any, upper: bool) -> BindingPath:
    """The path in the words that people read; an edge is seen from its start, which comes earlier."""
    notion, coordinate = problem.notion, problem.notion.coordinate
    z = np.asarray(z, dtype=np.float64)
    starts, places = (z if upper else -z).tolist(), turned(notion.parameters)
    edges = [
        step.edges[tightest(notion, label, (tuple(edge.used[at] for at in places) for edge in step.edges))]
        for step, label in zip(steps[1:], starts, strict=False)
    ]
    seen = [dict(zip(notion.parameters, (edge.written[at] for at in places), strict=True)) for edge in edges]
    return BindingPath(
        datasets=problem.names.labels([step.number for step in steps]),
        parameters=seen,
        classes=[edge.edge_class for edge in edges],
        bounds=coordinate.probability(z).tolist(),
        complements=coordinate.probability(-z).tolist(),
        coordinates=z.tolist(),
        upper=upper,
    )

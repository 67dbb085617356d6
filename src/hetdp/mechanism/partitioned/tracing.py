"""Paths of bounds across partitions: each stretch is followed by the partition that owns it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.mechanism.explanation import Beside, BindingPath, tightest
from hetdp.problem.building.written import one_written
from hetdp.problem.classes import Classes, names_from_bytes
from hetdp.problem.local import LocalGraph
from hetdp.problem.partitioned import PartitionedProblem
from hetdp.problem.parts import Part
from hetdp.problem.space import Indices
from hetdp.problem.spelling import spelled
from hetdp.theory.notion import Notion, turned


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
    classes, steps = _class_names(part), []
    while part.first <= number < part.first + part.size:
        at = number - part.first
        link = int(links[at])
        begin, end = int(graph.indptr[at]), int(graph.indptr[at + 1])
        to_link = np.flatnonzero(graph.targets[begin:end] == graph.place(link)) if link >= 0 else np.empty(0, np.int64)
        edges = _edges_at(part, graph, begin + to_link, classes)
        steps.append(Step(number, float(z[at]), float(given[at]), edges))
        number = link
    return steps, number


def _class_names(part: Part) -> tuple[Any, ...] | None:
    return names_from_bytes(part.load("class_names")) if part.has("class_names") else None


def _edges_at(part: Part, graph: LocalGraph, places: NDArray[np.int64], classes: tuple[Any, ...] | None) -> list[Edge]:
    """Some arcs from own datasets, by their places."""
    columns = []
    for at, used in enumerate(graph.parameters):
        floored = f"floored_{at}"  # where what is used lies on the grid
        columns.append((part.load(floored) if part.has(floored) else used, part.load(f"lowered_{at}")))
    names: list[Any] = [None] * len(places)
    if classes is not None:
        names = Classes(classes, part.load("rows_class")[places]).by_name()
    return [
        Edge(
            tuple(float(values[at]) for values in graph.parameters),
            tuple(one_written(*one, at) for one in columns),
            name,
        )
        for at, name in zip(places.tolist(), names, strict=True)
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


def tightest_of(notion: Notion, edges: list[Edge], start: float) -> Edge:
    """Of parallel edges, seen from their end, the one with the tightest bound after this label."""
    places = turned(notion.parameters)
    return edges[tightest(notion, start, (tuple(edge.used[at] for at in places) for edge in edges))]


def neighbours_of(part: Part, name: str, number: int, back: tuple[int, ...]) -> list[tuple[Beside, Edge]]:
    """The neighbours of a dataset that this partition owns, once for each edge, with the edge."""
    graph, at = LocalGraph(part), number - part.first
    row = slice(int(graph.indptr[at]), int(graph.indptr[at + 1]))
    places = np.asarray(graph.targets[row])
    numbers = graph.numbers(places)
    used = zip(*(graph.parameters[place][row].tolist() for place in back), strict=True)
    z, pinned, given, answers = (
        _of(part, array, numbers) for array in (f"{name}/z", f"{name}/pinned", f"{name}/given", "answers")
    )
    same = answers == part.load("answers")[at]
    facts = zip(numbers.tolist(), z.tolist(), same.tolist(), pinned.tolist(), given.tolist(), used, strict=True)
    edges = _edges_at(part, graph, np.arange(row.start, row.stop), _class_names(part))
    return [(Beside(*one), edge) for one, edge in zip(facts, edges, strict=True)]


def _of(part: Part, array: str, numbers: Indices) -> NDArray[Any]:
    """The entries of some datasets, from their owners; false where there is no such array."""
    if not part.has(array):
        return np.zeros(len(numbers), dtype=np.bool_)
    known, back = np.unique(numbers, return_inverse=True)
    return part.everywhere(array, known)[back.ravel()]


def path_of(problem: PartitionedProblem, steps: list[Step], z: Any, upper: bool) -> BindingPath:
    """The path in the words that people read; an edge is seen from its start, which comes earlier."""
    notion, coordinate = problem.notion, problem.notion.coordinate
    z = np.asarray(z, dtype=np.float64)
    labels = problem.names.labels([step.number for step in steps])
    starts, places = (z if upper else -z).tolist(), turned(notion.parameters)
    edges = [tightest_of(notion, step.edges, start) for step, start in zip(steps[1:], starts, strict=False)]
    seen = [dict(zip(notion.parameters, (edge.written[at] for at in places), strict=True)) for edge in edges]
    return BindingPath(
        datasets=labels,
        names=[spelled(label, problem.labels) for label in labels],
        parameters=seen,
        classes=[edge.edge_class for edge in edges],
        bounds=coordinate.probability(z).tolist(),
        complements=coordinate.probability(-z).tolist(),
        coordinates=z.tolist(),
        upper=upper,
    )

"""Paths of bounds across partitions: each stretch is followed by the partition that owns it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.mechanism.explanation import Beside, BindingPath
from hetdp.problem.building.written import one_written
from hetdp.problem.local import LocalGraph
from hetdp.problem.partitioned import PartitionedProblem
from hetdp.problem.parts import Part
from hetdp.problem.space import Indices
from hetdp.problem.spelling import spelled
from hetdp.theory.notion import turned


class Step(NamedTuple):
    """One dataset on a path.

    Attributes:
        number: the dataset.
        z: the value there.
        pin: what is given there; NaN if nothing is.
        parameters: what the edge from the dataset before promises, as written; empty at the first.
    """

    number: int
    z: float
    pin: float
    parameters: tuple[float, ...]


def follow(part: Part, name: str, pins: str, number: int) -> tuple[list[Step], int]:
    """The steps from a dataset back along its links, as far as this partition owns them; and who comes next, or −1."""
    graph = LocalGraph(part)
    z, links, given = part.load(f"{name}/z"), part.load(f"{name}/links"), part.load(pins)
    steps = []
    while part.first <= number < part.first + part.size:
        at = number - part.first
        link = int(links[at])
        edge = _written(part, graph, at, graph.place(link)) if link >= 0 else ()
        steps.append(Step(number, float(z[at]), float(given[at]), edge))
        number = link
    return steps, number


def _written(part: Part, graph: LocalGraph, row: int, target: int) -> tuple[float, ...]:
    """What an arc from an own dataset promises, as written."""
    begin, end = int(graph.indptr[row]), int(graph.indptr[row + 1])
    at = begin + int(np.flatnonzero(graph.targets[begin:end] == target)[0])
    found = []
    for column, used in enumerate(graph.parameters):
        floored = f"floored_{column}"  # where what is used lies on the grid
        values = part.load(floored) if part.has(floored) else used
        found.append(one_written(values, part.load(f"lowered_{column}"), at))
    return tuple(found)


def trace(problem: PartitionedProblem, name: str, pins: str, number: int) -> list[Step]:
    """The whole path to a dataset, from where it begins."""
    steps: list[Step] = []
    parts = problem.parts
    while number >= 0:
        owner = int(parts[0].owners(np.array([number]))[0])
        found, number = problem.workers.run(follow, [(parts[owner], name, pins, number)])[0]
        steps += found
    return steps[::-1]


def neighbours_of(part: Part, name: str, number: int, back: tuple[int, ...]) -> list[tuple[Beside, tuple[float, ...]]]:
    """The neighbours of a dataset that this partition owns, each with what the edge to it promises, as written."""
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
    written = [_written(part, graph, at, place) for place in places.tolist()]
    return [(Beside(*one), edge) for one, edge in zip(facts, written, strict=True)]


def _of(part: Part, array: str, numbers: Indices) -> NDArray[Any]:
    """The entries of some datasets, from their owners; false where there is no such array."""
    if not part.has(array):
        return np.zeros(len(numbers), dtype=np.bool_)
    known, back = np.unique(numbers, return_inverse=True)
    return part.everywhere(array, known)[back.ravel()]


def path_of(problem: PartitionedProblem, steps: list[Step], z: Any, upper: bool) -> BindingPath:
    """The path in the words that people read; an edge is seen from its start, which comes earlier."""
    names, coordinate = problem.notion.parameters, problem.notion.coordinate
    seen = [dict(zip(names, [step.parameters[at] for at in turned(names)], strict=True)) for step in steps[1:]]
    z = np.asarray(z, dtype=np.float64)
    labels = problem.names.labels([step.number for step in steps])
    return BindingPath(
        datasets=labels,
        names=[spelled(label, problem.labels) for label in labels],
        parameters=seen,
        bounds=coordinate.probability(z).tolist(),
        complements=coordinate.probability(-z).tolist(),
        coordinates=z.tolist(),
        upper=upper,
    )

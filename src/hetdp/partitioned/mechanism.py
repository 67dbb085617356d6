"""`PartitionedMechanism`, a mechanism whose values are stored in files, and binding paths across partitions.

`trace_path` follows a path of bounds from partition to partition: each partition follows the links of its own datasets.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.certificate.certificate import Certificate, verify
from hetdp.errors import UsageError
from hetdp.interrupts import delay_interrupts
from hetdp.mechanism.coin import CoinComparison, CoinCounts, compare_with_coin, count_against_coin
from hetdp.mechanism.explanation import (
    EXTENSION,
    GIVEN,
    AdjacentDataset,
    BindingChain,
    BindingPath,
    across_in_words,
    find_across,
    tightest,
    trim_given,
)
from hetdp.mechanism.mechanism import BINDING, RemoteMechanism, given_mask, require_best, row_of
from hetdp.mechanism.steps import Bound
from hetdp.partitioned.partition import LocalGraph, Partition
from hetdp.partitioned.problem import PartitionedProblem
from hetdp.problem.classes import Classes, names_from_bytes
from hetdp.problem.graph import written_number
from hetdp.problem.space import Constraint, Floats, Indices, Mask
from hetdp.problem.spelling import spell_label
from hetdp.text import pluralize
from hetdp.theory.notion import Notion, reversed_places


class Edge(NamedTuple):
    """An edge between a dataset and its predecessor on a path, seen from the dataset.

    Attributes:
        used: the floored parameters that the search used.
        written: the parameters as written.
        edge_class: the class; None if the edge has none.
    """

    used: tuple[float, ...]
    written: tuple[float, ...]
    edge_class: Any


def follow_links(partition: Partition, name: str, pins: str, number: int) -> tuple[list[Bound], int]:
    """Follows links back from a dataset within this partition; returns the steps and the next dataset, or −1."""
    graph = LocalGraph(partition)
    z, links, given = partition.load(f"{name}/z"), partition.load(f"{name}/links"), partition.load(pins)
    classes, steps = _class_names(partition), []
    while partition.first <= number < partition.first + partition.size:
        at = number - partition.first
        link = int(links[at])
        begin, end = int(graph.indptr[at]), int(graph.indptr[at + 1])
        to_link = np.flatnonzero(graph.targets[begin:end] == graph.place(link)) if link >= 0 else np.empty(0, np.int64)
        edges = _edges_at(partition, graph, begin + to_link, classes)
        steps.append(Bound(number, float(z[at]), float(given[at]), edges))
        number = link
    return steps, number


def _class_names(partition: Partition) -> tuple[Any, ...] | None:
    return names_from_bytes(partition.load("class_names")) if partition.has("class_names") else None


def _edges_at(
    partition: Partition, graph: LocalGraph, places: NDArray[np.int64], classes: tuple[Any, ...] | None
) -> list[Edge]:
    """The edges at some positions among the partition's arcs."""
    columns = []
    for at, used in enumerate(graph.parameters):
        floored = f"floored_{at}"  # exists if the used values were moved to the grid
        columns.append((partition.load(floored) if partition.has(floored) else used, partition.load(f"lowered_{at}")))
    names: list[Any] = [None] * len(places)
    if classes is not None:
        names = Classes(classes, partition.load("rows_class")[places]).by_name()
    return [
        Edge(
            tuple(float(values[at]) for values in graph.parameters),
            tuple(written_number(*one, at) for one in columns),
            name,
        )
        for at, name in zip(places.tolist(), names, strict=True)
    ]


def trace_path(problem: PartitionedProblem, name: str, pins: str, number: int) -> list[Bound]:
    """The whole path to a dataset, from its start."""
    steps: list[Bound] = []
    partitions = problem.partitions
    while number >= 0:
        owner = int(partitions[0].owners(np.array([number]))[0])
        found, number = problem.workers.run(follow_links, [(partitions[owner], name, pins, number)])[0]
        steps += found
    return steps[::-1]


def tightest_of(notion: Notion, edges: Sequence[Edge], start: float) -> Edge:
    """Among parallel edges, seen from their end, the one that gives the tightest bound for a start label."""
    places = reversed_places(notion.parameters)
    return edges[tightest(notion, start, (tuple(edge.used[at] for at in places) for edge in edges))]


def neighbours_of(
    partition: Partition, name: str, number: int, back: tuple[int, ...], objective: str
) -> list[tuple[AdjacentDataset, Edge]]:
    """The neighbours of an own dataset, once per edge, with the edge; the objective says which values were given."""
    graph, at = LocalGraph(partition), number - partition.first
    row = slice(int(graph.indptr[at]), int(graph.indptr[at + 1]))
    places = np.asarray(graph.targets[row])
    numbers = graph.numbers(places)
    used = zip(*(graph.parameters[place][row].tolist() for place in back), strict=True)
    z, pinned, given, answers = (
        _entries_of(partition, array, numbers) for array in (f"{name}/z", f"{name}/pinned", f"{name}/given", "answers")
    )
    if not partition.has(f"{name}/given"):
        given = given_mask(objective, pinned)
    same = answers == partition.load("answers")[at]
    facts = zip(numbers.tolist(), z.tolist(), same.tolist(), pinned.tolist(), given.tolist(), used, strict=True)
    edges = _edges_at(partition, graph, np.arange(row.start, row.stop), _class_names(partition))
    return [(AdjacentDataset(*one), edge) for one, edge in zip(facts, edges, strict=True)]


def _entries_of(partition: Partition, array: str, numbers: Indices) -> NDArray[Any]:
    """The entries of some datasets, read from their owners; False if an owner lacks the array."""
    if not partition.has(array):
        return np.zeros(len(numbers), dtype=np.bool_)
    known, back = np.unique(numbers, return_inverse=True)
    return partition.gather_from_owners(array, known)[back.ravel()]


def path_of(problem: PartitionedProblem, steps: Sequence[Bound], z: Any, upper: bool) -> BindingPath:
    """Converts steps to a `BindingPath` with labels; each edge is seen from its start, which comes first."""
    notion, coordinate = problem.notion, problem.notion.coordinate
    z = np.asarray(z, dtype=np.float64)
    labels = problem.names.labels([step.number for step in steps])
    starts, places = (z if upper else -z).tolist(), reversed_places(notion.parameters)
    edges = [tightest_of(notion, step.edges, start) for step, start in zip(steps[1:], starts, strict=False)]
    seen = [dict(zip(notion.parameters, (edge.written[at] for at in places), strict=True)) for edge in edges]
    return BindingPath(
        datasets=labels,
        names=[spell_label(label, problem.labels) for label in labels],
        parameters=seen,
        classes=[edge.edge_class for edge in edges],
        bounds=coordinate.probability(z).tolist(),
        complements=coordinate.probability(-z).tolist(),
        coordinates=z.tolist(),
        upper=upper,
    )


LABELS = 1 << 12  # labels looked up at once
MOST_VALUES = 1 << 24  # most datasets whose values are gathered in this process


@dataclass(frozen=True, eq=False)
class PartitionedMechanism(RemoteMechanism):
    """A private mechanism on a partitioned problem. ``mechanism[label]`` is p at one dataset; `blocks` reads them all.

    Attributes:
        problem: the problem that it answers.
        name: name of its arrays in the work folder.
        moved: largest distance in z by which given values were moved to be exactly compatible.
        certificate: the proof, if one was requested.
        objective: the objective that chose the pinned values; "extension" if they were given.
        rounds: number of rounds of the search.
        sent: number of labels sent between partitions in each round.
        objective_gap: always None: no objective of partitioned problems has a gap.
    """

    problem: PartitionedProblem
    name: str
    moved: float = 0.0
    certificate: Certificate | None = None
    objective: str = "extension"
    rounds: int = 0
    sent: tuple[int, ...] = ()
    objective_gap: float | None = None

    @property
    def is_as_proved(self) -> bool:
        """True if the certificate was made for exactly these values; a loaded mechanism has no certificate."""
        return self.certificate is not None

    @property
    def search_words(self) -> str:
        """A phrase with the number of rounds and of labels sent between partitions."""
        return f"{pluralize(self.rounds, 'round')}, {pluralize(sum(self.sent), 'label')} between partitions"

    @cached_property
    def coordinates(self) -> Floats:  # type: ignore[override]  # read on access; a mechanism is frozen anyway
        """z of all datasets.

        Raises:
            UsageError: there are too many for one process; `blocks` reads them one partition at a time.
        """
        return self._gather("z")

    @cached_property
    def pinned(self) -> Mask:  # type: ignore[override]
        """A mask of the datasets whose values were given or chosen by an objective."""
        return self._gather("pinned")

    @cached_property
    def links(self) -> Indices:  # type: ignore[override]
        """For each free dataset the number of the neighbour that binds it; −1 if there is none."""
        return self._gather("links")

    @property
    def probabilities(self) -> Floats:
        """p = Pr[answer 1] of all datasets, rounded for reading."""
        return self.problem.notion.coordinate.probability(self.coordinates)

    @property
    def errors(self) -> Floats:
        """The probability of the wrong answer at all datasets."""
        return self.problem.notion.coordinate.error(self.coordinates, self._answers())

    def columns(self) -> dict[str, Any]:
        """The columns of the mechanism's table, if it fits in this process."""
        names, answers = list(self), self._answers()
        found = {
            "dataset": names,
            "query": answers,
            "p": self.probabilities,
            "z": self.coordinates,
            "error": self.errors,
            "pinned": self.pinned,
            BINDING: [None if link < 0 else names[link] for link in self.links.tolist()],
        }
        has_given = self.problem.partitions[0].has(f"{self.name}/given")
        return found | ({"given": self._gather("given")} if has_given else {})

    def _answers(self) -> NDArray[Any]:
        self._require_few()
        return np.concatenate([partition.load("answers") for partition in self.problem.partitions])

    def _gather(self, name: str) -> NDArray[Any]:
        self._require_few()
        values = np.concatenate([partition.load(f"{self.name}/{name}") for partition in self.problem.partitions])
        values.flags.writeable = False
        return values

    def _require_few(self) -> None:
        if len(self) > MOST_VALUES:
            rule = f"at most {MOST_VALUES:,} values of a partitioned mechanism are gathered in one process"
            raise UsageError(f"all {len(self):,} values at once", rule, "blocks() reads them a partition at a time")

    def __iter__(self) -> Iterator[Any]:
        for partition in self.problem.partitions:
            for first in range(partition.first, partition.first + partition.size, LABELS):
                yield from self.problem.names.labels(
                    list(range(first, min(first + LABELS, partition.first + partition.size)))
                )

    def __contains__(self, label: object) -> bool:
        return bool(self.problem.names.indices([label])[0] >= 0)

    def __len__(self) -> int:
        return self.problem.graph.size

    def __getitem__(self, label: Hashable) -> float:
        """p at one dataset."""
        return float(self.problem.notion.coordinate.probability(self.coordinate(self.problem.index(label))))

    def coordinate(self, number: int) -> float:
        """z at one dataset, by its number."""
        partitions = self.problem.partitions
        partition = partitions[int(partitions[0].owners(np.array([number]))[0])]
        return float(partition.load(f"{self.name}/z")[number - partition.first])

    def blocks(self) -> Iterator[Floats]:
        """Iterates over z of all datasets in order, one partition at a time."""
        for partition in self.problem.partitions:
            yield partition.load(f"{self.name}/z")

    @cached_property
    def against_coin(self) -> CoinComparison:
        """The number of datasets where it is no better than a coin flip, and the worst one; counted by workers."""
        problem = self.problem
        counts = reduce(CoinCounts.combine, problem.run(coin_counts, self.name, self.objective), CoinCounts())
        best = self.certificate is not None and self.certificate.optimal
        return compare_with_coin(counts, problem.notion.coordinate, self.objective, best, problem.label, problem.labels)

    def explain(self, dataset: Hashable) -> BindingPath:
        """Why a dataset cannot be answered more accurately: the path from a pinned dataset that binds it."""
        return explain_at(self.prove_best(), self.problem.index(dataset))

    def row(self, dataset: Hashable) -> dict[str, Any]:
        """The row of one dataset in the mechanism's table."""
        number = self.problem.index(dataset)
        answer, pinned = int(_entry_at(self, "answers", number)), bool(_entry_at(self, f"{self.name}/pinned", number))
        return row_of(self.problem.notion, self.coordinate(number), answer, pinned, is_given(self, number))

    def prove_best(self) -> PartitionedMechanism:
        """The mechanism with a proof that it is optimal for its pins.

        Raises:
            InputError: it is not optimal.
        """
        return replace(self, certificate=require_best(self.certificate or verify(self.problem, self)))

    def write(self, path: str | Path) -> None:
        """Writes the mechanism to a folder, one file per partition."""
        with delay_interrupts():
            from hetdp.partitioned.mechanism_files import save_mechanism
        save_mechanism(self, path)

    def __repr__(self) -> str:
        return f"PartitionedMechanism({len(self)} datasets, {len(self.problem.partitions)} partitions)"


def explain_at(mechanism: PartitionedMechanism, number: int) -> BindingPath:
    """The path that binds a dataset of a proved mechanism."""
    problem, name = mechanism.problem, mechanism.name
    steps = trace_path(problem, name, f"{name}/z", number)
    upper = bool(_entry_at(mechanism, "answers", number) == 1)
    edges: dict[tuple[int, int], list[Edge]] = {}
    back = reversed_places(problem.notion.parameters)

    def adjacent_datasets(at: int) -> list[AdjacentDataset]:
        found = problem.workers.run(neighbours_of, [(_owner(mechanism, at), name, at, back, mechanism.objective)])[0]
        for one, edge in found:
            known = edges.setdefault((at, one.number), [])
            known.extend([edge] * (edge not in known))
        return [one for one, _ in found]

    first = steps[0].number
    found = BindingChain([first], given=True)
    if _entry_at(mechanism, f"{name}/pinned", first):
        found = find_across(problem.notion, first, 1.0 if upper else -1.0, mechanism.coordinate, adjacent_datasets)
        found = trim_given(found, len(steps) > 1) if is_given(mechanism, first) else found
        before = [Bound(at, mechanism.coordinate(at), np.nan, edges.get((at, link), [])) for link, at in found.links()]
        steps = [*before, *steps[1:]]
    first = steps[0].number
    path = path_of(problem, steps, [step.z for step in steps], upper)
    if not _entry_at(mechanism, f"{name}/pinned", first):
        return replace(path, origin="")
    was_given = is_given(mechanism, first)
    ends_given = len(steps) > 1 and is_given(mechanism, number)
    path = replace(path, origin=GIVEN if was_given else mechanism.objective, ends_given=ends_given)
    path = replace(path, moved=mechanism.moved if was_given else 0.0)
    if found.across is None:
        return path
    sign = 1.0 if upper else -1.0
    binding = tightest_of(problem.notion, edges[first, found.across.number], sign * found.across.z)
    written = dict(zip(problem.notion.parameters, [binding.written[at] for at in back], strict=True))
    edge = Constraint(written, binding.edge_class)
    across = across_in_words(found, problem.label, lambda end: spell_label(end, problem.labels), edge, problem.notion)
    return replace(path, across=across)


def is_given(mechanism: PartitionedMechanism, number: int) -> bool:
    """True if the value of a dataset was given rather than chosen by an objective."""
    if _owner(mechanism, number).has(f"{mechanism.name}/given"):
        return bool(_entry_at(mechanism, f"{mechanism.name}/given", number))
    return mechanism.objective == EXTENSION and bool(_entry_at(mechanism, f"{mechanism.name}/pinned", number))


def _owner(mechanism: PartitionedMechanism, number: int) -> Partition:
    partitions = mechanism.problem.partitions
    return partitions[int(partitions[0].owners(np.array([number]))[0])]


def _entry_at(mechanism: PartitionedMechanism, array: str, number: int) -> Any:
    """The entry of one dataset in an array."""
    owner = _owner(mechanism, number)
    return owner.load(array)[number - owner.first]


def mark_given(partition: Partition, name: str, pins: str) -> None:
    """Writes which values of a mechanism were given; an objective chose the others."""
    partition.save(f"{name}/given", ~np.isnan(partition.load(pins)))


def coin_counts(partition: Partition, name: str, objective: str) -> CoinCounts:
    """Compares the datasets of a partition with a coin flip."""
    z, ones, pinned = partition.load(f"{name}/z"), partition.load("answers") == 1, partition.load(f"{name}/pinned")
    was_given = partition.load(f"{name}/given") if partition.has(f"{name}/given") else given_mask(objective, pinned)
    return count_against_coin(z, ones, was_given, partition.first)

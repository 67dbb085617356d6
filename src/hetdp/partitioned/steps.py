"""The steps of the verbs on partitions: each runs as a task on every partition, and its results stay in files.

`check`, `extend` and `design` are written once, in `hetdp.mechanism`. This module has the steps that they consist of:
tasks that write start labels of a search, tasks that turn its result into pins or a mechanism, and `PartitionedSteps`,
which runs them from the driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from hetdp.certificate.certificate import Certificate
from hetdp.engines.contract import Role
from hetdp.errors import MOST_LISTED, FaultCollector, UnknownDatasetError, UsageError
from hetdp.mechanism.balanced import lower_to_meeting
from hetdp.mechanism.explanation import BindingPath
from hetdp.mechanism.local import others_at
from hetdp.mechanism.repair import Limits
from hetdp.mechanism.steps import NEAR_MISS, Bound, Closure, FreeBoundary, Search, Steps, distance, drops
from hetdp.partitioned.mechanism import PartitionedMechanism, mark_given, path_of, trace_path
from hetdp.partitioned.partition import LocalGraph, Partition
from hetdp.partitioned.problem import PartitionedPins, PartitionedProblem, remove_arrays
from hetdp.partitioned.rounds import (
    Growth,
    Searches,
    boundary_values,
    choose_fair,
    grow,
    labels_of,
    labels_of_searches,
    run_after,
)
from hetdp.problem.columns import as_mapping
from hetdp.problem.decimals import round_labels_down
from hetdp.problem.labels import Labels, similar_labels
from hetdp.problem.partial import PartialMechanism, pins_on
from hetdp.problem.problem import EdgelessProblem
from hetdp.problem.values import PIN, order_values
from hetdp.text import format_value
from hetdp.theory.catalogue import notion_of_key
from hetdp.theory.notion import Notion

KEYS = ("p", "z", "error")
MOST_FALLEN = 100  # most pins that a partition reports at once
FAIR, BALANCED = OBJECTIVES = ("fair", "balanced")


class PartitionedClosure(Closure[PartitionedPins]):
    """A growth from all pins, with its labels in files."""

    def __init__(self, problem: PartitionedProblem, growth: Growth, sign: float, name: str) -> None:
        self._problem, self._growth, self._sign, self._name = problem, growth, sign, name
        self._is_traceable = False

    def largest_drop(self, given: PartitionedPins) -> float:
        """The largest distance by which it lowered a given value."""
        fell: float = max(run_after(self._problem, self._growth, largest_drop, given.name))
        return fell

    def fallen_datasets(self, given: PartitionedPins) -> Iterator[int]:
        """Iterates over the datasets whose given value it lowered, largest drop first; fetches them in batches."""
        for seen in count(0, MOST_FALLEN):
            some = run_after(self._problem, self._growth, fallen_pins, given.name, NEAR_MISS, seen)
            found = [one for each in some for one in each]
            if not found:
                return
            yield from (number for _, number in sorted(found, key=lambda one: (-one[0], one[1])))

    def chain_to(self, dataset: int, given: PartitionedPins) -> Sequence[Bound]:
        """The chain of bounds that led to the value of a dataset."""
        if not self._is_traceable:
            run_after(self._problem, self._growth, finish_witness, self._name)
            self._is_traceable = True
        return trace_path(self._problem, self._name, given.name, dataset)

    def path_along(self, chain: Sequence[Bound]) -> BindingPath:
        """A chain as a `BindingPath` with labels."""
        return path_of(self._problem, chain, [step.z for step in chain], upper=True)

    def close(self, pins: PartitionedPins) -> PartitionedPins:
        """The pins, moved to the labels of the search."""
        name = f"{self._name}-closed"
        run_after(self._problem, self._growth, finish_closing, pins.name, self._sign, name)
        return replace(pins, name=name)

    def discard(self) -> None:
        """Removes the labels of the search."""
        remove_arrays(self._problem, self._growth.search)
        remove_arrays(self._problem, self._name)


class PartitionedSteps(Steps[PartitionedPins, PartitionedMechanism]):
    """The steps on partitions.

    Args:
        problem: the problem, with its workers.
    """

    def __init__(self, problem: PartitionedProblem) -> None:
        self.problem: PartitionedProblem = problem
        self._base, self._numbers = problem.new_name("steps"), count()

    def _new_name(self, word: str) -> str:
        return f"{self._base}-{next(self._numbers)}-{word}"

    @property
    def notion(self) -> Notion:
        """The notion of privacy."""
        return self.problem.notion

    @property
    def labels(self) -> Any:
        """The labels of the datasets."""
        return self.problem.labels

    def labels_at(self, numbers: Sequence[int]) -> list[Any]:
        """The labels of some datasets."""
        return self.problem.names.labels(list(numbers))

    def read_pins(self, partial: Any) -> PartitionedPins:
        """The problem's own values, or values by label, which workers write to files."""
        problem = self.problem
        if isinstance(partial, PartitionedPins):
            if partial.work != problem.work:
                rule = "values from the tables of a partitioned problem are for that problem"
                hint = "give values by label, or those that came with it"
                raise UsageError("the values belong to another problem", rule, hint)
            return partial
        name = self._new_name("given")
        if not isinstance(partial, PartialMechanism):
            partial = PartialMechanism(p=partial)
        given = {key: getattr(partial, key) for key in KEYS if getattr(partial, key) is not None}
        columns: dict[str, Any] = {key: as_mapping(values) for key, values in given.items()}
        for key, values in columns.items():
            if values is None:
                rule = "values for a partitioned problem are in its own tables, or a mapping from labels"
                raise UsageError(f"{key}={format_value(given[key])}", rule)
        labels = list(dict.fromkeys(label for values in columns.values() for label in values))
        numbers = np.asarray(problem.names.indices(labels), dtype=np.int64)
        listed = PinLabels(labels, numbers, problem.labels)
        pins_on(
            EdgelessProblem(listed, np.ones(len(labels), dtype=np.int8), problem.notion, ""), partial
        )  # raises if a value is invalid
        findings = FaultCollector("partial mechanism")
        order = np.argsort(numbers, kind="stable")
        numbered = {key: order_values(key, values, listed, PIN, findings)[order] for key, values in columns.items()}
        problem.run(write_pins, numbers[order], numbered, name, problem.notion.key)
        return PartitionedPins(len(labels), problem.work, name)

    def has_pins(self, pins: PartitionedPins) -> bool:
        """True if any value is given."""
        return pins.count > 0

    def free_boundary(self, pins: PartitionedPins) -> FreeBoundary:
        """The boundary datasets without a value."""
        found = self.problem.run(free_boundary, pins.name)
        first = [number for some, _, _ in found for number in some][:MOST_LISTED]
        return FreeBoundary(first, sum(free for _, free, _ in found), sum(size for _, _, size in found))

    def search(self, pins: PartitionedPins) -> Search[PartitionedMechanism]:
        """The extension by one search over both answers."""
        problem, name = self.problem, self._new_name("mechanism")
        growth = grow(problem, f"{name}-search", start_extension, pins.name, with_roles=True)
        fell = max(run_after(problem, growth, finish_extension, pins.name, name))
        remove_arrays(problem, growth.search)
        return Search(PartitionedMechanism(problem, name, rounds=growth.rounds, sent=tuple(growth.sent)), fell)

    def close(
        self, given: PartitionedPins, search: Search[PartitionedMechanism] | None
    ) -> tuple[PartitionedMechanism, float]:
        """The extension from pins that are no better than given, by one growth for each answer, which starts anew."""
        problem, name = self.problem, self._new_name("closed")
        growths = [
            grow(problem, f"{name}-{answer.value}", start_answer, given.name, answer.value, with_roles=True)
            for answer in (Role.FREE_1, Role.FREE_2)
        ]
        searches = {growth.search: tuple(growth.latest) for growth in growths}
        moved = max(problem.run(finish_answers, searches, given.name, name))
        for growth in growths:
            remove_arrays(problem, growth.search)
        sent = tuple(count for growth in growths for count in growth.sent)
        return PartitionedMechanism(problem, name, rounds=sum(growth.rounds for growth in growths), sent=sent), moved

    def grow(self, pins: PartitionedPins, sign: float = 1.0) -> PartitionedClosure:
        """The growth from all pins over all edges."""
        name = self._new_name("closure")
        return PartitionedClosure(
            self.problem, grow(self.problem, f"{name}-search", start_closing, pins.name, sign), sign, name
        )

    def distance(self, given: PartitionedPins, pins: PartitionedPins) -> float:
        """The largest distance by which a pin was moved."""
        moved: float = max(self.problem.run(largest_move, given.name, pins.name))
        return moved

    def attach(self, mechanism: PartitionedMechanism, certificate: Certificate) -> PartitionedMechanism:
        """The mechanism with its certificate."""
        return replace(mechanism, certificate=certificate)

    def finish(self, mechanism: PartitionedMechanism, moved: float) -> PartitionedMechanism:
        """The mechanism with the distance that its pins were moved."""
        return replace(mechanism, moved=moved)

    def repair(self, pins: PartitionedPins) -> None:
        """None: a partitioned problem has a witness, but no repair."""

    def require_objective(self, objective: str, prior: Any, max_error: Any) -> None:
        """Refuses objectives and options that need the whole problem in one process."""
        require_offered(objective, prior, max_error)

    def choose(self, objective: str, given: PartitionedPins | None) -> PartitionedPins:
        """The pins that an objective chooses for the boundary, together with the given ones."""
        problem, name = self.problem, self._new_name("design")
        known, limits = None if given is None else given.name, Searches()
        if known is not None:
            most = grow(problem, f"{name}-most", start_closing, known, 1.0)
            least = grow(problem, f"{name}-least", start_closing, known, -1.0)
            limits = {search.search: tuple(search.latest) for search in (most, least)}
        pins = f"{name}-pins"
        if objective == FAIR:
            choose_fair(problem, name, pins, known, limits)
        else:
            growth = grow(problem, f"{name}-search", start_balanced, self.notion.key, problem.gridded)
            run_after(problem, growth, finish_balanced, pins, known, limits)
            remove_arrays(problem, growth.search)
        for search in limits:
            remove_arrays(problem, search)
        return PartitionedPins(problem.graph.size, problem.work, pins)

    def credit(
        self, mechanism: PartitionedMechanism, objective: str, given: PartitionedPins | None
    ) -> PartitionedMechanism:
        """The mechanism, with the objective that chose its values."""
        if given is not None:
            self.problem.run(mark_given, mechanism.name, given.name)
        return replace(mechanism, objective=objective)


def require_offered(objective: str, prior: Any, max_error: Any) -> None:
    """Refuses objectives and options that need the whole problem in one process."""
    if objective not in OBJECTIVES:
        rule = f"a partitioned problem has the objectives {' and '.join(OBJECTIVES)}"
        raise UsageError(f"the objective {objective} on a partitioned problem", rule, "average fits one machine")
    if prior is not None or max_error is not None:
        rule = "its objectives have neither there"
        raise UsageError("a prior or a largest error on a partitioned problem", rule)


# Pins by label --------------------------------------------------------------------------------------------------------


class PinLabels:
    """The labels in a list of given values, by position; labels that name no dataset are unknown."""

    def __init__(self, labels: list[Any], numbers: Any, known: Labels) -> None:
        self.names: Any = labels
        self._known = known
        self._places = {label: at for at, label in enumerate(labels) if numbers[at] >= 0}

    def index(self, label: Any) -> int:
        """The position of a label."""
        if label not in self._places:
            raise UnknownDatasetError(label, similar_labels(label, self._known))
        return self._places[label]

    def indices(self, labels: Any) -> Any:
        """The positions of some labels."""
        return np.array([self._places.get(label, -1) for label in labels], dtype=np.int64)


def write_pins(partition: Partition, numbers: Any, numbered: dict[str, Any], name: str, notion: str) -> None:
    """Writes the given values of a partition's own datasets."""
    low, high = np.searchsorted(numbers, [partition.first, partition.first + partition.size])
    own = numbers[low:high] - partition.first
    coordinate, answers, pins = (
        notion_of_key(notion).coordinate,
        partition.load("answers")[own],
        np.full(partition.size, np.nan),
    )
    for key, values in numbered.items():
        column = values[low:high]
        given = ~np.isnan(column)
        z = column if key == "z" else coordinate.from_probability(column)
        z = coordinate.from_error(column, answers) if key == "error" else z
        pins[own[given]] = z[given] + 0.0
    partition.save(name, pins)


# Starts of searches: each partition writes labels and roles of its own datasets ---------------------------------------


def start_extension(partition: Partition, search: str, pins: str) -> None:
    """Writes the start of one search over both answers from all pins, as `local.search_from` does."""
    z, answers = partition.load(pins), partition.load("answers")
    ones, pinned = answers == 1, ~np.isnan(z)
    partition.save(f"{search}/start", np.where(pinned, np.where(ones, z, -z), np.inf))
    roles = np.where(pinned, Role.PINNED, np.where(ones, Role.FREE_1, Role.FREE_2))
    partition.save(f"{search}/roles", roles.astype(np.uint8))


def start_answer(partition: Partition, search: str, pins: str, answer: int) -> None:
    """Writes the start of the growth that closes the pins of one answer, as `LocalSteps.close` does."""
    z, answers = partition.load(pins), partition.load("answers")
    own, signed = answers == answer, np.where(answers == 1, z, -z)
    start = np.where(own, np.where(np.isnan(z), np.inf, signed), others_at(Role(answer), z))
    partition.save(f"{search}/start", start)
    partition.save(f"{search}/roles", np.where(own, answer, Role.PINNED).astype(np.uint8))


def start_closing(partition: Partition, search: str, pins: str, sign: float) -> None:
    """Writes the start of a search from all pins over all edges; it lowers pins or, with sign −1, raises them."""
    z = partition.load(pins)
    partition.save(f"{search}/start", np.where(np.isnan(z), np.inf, sign * z))


def start_balanced(partition: Partition, search: str, notion: str, gridded: bool) -> None:
    """Writes the start of a search over all edges from the meeting labels at the ends of edges between the answers."""
    graph = LocalGraph(partition)
    answers = graph.gather("answers")
    start = np.full(graph.size, np.inf)
    lower_to_meeting(graph.edge_blocks(), answers, notion_of_key(notion), start)
    partition.save(f"{search}/start", round_labels_down(start[graph.own]) if gridded else start[graph.own])


# Results of searches: values and links of a mechanism, and distances of moved pins ------------------------------------


def links_of(partition: Partition, search: str, latest: int) -> Any:
    """The links of own datasets, as dataset numbers."""
    graph = LocalGraph(partition)
    return graph.numbers(partition.load(f"{search}/links-{latest}")[graph.own])


def finish_extension(partition: Partition, search: str, latest: int, pins: str, name: str) -> float:
    """Writes the mechanism that a search found; returns the largest distance by which it lowered a pin."""
    z, answers, labels = partition.load(pins), partition.load("answers"), labels_of(partition, search, latest)
    ones, pinned = answers == 1, ~np.isnan(z)
    partition.save(f"{name}/z", np.where(pinned, z, np.where(ones, labels, -labels)) + 0.0)
    partition.save(f"{name}/pinned", pinned)
    partition.save(f"{name}/links", np.where(pinned, -1, links_of(partition, search, latest)))
    return float(np.max(drops(partition.load(f"{search}/start"), labels)[pinned], initial=0.0))


def finish_answers(partition: Partition, searches: Searches, given: str, name: str) -> float:
    """Writes the mechanism that a growth for each answer found; returns the largest distance by which a pin moved."""
    z, ones = partition.load(given), partition.load("answers") == 1
    pinned = ~np.isnan(z)
    first, second = labels_of_searches(partition, searches)
    links = [links_of(partition, search, latest[partition.number]) for search, latest in searches.items()]
    closed = np.where(ones, first, -second) + 0.0
    partition.save(f"{name}/z", closed)
    partition.save(f"{name}/pinned", pinned)
    partition.save(f"{name}/links", np.where(pinned, -1, np.where(ones, *links)))
    return distance(z, np.where(pinned, closed, np.nan))


def finish_closing(partition: Partition, search: str, latest: int, pins: str, sign: float, name: str) -> None:
    """Writes the pins at the labels of a search."""
    closed = sign * labels_of(partition, search, latest)
    partition.save(name, np.where(np.isnan(partition.load(pins)), np.nan, closed))


def largest_drop(partition: Partition, search: str, latest: int, given: str) -> float:
    """The largest distance by which a search from all pins lowered one of them."""
    return float(np.max(drops(partition.load(given), labels_of(partition, search, latest)), initial=0.0))


def fallen_pins(
    partition: Partition, search: str, latest: int, given: str, least: float, skipped: int
) -> list[tuple[float, int]]:
    """The next pins that a search lowered by more than `least`, with their distances, largest drop first."""
    moves = drops(partition.load(given), labels_of(partition, search, latest))
    fallen = np.flatnonzero(moves > least)
    next_ones = fallen[np.argsort(-moves[fallen], kind="stable")][skipped : skipped + MOST_FALLEN]
    return list(zip(moves[next_ones].tolist(), (partition.first + next_ones).tolist(), strict=True))


def largest_move(partition: Partition, given: str, pins: str) -> float:
    """The largest distance between pins and the given values."""
    return distance(partition.load(given), partition.load(pins))


def finish_balanced(
    partition: Partition, search: str, latest: int, name: str, given: str | None, limits: Searches
) -> None:
    """Writes the boundary values of the balanced mechanism, limited to what given values allow."""
    labels = labels_of(partition, search, latest)
    z = np.where(partition.load("answers") == 1, labels, -labels) + 0.0
    partition.save(
        name,
        boundary_values(
            partition, Limits.of(*labels_of_searches(partition, limits)).between(z) if limits else z, given
        ),
    )


def finish_witness(partition: Partition, search: str, latest: int, name: str) -> None:
    """Writes labels and links of a search in the form that `follow_links` reads."""
    partition.save(f"{name}/z", labels_of(partition, search, latest))
    partition.save(f"{name}/links", links_of(partition, search, latest))


def free_boundary(partition: Partition, pins: str) -> tuple[list[int], int, int]:
    """The first boundary datasets without a value, their number, and the size of the boundary."""
    boundary = partition.load("boundary")
    free = np.flatnonzero(boundary & np.isnan(partition.load(pins)))
    return (free[:MOST_LISTED] + partition.first).tolist(), len(free), int(np.count_nonzero(boundary))

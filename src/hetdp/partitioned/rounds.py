"""A search over all partitions, in rounds; and the fair objective, which is a sequence of such searches.

In each round a partition takes in the changed labels of its ghosts, runs the CPU engine's kernel, and sends its own
changed labels to the partitions that have them as ghosts. The search ends when no partition has changes to send. The
driver sees counts only.

Ghosts send labels and never receive bounds: a bound on a ghost is found by its owner. So every label depends only on
labels from their owners, and chains of links form no cycle, even if the labels of ghosts are outdated
(docs/theory/partitions.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.engines.contract import Role, Roles
from hetdp.engines.cpu.engine import grow_on, offers_on
from hetdp.partitioned.partition import LocalGraph, Partition, load_columns, map_array, write_rows
from hetdp.partitioned.problem import PartitionedProblem, Task, remove_arrays
from hetdp.problem.space import Floats, Indices
from hetdp.text import pluralize
from hetdp.theory.catalogue import notion_of_key

LABEL_CHANGE = np.dtype([("place", "<i8"), ("label", "<f8")])


class SearchRows:
    """The arcs from own datasets and ghosts to own datasets; or a subset of them, by its name."""

    def __init__(self, graph: LocalGraph, name: str = "") -> None:
        self.size, self._part = graph.size, graph.partition
        self._name = name or ("search" if graph.partition.has("search_indptr") else "rows")

    @cached_property
    def indptr(self) -> NDArray[np.int64]:
        """The start of each row."""
        return self._part.load(f"{self._name}_indptr")

    @cached_property
    def targets(self) -> Indices:
        """The other end of each arc."""
        return self._part.load(f"{self._name}_targets")

    @cached_property
    def parameters(self) -> tuple[Floats, ...]:
        """The parameters of each arc."""
        return load_columns(self._part, self._name)


class Round(NamedTuple):
    """The instructions for one partition in one round.

    Attributes:
        search: name of the search.
        notion: the key of the notion of privacy.
        number: number of the round, starting at 1.
        before: the last round in which this partition ran; 0 if it starts from its start labels.
        news: the partitions that sent changes to this one in the previous round.
        with_roles: True if roles decide which edges take part.
        rows: name of the arcs that take part; all if empty.
    """

    search: str
    notion: str
    number: int
    before: int
    news: tuple[int, ...]
    with_roles: bool
    rows: str


def run_round(partition: Partition, round_: Round) -> tuple[int, dict[int, int]]:
    """Grows the labels of one partition; returns the number that fell, and the number of changes by receiver."""
    notion = notion_of_key(round_.notion)
    graph = LocalGraph(partition)
    labels, links, active = _state(graph, round_)
    roles: Roles | None = graph.gather(f"{round_.search}/roles") if round_.with_roles else None
    before = labels[graph.own].copy()
    if active is None or active.any():
        grow_on(SearchRows(graph, round_.rows), notion, labels, links, roles, active)
    partition.save(f"{round_.search}/labels-{round_.number}", labels)
    partition.save(f"{round_.search}/links-{round_.number}", links)
    fell = labels[graph.own] < before
    return int(np.count_nonzero(fell)), _write_changes(partition, round_, labels[graph.own], fell)


def _state(graph: LocalGraph, round_: Round) -> tuple[Floats, Indices, NDArray[np.bool_] | None]:
    """Labels and links after the previous round, and a mask of changed labels; None in the first round: all count."""
    partition, search = graph.partition, round_.search
    if round_.before == 0:
        labels = graph.gather(f"{search}/start") + 0.0  # adding 0.0 turns −0.0 into 0.0
        return labels, np.full(graph.size, -1, dtype=graph.targets.dtype), None
    labels, links = (
        partition.copy(f"{search}/labels-{round_.before}"),
        partition.copy(f"{search}/links-{round_.before}"),
    )
    active = np.zeros(graph.size, dtype=np.bool_)
    for sender in round_.news:
        news = map_array(partition.work, changes_file(partition, search, round_.number - 1, sender, partition.number))
        first = int(np.searchsorted(graph.ghosts, partition.offsets[sender]))
        places = news["place"] + first
        places = np.where(places < graph.before, places, places + partition.size)
        labels[places], active[places] = news["label"], True
    return labels, links, active


def changes_file(partition: Partition, search: str, number: int, sender: int, receiver: int) -> Any:
    """The file of changes that one partition sends to another after a round."""
    return partition.other(sender).path(f"{search}/news-{number}-{receiver}")


def _write_changes(partition: Partition, round_: Round, labels: Floats, fell: NDArray[np.bool_]) -> dict[int, int]:
    """Writes the labels that fell at cut edges, for each partition at the other ends."""
    bounds, places = partition.load("cut_bounds"), partition.load("cut_places")
    sent: dict[int, int] = {}
    changed = fell[places]
    for receiver in np.flatnonzero(np.diff(bounds)).tolist():
        piece = slice(bounds[receiver], bounds[receiver + 1])
        chosen = np.flatnonzero(changed[piece])
        if len(chosen):
            news = np.empty(len(chosen), dtype=LABEL_CHANGE)
            news["place"], news["label"] = chosen, labels[places[piece][chosen]]
            partition.save(f"{round_.search}/news-{round_.number}-{receiver}", news)
            sent[receiver] = len(chosen)
    return sent


# Driver of a search ---------------------------------------------------------------------------------------------------


@dataclass
class Growth:
    """A finished search.

    Attributes:
        search: its name, which is also the folder of its labels and links in each partition.
        latest: for each partition, the last round in which it ran.
        rounds: number of rounds.
        sent: number of labels sent between partitions in each round.
    """

    search: str
    latest: list[int]
    rounds: int = 0
    sent: list[int] = field(default_factory=list)


def grow(problem: PartitionedProblem, search: str, start: Task, *arguments: Any, with_roles: bool = False) -> Growth:
    """Grows labels from their start values to the fixed point.

    Args:
        problem: the problem.
        search: a new name for the search.
        start: a task that writes the start labels of a partition, and its roles, under that name.
        arguments: its arguments after the partition and the name.
        with_roles: True if it writes roles.
    """
    problem.run(start, search, *arguments, words="searching (start labels)")
    return grow_from(problem, search, with_roles=with_roles)


def grow_from(problem: PartitionedProblem, search: str, *, rows: str = "", with_roles: bool = False) -> Growth:
    """Grows labels from start labels that are already written.

    Args:
        problem: the problem.
        search: name of the start labels and roles.
        rows: name of the arcs that take part; all arcs if empty.
        with_roles: True if roles decide which edges take part.
    """
    partitions = problem.partitions
    growth = Growth(search, [0] * len(partitions))
    news: dict[int, list[int]] = {partition.number: [] for partition in partitions}
    fell = 0
    while news:
        growth.rounds += 1
        words = f"searching (round {growth.rounds}, {pluralize(fell, 'changed label')})"
        round_ = Round(search, problem.notion.key, growth.rounds, 0, (), with_roles, rows)
        tasks = [
            (partitions[number], round_._replace(before=growth.latest[number], news=tuple(senders)))
            for number, senders in sorted(news.items())
        ]
        results = problem.workers.run(run_round, tasks, words)
        _remove_read_files(partitions, growth, news)
        news, fell = {}, 0
        for (partition, _), (changed, sent) in zip(tasks, results, strict=True):
            growth.latest[partition.number] = growth.rounds
            fell += changed
            for receiver in sent:
                news.setdefault(receiver, []).append(partition.number)
        growth.sent.append(sum(sum(sent.values()) for _, sent in results))
    return growth


def _remove_read_files(partitions: list[Partition], growth: Growth, news: dict[int, list[int]]) -> None:
    """Removes files that no task will read again: earlier labels, and changes that were taken in."""
    for receiver, senders in news.items():
        before = growth.latest[receiver]
        for kind in ("labels", "links"):
            partitions[receiver].path(f"{growth.search}/{kind}-{before}").unlink(missing_ok=True)
        for sender in senders:
            changes_file(partitions[receiver], growth.search, growth.rounds - 1, sender, receiver).unlink(
                missing_ok=True
            )


# Results of a search --------------------------------------------------------------------------------------------------


Searches = dict[str, tuple[int, ...]]  # name of a search → last round of each partition


def run_after(problem: PartitionedProblem, growth: Growth, task: Task, *arguments: Any) -> list[Any]:
    """Runs a task on the result of a search in every partition."""
    items = [
        (partition, growth.search, growth.latest[partition.number], *arguments) for partition in problem.partitions
    ]
    return problem.workers.run(task, items)


def labels_of(partition: Partition, search: str, latest: int) -> Floats:
    """The labels that a search found at a partition's own datasets."""
    found: Floats = partition.load(f"{search}/labels-{latest}")[LocalGraph(partition).own]
    return found


def labels_of_searches(partition: Partition, searches: Searches) -> list[Floats]:
    """The labels that several searches found at a partition's own datasets."""
    return [labels_of(partition, search, latest[partition.number]) for search, latest in searches.items()]


def boundary_values(partition: Partition, z: Floats, given: str | None) -> Floats:
    """The values of `z` on the boundary, together with the given ones."""
    found = np.where(partition.load("boundary"), z, np.nan)
    return found if given is None else np.where(np.isnan(partition.load(given)), found, partition.load(given))


# The fair objective ---------------------------------------------------------------------------------------------------
#
# In each turn every dataset is offered the bound that its neighbours of the other answer allow, given their labels of
# the previous turn, and a search spreads the offers among datasets of equal answers. Once the offers no longer change,
# the labels are the fair ones, bit for bit (docs/theory/partitions.md).


FAIR_STAGE = "searching (fair values"


def choose_fair(problem: PartitionedProblem, name: str, pins: str, given: str | None, limits: Searches) -> None:
    """Writes the fair values of the boundary.

    Args:
        problem: the problem.
        name: prefix for the names of intermediate arrays.
        pins: name of the array that receives the values.
        given: name of the array of given values, which are kept; None if there are none.
        limits: results of the searches from the given values.
    """
    place, turn = f"{name}-fair", 0
    try:
        problem.run(prepare_fair, place, given, limits)
        while any(problem.run(write_offers, place, turn, problem.notion.key, words=f"{FAIR_STAGE}, turn {turn + 1})")):
            growth = grow_from(problem, f"{place}-{turn}", rows=f"{place}/alike")
            run_after(problem, growth, keep_labels)
            remove_arrays(problem, f"{place}-{turn - 1}")
            turn += 1
        problem.run(finish_fair, place, turn - 1, pins, given)
    finally:  # also after Ctrl-C: the copied arcs take as much space as the graph
        for used in (place, f"{place}-{turn - 1}", f"{place}-{turn}"):
            remove_arrays(problem, used)


def prepare_fair(partition: Partition, place: str, given: str | None, limits: Searches) -> None:
    """Writes which datasets are free, their bounds from given values, and the arcs between free equal answers."""
    graph = LocalGraph(partition)
    roles = graph.gather("answers").astype(np.uint8)  # FREE_1 is 1 and FREE_2 is 2
    most, least = np.full(partition.size, np.inf), np.full(partition.size, -np.inf)
    if given is not None:
        roles[~np.isnan(graph.gather(given))] = Role.PINNED
        (above, below), ones = labels_of_searches(partition, limits), partition.load("answers") == 1
        most, least = np.where(ones, above, below), -np.where(ones, below, above) + 0.0
    for key, values in (("roles", roles[graph.own]), ("most", most), ("least", least)):
        partition.save(f"{place}/{key}", values)
    rows = SearchRows(graph)
    source = np.repeat(roles, np.diff(rows.indptr))
    kept = (source == roles[rows.targets]) & (source != Role.PINNED)
    counts = np.concatenate([[0], np.cumsum(kept)])
    columns = tuple(column[kept] for column in rows.parameters)
    write_rows(partition, f"{place}/alike", counts[rows.indptr], rows.targets[kept], columns)


def write_offers(partition: Partition, place: str, turn: int, notion: str) -> bool:
    """Writes the start labels of a turn's search; returns True if they differ from those of the previous turn."""
    graph = LocalGraph(partition)
    before = f"{place}-{turn - 1}"
    labels = np.full(graph.size, np.inf) if turn == 0 else graph.gather(f"{before}/own")
    start = np.full(graph.size, np.inf)
    start[graph.own] = partition.load(f"{place}/most")
    offers_on(SearchRows(graph), notion_of_key(notion), labels, graph.gather(f"{place}/roles"), start)
    partition.save(f"{place}-{turn}/start", start[graph.own])
    return turn == 0 or not np.array_equal(partition.load(f"{before}/start"), start[graph.own])


def keep_labels(partition: Partition, search: str, latest: int) -> None:
    """Writes the labels that a search found under the name that other partitions read."""
    partition.save(f"{search}/own", labels_of(partition, search, latest))


def finish_fair(partition: Partition, place: str, turn: int, pins: str, given: str | None) -> None:
    """Writes the values of the boundary, raised where rounding left them below the bound from given values."""
    labels = np.maximum(partition.load(f"{place}-{turn}/own"), partition.load(f"{place}/least"))
    z = np.where(partition.load("answers") == 1, labels, -labels) + 0.0
    partition.save(pins, boundary_values(partition, z, given))

"""The fair objective on partitions: searches in turn, each from what the last one says of the other answer.

In each turn every dataset is offered what its neighbours of the other answer allow if their labels are those of the
turn before, and a search spreads the offers among equal answers. When the offers stay as they are, the labels are the
fair ones, bit for bit (docs/theory/partitions.md).
"""

from __future__ import annotations

import numpy as np

from hetdp.engines.contract import Role
from hetdp.engines.cpu.engine import offers_on
from hetdp.partitioned.partition import LocalGraph, Partition, write_rows
from hetdp.partitioned.problem import PartitionedProblem, remove_arrays
from hetdp.partitioned.rounds import (
    Searches,
    SearchRows,
    boundary_values,
    grow_from,
    labels_of,
    labels_of_searches,
    run_after,
)
from hetdp.theory.catalogue import notion_of_key

WORDS = "searching (fair values"


def choose_fair(problem: PartitionedProblem, name: str, pins: str, given: str | None, limits: Searches) -> None:
    """Writes the fair values of the boundary.

    Args:
        problem: whose values they are.
        name: what is written in between is named after it.
        pins: the name under which they are written.
        given: the name of values that are kept; None if there are none.
        limits: what searches from these found.
    """
    place, turn = f"{name}-fair", 0
    try:
        problem.run(prepare_fair, place, given, limits)
        while any(problem.run(write_offers, place, turn, problem.notion.key, words=f"{WORDS}, turn {turn + 1})")):
            growth = grow_from(problem, f"{place}-{turn}", rows=f"{place}/alike")
            run_after(problem, growth, keep_labels)
            remove_arrays(problem, f"{place}-{turn - 1}")
            turn += 1
        problem.run(finish_fair, place, turn - 1, pins, given)
    finally:  # also after Ctrl-C: the arcs are there twice meanwhile
        for used in (place, f"{place}-{turn - 1}", f"{place}-{turn}"):
            remove_arrays(problem, used)


def prepare_fair(partition: Partition, place: str, given: str | None, limits: Searches) -> None:
    """Writes who is free, what given values allow each, and the arcs between free datasets of equal answers."""
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
    """Writes where the search of a turn starts; returns whether that is elsewhere than in the turn before."""
    graph = LocalGraph(partition)
    before = f"{place}-{turn - 1}"
    labels = np.full(graph.size, np.inf) if turn == 0 else graph.gather(f"{before}/own")
    start = np.full(graph.size, np.inf)
    start[graph.own] = partition.load(f"{place}/most")
    offers_on(SearchRows(graph), notion_of_key(notion), labels, graph.gather(f"{place}/roles"), start)
    partition.save(f"{place}-{turn}/start", start[graph.own])
    return turn == 0 or not np.array_equal(partition.load(f"{before}/start"), start[graph.own])


def keep_labels(partition: Partition, search: str, latest: int) -> None:
    """Writes the labels that a search found where others will look for them."""
    partition.save(f"{search}/own", labels_of(partition, search, latest))


def finish_fair(partition: Partition, place: str, turn: int, pins: str, given: str | None) -> None:
    """Writes the values of the boundary, raised where a rounding left them below what the given ones demand."""
    labels = np.maximum(partition.load(f"{place}-{turn}/own"), partition.load(f"{place}/least"))
    z = np.where(partition.load("answers") == 1, labels, -labels) + 0.0
    partition.save(pins, boundary_values(partition, z, given))

"""The fair objective on partitions: a sequence of searches, each starting from the labels that the last one found.

In each turn every dataset is offered the bound that its neighbours of the other answer allow, given their labels of the
previous turn, and a search spreads the offers among datasets of equal answers. Once the offers no longer change, the
labels are the fair ones, bit for bit (docs/theory/partitions.md).
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
        problem: the problem.
        name: prefix for the names of intermediate arrays.
        pins: name of the array that receives the values.
        given: name of the array of given values, which are kept; None if there are none.
        limits: results of the searches from the given values.
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

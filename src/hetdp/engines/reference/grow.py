"""One label-setting search: the paper's Algorithm 1, started from all pins at once.

Arrays are read and written as memoryviews, which is much faster than NumPy for one number at a time.

Paper: Algorithm 1. Its S_i are the datasets settled so far, its α* the labels still in the queue.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any

from hetdp.engines.contract import Role
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.space import Space
from hetdp.theory.notion import Notion

Numbers = Any  # a memoryview of an array
Rows = Callable[[int], Iterator[tuple[int, ...]]]


def grow(
    space: Space, notion: Notion, labels: Numbers, roles: Numbers, links: Numbers, queue: list[tuple[float, int]]
) -> None:
    """Lowers `labels` in place to the fixed point of the contract, and sets the links of those that fell."""
    rows, step, quick = rows_of(space), notion.step, notion.quick
    heapq.heapify(queue)
    while queue:
        label, dataset = heapq.heappop(queue)
        if label > labels[dataset]:
            continue  # outdated: the label was lowered after it was queued
        pinned = roles[dataset] == Role.PINNED
        for neighbour, *edge in rows(dataset):
            if quick(label, *edge) > labels[neighbour] or (pinned and roles[neighbour] == Role.PINNED):
                continue
            bound = step(label, *edge)
            if bound < labels[neighbour]:
                labels[neighbour] = bound
                links[neighbour] = dataset
                heapq.heappush(queue, (bound, neighbour))


def rows_of(space: Space) -> Rows:
    """A function that lists the neighbours of a dataset, each followed by the parameters of the edge to it."""
    if not isinstance(space, DatasetGraph):
        return lambda dataset: _computed_row(space, dataset)
    stored: list[Numbers] = [array.data for array in (space.indptr, space.targets, *space.parameters)]
    indptr, targets, *columns = stored

    def stored_row(dataset: int) -> Iterator[tuple[int, ...]]:
        row = slice(indptr[dataset], indptr[dataset + 1])
        return zip(targets[row], *[column[row] for column in columns], strict=True)

    return stored_row


def _computed_row(space: Space, dataset: int) -> Iterator[tuple[int, ...]]:
    targets, parameters = space.neighbours(dataset)
    return zip(targets.tolist(), *(column.tolist() for column in parameters), strict=True)

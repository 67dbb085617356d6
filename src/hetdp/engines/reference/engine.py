"""The reference engine: plain Python for every space and notion. Every other engine must agree with it bit for bit.

Arrays are read and written as memoryviews, which is much faster than NumPy for one number at a time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hetdp.engines.contract import Growth, Operation, Role, Roles, demands
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.space import Floats, Indices, Mask, Space
from hetdp.theory.notion import Notion

Numbers = Any  # a memoryview of an array
Rows = Callable[[int], Iterator[tuple[int, ...]]]
Entry = tuple[float, int, int]  # a label, the dataset that may settle at it, and its partner or ALONE
ALONE = -1


class ReferenceEngine:
    """The engine in plain Python, for reading and for small problems."""

    name = "reference"

    def supports(self, space: Space, notion: Notion, operation: Operation) -> bool:
        """True: everything is supported."""
        return True

    def grow(
        self, space: Space, notion: Notion, labels: Floats, roles: Roles | None = None, active: Mask | None = None
    ) -> Growth:
        """See the contract."""
        labels, links = labels + 0.0, np.full(space.size, -1, dtype=np.int32 if space.size < 2**31 else np.int64)
        roles = np.full(space.size, Role.FREE_1, dtype=np.uint8) if roles is None else roles
        starts = np.flatnonzero(labels < np.inf if active is None else active)
        queue = list(zip(labels[starts].tolist(), starts.tolist(), strict=True))
        grow(space, notion, labels.data, roles.data, links.data, queue)
        return Growth(labels, links)

    def settle(self, space: Space, notion: Notion, answers: Indices, pins: Floats | None = None) -> Growth:
        """See the contract."""
        start = demands(self, space, notion, answers, pins)
        labels, links = start.most.copy(), start.links.astype(np.int64)
        settle(space, notion, start.roles, labels.data, links.data)
        return start.finish(labels, links)


# The search from given start labels -----------------------------------------------------------------------------------


def grow(
    space: Space, notion: Notion, labels: Numbers, roles: Numbers, links: Numbers, queue: list[tuple[float, int]]
) -> None:
    """Lowers `labels` in place to the fixed point of the contract, and sets the links of those that fell.

    This is one label-setting search from all pins at once.

    Paper: Algorithm 1. Its S_i are the datasets settled so far, its α* the labels still in the queue.
    """
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


# The fair search ------------------------------------------------------------------------------------------------------


def settle(space: Space, notion: Notion, roles: Roles, labels: Numbers, links: Numbers) -> None:
    """Lowers `labels` of free datasets in place to the fair ones, and sets their links.

    The worst-off dataset is settled first, then the next, and so on (docs/theory/fair-search.md).
    """
    rows, step, across, quick = rows_of(space), notion.step, notion.across, notion.quick
    own, settled = roles.data, bytearray(roles == Role.PINNED)
    queue = [*_starts(labels, settled), *_meetings(space, notion, roles)]
    heapq.heapify(queue)
    while queue:
        label, dataset, partner = heapq.heappop(queue)
        if settled[dataset] or (partner != ALONE and settled[partner]):
            continue
        if partner != ALONE:  # neither has a lower bound: they meet
            links[dataset], links[partner] = partner, dataset
        together = [dataset] if partner == ALONE else [dataset, partner]
        for one in together:
            labels[one], settled[one] = label, True
        for one in together:
            for neighbour, *edge in rows(one):
                if settled[neighbour]:
                    continue
                same = own[one] == own[neighbour]
                if quick(label if same else -label, *edge) > labels[neighbour]:
                    continue  # the exact bound is not lower either
                bound = (step if same else across)(label, *edge) + 0.0
                if bound < labels[neighbour]:
                    labels[neighbour], links[neighbour] = bound, one
                    heapq.heappush(queue, (bound, neighbour, ALONE))


def _starts(labels: Numbers, settled: bytearray) -> Iterator[Entry]:
    """Entries for the bounds from pins; labels of +inf need none."""
    for dataset, label in enumerate(labels):
        if label < float("inf") and not settled[dataset]:
            yield label, dataset, ALONE


def _meetings(space: Space, notion: Notion, roles: Roles) -> Iterator[Entry]:
    """Entries for every edge between free datasets of different answers, once each."""
    for block in space.edge_blocks():
        answers = roles[block.source] + roles[block.target]
        found = np.flatnonzero((answers == Role.FREE_1 + Role.FREE_2) & (block.source < block.target))
        columns = (block.source, block.target, *block.parameters)
        for dataset, neighbour, *edge in zip(*(column[found].tolist() for column in columns), strict=True):
            yield notion.meet(*edge) + 0.0, dataset, neighbour

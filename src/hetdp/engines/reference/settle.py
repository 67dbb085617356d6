"""The fair search: the worst-off dataset is settled first, then the next, and so on (docs/theory/fair-search.md)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from hetdp.engines.contract import Role, Roles
from hetdp.engines.reference.grow import Numbers, rows_of
from hetdp.problem.space import Space
from hetdp.theory.notion import Notion

Entry = tuple[float, int, int]  # a label, the dataset that may settle at it, and its partner or ALONE
ALONE = -1


def settle(space: Space, notion: Notion, roles: Roles, labels: Numbers, links: Numbers) -> None:
    """Lowers `labels` of free datasets in place to the fair ones, and sets their links."""
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

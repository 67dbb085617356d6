"""The fair search: the worst-off dataset is settled first, then the next, and so on (docs/theory/fair-search.md)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from hetdp.engines.contract import Role
from hetdp.problem.space import Space
from hetdp.theory.notion import Notion

Entry = tuple[float, int, int]  # a label, the dataset that may settle at it, and its partner or ALONE
ALONE = -1


def settle(space: Space, notion: Notion, roles: list[int], labels: list[float], links: list[int]) -> None:
    """Lowers `labels` of free datasets in place to the fair ones, and sets their links."""
    settled = [role == Role.PINNED for role in roles]
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
            for neighbour, edge in _edges(space, one):
                bound = (notion.step if roles[one] == roles[neighbour] else notion.across)(label, *edge) + 0.0
                if not settled[neighbour] and bound < labels[neighbour]:
                    labels[neighbour], links[neighbour] = bound, one
                    heapq.heappush(queue, (bound, neighbour, ALONE))


def _starts(labels: list[float], settled: list[bool]) -> Iterator[Entry]:
    """Entries for the bounds from pins; labels of +inf need none."""
    for dataset, label in enumerate(labels):
        if not settled[dataset] and label < float("inf"):
            yield label, dataset, ALONE


def _meetings(space: Space, notion: Notion, roles: list[int]) -> Iterator[Entry]:
    """Entries for every edge between free datasets of different answers, once each."""
    for dataset, role in enumerate(roles):
        for neighbour, edge in _edges(space, dataset):
            if dataset < neighbour and {role, roles[neighbour]} == {Role.FREE_1, Role.FREE_2}:
                yield notion.meet(*edge) + 0.0, dataset, neighbour


def _edges(space: Space, dataset: int) -> Iterator[tuple[int, list[float]]]:
    """The neighbours of a dataset, with the parameters of the edges to them."""
    targets, parameters = space.neighbours(dataset)
    for neighbour, *edge in zip(targets.tolist(), *(column.tolist() for column in parameters), strict=True):
        yield neighbour, edge

"""One label-setting search: the paper's Algorithm 1, started from all pins at once.

Paper: Algorithm 1. Its S_i are the datasets settled so far, its α* the labels still in the queue.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from hetdp.engines.contract import Role
from hetdp.problem.space import Space


def grow(
    space: Space, step: Callable[..., float], labels: list[float], roles: list[int], queue: list[tuple[float, int]]
) -> list[int]:
    """Lowers `labels` in place to the fixed point of the contract and returns the links."""
    links = [-1] * len(labels)
    heapq.heapify(queue)
    while queue:
        label, dataset = heapq.heappop(queue)
        if label > labels[dataset]:
            continue  # outdated: the label was lowered after it was queued
        targets, parameters = space.neighbours(dataset)
        rows = zip(targets.tolist(), *(column.tolist() for column in parameters), strict=True)
        for neighbour, *edge in rows:
            if roles[dataset] == Role.PINNED and roles[neighbour] == Role.PINNED:
                continue
            bound = step(label, *edge)
            if bound < labels[neighbour]:
                labels[neighbour] = bound
                links[neighbour] = dataset
                heapq.heappush(queue, (bound, neighbour))
    return links

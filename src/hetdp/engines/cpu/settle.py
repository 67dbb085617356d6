"""The kernels of the fair search.

`mark` finds *mixed* datasets, which have a neighbour of the other answer or a pinned one. `meetings` lists where mixed
datasets of different answers would meet. `settle` runs the search until all mixed datasets are settled; after that the
answers are independent, and `grow` finishes each in its own thread. `offers` serves the fair search on partitions.
"""

from __future__ import annotations

from hetdp.engines.contract import Roles
from hetdp.engines.cpu.grow import (
    FAR,
    FURTHEST,
    NEAR,
    NO_START,
    ROLE,
    ROW_AHEAD,
    SETTLED,
    Columns,
    edge_of,
    quick,
    relax,
    step,
)
from hetdp.engines.cpu.queue import (
    BATCH_AT,
    BATCH_END,
    BATCH_IDS,
    CURRENT,
    FREE,
    LARGEST_KEY,
    LAST,
    LIMIT,
    RUN_AT,
    RUN_END,
    RUN_IDS,
    key_of,
    pop,
    prefetch,
    push,
)
from hetdp.problem.space import Floats, Indices


def meet(*edge: float) -> float:
    """Placeholder for the meeting point of a notion."""
    raise NotImplementedError


def turned_edge_of(columns: Columns, arc: int) -> tuple[float, ...]:
    """Placeholder for the function that reads the parameters of an arc, seen from its target."""
    raise NotImplementedError


def mark(indptr: Indices, targets: Indices, flags: Roles, first: int, last: int) -> None:
    """Marks the mixed datasets in a range; threads share the datasets, since every arc is read."""
    for dataset in range(first, last):
        role = flags[dataset] & ROLE
        for arc in range(indptr[dataset], indptr[dataset + 1]):
            if flags[targets[arc]] & ROLE != role and role != 0:
                flags[dataset] |= MIXED


def meetings(
    indptr: Indices,
    targets: Indices,
    columns: Columns,
    labels: Floats,
    flags: Roles,
    any_worse: bool,
    most: Floats,
    ends: Indices,
    points: Floats,
) -> int:
    """Lists the possible meetings of mixed datasets, as pairs of ends and their points; returns their number.

    No label can exceed `most`, which is the smaller of the dataset's own label and of step(0) from any neighbour of the
    other answer that is no worse than a coin. A meeting above `most` of either end comes too late for that end.
    `any_worse` says whether any label is below zero.
    """
    for dataset in range(len(flags)):
        if flags[dataset] & MIXED:
            role, limit = flags[dataset] & ROLE, float(labels[dataset])
            for arc in range(indptr[dataset], indptr[dataset + 1]):
                target = targets[arc]
                if flags[target] & ROLE == 3 - role and (not any_worse or labels[target] >= 0.0):
                    limit = min(limit, step(0.0, *turned_edge_of(columns, arc)))
            most[dataset] = limit
    found = 0
    for dataset in range(len(flags)):
        if flags[dataset] & MIXED:
            role = flags[dataset] & ROLE
            for arc in range(indptr[dataset], indptr[dataset + 1]):
                target = targets[arc]
                if dataset < target and flags[target] & ROLE == 3 - role:
                    limit = float(min(most[dataset], most[target]))
                    edge = edge_of(columns, arc)
                    if quick(-limit, *edge) > limit:
                        continue
                    point = meet(*edge) + 0.0
                    if point <= limit:
                        ends[2 * found], ends[2 * found + 1] = dataset, target
                        points[found] = point
                        found += 1
    return found


# Offers from neighbours of the other answer, for known or guessed labels ----------------------------------------------


def offers(indptr: Indices, targets: Indices, columns: Columns, labels: Floats, roles: Roles, start: Floats) -> None:
    """Lowers the start of each free dataset to the smallest offer over its edges from the other answer.

    A neighbour that settles before the two would meet offers what its label allows; any other offers the meeting point.
    """
    for source in range(len(indptr) - 1):
        role, label = roles[source] & ROLE, float(labels[source])
        for arc in range(indptr[source], indptr[source + 1]):
            target = targets[arc]
            if role == 0 or roles[target] & ROLE != 3 - role:
                continue
            edge = edge_of(columns, arc)
            offer = meet(*edge) + 0.0
            if label < offer:
                offer = across(label, *edge) + 0.0
            start[target] = min(start[target], offer)


# Fair search ----------------------------------------------------------------------------------------------------------


MIXED = 16  # bit of a flag: a free dataset with a neighbour of the other answer or a pinned one


def across(label: float, *edge: float) -> float:
    """Placeholder for a notion's bound over an edge between the answers."""
    raise NotImplementedError


def settle(
    indptr: Indices,
    targets: Indices,
    columns: Columns,
    labels: Floats,
    bits: Indices,
    flags: Roles,
    links: Indices,
    ends: Indices,
    desk: Indices,
    pool: Indices,
) -> None:
    """Lowers the labels to the fair ones until all mixed datasets are settled; `labels` ends with those of meetings."""
    size = len(links)
    left = begin(labels, bits, flags, desk, pool)
    while left > 0:
        entry = pop(desk, pool, bits)
        if entry < 0:
            return
        if entry < size:
            if not flags[entry] & SETTLED:
                if flags[entry] & MIXED:
                    left -= 1
                flags[entry] |= SETTLED
                foresee(indptr, targets, columns, labels, flags, desk, size)
                tell(indptr, targets, columns, labels, bits, flags, links, desk, pool, entry)
            continue
        one, other = ends[2 * (entry - size)], ends[2 * (entry - size) + 1]
        if not (flags[one] | flags[other]) & SETTLED:
            left -= 2
            labels[one] = labels[other] = labels[entry]
            links[one], links[other] = other, one
            flags[one] |= SETTLED
            flags[other] |= SETTLED
            tell(indptr, targets, columns, labels, bits, flags, links, desk, pool, one)
            tell(indptr, targets, columns, labels, bits, flags, links, desk, pool, other)


def begin(labels: Floats, bits: Indices, flags: Roles, desk: Indices, pool: Indices) -> int:
    """Queues all free datasets and meetings with a label; returns the number of mixed datasets."""
    left = 0
    desk[FREE] = -1
    desk[LAST] = desk[LIMIT] = LARGEST_KEY
    for entry in range(len(labels)):
        if entry >= len(flags) or flags[entry] & ROLE != 0:
            desk[LAST] = min(desk[LAST], key_of(bits[entry]))
    desk[CURRENT] = desk[LAST]
    for entry in range(len(labels)):
        if entry < len(flags) and flags[entry] & MIXED:
            left += 1
        if bits[entry] != NO_START and (entry >= len(flags) or flags[entry] & ROLE != 0):
            push(desk, pool, bits, entry, key_of(bits[entry]), LARGEST_KEY)
    return left


def foresee(
    indptr: Indices, targets: Indices, columns: Columns, labels: Floats, flags: Roles, desk: Indices, size: int
) -> None:
    """Prefetches as in `grow`; meetings have no rows."""
    if desk[BATCH_AT] + FURTHEST < desk[BATCH_END]:
        next_up = BATCH_IDS + desk[BATCH_AT]
    elif desk[RUN_AT] + FURTHEST < desk[RUN_END]:
        next_up = RUN_IDS + desk[RUN_AT]
    else:
        return
    far, near = desk[next_up + FAR], desk[next_up + NEAR]
    prefetch(indptr, desk[next_up + FURTHEST])
    prefetch(labels, far)
    prefetch(flags, far)
    if far < size:
        prefetch(targets, indptr[far])
        prefetch(columns[0], indptr[far])
        prefetch(columns[0], indptr[far] + 8)
    if near < size:
        for arc in range(indptr[near], min(indptr[near] + ROW_AHEAD, indptr[near + 1])):
            prefetch(labels, targets[arc])


def tell(
    indptr: Indices,
    targets: Indices,
    columns: Columns,
    labels: Floats,
    bits: Indices,
    flags: Roles,
    links: Indices,
    desk: Indices,
    pool: Indices,
    source: int,
) -> None:
    """Lowers the labels of a settled dataset's neighbours to what its label allows."""
    if not flags[source] & MIXED:
        relax(indptr, targets, columns, labels, bits, flags, links, desk, pool, source)
        return
    label, role = float(labels[source]), flags[source] & ROLE
    for arc in range(indptr[source], indptr[source + 1]):
        target = targets[arc]
        if labels[target] <= label or flags[target] & ROLE == 0:
            continue  # the target is settled or pinned, or no bound from here is lower
        same = flags[target] & ROLE == role
        edge = edge_of(columns, arc)
        if quick(label if same else -label, *edge) > labels[target]:
            continue
        lowered = (step(label, *edge) if same else across(label, *edge)) + 0.0
        if lowered < labels[target]:
            former = LARGEST_KEY if bits[target] == NO_START else key_of(bits[target])
            labels[target] = lowered
            links[target] = source
            push(desk, pool, bits, target, key_of(bits[target]), former)

"""The kernels of the fair search.

`mark` finds *mixed* datasets, which have a neighbour of the other answer or a pinned one, and the edges between the
answers. `meetings` lists where the ends of these edges would meet. `settle` runs the search until all mixed datasets
are settled; after that the answers are independent, and `grow` finishes each in its own thread. `lower_to_offers`
serves the fair search on partitions.
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
    begin,
    edge_of,
    quick,
    relax,
    step,
)
from hetdp.engines.cpu.queue import (
    BATCH_AT,
    BATCH_END,
    BATCH_IDS,
    LARGEST_KEY,
    RUN_AT,
    RUN_END,
    RUN_IDS,
    as_int64,
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


def mark(
    indptr: Indices,
    targets: Indices,
    flags: Roles,
    rows: Indices,
    first: int,
    last: int,
    sources: Indices,
    arcs: Indices,
) -> int:
    """Marks the mixed datasets at the edges of some datasets, and lists the edges between the answers.

    The datasets are those of one answer, and all pinned ones: every edge that makes a dataset mixed has such an end.
    Threads share them. Two threads may mark the same dataset, but both write the same.

    Returns:
        The number of edges listed, by source and arc.
    """
    found = 0
    for place in range(first, last):
        dataset = rows[place]
        role = flags[dataset] & ROLE
        for arc in range(indptr[dataset], indptr[dataset + 1]):
            target = targets[arc]
            other = flags[target] & ROLE
            if other != role and other != 0:
                flags[target] |= MIXED_FLAG
                if role != 0:
                    flags[dataset] |= MIXED_FLAG
                    sources[found], arcs[found] = dataset, arc
                    found += 1
    return found


def meetings(
    targets: Indices,
    columns: Columns,
    labels: Floats,
    any_worse: bool,
    most: Floats,
    sources: Indices,
    arcs: Indices,
    ends: Indices,
    points: Floats,
) -> int:
    """Lists the possible meetings on edges between the answers, as pairs of ends and points; returns their number.

    No label can exceed `most`, which is the smaller of the dataset's own label and of step(0) from any neighbour of the
    other answer that is no worse than a coin. A meeting above `most` of either end comes too late for that end.
    `any_worse` says whether any label is below zero. `most` holds the labels at first.
    """
    for place in range(len(arcs)):
        dataset, arc = sources[place], arcs[place]
        target = targets[arc]
        if not any_worse or labels[dataset] >= 0.0:
            most[target] = min(most[target], step(0.0, *edge_of(columns, arc)))
        if not any_worse or labels[target] >= 0.0:
            most[dataset] = min(most[dataset], step(0.0, *turned_edge_of(columns, arc)))
    found = 0
    for place in range(len(arcs)):
        dataset, arc = sources[place], arcs[place]
        target = targets[arc]
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


def lower_to_offers(
    indptr: Indices, targets: Indices, columns: Columns, labels: Floats, roles: Roles, start: Floats
) -> None:
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


MIXED_FLAG = 16  # bit of a flag: a free dataset with a neighbour of the other answer or a pinned one


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
    starts: Indices,
    left: int,
    desk: Indices,
    pool: Indices,
) -> None:
    """Lowers the labels to the fair ones until the `left` mixed datasets are settled.

    `labels` ends with those of meetings; `starts` are the free datasets and meetings with a label.
    """
    size = len(links)
    begin(bits, starts, desk, pool)
    while left > 0:
        entry = pop(desk, pool, bits)
        if entry < 0:
            return
        if entry < size:
            if not flags[entry] & SETTLED:
                if flags[entry] & MIXED_FLAG:
                    left -= 1
                flags[entry] |= SETTLED
                prefetch_next(indptr, targets, columns, labels, flags, desk, size)
                lower_neighbours(indptr, targets, columns, labels, bits, flags, links, desk, pool, entry)
            continue
        one, other = as_int64(ends[2 * (entry - size)]), as_int64(ends[2 * (entry - size) + 1])
        if not (flags[one] | flags[other]) & SETTLED:
            left -= 2
            labels[one] = labels[other] = labels[entry]
            links[one], links[other] = other, one
            flags[one] |= SETTLED
            flags[other] |= SETTLED
            lower_neighbours(indptr, targets, columns, labels, bits, flags, links, desk, pool, one)
            lower_neighbours(indptr, targets, columns, labels, bits, flags, links, desk, pool, other)


def prefetch_next(
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


def lower_neighbours(
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
    if not flags[source] & MIXED_FLAG:
        relax(indptr, targets, columns, labels, bits, flags, links, desk, pool, source)
        return
    label, role = float(labels[source]), flags[source] & ROLE
    for arc in range(indptr[source], indptr[source + 1]):
        target = as_int64(targets[arc])
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

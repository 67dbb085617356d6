"""The kernel of `grow`: one label-setting search over a graph.

It is plain Python and also runs uncompiled. When it is compiled, the functions of a notion replace the placeholders
`step`, `quick` and `edge_of` (see `engine.search_functions`).
"""

from __future__ import annotations

from hetdp.engines.contract import Roles
from hetdp.engines.cpu.queue import (
    ANY_IDLE,
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
    as_int64,
    key_of,
    pop,
    prefetch,
    push,
)
from hetdp.problem.space import Floats, Indices

Columns = tuple[Floats, ...]

ROLE, IDLE, SETTLED = 3, 4, 8  # bits of a flag: the role; an inactive start, not queued; the label is final
NO_START = 0x7FF0000000000000  # the key of +inf
FURTHEST, FAR, NEAR = 28, 16, 8  # datasets ahead of which row offsets, rows and neighbours' labels are prefetched
LINE = 16  # targets in a line of the cache; a line holds 8 parameters
ROW_AHEAD = 24  # most labels prefetched per row, so that a hub does not evict everything else


def step(label: float, *edge: float) -> float:
    """Placeholder for the step of a notion."""
    raise NotImplementedError


def quick(label: float, *edge: float) -> float:
    """Placeholder for the quick guess of a notion."""
    raise NotImplementedError


def edge_of(columns: Columns, arc: int) -> tuple[float, ...]:
    """Placeholder for the function that reads the parameters of an arc."""
    raise NotImplementedError


def grow(
    indptr: Indices,
    targets: Indices,
    columns: Columns,
    labels: Floats,
    bits: Indices,
    flags: Roles,
    links: Indices,
    starts: Indices,
    desk: Indices,
    pool: Indices,
) -> None:
    """Lowers the labels to the fixed point; `bits` is an integer view of them, and `flags` starts as the roles."""
    begin(bits, starts, desk, pool)
    while True:
        source = pop(desk, pool, bits)
        if source < 0:
            return
        if not flags[source] & SETTLED:
            flags[source] |= SETTLED
            prefetch_next(indptr, targets, columns, labels, flags, desk)
            relax(indptr, targets, columns, labels, bits, flags, links, desk, pool, source)


def begin(bits: Indices, starts: Indices, desk: Indices, pool: Indices) -> None:
    """Queues all starts."""
    desk[FREE] = -1
    desk[LAST] = desk[LIMIT] = LARGEST_KEY
    for place in range(len(starts)):
        desk[LAST] = min(desk[LAST], key_of(bits[starts[place]]))
    desk[CURRENT] = desk[LAST]
    for place in range(len(starts)):
        start = as_int64(starts[place])
        push(desk, pool, bits, start, key_of(bits[start]), as_int64(LARGEST_KEY))


def prefetch_next(
    indptr: Indices, targets: Indices, columns: Columns, labels: Floats, flags: Roles, desk: Indices
) -> None:
    """Prefetches the rows of datasets that will soon be settled, and the neighbours' labels of the nearest one."""
    if desk[BATCH_AT] + FURTHEST < desk[BATCH_END]:
        next_up = BATCH_IDS + desk[BATCH_AT]
    elif desk[RUN_AT] + FURTHEST < desk[RUN_END]:
        next_up = RUN_IDS + desk[RUN_AT]
    else:
        return
    prefetch(indptr, desk[next_up + FURTHEST])
    far, near = desk[next_up + FAR], desk[next_up + NEAR]
    row = indptr[far]
    prefetch(targets, row)
    prefetch(columns[0], row)
    prefetch(columns[0], row + 8)
    prefetch(labels, far)
    prefetch(flags, far)
    row = indptr[near]
    for arc in range(row, min(row + ROW_AHEAD, indptr[near + 1])):
        prefetch(labels, targets[arc])


def relax(
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
    """Lowers the labels of a dataset's neighbours to what its label allows."""
    label = float(labels[source])
    pinned = flags[source] & ROLE == 0
    for arc in range(as_int64(indptr[source]), as_int64(indptr[source + 1])):
        target = as_int64(targets[arc])
        if quick(label, *edge_of(columns, arc)) > labels[target] or (pinned and flags[target] & ROLE == 0):
            continue
        lowered = step(label, *edge_of(columns, arc)) + 0.0
        if lowered < labels[target]:
            former = key_of(bits[target])
            if former == NO_START or (desk[ANY_IDLE] and flags[target] & IDLE):
                former = LARGEST_KEY
            labels[target] = lowered
            links[target] = source
            push(desk, pool, bits, target, key_of(bits[target]), former)


def sides(indptr: Indices, targets: Indices, flags: Roles, starts: Indices, side: Roles) -> None:
    """The role whose search each start belongs to: PINNED if it has no free neighbour, 3 if it belongs to both."""
    for place in range(len(starts)):
        start = as_int64(starts[place])
        role = flags[start]
        for arc in range(as_int64(indptr[start]), as_int64(indptr[start + 1])):
            role |= flags[as_int64(targets[arc])]
        side[place] = role


def prefetch_arcs(targets: Indices, columns: Columns, first: int, last: int) -> None:
    """Prefetches some arcs in the order in which they are stored, many times faster than the search meets them."""
    for arc in range(as_int64(first), as_int64(last), LINE):
        prefetch(targets, arc)
        prefetch(columns[0], arc)
        prefetch(columns[0], arc + 8)

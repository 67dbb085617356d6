"""The kernel: one label-setting search over a graph, for whatever notion it is compiled for.

It reads like Python and runs as Python too; `compile.py` puts a notion in place of the two functions below.
"""

from __future__ import annotations

import numpy as np

from hetdp.engines.contract import Roles
from hetdp.engines.cpu.buckets import CHUNK, CHUNK_BITS, CURRENT, DESK_SIZE, FREE, LARGEST_KEY, LAST, LIMIT, TIES, key_of
from hetdp.engines.cpu.queue import pop, push
from hetdp.problem.space import Floats, Indices

ROLE = 3  # the part of a flag that is the role
QUEUED = 4  # the part that says: the dataset has an entry in the queue
SETTLED = 8  # the part that says: its label is final


def step(label: float, epsilon: float) -> float:
    """Stands for the step of a notion."""
    raise NotImplementedError


def quick(label: float, epsilon: float) -> float:
    """Stands for the quick guess of a notion."""
    raise NotImplementedError


def grow(
    indptr: Indices,
    targets: Indices,
    epsilon: Floats,
    labels: Floats,
    bits: Indices,
    flags: Roles,
    links: Indices,
    starts: Indices,
) -> None:
    """Lowers the labels to the fixed point; `bits` is another view of them, `flags` begins as the roles."""
    entries = len(targets) + len(starts)
    pool = np.empty((entries // (CHUNK - 1) + min(entries, TIES) + 3) << CHUNK_BITS, targets.dtype)
    desk = np.zeros(DESK_SIZE, np.int64)
    desk[FREE] = -1
    desk[LAST] = LARGEST_KEY
    desk[LIMIT] = LARGEST_KEY
    for start in starts:
        desk[LAST] = min(desk[LAST], key_of(bits[start]))
    desk[CURRENT] = desk[LAST]
    for start in starts:
        flags[start] |= QUEUED
        push(desk, pool, bits, start, key_of(bits[start]), LARGEST_KEY)
    source = pop(desk, pool, bits)
    while source >= 0:
        if not flags[source] & SETTLED:
            flags[source] |= SETTLED
            relax(indptr, targets, epsilon, labels, bits, flags, links, desk, pool, source)
        source = pop(desk, pool, bits)


def relax(
    indptr: Indices,
    targets: Indices,
    epsilon: Floats,
    labels: Floats,
    bits: Indices,
    flags: Roles,
    links: Indices,
    desk: Indices,
    pool: Indices,
    source: int,
) -> None:
    """Tells the neighbours of a dataset what its label allows."""
    label = float(labels[source])
    pinned = flags[source] & ROLE == 0
    for arc in range(indptr[source], indptr[source + 1]):
        target = targets[arc]
        if quick(label, float(epsilon[arc])) > labels[target] or (pinned and flags[target] & ROLE == 0):
            continue
        lowered = step(label, float(epsilon[arc])) + 0.0
        if lowered < labels[target]:
            former = key_of(bits[target]) if flags[target] & QUEUED else LARGEST_KEY
            flags[target] |= QUEUED
            labels[target] = lowered
            links[target] = source
            push(desk, pool, bits, target, key_of(bits[target]), former)


def sides(indptr: Indices, targets: Indices, roles: Roles, starts: Indices) -> Roles:
    """The role whose search each start belongs to; PINNED for one that has nobody to tell."""
    side = np.empty(len(starts), np.uint8)
    for place, start in enumerate(starts):
        role = roles[start]
        arc = indptr[start]
        while role == 0 and arc < indptr[start + 1]:
            role = roles[targets[arc]]
            arc += 1
        side[place] = role
    return side

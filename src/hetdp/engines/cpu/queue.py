"""The fine part of the queue: what is next, in order, in front of the buckets.

Everything up to LIMIT is in front: a sorted run taken from the lowest buckets, a heap for keys that arrive later, and
the ties, whose key is the current one. All else is in the buckets. No choice of width, and no bad corner: an entry
moves down at most LEVELS times, equal keys are never compared, and a heap that fills up goes back into the buckets.
"""

from __future__ import annotations

from hetdp.engines.cpu.apart import apart
from hetdp.engines.cpu.buckets import bucket_of, insert, key_of, take_ties
from hetdp.engines.cpu.heap import pop_heap, push_heap
from hetdp.engines.cpu.layout import (
    BATCH_AT,
    BATCH_END,
    BATCH_IDS,
    CURRENT,
    CURSOR,
    HEAP_END,
    HEAP_IDS,
    HEAP_KEYS,
    HEAP_SIZE,
    LARGEST_KEY,
    LAST,
    LIMIT,
    RUN_AT,
    RUN_END,
    RUN_IDS,
    RUN_KEYS,
    TIES,
)
from hetdp.engines.cpu.refill import refill
from hetdp.problem.space import Indices


def push(desk: Indices, pool: Indices, bits: Indices, dataset: int, key: int, former: int) -> None:
    """Notes that the key of a dataset fell from `former`, the largest key if it was not queued yet."""
    if key > desk[LIMIT]:
        bucket = bucket_of(key, desk[LAST])
        if former != LARGEST_KEY and bucket == bucket_of(former, desk[LAST]):
            return
    elif key == desk[CURRENT]:
        bucket = TIES
    elif desk[HEAP_END] < HEAP_SIZE:
        push_heap(desk, key, dataset)
        return
    else:
        spill(desk, pool, bits)
        bucket = bucket_of(key, desk[LAST])
    insert(desk, pool, bucket, dataset)


def pop(desk: Indices, pool: Indices, bits: Indices) -> int:
    """A dataset with the smallest key; −1 when there is none. It may have been popped before."""
    while desk[BATCH_AT] == desk[BATCH_END]:
        at = desk[RUN_AT]
        in_run = at < desk[RUN_END]
        if desk[CURSOR + TIES] > 0:
            take_ties(desk, pool)
        elif desk[HEAP_END] > 0 and not (in_run and desk[RUN_KEYS + at] <= desk[HEAP_KEYS]):
            desk[CURRENT] = desk[HEAP_KEYS]
            return pop_heap(desk)
        elif in_run:
            desk[RUN_AT] = at + 1
            desk[CURRENT] = desk[RUN_KEYS + at]
            return int(desk[RUN_IDS + at])
        elif not refill(desk, pool, bits):
            return -1
    desk[BATCH_AT] += 1
    return int(desk[BATCH_IDS + desk[BATCH_AT] - 1])


@apart
def spill(desk: Indices, pool: Indices, bits: Indices) -> None:
    """Puts run and heap back into the buckets."""
    desk[LIMIT] = desk[CURRENT]
    for at in range(desk[RUN_AT], desk[RUN_END]):
        put_back(desk, pool, bits, desk[RUN_IDS + at], desk[RUN_KEYS + at])
    for at in range(desk[HEAP_END]):
        put_back(desk, pool, bits, desk[HEAP_IDS + at], desk[HEAP_KEYS + at])
    desk[RUN_AT] = desk[RUN_END] = desk[HEAP_END] = 0


def put_back(desk: Indices, pool: Indices, bits: Indices, dataset: int, key: int) -> None:
    """Moves an entry from the front to the buckets, unless it is stale."""
    if key == key_of(bits[dataset]):
        insert(desk, pool, TIES if key == desk[CURRENT] else bucket_of(key, desk[LAST]), dataset)

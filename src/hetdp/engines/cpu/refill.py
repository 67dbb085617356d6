"""From the buckets to the front of the queue: the lowest keys, sorted if few, split further if many."""

from __future__ import annotations

from hetdp.engines.cpu.apart import apart
from hetdp.engines.cpu.buckets import bucket_of, end_chunk, first_bucket, insert, is_long, key_of
from hetdp.engines.cpu.layout import (
    BUSY,
    CHUNK,
    CHUNK_BITS,
    CURRENT,
    CURSOR,
    DIGIT_BITS,
    LARGEST_KEY,
    LAST,
    LIMIT,
    RUN_AT,
    RUN_END,
    RUN_IDS,
    RUN_KEYS,
    RUN_SIZE,
    TIES,
)
from hetdp.engines.cpu.prefetch import prefetch
from hetdp.problem.space import Indices


@apart
def refill(desk: Indices, pool: Indices, bits: Indices) -> bool:
    """Brings the smallest keys to the front; False when the queue is empty."""
    desk[RUN_AT] = desk[RUN_END] = 0
    bucket = first_bucket(desk)
    if bucket < 0:
        return False
    if is_long(desk, pool, bucket):
        split(desk, pool, bits, bucket)
        return True
    busy = BUSY + (bucket >> DIGIT_BITS)
    while desk[busy] > 0 and desk[RUN_END] + CHUNK <= RUN_SIZE:
        if desk[CURSOR + bucket] > 0:
            if is_long(desk, pool, bucket):
                break
            append_sorted(desk, pool, bits, bucket)
        bucket += 1
    if desk[RUN_END] > 0:
        desk[LAST] = desk[RUN_KEYS]
        desk[LIMIT] = LARGEST_KEY if first_bucket(desk) < 0 else desk[RUN_KEYS + desk[RUN_END] - 1]
    return True


@apart
def append_sorted(desk: Indices, pool: Indices, bits: Indices, bucket: int) -> None:
    """Moves a short bucket to the end of the run."""
    first = desk[RUN_END]
    end = first
    position = desk[CURSOR + bucket]
    chunk = (position - 1) >> CHUNK_BITS
    for at in range((chunk << CHUNK_BITS) + 1, position):
        prefetch(bits, pool[at])
    for at in range((chunk << CHUNK_BITS) + 1, position):
        dataset = pool[at]
        key = key_of(bits[dataset])
        if is_stale(desk, key, bucket):
            continue
        place = end
        while place > first and desk[RUN_KEYS + place - 1] > key:
            desk[RUN_KEYS + place] = desk[RUN_KEYS + place - 1]
            desk[RUN_IDS + place] = desk[RUN_IDS + place - 1]
            place -= 1
        desk[RUN_KEYS + place] = key
        desk[RUN_IDS + place] = dataset
        end += 1
    desk[RUN_END] = end
    desk[CURSOR + bucket] = end_chunk(desk, pool, chunk)
    desk[BUSY + (bucket >> DIGIT_BITS)] -= 1


def is_stale(desk: Indices, key: int, bucket: int) -> bool:
    """Whether the key of a bucket's entry has fallen since."""
    return bool(key <= desk[LIMIT] or bucket_of(key, desk[LAST]) != bucket)


@apart
def split(desk: Indices, pool: Indices, bits: Indices, bucket: int) -> None:
    """Moves a long bucket to lower levels, and its smallest keys to the ties."""
    smallest = LARGEST_KEY
    position = desk[CURSOR + bucket]
    while position > 0:
        head = (position - 1) >> CHUNK_BITS << CHUNK_BITS
        for at in range(head + 1, position):
            prefetch(bits, pool[at])
        for at in range(head + 1, position):
            key = key_of(bits[pool[at]])
            if key < smallest and not is_stale(desk, key, bucket):
                smallest = key
        position = int(pool[head]) << CHUNK_BITS
    position = desk[CURSOR + bucket]
    desk[CURSOR + bucket] = 0
    desk[BUSY + (bucket >> DIGIT_BITS)] -= 1
    if smallest < LARGEST_KEY:
        desk[LAST] = desk[LIMIT] = desk[CURRENT] = smallest
    while position > 0:  # a stale entry has a key below the smallest
        chunk = (position - 1) >> CHUNK_BITS
        for at in range((chunk << CHUNK_BITS) + 1, position):
            dataset = pool[at]
            key = key_of(bits[dataset])
            if key >= smallest:
                insert(desk, pool, TIES if key == smallest else bucket_of(key, smallest), dataset)
        position = end_chunk(desk, pool, chunk)

"""The coarse part of the queue: lists of datasets by the leading bits of their labels.

A radix heap: a key lies on the level of the highest digit in which it differs from LAST, a key that is at most every
key in the buckets; on that level, it lies in the bucket of that digit. LAST only moves when the lowest bucket is
emptied, so no other bucket has to be touched. Lists are chains of chunks from one pool, which is never grown.
"""

from __future__ import annotations

from hetdp.engines.cpu.apart import apart
from hetdp.engines.cpu.layout import (
    BATCH_AT,
    BATCH_END,
    BATCH_IDS,
    BUSY,
    CHUNK,
    CHUNK_BITS,
    CURSOR,
    DIGIT_BITS,
    DIGITS,
    FREE,
    LARGEST_KEY,
    LAST,
    LEVELS,
    RUN_SIZE,
    TIES,
    USED,
)
from hetdp.problem.space import Indices

SIGN_DIGIT = 1 << 10  # flips the sign in the top digit, so that negative keys come first
IN_CHUNK = CHUNK - 1


def key_of(bits: int) -> int:
    """The bits of a float as an integer of the same order."""
    return bits ^ ((bits >> 63) & LARGEST_KEY)


def level_of(difference: int) -> int:
    """The highest digit that is not zero; level 0 for equal keys."""
    if difference < 0 or difference >> 44:
        return 5 if difference < 0 or difference >> 55 else 4
    if difference >> 22:
        return 3 if difference >> 33 else 2
    return 1 if difference >> 11 else 0


def digit_of(key: int, level: int) -> int:
    """One digit of a key."""
    digit = (key >> (level * DIGIT_BITS)) & (DIGITS - 1)
    return digit ^ SIGN_DIGIT if level == LEVELS - 1 else digit


def bucket_of(key: int, last: int) -> int:
    """Where a key belongs."""
    level = level_of(key ^ last)
    return level * DIGITS + digit_of(key, level)


def insert(desk: Indices, pool: Indices, bucket: int, dataset: int) -> None:
    """Adds an entry to a bucket."""
    position = desk[CURSOR + bucket]
    if position & IN_CHUNK == 0:
        if position == 0 and bucket != TIES:
            desk[BUSY + (bucket >> DIGIT_BITS)] += 1
        position = begin_chunk(desk, pool, position)
    pool[position] = dataset
    desk[CURSOR + bucket] = position + 1


def begin_chunk(desk: Indices, pool: Indices, position: int) -> int:
    """The first free position of a chunk that continues the list that ended at `position`."""
    chunk = desk[FREE]
    if chunk >= 0:
        desk[FREE] = pool[chunk << CHUNK_BITS]
    else:
        chunk = desk[USED]
        desk[USED] = chunk + 1
    pool[chunk << CHUNK_BITS] = position >> CHUNK_BITS
    return (chunk << CHUNK_BITS) + 1


def end_chunk(desk: Indices, pool: Indices, chunk: int) -> int:
    """Gives a chunk back; returns the position at which the list goes on below it."""
    below = int(pool[chunk << CHUNK_BITS])
    pool[chunk << CHUNK_BITS] = desk[FREE]
    desk[FREE] = chunk
    return below << CHUNK_BITS


@apart
def take_ties(desk: Indices, pool: Indices) -> None:
    """Moves some of the ties to the batch."""
    end = 0
    position = desk[CURSOR + TIES]
    while position > 0 and end + CHUNK <= RUN_SIZE:
        chunk = (position - 1) >> CHUNK_BITS
        for at in range((chunk << CHUNK_BITS) + 1, position):
            desk[BATCH_IDS + end] = pool[at]
            end += 1
        position = end_chunk(desk, pool, chunk)
    desk[CURSOR + TIES] = position
    desk[BATCH_AT] = 0
    desk[BATCH_END] = end


def is_long(desk: Indices, pool: Indices, bucket: int) -> bool:
    """Whether a bucket that is not empty has more than one chunk."""
    return bool(pool[(desk[CURSOR + bucket] - 1) >> CHUNK_BITS << CHUNK_BITS] > 0)


def first_bucket(desk: Indices) -> int:
    """The bucket with the smallest keys; −1 when there is none."""
    for level in range(LEVELS):
        if desk[BUSY + level] > 0:
            bucket = level * DIGITS + digit_of(desk[LAST], level)
            while desk[CURSOR + bucket] == 0:
                bucket += 1
            return bucket
    return -1

"""The coarse part of the queue: lists of datasets by the leading bits of their labels.

A radix heap: a key lies on the level of the highest digit in which it differs from LAST, a key that is at most every
key in the buckets; on that level, it lies in the bucket of that digit. LAST only moves when the lowest bucket is
emptied, so no other bucket has to be touched. Lists are chains of chunks from one pool, which is never grown.

Compiled functions count references to arrays that they find in tuples, which costs more than the search. So a queue is
two plain arrays: `desk`, all its small parts one after the other, and `pool`, the chunks.
"""

from __future__ import annotations

from hetdp.problem.space import Indices

DIGIT_BITS = 11
DIGITS = 1 << DIGIT_BITS
LEVELS = 6
SIGN_DIGIT = 1 << 10  # flips the sign in the top digit, so that negative keys come first
TIES = LEVELS * DIGITS  # one more bucket, for the keys equal to the current one
CHUNK_BITS = 6
CHUNK = 1 << CHUNK_BITS
IN_CHUNK = CHUNK - 1
RUN_SIZE = 512
HEAP_SIZE = 1024
LARGEST_KEY = 0x7FFFFFFFFFFFFFFF

# Where the desk keeps what. A cursor is the pool position after the last entry of a bucket, 0 for an empty bucket; the
# first entry of a chunk is the cursor at which the chunk was begun, in chunks, or the next free chunk.
LAST, LIMIT, CURRENT, USED, FREE, RUN_AT, RUN_END, HEAP_END = range(8)
BUSY = 8  # for each level, how many of its buckets hold something
CURSOR = BUSY + LEVELS
RUN_KEYS = CURSOR + TIES + 1
RUN_IDS = RUN_KEYS + RUN_SIZE
HEAP_KEYS = RUN_IDS + RUN_SIZE
HEAP_IDS = HEAP_KEYS + HEAP_SIZE
DESK_SIZE = HEAP_IDS + HEAP_SIZE


def pool_size(entries: int) -> int:
    """Room for so many entries in any buckets; pages that are never used cost nothing."""
    return (entries // IN_CHUNK + min(entries, TIES) + 3) << CHUNK_BITS


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


def take_tie(desk: Indices, pool: Indices) -> int:
    """Removes the latest of the ties."""
    position = desk[CURSOR + TIES] - 1
    dataset = pool[position]
    if position & IN_CHUNK == 1:
        position = end_chunk(desk, pool, position >> CHUNK_BITS)
    desk[CURSOR + TIES] = position
    return dataset


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

"""Where a queue keeps what. It is two plain arrays, which compiled functions pass on at little cost.

`desk` holds all small parts one after the other, at the places named here; `pool` holds the entries of the buckets, in
chunks. A cursor is the pool position after the last entry of a bucket, 0 for an empty bucket. The first number of a
chunk is the cursor at which the chunk was begun, in chunks; of a chunk that is not in use, the next such chunk.
"""

from __future__ import annotations

DIGIT_BITS = 11
DIGITS = 1 << DIGIT_BITS
LEVELS = 6
CHUNK_BITS = 6
CHUNK = 1 << CHUNK_BITS
RUN_SIZE = 512
HEAP_SIZE = 1024

TIES = LEVELS * DIGITS  # one more bucket, for the keys equal to the current one
LARGEST_KEY = 0x7FFFFFFFFFFFFFFF  # above every key

LAST, LIMIT, CURRENT = range(3)  # keys: what the buckets are relative to, the end of the front, the one being settled
USED, FREE = 3, 4  # chunks: how many were ever used, the first that is free again
RUN_AT, RUN_END, BATCH_AT, BATCH_END, HEAP_END = range(5, 10)
ANY_IDLE = 10  # whether some start is not queued, so that a label below +inf need not be in the queue
BUSY = 11  # for each level, how many of its buckets hold something
CURSOR = BUSY + LEVELS
RUN_KEYS = CURSOR + TIES + 1
RUN_IDS = RUN_KEYS + RUN_SIZE
HEAP_KEYS = RUN_IDS + RUN_SIZE
HEAP_IDS = HEAP_KEYS + HEAP_SIZE
BATCH_IDS = HEAP_IDS + HEAP_SIZE
DESK_SIZE = BATCH_IDS + RUN_SIZE


def pool_size(entries: int) -> int:
    """Room for so many entries in any buckets; pages that are never used cost nothing."""
    return (entries // (CHUNK - 1) + min(entries, TIES) + 3) << CHUNK_BITS

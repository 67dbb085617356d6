"""The priority queue of the search kernels: a radix queue whose front is kept sorted.

Keys are the bits of labels, as integers of the same order. Buckets hold datasets by the leading digits of their keys.
The front holds the smallest keys: a sorted run, a heap for keys that arrive before the buckets' range, and a batch of
entries whose keys equal the current one.

The queue consists of two plain arrays, which compiled functions pass on cheaply. `desk` holds all small parts one after
the other, at the offsets named here; `pool` holds the entries of the buckets, in chunks. A cursor is the pool position
after the last entry of a bucket, 0 for an empty bucket. The first number of a chunk in use is the number of the
previous chunk of its bucket; that of a free chunk is the number of the next free chunk.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]

from hetdp.jit import cgutils, intrinsic, types
from hetdp.problem.space import Indices
from hetdp.theory.notion import noinline

DIGIT_BITS = 11
DIGITS = 1 << DIGIT_BITS
LEVELS = 6
CHUNK_BITS = 6
CHUNK = 1 << CHUNK_BITS
RUN_SIZE = 512
HEAP_SIZE = 1024

TIES = LEVELS * DIGITS  # an extra bucket, for keys equal to the current one
LARGEST_KEY = 0x7FFFFFFFFFFFFFFF  # larger than every key

LAST, LIMIT, CURRENT = range(3)  # keys: the reference of the buckets, the end of the front, the current one
USED, FREE = 3, 4  # chunks: number ever used, the first free one
RUN_AT, RUN_END, BATCH_AT, BATCH_END, HEAP_END = range(5, 10)
ANY_IDLE = 10  # True if some starts are not queued: then a label below +inf need not be in the queue
BUSY = 11  # for each level, the number of non-empty buckets
CURSOR = BUSY + LEVELS
RUN_KEYS = CURSOR + TIES + 1
RUN_IDS = RUN_KEYS + RUN_SIZE
HEAP_KEYS = RUN_IDS + RUN_SIZE
HEAP_IDS = HEAP_KEYS + HEAP_SIZE
BATCH_IDS = HEAP_IDS + HEAP_SIZE
DESK_SIZE = BATCH_IDS + RUN_SIZE


def pool_size(entries: int) -> int:
    """Size of a pool for a number of entries in any buckets; unused pages cost nothing."""
    return (entries // (CHUNK - 1) + min(entries, TIES) + 3) << CHUNK_BITS


# Prefetching: a search spends half of its time waiting for labels at random addresses ---------------------------------


def prefetch(array: Indices, index: int) -> None:
    """Does nothing; stands in for the instruction in uncompiled kernels."""


@intrinsic
def compiled_prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """The processor's prefetch instruction; the index may lie outside the array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(function, [address, number(0), number(3), number(1)])  # for reading, with high locality, data
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


# Heap of (key, dataset), for the few keys that belong before the buckets ----------------------------------------------


@noinline
def push_heap(desk: Indices, key: int, dataset: int) -> None:
    """Adds an entry; there must be room."""
    place = desk[HEAP_END]
    desk[HEAP_END] = place + 1
    while place > 0 and desk[HEAP_KEYS + ((place - 1) >> 1)] > key:
        above = (place - 1) >> 1
        desk[HEAP_KEYS + place] = desk[HEAP_KEYS + above]
        desk[HEAP_IDS + place] = desk[HEAP_IDS + above]
        place = above
    desk[HEAP_KEYS + place] = key
    desk[HEAP_IDS + place] = dataset


@noinline
def pop_heap(desk: Indices) -> int:
    """Removes the entry with the smallest key."""
    top = desk[HEAP_IDS]
    size = desk[HEAP_END] - 1
    desk[HEAP_END] = size
    key, dataset = desk[HEAP_KEYS + size], desk[HEAP_IDS + size]
    place = 0
    child = 1
    while child < size:
        if child + 1 < size and desk[HEAP_KEYS + child + 1] < desk[HEAP_KEYS + child]:
            child += 1
        if desk[HEAP_KEYS + child] >= key:
            break
        desk[HEAP_KEYS + place] = desk[HEAP_KEYS + child]
        desk[HEAP_IDS + place] = desk[HEAP_IDS + child]
        place = child
        child = 2 * place + 1
    desk[HEAP_KEYS + place] = key
    desk[HEAP_IDS + place] = dataset
    return top


# Buckets: lists of datasets by the leading digits of their keys -------------------------------------------------------


SIGN_DIGIT = 1 << 10  # flips the sign in the top digit, so that negative keys come first
IN_CHUNK = CHUNK - 1


def as_int64(number: int) -> int:
    """The same number, which is not negative; compiled, an int64 whatever it was.

    Numbers of datasets and constants are cast before they are passed on. Otherwise numba compiles each callee several
    times: for int64, for the type in which a graph stores datasets, and for each constant. The mask tells the compiler
    that an index is not counted from the end, so that this is not tested at every use.
    """
    return int(number) & LARGEST_KEY


def key_of(bits: int) -> int:
    """The bits of a float as an integer of the same order."""
    return bits ^ ((bits >> 63) & LARGEST_KEY)


def level_of(difference: int) -> int:
    """The index of the highest nonzero digit; 0 for equal keys."""
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
    """The bucket that a key belongs to."""
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
    """Starts a chunk that continues the list that ends at `position`; returns its first free position."""
    chunk = desk[FREE]
    if chunk >= 0:
        desk[FREE] = pool[chunk << CHUNK_BITS]
    else:
        chunk = desk[USED]
        desk[USED] = chunk + 1
    pool[chunk << CHUNK_BITS] = position >> CHUNK_BITS
    return (chunk << CHUNK_BITS) + 1


def end_chunk(desk: Indices, pool: Indices, chunk: int) -> int:
    """Frees a chunk; returns the end position of the list without it."""
    below = int(pool[chunk << CHUNK_BITS])
    pool[chunk << CHUNK_BITS] = desk[FREE]
    desk[FREE] = chunk
    return below << CHUNK_BITS


@noinline
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
    """True if a non-empty bucket has more than one chunk."""
    return bool(pool[(desk[CURSOR + bucket] - 1) >> CHUNK_BITS << CHUNK_BITS] > 0)


def first_bucket(desk: Indices) -> int:
    """The bucket with the smallest keys; −1 if all are empty."""
    for level in range(LEVELS):
        if desk[BUSY + level] > 0:
            bucket = level * DIGITS + digit_of(desk[LAST], level)
            while desk[CURSOR + bucket] == 0:
                bucket += 1
            return bucket
    return -1


# Refilling the front from the buckets: short buckets are sorted, long ones are split ----------------------------------


@noinline
def refill(desk: Indices, pool: Indices, bits: Indices) -> bool:
    """Moves the smallest keys to the front; returns False if the queue is empty."""
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


@noinline
def append_sorted(desk: Indices, pool: Indices, bits: Indices, bucket: int) -> None:
    """Moves a short bucket to the end of the run, sorted."""
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
    """True if the key of an entry fell after it was put into a bucket."""
    return bool(key <= desk[LIMIT] or bucket_of(key, desk[LAST]) != bucket)


@noinline
def split(desk: Indices, pool: Indices, bits: Indices, bucket: int) -> None:
    """Moves a long bucket to lower levels, and its smallest keys to the ties."""
    smallest = as_int64(LARGEST_KEY)
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
    while position > 0:  # keys of stale entries are below the smallest
        chunk = (position - 1) >> CHUNK_BITS
        for at in range((chunk << CHUNK_BITS) + 1, position):
            dataset = as_int64(pool[at])
            key = key_of(bits[dataset])
            if key >= smallest:
                insert(desk, pool, TIES if key == smallest else bucket_of(key, smallest), dataset)
        position = end_chunk(desk, pool, chunk)


# Push and pop ---------------------------------------------------------------------------------------------------------


def push(desk: Indices, pool: Indices, bits: Indices, dataset: int, key: int, former: int) -> None:
    """Queues a dataset whose key fell from `former`; `former` is LARGEST_KEY if it was not queued yet."""
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
    """Removes a dataset with the smallest key; −1 if the queue is empty. It may have been popped before."""
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


@noinline
def spill(desk: Indices, pool: Indices, bits: Indices) -> None:
    """Moves run and heap back into the buckets."""
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

"""A small binary heap of (key, dataset), for the few keys that arrive in front of the buckets."""

from __future__ import annotations

from hetdp.engines.cpu.apart import apart
from hetdp.engines.cpu.layout import HEAP_END, HEAP_IDS, HEAP_KEYS
from hetdp.problem.space import Indices


@apart
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


@apart
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

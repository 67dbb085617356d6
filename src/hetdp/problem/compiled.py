"""Compiled kernels for building large graphs; imported for large graphs only.

numba recompiles a cached function when the file that defines it changes, but not when other files do. So a compiled
function calls functions of its own file only. In kernels an arc goes from its head to its tail and carries a load.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from hetdp import jit
from hetdp.problem import boundary, decimals

SHORT_ROW = 32  # arcs of a row that insertion may put in order
DIGIT_BITS = 11  # bits of a tail that one pass looks at


WITHOUT_COUNTING: Any = {"_nrt": False}  # of references to arrays; for loops that cut many slices


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    return jit.compile_cached(function, **({"nogil": True} | options))


def _with_compiled_callees(
    function: Callable[..., Any], *callees: Callable[..., Any], **options: Any
) -> Callable[..., Any]:
    """A copy of a function that calls compiled copies of functions of its own file, which divide as NumPy does."""
    options = {"error_model": "numpy"} | options
    called = {callee.__name__: jit.compile_uncached(callee, **options) for callee in callees}
    copy = FunctionType(function.__code__, function.__globals__ | called, function.__name__)
    copy.__module__ = function.__module__
    return copy


mark_boundary = _compile(boundary.mark_boundary)
mark_lines = _compile(
    _with_compiled_callees(boundary.mark_lines, boundary.mark_row, forceinline=True, **WITHOUT_COUNTING),
    **WITHOUT_COUNTING,
)
mark_joined = _compile(
    _with_compiled_callees(boundary.mark_joined, boundary.mark_pattern, forceinline=True, **WITHOUT_COUNTING),
    **WITHOUT_COUNTING,
)
mark_each = _compile(_with_compiled_callees(decimals.mark_each, decimals.scale_of, decimals.mark_of))


@_compile
def count_arcs(heads: Any, tails: Any, shift: int, counts: Any) -> None:
    """Counts the arcs of each bucket, without those from a dataset to itself."""
    for arc in range(len(heads)):
        if heads[arc] != tails[arc]:
            counts[heads[arc] >> shift] += 1


@_compile
def distribute_arcs(heads: Any, tails: Any, loads: Any, shift: int, places: Any, buckets: Any) -> None:
    """Writes each arc to the next free place of its bucket in `buckets`, which has heads, tails and loads."""
    bucket_heads, bucket_tails, bucket_loads = buckets
    for arc in range(len(heads)):
        head, tail = heads[arc], tails[arc]
        if head != tail:
            place = places[head >> shift]
            places[head >> shift] = place + 1
            bucket_heads[place], bucket_tails[place], bucket_loads[place] = head, tail, loads[arc]


@_compile
def sort_by_tail(arcs: Any, room: Any, lowest: int, span: int, shift: int) -> None:
    """Sorts arcs into `room` by the bits of their tails from `shift` on: a counting sort, digit by digit."""
    heads, tails, loads = arcs
    to_heads, to_tails, to_loads = room
    while True:
        places = np.zeros((1 << DIGIT_BITS) + 1, dtype=np.int64)
        for arc in range(len(tails)):
            places[((tails[arc] - lowest) >> shift & (1 << DIGIT_BITS) - 1) + 1] += 1
        for digit in range(1 << DIGIT_BITS):
            places[digit + 1] += places[digit]
        for arc in range(len(tails)):
            digit = (tails[arc] - lowest) >> shift & (1 << DIGIT_BITS) - 1
            place = places[digit]
            places[digit] = place + 1
            to_heads[place], to_tails[place], to_loads[place] = heads[arc], tails[arc], loads[arc]
        shift += DIGIT_BITS
        if not span >> shift:
            return
        for arc in range(len(tails)):
            heads[arc], tails[arc], loads[arc] = to_heads[arc], to_tails[arc], to_loads[arc]


@_compile
def order_arcs(arcs: Any, room: Any, ends: Any, first: int, begin: int) -> int:
    """Sorts the arcs of one bucket by head, then tail, in place; equal ones stay in order.

    All arcs are sorted by tail, then moved into their rows. If all rows are short, the first pass looks at one digit of
    the tail only, and an insertion sort in each row does the rest.

    Args:
        arcs: heads, tails and loads; the heads are overwritten.
        room: arrays of the same types, at least as long.
        ends: zeros, one for each dataset of the bucket; each becomes the end of its row.
        first: the first of these datasets.
        begin: where the bucket begins among all arcs.

    Returns:
        The number of arcs with the same ends as the arc before.
    """
    heads, tails, loads = arcs
    by_tail_heads, by_tail_tails, by_tail_loads = room
    lowest = highest = np.int64(tails[0] if len(tails) else 0)
    for arc in range(len(heads)):
        ends[heads[arc] - first] += 1
        lowest, highest = min(lowest, tails[arc]), max(highest, tails[arc])
    longest, start, shift = 0, 0, 0
    for row in range(len(ends)):
        length = ends[row]
        longest, ends[row], start = max(longest, length), start, start + length
    while longest <= SHORT_ROW and (highest - lowest) >> shift >= 1 << DIGIT_BITS:
        shift += 1
    sort_by_tail(arcs, room, lowest, highest - lowest, shift)
    for arc in range(len(heads)):
        row = by_tail_heads[arc] - first
        place = ends[row]
        ends[row] = place + 1
        tails[place], loads[place] = by_tail_tails[arc], by_tail_loads[arc]
    start, repeated = 0, 0
    for row in range(len(ends)):
        for arc in range(start + 1, ends[row]):
            tail, load, place = tails[arc], loads[arc], arc
            while place > start and tails[place - 1] > tail:
                tails[place], loads[place] = tails[place - 1], loads[place - 1]
                place -= 1
            if place < arc:
                tails[place], loads[place] = tail, load
            repeated += place > start and tails[place - 1] == tail
        start, ends[row] = ends[row], begin + ends[row]
    return repeated


@_compile
def merge_arcs(indptr: Any, tails: Any, loads: Any) -> tuple[int, bool]:
    """Keeps the arc with the smallest load of each run of repeats, in place.

    Returns:
        The number of arcs left, and whether all loads of each run were equal.
    """
    start, kept, agree = 0, 0, True
    for row in range(len(indptr) - 1):
        begin, stop = kept, indptr[row + 1]
        for arc in range(start, stop):
            if kept == begin or tails[kept - 1] != tails[arc]:
                tails[kept], loads[kept] = tails[arc], loads[arc]
                kept += 1
            elif loads[kept - 1] != loads[arc]:
                loads[kept - 1] = min(loads[kept - 1], loads[arc])
                agree = False
        start, indptr[row + 1] = stop, kept
    return kept, agree


@_compile
def find_offsets(wanted: Any, offsets: Any, cells: Any, bits: Any, found: Any) -> None:
    """Finds the position of each wanted number among sorted offsets, −1 if it is not there; cells narrow the search."""
    for at in range(len(wanted)):
        number, cell = wanted[at], wanted[at] >> bits
        found[at] = -1
        if cell < np.uint64(len(cells) - 1):
            low, high = cells[cell], cells[np.int64(cell) + 1]
            while low < high:
                middle = (low + high) // 2
                if offsets[middle] < number:
                    low = middle + 1
                else:
                    high = middle
            if low < len(offsets) and offsets[low] == number:
                found[at] = low

"""Spreads independent pieces of work over the cores; NumPy and compiled loops let go of the interpreter meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")
CORES = os.cpu_count() or 1


def spread(work: Callable[[Piece], object], pieces: Iterable[Piece]) -> None:
    """Does the work on every piece; a piece goes to whichever thread is free first."""
    waiting = list(pieces)
    threads = min(CORES, len(waiting))
    shared = iter(waiting)

    def keep_working(_: int) -> None:
        for piece in shared:
            work(piece)

    if threads <= 1:
        keep_working(0)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(keep_working, range(threads)))


def slices(length: int, block: int) -> list[slice]:
    """The parts of a sequence, of at most so many entries each."""
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]

"""Spreads independent pieces of work over the cores; NumPy and compiled loops let go of the interpreter meanwhile."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")
CORES = os.cpu_count() or 1
WORTH_THREADS = 500_000  # entries; for less, starting threads takes longer than the work


def spread(work: Callable[[Piece], object], pieces: Iterable[Piece], size: int = WORTH_THREADS) -> None:
    """Does the work on every piece; pieces are made one at a time, so that few of them are in memory.

    Args:
        work: what to do with a piece; it goes to whichever thread is free first.
        pieces: what there is to do.
        size: how much that is in all; a little is done at once.
    """
    waiting, lock = iter(pieces), threading.Lock()

    def keep_working() -> None:
        while True:
            with lock:
                piece = next(waiting, None)
            if piece is None:
                return
            work(piece)

    if CORES == 1 or size < WORTH_THREADS:
        keep_working()
        return
    with ThreadPoolExecutor(CORES) as pool:
        for done in [pool.submit(keep_working) for _ in range(CORES)]:
            done.result()


def slices(length: int, block: int) -> list[slice]:
    """The parts of a sequence, of at most so many entries each."""
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]

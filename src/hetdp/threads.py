"""Runs independent pieces of work in one thread per core; NumPy and compiled loops release the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")
CORES = os.cpu_count() or 1
WORTH_THREADS = 500_000  # entries; with fewer, starting threads takes longer than the work


def run_in_threads(work: Callable[[Piece], object], pieces: Iterable[Piece], size: int = WORTH_THREADS) -> None:
    """Calls a function on every piece, in as many threads as there are cores.

    Args:
        work: the function; each piece goes to the first thread that is free.
        pieces: the pieces, which are taken one at a time, so that few of them are in memory.
        size: the number of entries in all pieces; if there are few, no thread is started.
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
    """Slices that cut a sequence into blocks of at most `block` entries."""
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]

"""Runs independent pieces of work in one thread per core; NumPy and compiled loops release the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Piece = TypeVar("Piece")
CORES = os.cpu_count() or 1
FEWEST_FOR_THREADS = 300_000  # entries; with fewer, starting threads takes longer than the work
SAMPLE_SIZE = 1 << 10  # numbers by which an array is cut into halves
SORTED_BLOCK = 1 << 15  # numbers at a time, so that they stay in the cache


def run_in_threads(work: Callable[[Piece], object], pieces: Iterable[Piece], size: int = FEWEST_FOR_THREADS) -> None:
    """Calls a function on every piece, in as many threads as there are cores, of which the caller's is one.

    After an error, or an interrupt in the caller's thread, no further piece is begun.

    Args:
        work: the function; each piece goes to the first thread that is free.
        pieces: the pieces, which are taken one at a time, so that few of them are in memory.
        size: the number of entries in all pieces; if there are few, no thread is started.
    """
    waiting, lock, errors = iter(pieces), threading.Lock(), list[BaseException]()

    def keep_working() -> None:
        try:
            while True:
                with lock:
                    piece = None if errors else next(waiting, None)
                if piece is None:
                    return
                work(piece)
        except BaseException as error:  # the first one is raised below, in the caller's thread
            errors.append(error)

    is_small = CORES == 1 or size < FEWEST_FOR_THREADS
    threads = [threading.Thread(target=keep_working) for _ in range(0 if is_small else CORES - 1)]  # a pool is slower
    for thread in threads:
        thread.start()
    keep_working()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def sort_in_threads(numbers: NDArray[Any]) -> NDArray[Any]:
    """An array, sorted: the lower half in one thread and the upper half in another.

    >>> numbers = np.arange(10**6)[::-1]
    >>> bool((sort_in_threads(numbers) == np.arange(10**6)).all())
    True
    """
    if CORES == 1 or len(numbers) < FEWEST_FOR_THREADS:
        return np.sort(numbers)
    sample = np.sort(numbers[:: len(numbers) // SAMPLE_SIZE])
    middle, found = sample[len(sample) // 2], np.empty_like(numbers)

    def work(is_lower: bool) -> None:
        parts, filled = slices(len(numbers), SORTED_BLOCK), 0
        for piece in parts:
            chosen = numbers[piece] < middle  # NaN is not, and is sorted last
            part = numbers[piece][chosen if is_lower else ~chosen]
            start = filled if is_lower else len(numbers) - filled - len(part)
            found[start : start + len(part)] = part
            filled += len(part)
        half = found[:filled] if is_lower else found[len(numbers) - filled :]
        half.sort()

    run_in_threads(work, (True, False), len(numbers))
    return found


def slices(length: int, block: int) -> list[slice]:
    """Slices that cut a sequence into blocks of at most `block` entries."""
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]

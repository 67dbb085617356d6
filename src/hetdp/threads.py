"""Runs independent pieces of work in one thread per core; NumPy and compiled loops release the interpreter lock."""

from __future__ import annotations

import os
import threading
from _thread import start_new_thread
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Piece = TypeVar("Piece")
CORES = os.cpu_count() or 1
FEWEST_FOR_THREADS = 300_000  # entries; with fewer, starting threads takes longer than the work


def run_in_threads(work: Callable[[Piece], object], pieces: Iterable[Piece], size: int = FEWEST_FOR_THREADS) -> None:
    """Calls a function on every piece, in as many threads as there are cores, of which the caller's is one.

    After an error, or an interrupt in the caller's thread, no further piece is begun.

    Args:
        work: the function; each piece goes to the first thread that is free.
        pieces: the pieces, which are taken one at a time, so that few of them are in memory.
        size: the number of entries in all pieces; if there are few, no thread is started.
    """
    waiting, lock, errors = iter(pieces), threading.Lock(), list[BaseException]()
    helpers, is_over = list[threading.Lock](), False

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

    def help_out() -> None:
        ended = threading.Lock()
        with ended:
            with lock:
                if is_over:
                    return
                helpers.append(ended)
            keep_working()

    for _ in range(0 if CORES == 1 or size < FEWEST_FOR_THREADS else CORES - 1):
        start_new_thread(help_out, ())  # Thread.start would wait until a core has woken up; a pool is slower
    keep_working()
    with lock:
        is_over = True  # a thread that has not begun by now is not waited for
    for ended in helpers:
        with ended:
            pass
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
    found, middle = numbers.copy(), len(numbers) // 2
    found.partition(middle)  # a fraction of the sort; both use the processor's vectors, which masks do not
    run_in_threads(lambda half: half.sort(), (found[:middle], found[middle:]), len(numbers))
    return found


def slices(length: int, block: int) -> list[slice]:
    """Slices that cut a sequence into blocks of at most `block` entries."""
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]

"""Spreads independent pieces of work over the cores; compiled loops let go of the interpreter while they run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TypeVar

Piece = TypeVar("Piece")


def share(work: Callable[[Piece], None], pieces: Iterable[Piece]) -> None:
    """Does the work on every piece; pieces are made one at a time, so that few of them are in memory."""
    waiting, lock = iter(pieces), threading.Lock()
    first = next(waiting, None)
    if first is None:
        return
    second = next(waiting, None)
    if second is None:  # starting threads would take longer
        work(first)
        return
    waiting = chain([first, second], waiting)

    def keep_working() -> None:
        while True:
            with lock:
                piece = next(waiting, None)
            if piece is None:
                return
            work(piece)

    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(keep_working) for _ in range(workers)]:
            done.result()

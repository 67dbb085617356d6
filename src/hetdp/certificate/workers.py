"""Spreads independent pieces of work over the cores; compiled loops let go of the interpreter while they run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")
WORTH_THREADS = 500_000


def share(work: Callable[[Piece], None], pieces: Iterable[Piece], size: int) -> None:
    """Does the work on every piece; pieces are made one at a time, so that few of them are in memory.

    Args:
        work: what to do with a piece.
        pieces: what there is to do.
        size: how much that is in all; little is done at once, since starting threads would take longer.
    """
    if size < WORTH_THREADS:
        for piece in pieces:
            work(piece)
        return
    waiting, lock = iter(pieces), threading.Lock()

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

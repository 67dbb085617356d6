"""One precision at a time: that of the ball arithmetic is a single number for all threads of a process.

Whoever sets it holds this lock meanwhile, and puts it back. An enclosure is right at any precision, so that a thread
outside hetdp which changes it can make one wider, never wrong.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()


@contextmanager
def kept(context: Any) -> Iterator[None]:
    """Puts the precision of the library's context back at the end; no other thread of hetdp sets it meanwhile."""
    with _lock:
        before = context.prec
        try:
            yield
        finally:
            context.prec = before


def at_precision(context: Any, bits: int, compute: Callable[..., Any], *arguments: Any) -> Any:
    """What a function computes at this precision; the same as `kept`, for one call that should be quick."""
    with _lock:
        before = context.prec
        try:
            context.prec = bits
            return compute(*arguments)
        finally:
            context.prec = before


def _renew() -> None:
    """In a forked child: whichever thread of the parent held the lock does not live here to release it."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)

"""A lock for the precision of ball arithmetic, which python-flint keeps as one number for all threads of a process.

Code that sets the precision holds this lock and restores the precision afterwards. An enclosure is correct at any
precision: a thread outside hetdp that changes it can make an enclosure wider, never wrong.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()


@contextmanager
def restore_precision(context: Any) -> Iterator[None]:
    """Restores the precision of a flint context at the end; no other thread of hetdp changes it meanwhile."""
    with _lock:
        before = context.prec
        try:
            yield
        finally:
            context.prec = before


def compute_at_precision(context: Any, bits: int, compute: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function at the given precision; a faster `restore_precision` for a single call."""
    with _lock:
        before = context.prec
        try:
            context.prec = bits
            return compute(*arguments)
        finally:
            context.prec = before


def _renew_lock() -> None:
    """Replaces the lock in a forked child: the thread that held it exists in the parent only."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

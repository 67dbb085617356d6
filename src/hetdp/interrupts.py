"""Delays Ctrl-C during work that must not be interrupted.

Two things must not: loading a library, which Python would keep half loaded, and connecting a client. A lazy import is
written inside the guard, so that readers and the import linter see it::

    with delay_interrupts():
        from hetdp.certificate.compiled import scan_arcs
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Delays Ctrl-C, and other signals that end the program, until the block has finished.

    Signals reach the main thread only, so that the block runs as it is in any other thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers: dict[int, Any] = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in handlers.items() if callable(handler)}  # others are not Python's
    waiting: list[tuple[int, FrameType | None]] = []
    for number in before:
        signal.signal(number, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if waiting:
            before[waiting[0][0]](*waiting[0])

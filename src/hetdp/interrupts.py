"""Ctrl-C in the midst of some things would leave half of them behind: a library that loads, a client that connects."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType, ModuleType
from typing import Any

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def held() -> Iterator[None]:
    """Delays Ctrl-C, and other requests to end, until the block has finished."""
    if threading.current_thread() is not threading.main_thread():  # signals are handled elsewhere
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


def load_whole(name: str) -> ModuleType:
    """Imports a module; an interrupt waits until that is done."""
    with held():
        return import_module(name)

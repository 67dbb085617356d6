"""Ctrl-C in the midst of some things would leave half of them behind: a library that loads, a client that connects."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType, ModuleType


@contextmanager
def held() -> Iterator[None]:
    """An interrupt waits until what is done here is done."""
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not callable(before):  # not ours to handle; or ignored, or not Python's
        yield
        return
    waiting: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting:
            before(*waiting[0])


def load_whole(name: str) -> ModuleType:
    """Imports a module; an interrupt waits until that is done."""
    with held():
        return import_module(name)

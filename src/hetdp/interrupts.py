"""Ctrl-C while a large library loads would leave half of it behind, for the rest of the session."""

from __future__ import annotations

import signal
import threading
from importlib import import_module
from types import FrameType, ModuleType


def load_whole(name: str) -> ModuleType:
    """Imports a module; an interrupt waits until that is done."""
    if threading.current_thread() is not threading.main_thread():
        return import_module(name)
    waiting: list[tuple[int, FrameType | None]] = []
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):  # ignored, or not Python's to handle
        return import_module(name)
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        return import_module(name)
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting:
            before(*waiting[0])

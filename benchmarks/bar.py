"""A progress bar on terminals. It is drawn between two measurements and never during one."""

from __future__ import annotations

import os
import shutil
import sys
import time

LENGTH = 24


class Bar:
    """The number of finished sections, and what is being measured."""

    def __init__(self) -> None:
        self.total = self.done = 0
        self.section = ""
        self._began, self._drawn = time.monotonic(), 0

    def start(self, total: int) -> None:
        """Starts the bar for this number of sections."""
        self.total, self.done, self._began = total, 0, time.monotonic()

    def tell(self, words: str = "") -> None:
        """Shows what is measured next."""
        if self.total and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            text = line(self.done, self.total, f"{self.section} {words}".strip(), time.monotonic() - self._began)
            text = text[: shutil.get_terminal_size().columns - 1]
            print("\r" + text.ljust(self._drawn), end="", file=sys.stderr, flush=True)
            self._drawn = len(text)

    def erase(self) -> None:
        """Removes the line, so that other text can be printed."""
        if self._drawn:
            print("\r" + " " * self._drawn + "\r", end="", file=sys.stderr, flush=True)
            self._drawn = 0


def line(done: int, total: int, words: str, elapsed: float) -> str:
    """The bar as text.

    >>> line(3, 12, "speed: search", 42.4)
    '[######..................] 3 of 12, 42 s, speed: search'
    """
    full = done * LENGTH // total
    return f"[{'#' * full}{'.' * (LENGTH - full)}] {done} of {total}, {int(elapsed)} s, {words}"


BAR = Bar()

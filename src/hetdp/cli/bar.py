"""The progress bar: one line on the terminal, after a second, for as long as something is being done."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager

from hetdp import progress

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PATIENCE = 1.0  # seconds before anything is drawn
PACE = 0.1  # seconds between two drawings
LENGTH = 24  # characters of the bar itself


class Bar:
    """Shows the stage of the work, from a thread of its own, since searches run where no Python code does.

    Args:
        stages: the first words of the stages expected, in their order.
        shown: whether there is a bar at all; there is none if standard error is no terminal.
    """

    def __init__(self, stages: Sequence[str], shown: bool = True) -> None:
        self._stages, self._place, self._words = stages, 0, "working"
        self._shown = shown and _on_a_terminal()
        self._began = time.monotonic()
        self._done, self._lock, self._drawn = threading.Event(), threading.RLock(), 0
        self._thread = threading.Thread(target=self._animate, daemon=True)

    def __enter__(self) -> Bar:
        if self._shown:
            self._before = progress.listen(self._hear)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            progress.listen(self._before)
        self.close()

    def close(self) -> None:
        """Removes the bar for good."""
        with self._lock:
            self._done.set()
            self._erase()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Removes the bar while something else is written."""
        with self._lock:
            self._erase()
            yield

    def _hear(self, words: str) -> None:
        self._words = words
        kind = words.partition(" ")[0]
        if kind in self._stages:  # a search that is repeated does not move the bar back
            self._place = max(self._place, self._stages.index(kind))

    def _animate(self) -> None:
        self._done.wait(PATIENCE)
        while not self._done.is_set():
            with self._lock:
                self._draw()
            self._done.wait(PACE)

    def _draw(self) -> None:
        if not self._done.is_set():  # it may have been closed while this thread waited
            room, elapsed = _width() - 1, time.monotonic() - self._began
            text = line(self._place, len(self._stages), self._words, elapsed)[:room]
            _write("\r" + text.ljust(min(self._drawn, room)))
            self._drawn = len(text)

    def _erase(self) -> None:
        if self._drawn:
            _write("\r" + " " * min(self._drawn + len("^C"), _width() - 1) + "\r")
            self._drawn = 0


def line(place: int, stages: int, words: str, elapsed: float) -> str:
    """The bar as text: stages done, a mark that walks through the present one, seconds, and words, which may be cut.

    >>> line(1, 2, "searching", 3.0)
    '[############......#.....] 3 s, searching'
    """
    start, end = place * LENGTH // stages, (place + 1) * LENGTH // stages
    mark = start + int(elapsed / PACE) % (end - start)
    cells = ["#" if at < start or at == mark else "." for at in range(LENGTH)]
    return f"[{''.join(cells)}] {int(elapsed)} s, {words}"


def _on_a_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):  # a terminal that is gone needs no bar
        pass

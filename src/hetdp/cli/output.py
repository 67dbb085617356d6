"""Output of the command line: data on standard output, words on standard error, and a progress bar.

The bar is one line on the terminal. It appears after a second and is removed before anything else is written.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager, suppress

from hetdp import progress

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, TextIO


DELAY_SECONDS = 1.0  # seconds before anything is drawn
REDRAW_SECONDS = 0.1  # seconds between two drawings
BAR_LENGTH = 24  # characters of the bar itself


class Bar:
    """A progress bar, drawn by its own thread, since compiled searches run no Python code.

    Args:
        stages: the first words of the expected stages, in order.
        shown: False for no bar; there is none either if standard error is not a terminal.
    """

    def __init__(self, stages: Sequence[str], shown: bool = True) -> None:
        self._stages, self._place, self._words = stages, 0, "working"
        self._shown = shown and _on_a_terminal()
        self._began = time.monotonic()
        self._done, self._lock, self._drawn = threading.Event(), threading.RLock(), 0
        self._thread = threading.Thread(target=self._animate, daemon=True)

    def __enter__(self) -> Bar:
        if self._shown:
            self._before = progress.set_listener(self._show_stage)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            progress.set_listener(self._before)
        self.close()

    def close(self) -> None:
        """Removes the bar for good."""
        with self._lock:
            self._done.set()
            self._erase()

    @contextmanager
    def hide(self) -> Iterator[None]:
        """Removes the bar while something else is written."""
        with self._lock:
            self._erase()
            yield

    def _show_stage(self, words: str) -> None:
        self._words = words
        kind = words.partition(" ")[0]
        if kind in self._stages:  # a search that is repeated does not move the bar back
            self._place = max(self._place, self._stages.index(kind))

    def _animate(self) -> None:
        self._done.wait(DELAY_SECONDS)
        while not self._done.is_set():
            with self._lock:
                self._draw()
            self._done.wait(REDRAW_SECONDS)

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
    """The bar as text: finished stages, a mark that moves through the current one, seconds, and words.

    >>> line(1, 2, "searching", 3.0)
    '[############......#.....] 3 s, searching'
    """
    start, end = place * BAR_LENGTH // stages, (place + 1) * BAR_LENGTH // stages
    mark = start + int(elapsed / REDRAW_SECONDS) % (end - start)
    cells = ["#" if at < start or at == mark else "." for at in range(BAR_LENGTH)]
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
    except (OSError, ValueError):  # the terminal is gone
        pass


class Output:
    """The output of a verb; it removes the progress bar before it writes.

    Args:
        bar: the progress bar.
        quiet: True to leave out words; data is always written.

    Attributes:
        must_arrive: whether `emit` raises BrokenPipeError if nobody reads the data.
    """

    def __init__(self, bar: Bar, quiet: bool) -> None:
        self._bar, self._quiet = bar, quiet
        self.must_arrive = False

    def say(self, words: str) -> None:
        """Writes a line of messages to standard error."""
        if not self._quiet:
            with self._bar.hide():
                write_message(words)

    def emit(self, lines: Iterable[str]) -> None:
        """Writes lines of data to standard output, and removes the bar for good."""
        self.close_bar()
        if self.must_arrive:
            write_lines(lines)
        else:
            with stop_at_closed_pipe():
                write_lines(lines)

    def close_bar(self) -> None:
        """Removes the bar for good, before something else writes to standard output."""
        self._bar.close()

    def emit_document(self, document: Mapping[str, Any]) -> None:
        """Writes data as one JSON document."""
        self.emit([as_json(document)])


def write_message(words: str) -> None:
    """Writes a line to standard error, if it is open."""
    if sys.stderr is not None:
        with suppress(OSError):  # a failed message must not lose the result
            sys.stderr.write(f"{words}\n")
            sys.stderr.flush()


def write_lines(lines: Iterable[str]) -> None:
    """Writes lines to standard output."""
    with standard_output():
        sys.stdout.writelines(f"{line}\n" for line in lines)


@contextmanager
def standard_output() -> Iterator[None]:
    """Makes sure that what the block writes to standard output arrives; raises UsageError if it does not."""
    if sys.stdout is None:
        raise _refusal("it is closed")
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as refusal:
        abandon_output()
        raise _refusal(refusal.strerror or str(refusal)) from None


@contextmanager
def stop_at_closed_pipe() -> Iterator[None]:
    """Ends the block when nobody reads standard output any more; the exit code is the verb's, whoever reads."""
    try:
        yield
    except BrokenPipeError:
        abandon_output()


def flush_output() -> None:
    """Flushes standard output while a failure can still be reported."""
    if sys.stdout is not None:
        with stop_at_closed_pipe():
            write_lines([])


def as_json(document: Mapping[str, Any]) -> str:
    """A document as JSON text without NaN, Infinity and control characters."""
    import json

    from hetdp.text import escape_json

    return escape_json(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2))


def use_utf_8() -> None:
    """Makes both standard streams accept any character, whatever the locale is."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def flush_messages() -> None:
    """Flushes standard error; discards what cannot be written, since Python would try again and exit with code 120."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except (OSError, ValueError):  # the latter if it is closed
        abandon_output(sys.stderr)


def abandon_output(stream: TextIO | None = None) -> None:
    """Discards what could not be written, to standard output by default, so that Python does not try again at exit."""
    try:
        place = (sys.stdout if stream is None else stream).fileno()
    except (AttributeError, OSError, ValueError):  # not a real stream
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, place)
    os.close(nowhere)


def _refusal(reason: str) -> Exception:
    from hetdp.errors import UsageError

    return UsageError(f"cannot write to standard output: {reason}", "results go there")

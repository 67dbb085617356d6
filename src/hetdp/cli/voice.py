"""How the command line speaks: data on standard output, words on standard error."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from hetdp.cli.bar import Bar


class Voice:
    """What a verb speaks with; the progress bar makes way for it.

    Args:
        bar: the bar that may stand in the last line of the terminal.
        quiet: whether words are left out; data never is.
    """

    def __init__(self, bar: Bar, quiet: bool) -> None:
        self._bar, self._quiet = bar, quiet

    def say(self, words: str) -> None:
        """A line for people."""
        if not self._quiet:
            with self._bar.hidden():
                complain(words)

    def emit(self, lines: Iterable[str]) -> None:
        """Lines of data; nothing that takes long comes after them."""
        self.make_way()
        write_lines(lines)

    def make_way(self) -> None:
        """Takes the bar away for good, for others that write to standard output."""
        self._bar.close()

    def emit_document(self, document: Mapping[str, Any]) -> None:
        """Data as one JSON document."""
        self.emit([as_json(document)])


def complain(words: str) -> None:
    """A line on standard error, if there is one."""
    if sys.stderr is not None:
        with suppress(OSError):  # words that nobody can hear must not cost the result
            sys.stderr.write(f"{words}\n")
            sys.stderr.flush()


def write_lines(lines: Iterable[str]) -> None:
    """Lines on standard output."""
    with standard_output():
        sys.stdout.writelines(f"{line}\n" for line in lines)


@contextmanager
def standard_output() -> Iterator[None]:
    """What is written to standard output meanwhile gets there, or it is an error."""
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


def finish() -> None:
    """Writes what is still waiting, while a failure can still be told."""
    if sys.stdout is not None:
        write_lines([])


def as_json(document: Mapping[str, Any]) -> str:
    """A document as text that any JSON reader and any terminal takes: no NaN, no Infinity, no control characters."""
    import json

    from hetdp.errors import printable_json

    return printable_json(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2))


def speak_utf_8() -> None:
    """Lets both streams take any character, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def abandon_output() -> None:
    """Forgets what could not be written, so that Python does not try again when it ends."""
    try:
        place = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):  # not a real stream
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, place)
    os.close(nowhere)


def _refusal(reason: str) -> Exception:
    from hetdp.errors import UsageError

    return UsageError(f"cannot write to standard output: {reason}", "results go there")

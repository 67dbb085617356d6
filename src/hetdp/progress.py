"""Progress of long calculations: the current stage is reported to a listener, if there is one."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in hetdp/__init__.py: this module must cost nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    Listener = Callable[[str], None]

_listener: Listener | None = None
_stage = "working"
_explained: set[str] = set()


def report_stage(words: str) -> None:
    """Reports the work that begins now; the first word names its kind.

    >>> heard = []
    >>> before = set_listener(heard.append)
    >>> report_stage("searching")
    >>> set_listener(before) == heard.append, heard
    (True, ['searching'])
    """
    global _stage
    _stage = words
    if _listener is not None:
        _listener(words)


def current_stage() -> str:
    """The stage that was reported last."""
    return _stage


def explain_wait(words: str) -> None:
    """Reports a stage that is waited for; without a listener, a notebook shows it as a line, once."""
    report_stage(words)
    if _listener is None and "ipykernel" in sys.modules and words not in _explained and sys.stderr is not None:
        _explained.add(words)
        sys.stderr.write(f"hetdp: {words}\n")


def set_listener(listener: Listener | None) -> Listener | None:
    """Sets the listener, or None for no listener; returns the previous one."""
    global _listener
    before, _listener = _listener, listener
    return before

"""Progress of long calculations: the current stage is reported to a listener, if there is one."""

from __future__ import annotations

TYPE_CHECKING = False  # as in hetdp/__init__.py: this module must cost nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    Listener = Callable[[str], None]

_listener: Listener | None = None


def report_stage(words: str) -> None:
    """Reports the work that begins now; the first word names its kind.

    >>> heard = []
    >>> before = set_listener(heard.append)
    >>> report_stage("searching")
    >>> set_listener(before) == heard.append, heard
    (True, ['searching'])
    """
    if _listener is not None:
        _listener(words)


def set_listener(listener: Listener | None) -> Listener | None:
    """Sets the listener, or None for no listener; returns the previous one."""
    global _listener
    before, _listener = _listener, listener
    return before

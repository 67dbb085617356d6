"""What is being done now, told to whoever listens; without a listener, nothing happens."""

from __future__ import annotations

TYPE_CHECKING = False  # as in hetdp/__init__.py: this module must cost nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    Listener = Callable[[str], None]

_listener: Listener | None = None


def stage(words: str) -> None:
    """Says what is being done from now on; the first word names the kind of work.

    >>> heard = []
    >>> before = listen(heard.append)
    >>> stage("searching")
    >>> listen(before) == heard.append, heard
    (True, ['searching'])
    """
    if _listener is not None:
        _listener(words)


def listen(listener: Listener | None) -> Listener | None:
    """Sets who is told, or None for nobody; returns who was told before."""
    global _listener
    before, _listener = _listener, listener
    return before

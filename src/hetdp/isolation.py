"""The working folder holds data, never code and never settings.

A folder with a problem or a table in it may come from somebody else. Python, numba and matplotlib look there for
modules and settings of their own, and these can start programs. What hetdp starts and loads does not look there.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_lock = threading.RLock()


@contextmanager
def overlooked(name: str) -> Iterator[None]:
    """Makes a library that is imported meanwhile overlook a file of the working folder.

    Libraries that read such a file when they are imported offer no way to forbid it. They ask `os.path.exists` first,
    by the bare name of the file. Meanwhile that says no, for this name alone; another thread would notice only if it
    asked for the same name. The working folder of the process stays as it is.

    Args:
        name: the bare name of the file, such as ``matplotlibrc``.
    """
    with _lock:
        exists = os.path.exists
        os.path.exists = lambda path: path != name and exists(path)
        try:
            yield
        finally:
            os.path.exists = exists


def python_command(*arguments: str) -> list[str]:
    """The command that starts this Python, with no module of the working folder or of a script's folder in reach."""
    return [sys.executable, "-P", *arguments]


def python_environment() -> dict[str, str]:
    """The environment for such a Python: this very hetdp comes first, and no path depends on the working folder.

    PYTHONPATH is the user's own, so that it is kept. An empty entry means the working folder, and is left out.
    """
    own = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    paths = [str(Path(__file__).resolve().parents[1]), *map(os.path.abspath, own)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"}


def _renew() -> None:
    """In a forked child: whichever thread of the parent held the lock does not live here to release it."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)

"""Keeps code and settings in the working folder from being loaded.

A folder with a problem or a table may come from somebody else. Python, numba and matplotlib look there for modules and
settings, and these can run programs. The processes that hetdp starts and the libraries that it imports ignore them.
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
def ignore_file(name: str) -> Iterator[None]:
    """Hides a file of the working folder from a library that is imported inside the block.

    Libraries that read such a file on import offer no way to prevent it. They call `os.path.exists` with the bare name
    of the file first. Inside the block that returns False for this name alone; another thread notices only if it asks
    for the same name. The working folder of the process does not change.

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
    """The command that starts this Python without the working folder or the folder of a script on its path."""
    return [sys.executable, "-P", *arguments]


def python_environment() -> dict[str, str]:
    """The environment for `python_command`: this copy of hetdp comes first, and no path depends on the working folder.

    PYTHONPATH belongs to the user and is kept. An empty entry means the working folder and is left out.
    """
    own = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    paths = [str(Path(__file__).resolve().parents[1]), *map(os.path.abspath, own)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"}


def _renew_lock() -> None:
    """Replaces the lock in a forked child: the thread that held it exists in the parent only."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

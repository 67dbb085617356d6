"""One connection to an SQLite file, kept open between transactions: to open one takes longer than to spend.

It holds no lock meanwhile, and is used again only where a new one would find the same file, in the same state, with the
same rights: SQLite trusts a counter inside the file to know whether others wrote to it, and we trust no file that far.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

from sqlalchemy.engine import Connection

from hetdp.release.ledger.file import File

IS_KEPT = sys.platform != "win32"  # where an open file cannot be removed, none is kept open
STATE = ("st_dev", "st_ino", "st_mode", "st_uid", "st_gid", "st_size", "st_mtime_ns", "st_ctime_ns")
FORGET = "PRAGMA shrink_memory"  # whatever was read of the file: the next transaction reads it again


class Turn:
    """One transaction of a process comes after the other; a fork waits until none is under way.

    Attributes:
        under_way: how many have begun and not ended: two where one thread reads while it writes.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.under_way = 0

    def acquire(self, timeout: float = -1) -> bool:
        """Waits for the others; whether they have ended in time."""
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """Lets the next one begin."""
        self._lock.release()


TURN = Turn()
_all: weakref.WeakSet[Kept] = weakref.WeakSet()
_left_alone: list[Connection] = []  # of another process: to close one would be to use it


class Kept:
    """A place for one connection. Whoever takes it has TURN, and gives it back or closes it.

    Args:
        opened: makes a new one.
    """

    def __init__(self, opened: Callable[[], Connection]) -> None:
        self._opened = opened
        self._idle: list[tuple[Connection, Any]] = []
        weakref.finalize(self, _close, self._idle)
        _all.add(self)

    def take(self, file: File) -> Connection:
        """The connection that was given back, if it still is what a new one would be; else a new one."""
        while self._idle:
            connection, state = self._idle.pop()
            if state == _state(file):
                return connection
            _end(connection, state)
        return self._opened()

    def give_back(self, connection: Connection, file: File | None) -> None:
        """Keeps a connection whose transaction is over; None says that it is not to be used again."""
        if not IS_KEPT or file is None or self._idle:
            connection.close()
            return
        try:
            connection.connection.driver_connection.execute(FORGET)  # type: ignore[union-attr]
        except BaseException:
            connection.close()
            raise
        self._idle.append((connection, _state(file)))

    def close(self) -> None:
        """Closes the connection that waits, if there is one."""
        _close(self._idle)


def _state(file: File) -> tuple[Any, ...]:
    """What a file must still be, and who we must be, for an open connection to be as good as a new one."""
    who = (os.geteuid(), os.getegid()) if IS_KEPT else ()
    return (os.getpid(), *who, file.path, *(getattr(file.state, name) for name in STATE))


def _close(idle: list[tuple[Connection, Any]]) -> None:
    while idle:
        _end(*idle.pop())


def _end(connection: Connection, state: tuple[Any, ...]) -> None:
    if state[0] == os.getpid():
        connection.close()
    else:
        _left_alone.append(connection)


def _before_fork() -> None:
    TURN.acquire()
    for kept in list(_all):
        kept.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=TURN.release, after_in_child=TURN.release)

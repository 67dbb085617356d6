"""One open connection to an SQLite file between transactions: opening one takes longer than a spend.

`TURN` lets the transactions of a process run one after the other, whatever their database, and makes a fork wait until
none is under way.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Connection

if TYPE_CHECKING:
    from hetdp.releases.ledger.sqlite_file import File

IS_CACHED = sys.platform != "win32"  # Windows does not remove a file that is open
STAT_FIELDS = ("st_dev", "st_ino", "st_mode", "st_uid", "st_gid", "st_size", "st_mtime_ns", "st_ctime_ns")
SHRINK_MEMORY = "PRAGMA shrink_memory"  # drops cached pages: the next transaction reads the file again


class TurnLock:
    """A lock that serialises the transactions of a process and delays forks until none is running.

    Attributes:
        under_way: how many have begun and not ended: two if a thread reads while it writes.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.under_way = 0

    def acquire(self, timeout: float = -1) -> bool:
        """Waits for the others; returns whether they ended in time."""
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """Lets the next transaction begin."""
        self._lock.release()


TURN = TurnLock()
_all: weakref.WeakSet[ConnectionCache] = weakref.WeakSet()
_of_parents: list[Connection] = []  # opened by a parent process: closing one would use it


class ConnectionCache:
    """A cache of one connection. The caller that takes it holds TURN, and gives it back or closes it.

    Args:
        connect: makes a new connection.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._idle: list[tuple[Connection, Any]] = []
        weakref.finalize(self, _close, self._idle)
        _all.add(self)

    def take(self, file: File) -> Connection:
        """The cached connection if it is still valid; otherwise a new one."""
        while self._idle:
            connection, state = self._idle.pop()
            if state == _state(file):
                return connection
            _end(connection, state)
        return self._connect()

    def give_back(self, connection: Connection, file: File | None) -> None:
        """Caches a connection whose transaction is over; without a file it is closed."""
        if not IS_CACHED or file is None or self._idle:
            connection.close()
            return
        try:
            connection.connection.driver_connection.execute(SHRINK_MEMORY)  # type: ignore[union-attr]
        except BaseException:
            connection.close()
            raise
        self._idle.append((connection, _state(file)))

    def close(self) -> None:
        """Closes the cached connection, if there is one."""
        _close(self._idle)


def _state(file: File) -> tuple[Any, ...]:
    """The state of the file and of the process; if it is the same, an open connection is as good as a new one."""
    user = (os.geteuid(), os.getegid()) if IS_CACHED else ()
    return (os.getpid(), *user, file.path, *(getattr(file.state, name) for name in STAT_FIELDS))


def _close(idle: list[tuple[Connection, Any]]) -> None:
    while idle:
        _end(*idle.pop())


def _end(connection: Connection, state: tuple[Any, ...]) -> None:
    if state[0] == os.getpid():
        connection.close()
    else:
        _of_parents.append(connection)


def _before_fork() -> None:
    TURN.acquire()
    for cache in list(_all):
        cache.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=TURN.release, after_in_child=TURN.release)

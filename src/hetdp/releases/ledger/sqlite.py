"""Statements as text: SQLAlchemy puts each together once for SQLite, which then is asked without a detour."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cached_property
from typing import Any

from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Connection

from hetdp.releases.ledger.file import File

NAMED: Any = namedtuple  # by names that are known at run time only
STREAMED = {"yield_per": 1000}  # rows that a server sends at a time, so that it is heard of again and again
DIALECT = sqlite.dialect(paramstyle="qmark")


class Statement:
    """A statement that is run again and again. To send it through all of SQLAlchemy takes longer than to run it.

    Args:
        statement: of SQLAlchemy; its parameters have names, and a column of the result has one, too.
        columns: of an INSERT or UPDATE, the columns that are written.
    """

    def __init__(self, statement: Any, columns: tuple[str, ...] = ()) -> None:
        self._statement = statement
        self._columns = columns

    @cached_property
    def _text(self) -> tuple[str, tuple[str, ...], dict[str, Any]]:
        compiled = self._statement.compile(dialect=DIALECT, column_keys=list(self._columns) or None)
        fixed = {name: value for name, value in compiled.params.items() if value is not None}
        return str(compiled), tuple(compiled.positiontup or ()), fixed

    @cached_property
    def _row(self) -> Any:
        return NAMED("Row", [column.key for column in self._statement.selected_columns])._make

    def rows(self, connection: Connection, **values: Any) -> list[Any]:
        """Everything it finds; the columns are attributes."""
        if connection.dialect.name != "sqlite":
            return list(connection.execute(self._statement, values).all())
        return [self._row(row) for row in self._run(connection, values)]

    def each(self, connection: Connection, **values: Any) -> Iterator[Any]:
        """The same one by one, where there may be many."""
        if connection.dialect.name != "sqlite":
            with closing(connection.execute(self._statement, values, execution_options=STREAMED)) as found:
                yield from found
            return
        for row in self._run(connection, values):
            yield self._row(row)

    def write(self, connection: Connection, **values: Any) -> None:
        """Inserts or updates."""
        if connection.dialect.name != "sqlite":
            connection.execute(self._statement, values)
            return
        self._run(connection, values)

    def _run(self, connection: Connection, values: dict[str, Any]) -> Any:
        text, names, fixed = self._text
        given = fixed | values
        driver: Any = connection.connection.driver_connection
        return driver.execute(text, [given[name] for name in names])


def read_pragma(connection: Connection, what: str) -> list[Any]:
    """What SQLite says of itself."""
    driver: Any = connection.connection.driver_connection
    found: list[Any] = driver.execute(f"PRAGMA {what}").fetchall()
    return found


# One connection to an SQLite file, kept open between transactions: to open one takes longer than to spend.


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
_all: weakref.WeakSet[ConnectionCache] = weakref.WeakSet()
_left_alone: list[Connection] = []  # of another process: to close one would be to use it


class ConnectionCache:
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

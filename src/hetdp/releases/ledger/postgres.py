"""A ledger in a PostgreSQL database: connections that wait for a bounded time, and what the server's errors mean.

A server that is stopped, or behind a cut network, enforces no limit of its own. So the client has one as well: it gives
up a server that says nothing for too long, and closes the connection.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
import sqlalchemy
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from hetdp.errors import InterruptedSpend, LedgerError
from hetdp.releases.ledger import schema
from hetdp.releases.ledger.database import (
    CREATING,
    CollisionError,
    CommitDoubt,
    Database,
    Result,
    UnsureError,
    give_up,
    is_writing,
    timeout_of,
)

CONNECT_SECONDS = 10  # seconds for each host of the address
STATEMENT_SECONDS = 15  # seconds for a statement, beside those in which it may wait for others
GRACE_SECONDS = 5  # seconds that the client waits longer than the server should
LONGEST_TIMEOUT = 1_000_000  # seconds; in effect no limit
IDLE_SECONDS = 60  # seconds, at least, in which a transaction may do nothing while it keeps others waiting
TCP = {  # what the address does not say itself
    "connect_timeout": CONNECT_SECONDS,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 1000 * (STATEMENT_SECONDS + GRACE_SECONDS),
}
NO_ANSWER = "the server did not answer in time"
BUSY = "somebody else is writing to it, and did not finish in time"
CONNECTION_LOST = "the connection to the server was lost"
STATES = {  # by the beginning of SQLSTATE, the longest that fits; the server's own words may contain private data
    "08": CONNECTION_LOST,
    "22P05": "it holds what is not text",
    "25006": "it cannot be written to: the server or this database is read-only, or a standby",
    "25P03": "the server ended this transaction, which did nothing for too long",
    "28": "this user is not allowed to connect",
    "3D000": "there is no such database",
    "40": "too many others are writing to it at the same time",
    "42501": "this user lacks the permission",
    "42P01": "it is not a ledger",
    "42P07": "something already exists there",
    "42703": "it is not a ledger",
    "53": "the server has no room left",
    "53300": "the server has too many connections",
    "55P03": BUSY,
    "57": "the server was shut down, or ended this connection",
    "57014": NO_ANSWER,
    "57P03": "the server is starting or shutting down",
    "57P04": "the database was dropped",
    "57P05": "the server ended this connection, which did nothing for too long",
    "58": "the server cannot read or write its disk",
    "XX": "it is damaged",
}
logging.getLogger("psycopg").addHandler(logging.NullHandler())  # Python would print its warnings, which name the server
COLLISIONS = ("40001", "40P01")  # nothing has happened; the same transaction may succeed when it is tried again


class PostgresDatabase(Database):
    """A ledger on a server. Whoever may change its tables may change anything, so their shape is not checked.

    Args:
        url: the address.
        timeout: how many seconds to wait for others who write.
    """

    def __init__(self, url: URL, timeout: float) -> None:
        port = f":{url.port}" if url.port else ""
        host = (url.host or "").rpartition("@")[2]  # the part before it may contain the end of a password
        super().__init__(f"postgresql://{host}{port}/{url.database or ''}", timeout)
        self._engine = _engine_of(url)

    def connect(self) -> Connection:
        """A new connection; none is cached, since it would hold a process of the server."""
        return self._engine.connect()

    def commit(self, connection: Connection, doubt: CommitDoubt) -> None:
        """Commits; the server may have committed even if its confirmation is lost."""
        driver: Any = connection.connection.driver_connection
        try:
            try:
                driver.commit()
                connection.commit()
            except Exception as error:
                give_up(connection)
                original = _original(error)
                if not _is_undone(original):
                    raise UnsureError(_reason_of(original, driver)) from None
                raise self.explain(error, driver) from None
            give_up(connection)
        except KeyboardInterrupt:
            give_up(connection)
            raise InterruptedSpend(doubt.unknown) from None

    def explain(self, error: Exception, driver: Any) -> LedgerError | CollisionError:
        """The reason of the server's error; a collision if the same transaction may succeed when it is tried again."""
        original = _original(error)
        reason = _reason_of(original, driver)
        return CollisionError(reason) if _state_of(original) in COLLISIONS else self.ledger_error(reason)

    def create(
        self, fill: Callable[[Database, Connection], Result], is_there: Callable[[Connection, Result], bool]
    ) -> None:
        """Makes the tables in one transaction."""

        def make(connection: Connection) -> Result:
            if sqlalchemy.inspect(connection).has_table(schema.head.name):
                raise self.exists_error()
            return fill(self, connection)

        self.write(make, is_there, CREATING)


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is closed if the server says nothing for too long.

    Attributes:
        patience: how many seconds to wait for the end of one statement.
        is_silent: whether that was too long once.
    """

    patience: float = CONNECT_SECONDS + GRACE_SECONDS
    is_silent = False

    def wait(self, *given: Any, **named: Any) -> Any:
        """Waits for the server, as its base class does, but for a bounded time."""
        done, lock, handled = threading.Event(), threading.Lock(), sys.exc_info()[1]

        def give_up() -> None:
            with lock:
                if not done.is_set():
                    self.is_silent = True
                    _shut_down(self.pgconn.socket)

        timer = threading.Timer(self.patience, give_up)
        timer.daemon = True
        timer.start()
        try:
            return super().wait(*given, **named)
        except psycopg.Error as error:
            interrupt = error.__context__
            if isinstance(interrupt, KeyboardInterrupt) and interrupt is not handled:
                raise interrupt from None  # the driver then tried to cancel the statement, which failed as well
            raise
        finally:
            timer.cancel()
            with lock:  # from now on, the number may mean another file
                done.set()


def _shut_down(number: int) -> None:
    """Ends both directions of a socket, which wakes up whoever waits for it."""
    with suppress(OSError, ValueError):
        found = socket.socket(fileno=number)
        try:
            found.shutdown(socket.SHUT_RDWR)
        finally:
            found.detach()


def _engine_of(url: URL) -> Engine:
    """The SQLAlchemy engine for the server; limits in the address take precedence."""
    given = {name: value for name, value in TCP.items() if name not in url.query}
    engine = sqlalchemy.create_engine(
        url.set(drivername="postgresql+psycopg"),
        poolclass=NullPool,
        connect_args=given
        | {"prepare_threshold": None},  # a pooler may lead each transaction to another server process
    )
    sqlalchemy.event.listen(engine, "do_connect", _connect)
    sqlalchemy.event.listen(engine, "begin", _begin)
    return engine


def _connect(_dialect: Any, _record: Any, given: Any, named: Any) -> Any:
    return BoundedConnection.connect(*given, **named)


def _begin(connection: Connection) -> None:
    """Sets the limits of a transaction: nothing in it waits for ever, and writers run one after the other.

    A writer locks the head of the chain first, and then sees, statement by statement, what was committed before that
    (READ COMMITTED), whatever the server's own default is; so no two of them can collide.
    """
    driver: Any = connection.connection.driver_connection
    writes, timeout = is_writing(connection), min(timeout_of(connection), LONGEST_TIMEOUT)
    driver.patience = timeout + STATEMENT_SECONDS + GRACE_SECONDS
    level = "READ COMMITTED" if writes else "REPEATABLE READ READ ONLY"
    settings = [f"SET TRANSACTION ISOLATION LEVEL {level}"]
    options = f"{os.environ.get('PGOPTIONS', '')} {connection.engine.url.query.get('options', '')}"
    limits = {
        "lock_timeout": timeout,
        "statement_timeout": timeout + STATEMENT_SECONDS,
        "idle_in_transaction_session_timeout": max(IDLE_SECONDS, 2 * timeout),
    }
    own = {name: seconds for name, seconds in limits.items() if name not in options}
    settings += [f"SET LOCAL {name} = {max(1, int(seconds * 1000))}" for name, seconds in own.items()]
    settings += ["SET LOCAL synchronous_commit = on"] * writes
    connection.exec_driver_sql("; ".join(settings))


def _original(error: BaseException) -> BaseException:
    """The error of the driver."""
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def _state_of(error: BaseException) -> str | None:
    """The SQLSTATE of an error; None if it did not come from the server."""
    return error.sqlstate if isinstance(error, psycopg.Error) else None


def _reason_of(error: BaseException, driver: Any = None) -> str:
    """The meaning of a driver's error, in words."""
    is_silent = isinstance(driver, BoundedConnection) and driver.is_silent
    if is_silent or isinstance(error, psycopg.errors.ConnectionTimeout):
        return NO_ANSWER
    state = _state_of(error)
    if state is None:
        return (
            CONNECTION_LOST
            if driver is not None
            else "the server cannot be reached, or does not allow this user to connect"
        )
    fitting = [start for start in STATES if state.startswith(start)]
    return STATES[max(fitting, key=len)] if fitting else f"the server refused ({state})"


def _is_undone(error: BaseException) -> bool:
    """True if a failed COMMIT certainly did not happen: the server says so itself, and keeps running."""
    if not isinstance(error, psycopg.Error):
        return False
    return error.diag.severity_nonlocalized == "ERROR" and error.sqlstate not in (None, "40003")

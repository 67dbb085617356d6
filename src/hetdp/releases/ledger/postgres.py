"""PostgreSQL: connections that end in bounded time, and what its errors mean.

A server that is stopped, or behind a cut network, enforces no limit of its own. So the client has one as well: a server
that says nothing for too long is given up, and its connection is closed.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
from contextlib import suppress
from typing import Any

import psycopg
import sqlalchemy
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.pool import NullPool

CONNECTING = 10  # seconds for each host of the address
ANSWERING = 15  # seconds for a statement, beside those in which it may wait for others
GRACE = 5  # seconds that the client waits longer than the server should
LONGEST = 1_000_000  # seconds, which is for ever
IDLE = 60  # seconds, at least, in which a transaction may do nothing while it keeps others waiting
TCP = {  # what the address does not say itself
    "connect_timeout": CONNECTING,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 1000 * (ANSWERING + GRACE),
}
SILENT = "the server did not answer in time"
BUSY = "somebody else is writing to it, and did not finish in time"
LOST = "the connection to the server was lost"
STATES = {  # words for the first letters of its states, of which the longest hold; its own may say what is private
    "08": LOST,
    "22P05": "it holds what is no text",
    "25006": "it cannot be written to: the server or this database is read-only, or a standby",
    "25P03": "the server ended this transaction, which did nothing for too long",
    "28": "this user is not let in",
    "3D000": "there is no such database",
    "40": "too many others are writing to it at the same time",
    "42501": "this user may not do that",
    "42P01": "it is not a ledger",
    "42P07": "there is something already",
    "42703": "it is not a ledger",
    "53": "the server has no room left",
    "53300": "the server has too many connections",
    "55P03": BUSY,
    "57": "the server was shut down, or ended this connection",
    "57014": SILENT,
    "57P03": "the server is starting or shutting down",
    "57P04": "the database was dropped",
    "57P05": "the server ended this connection, which did nothing for too long",
    "58": "the server cannot read or write its disk",
    "XX": "it is damaged",
}
logging.getLogger("psycopg").addHandler(logging.NullHandler())  # Python would print its warnings, which name the server
COLLISIONS = ("40001", "40P01")  # nothing has happened; the same transaction may succeed when it is tried again


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is closed if the server says nothing for too long.

    Attributes:
        patience: how many seconds to wait for the end of one statement.
        is_silent: whether that was too long once.
    """

    patience: float = CONNECTING + GRACE
    is_silent = False

    def wait(self, *given: Any, **named: Any) -> Any:
        """Waits for the server, as its base class does, but not for ever."""
        done, lock, handled = threading.Event(), threading.Lock(), sys.exc_info()[1]

        def give_up() -> None:
            with lock:
                if not done.is_set():
                    self.is_silent = True
                    _shut(self.pgconn.socket)

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


def _shut(number: int) -> None:
    """Ends both directions of a socket, which wakes up whoever waits for it."""
    with suppress(OSError, ValueError):
        found = socket.socket(fileno=number)
        try:
            found.shutdown(socket.SHUT_RDWR)
        finally:
            found.detach()


def engine_of(url: URL) -> Engine:
    """What connects to a server; what the address says about waiting holds."""
    given = {name: value for name, value in TCP.items() if name not in url.query}
    engine = sqlalchemy.create_engine(
        url.set(drivername="postgresql+psycopg"),
        poolclass=NullPool,
        connect_args=given
        | {"prepare_threshold": None},  # a pooler may lead each transaction to another server process
    )
    sqlalchemy.event.listen(engine, "do_connect", _connect)
    return engine


def _connect(_dialect: Any, _record: Any, given: Any, named: Any) -> Any:
    return BoundedConnection.connect(*given, **named)


def begin(connection: Connection, writes: bool, timeout: float) -> None:
    """Sets what holds for a transaction: nothing in it waits for ever, and those who write come one after the other.

    Whoever writes locks the head of the chain first, and then sees, statement by statement, what was committed before
    that (READ COMMITTED), whatever the server's own default is; so no two of them can collide.
    """
    driver: Any = connection.connection.driver_connection
    timeout = min(timeout, LONGEST)
    driver.patience = timeout + ANSWERING + GRACE
    level = "READ COMMITTED" if writes else "REPEATABLE READ READ ONLY"
    settings = [f"SET TRANSACTION ISOLATION LEVEL {level}"]
    options = f"{os.environ.get('PGOPTIONS', '')} {connection.engine.url.query.get('options', '')}"
    limits = {
        "lock_timeout": timeout,
        "statement_timeout": timeout + ANSWERING,
        "idle_in_transaction_session_timeout": max(IDLE, 2 * timeout),
    }
    own = {name: seconds for name, seconds in limits.items() if name not in options}
    settings += [f"SET LOCAL {name} = {max(1, int(seconds * 1000))}" for name, seconds in own.items()]
    settings += ["SET LOCAL synchronous_commit = on"] * writes
    connection.exec_driver_sql("; ".join(settings))


def reason_of(error: BaseException, driver: Any = None) -> str:
    """What an error means, in words of ours."""
    if getattr(driver, "is_silent", False) or isinstance(error, psycopg.errors.ConnectionTimeout):
        return SILENT
    state = getattr(error, "sqlstate", None)
    if state is None:
        return LOST if driver is not None else "the server cannot be reached, or does not let this user in"
    fitting = [start for start in STATES if state.startswith(start)]
    return STATES[max(fitting, key=len)] if fitting else f"the server refused ({state})"


def is_undone(error: BaseException) -> bool:
    """Whether a failed COMMIT has certainly not happened: the server says so itself, and lives on."""
    diagnosis = getattr(error, "diag", None)
    severity = getattr(diagnosis, "severity_nonlocalized", None)
    return severity == "ERROR" and getattr(error, "sqlstate", None) not in (None, "40003")

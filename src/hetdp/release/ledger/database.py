"""Where a ledger lives: an SQLite file or a PostgreSQL database; transactions, and what can go wrong with them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from hetdp.errors import LedgerError, UsageError
from hetdp.release.ledger.address import no_address, text_of, url_of
from hetdp.release.ledger.kept import TURN, Kept

CONNECTING = 10  # seconds
CLOSED = "it cannot be opened"
EFFECTIVE: dict[str, Any] = {"effective_ids": True} if os.access in os.supports_effective_ids else {}
REASONS = {  # what SQLite says, in words of ours: those of a driver may hold what is nobody's business
    sqlite3.SQLITE_BUSY: "somebody else is writing to it, and did not finish in time",
    sqlite3.SQLITE_LOCKED: "somebody else is writing to it, and did not finish in time",
    sqlite3.SQLITE_READONLY: "it cannot be written to",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_NOTADB: "it is not a ledger",
    sqlite3.SQLITE_CANTOPEN: CLOSED,
    sqlite3.SQLITE_PERM: CLOSED,
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written",
}
STATES = {  # the same for the first letters of PostgreSQL's states
    "55P03": "somebody else is writing to it, and did not finish in time",
    "25006": "it cannot be written to",
    "42501": "this user may not do that",
    "42P01": "it is not a ledger",
    "42703": "it is not a ledger",
    "28": "this user is not let in",
    "3D000": "there is no such database",
    "53": "the server has no room left",
    "XX": "it is damaged",
}
PRAGMAS = ("synchronous = EXTRA", "trusted_schema = OFF", "cell_size_check = ON")
WRITES, LIMIT = "hetdp_writes", "hetdp_timeout"  # what a transaction is begun with


class Database:
    """A place for a ledger. One transaction of a process comes after the other, and forks share no connection.

    Args:
        address: the path of an SQLite file, or the URL of a PostgreSQL database.
        timeout: how many seconds to wait for others who write.
    """

    def __init__(self, address: str | os.PathLike[str], timeout: float) -> None:
        self.timeout = timeout
        self.path: Path | None = None
        text = text_of(address)
        url = url_of(text)
        if url is None or url.drivername.startswith("sqlite"):
            path = Path(text if url is None else url.database or "")
            self.path, self.shown = path.absolute(), str(path)  # wherever the process goes
            self._engine = _sqlite(self.path, timeout)
        else:
            port = f":{url.port}" if url.port else ""
            host = (url.host or "").rpartition("@")[2]  # before it may stand the end of a password
            self.shown = f"postgresql://{host}{port}/{url.database or ''}"
            self._engine = _postgres(url)
        sqlalchemy.event.listen(self._engine, "begin", _begin)
        self._kept = Kept(self._engine.connect)

    def at(self, path: Path) -> Database:
        """The same kind of database in another file."""
        return Database(path, self.timeout)

    def unusable(self, what: str, rule: str = "nothing was spent, and no answer was given") -> LedgerError:
        """An error about this ledger."""
        return LedgerError(self.shown, what, rule)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that nobody else writes beside; it is durable when this ends, or nothing has happened."""
        with self._connected(True) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A look at one moment of the ledger."""
        with self._connected(False) as connection:
            yield connection

    @contextmanager
    def _connected(self, writes: bool) -> Iterator[Connection]:
        if not TURN.acquire(timeout=self.timeout):
            raise self.unusable("another thread is writing to it, and did not finish in time")
        try:
            file = self._file()
            with self._told(), self._open(file) as connection:
                connection.execution_options(**{WRITES: writes, LIMIT: self.timeout})
                with connection.begin():
                    yield connection
            if writes and not self._is_still(file):
                rule = "no answer was given; the file that is here now does not hold what was written"
                raise self.unusable("it was replaced or removed while it was written to", rule)
        finally:
            TURN.release()

    @contextmanager
    def _open(self, file: os.stat_result | None) -> Iterator[Connection]:
        """A connection; that to a file is kept for the next transaction, unless this one fails."""
        if file is None:
            with self._engine.connect() as connection:
                yield connection
            return
        connection = self._kept.take(file)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._kept.give_back(connection, self._same(file))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of databases in our words."""
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            reason = _reason(error)
            is_shut = reason == CLOSED and self.path is not None and not os.access(self.path, os.R_OK, **EFFECTIVE)
            raise self.unusable(f"{reason}: this user may not read it" if is_shut else reason) from None
        except (OverflowError, UnicodeError):  # numbers and text in the file that no database holds
            raise self.unusable("it is damaged") from None

    def _file(self) -> os.stat_result | None:
        """The file under the path of the ledger; None for a server."""
        if self.path is None:
            return None
        try:
            if self.path.is_file():
                return self.path.stat()
            what = "it is no file" if self.path.exists() else "there is no ledger here"
        except PermissionError:
            raise self.unusable(f"{CLOSED}: this user may not look into its folder") from None
        except OSError:
            what = "there is no ledger here"
        raise self.unusable(what, "hetdp ledger init makes one, hetdp.Ledger.create in Python")

    def _is_still(self, file: os.stat_result | None) -> bool:
        """Whether the path still leads to the same file; an open one may long have another name, or none."""
        return file is None or self._same(file) is not None

    def _same(self, file: os.stat_result) -> os.stat_result | None:
        """The file under the path as it is now, if it is the same one."""
        with suppress(OSError):
            now = None if self.path is None else self.path.stat()
            return now if now is not None and os.path.samestat(file, now) else None
        return None


def _sqlite(path: Path, timeout: float) -> Engine:
    place = f"file:{quote(str(path))}?mode=rw"

    def connect() -> sqlite3.Connection:  # threads take turns with it
        given: Any = {"isolation_level": None, "timeout": timeout, "check_same_thread": False}
        connection: sqlite3.Connection = sqlite3.connect(place, uri=True, **given)
        try:
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    return sqlalchemy.create_engine("sqlite://", creator=connect, poolclass=NullPool)


def _postgres(url: URL) -> Engine:
    try:
        return sqlalchemy.create_engine(
            url.set(drivername="postgresql+psycopg"),
            poolclass=NullPool,
            connect_args={"connect_timeout": CONNECTING},
        )
    except ModuleNotFoundError:
        raise UsageError(
            "PostgreSQL needs psycopg, which is not installed",
            "pip install '.[postgres]' in the folder of hetdp's sources brings it",
        ) from None
    except (SQLAlchemyError, ValueError):
        raise no_address() from None


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options[WRITES] else "BEGIN")
    elif options[WRITES]:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, int(options[LIMIT] * 1000))}")
        connection.exec_driver_sql("SET LOCAL synchronous_commit = on")
    else:
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")


def _reason(error: Exception) -> str:
    original = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(original, "sqlite_errorcode", None)
    if code is not None:
        return REASONS.get(code & 0xFF, "it is damaged, or no ledger")
    state = getattr(original, "sqlstate", None)
    if state is not None:
        return next(
            (words for start, words in STATES.items() if state.startswith(start)), f"the server refused ({state})"
        )
    if isinstance(original, sqlite3.Error):
        return "it is damaged, or no ledger"
    return "the server cannot be reached, or does not let this user in"

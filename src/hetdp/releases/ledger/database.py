"""The address of a ledger: a path, or the URL of a database; what may hold a password is never shown."""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

import sqlalchemy
from sqlalchemy import update
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from hetdp.errors import HetdpError, InterruptedSpend, LedgerError, UsageError
from hetdp.interrupts import uninterrupted
from hetdp.releases.ledger import tables
from hetdp.releases.ledger.file import (
    IN_USE,
    NOTHING_SPENT,
    File,
    find_file,
    finish_creation,
    has_abandoned_journal,
    has_journal,
    has_several_names,
    journal_fault,
    journal_left_behind,
    name_fault,
    resolve_journal,
    sync_folder,
)
from hetdp.releases.ledger.sqlite import TURN, ConnectionCache, Statement

POSTGRES = ("postgres", "postgresql", "postgresql+psycopg")
LIKE_A_URL = re.compile(r"[a-z][\w+.-]+:/|postgres(ql)?(\+\w+)?[:/]", re.IGNORECASE)


def text_of(address: Any) -> str:
    """An address as text that a path or a URL may be."""
    text = os.fspath(address) if isinstance(address, (str, os.PathLike)) else None
    if not isinstance(text, str) or "\0" in text:
        raise no_address()
    try:
        text.encode()
    except UnicodeEncodeError:
        raise no_address() from None
    return text


def url_of(text: str) -> URL | None:
    """The URL, or None where it is a path; what looks like a URL and is none may hold a password."""
    if "://" not in text:
        if LIKE_A_URL.match(text):
            raise no_address()
        return None
    try:
        url = sqlalchemy.make_url(text)
    except (ArgumentError, ValueError):
        raise no_address() from None
    is_file = url.drivername == "sqlite" and url.database and not url.host and "?" not in text
    if url.drivername not in POSTGRES and not is_file:
        raise no_address()
    return url


def no_address() -> UsageError:
    """That it is none; not what it was."""
    rule = "a ledger is a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE"
    return UsageError("this address of a ledger is not understood", rule)


# Where a ledger lives: an SQLite file or a PostgreSQL database; transactions, and what can go wrong with them.


Result = TypeVar("Result")

CLOSED, UNWRITABLE = "it cannot be opened", "it cannot be written to"
LOCKED = "somebody else is writing to it, and did not finish in time"
EFFECTIVE: dict[str, Any] = {"effective_ids": True} if os.access in os.supports_effective_ids else {}
REASONS = {  # what SQLite says, in words of ours: those of a driver may hold what is nobody's business
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_READONLY: UNWRITABLE,
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_NOTADB: "it is not a ledger",
    sqlite3.SQLITE_CANTOPEN: CLOSED,
    sqlite3.SQLITE_PERM: CLOSED,
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written",
}
MOVED = 1032  # SQLITE_READONLY_DBMOVED: the file has another name by now, or none
REPLACED = "it was replaced, moved or removed while it was written to"
BEFORE = (
    "this was written to the file that was here before, and no answer was given. Hint: put that file back and do the"
    " same again"
)
PRAGMAS = ("synchronous = EXTRA", "trusted_schema = OFF", "cell_size_check = ON")
WRITES, LIMIT = "hetdp_writes", "hetdp_timeout"  # what a transaction is begun with
FIRST_PAUSE, LONGEST_PAUSE = 0.01, 1.0  # seconds before a transaction that collided is tried again


class Doubt(NamedTuple):
    """What is said where a commit may or may not have happened.

    Attributes:
        unknown: that nobody knows, and what to do then.
        done: that it has happened, but was not confirmed, and what to do then.
    """

    unknown: str
    done: str


SPENDING = Doubt(
    "it is not known whether this was spent, and no answer was given. Hint: ask the same again, of the same version of"
    " the data: if it was spent, the same answer is given for nothing; if not, it is spent then, once",
    "this was spent, and no answer was given. Hint: ask the same again, of the same version of the data: the answer is"
    " in the ledger and is given for nothing",
)
DECLARING = Doubt(
    "it is not known whether this was written; nothing was spent. Hint: do the same again, which changes nothing if it"
    " was written",
    "this was written; nothing was spent",
)
RECORDING = Doubt(
    "it is not known whether this was recorded. Hint: look at `hetdp ledger history` before you record it again, since"
    " it would be charged twice",
    "this was recorded. Hint: look at `hetdp ledger history`, and do not record it again",
)
MAKING = Doubt(
    "it is not known whether the ledger was made; nothing was spent. Hint: `hetdp ledger status` tells",
    "the ledger was made; nothing was spent",
)


NOTING = Doubt(NOTHING_SPENT, NOTHING_SPENT)
NOTE = Statement(update(tables.head), ("place",))


class _UnsureError(Exception):
    """A commit failed, and may have happened nevertheless."""


class _CollisionError(Exception):
    """A transaction was undone by the server, since others came in its way."""


class _MovedError(Exception):
    """The file is not where it was last written to; that is noted before anything else is written."""


class _Try(Generic[Result]):
    """What came of trying to write: the results of the work, once for each try, and whether the last is durable."""

    def __init__(self) -> None:
        self.results: list[Result] = []
        self.is_done = False


class Database:
    """A place for a ledger. One transaction of a process comes after the other, and forks share no connection.

    Args:
        address: the path of an SQLite file, or the URL of a PostgreSQL database.
        timeout: how many seconds to wait for others who write.
        known_as: the path that the file will have, where it is still being made.
    """

    def __init__(self, address: str | os.PathLike[str], timeout: float, known_as: Path | None = None) -> None:
        self.timeout = timeout
        self.path: Path | None = None
        self._known_as, self._whole = known_as, ""
        self._file: File | None = None  # as the transaction that is under way, or was last, has found it
        self._where: list[Path] = []  # its path, for new connections
        text = text_of(address)
        url = url_of(text)
        if url is None or url.drivername.startswith("sqlite"):
            path = Path(text if url is None else url.database or "")
            self.path, self.shown = path.absolute(), str(path)  # wherever the process goes
        else:
            port = f":{url.port}" if url.port else ""
            host = (url.host or "").rpartition("@")[2]  # before it may stand the end of a password
            self.shown = f"postgresql://{host}{port}/{url.database or ''}"
        self._engine = _postgres(url) if url is not None and self.path is None else _sqlite(self._where, timeout)
        sqlalchemy.event.listen(self._engine, "begin", _begin)
        self._kept = ConnectionCache(self._engine.connect)

    def at(self, path: Path) -> Database:
        """The same kind of database in a file that will get this one's path."""
        return Database(path, self.timeout, None if self.path is None else Path(os.path.realpath(self.path)))

    def unusable(self, what: str, rule: str = NOTHING_SPENT, spent: bool | None = False) -> LedgerError:
        """An error about this ledger."""
        return LedgerError(self.shown, what, rule, spent)

    @property
    def place(self) -> str:
        """What a ledger notes about where it is written to: the inode and the path of its file; empty on a server."""
        if self._file is None:
            return ""
        return self._file.place if self._known_as is None else self._file._replace(path=self._known_as).place

    def write(
        self,
        work: Callable[[Connection], Result],
        is_there: Callable[[Connection, Result], bool],
        doubt: Doubt = SPENDING,
    ) -> Result:
        """Does some work in a transaction that nobody else writes beside; it is durable when this returns.

        Args:
            work: done once; again only if the server undid it, since others came in its way.
            is_there: whether what the work has written is in the ledger; asked where a commit failed.
            doubt: what to say then, if that cannot be found out.

        Raises:
            LedgerError: the ledger cannot be used. Its `spent` says whether the work was done: None if nobody knows.
            InterruptedSpend: Ctrl-C came when it could not be undone any more.
        """
        pause, until = FIRST_PAUSE, time.monotonic() + self.timeout
        tried: _Try[Result] = _Try()
        while True:
            try:
                self._try(work, tried, doubt)
                return tried.results[-1]
            except _UnsureError as unsure:
                return self._found_out(str(unsure), tried.results[-1], is_there, doubt)
            except _MovedError:
                self._note_place()
                continue
            except _CollisionError as collision:
                if time.monotonic() + pause > until:
                    raise self.unusable(str(collision)) from None
            except InterruptedSpend:
                raise
            except KeyboardInterrupt:
                if tried.is_done:
                    raise InterruptedSpend(doubt.done) from None
                raise
            time.sleep(pause * (0.5 + secrets.randbelow(1000) / 1000))  # so that those who collided meet no more
            pause = min(2 * pause, LONGEST_PAUSE)

    def _try(self, work: Callable[[Connection], Result], tried: _Try[Result], doubt: Doubt) -> None:
        with self._turn():
            connection = self._opened()
            try:
                with self._told(connection):
                    self._begin(connection, True)
                    tried.results.append(work(connection))
                self._require_still()
            except BaseException as error:
                self._give_up(connection)
                if isinstance(error, LedgerError) and error.spent is False and self._is_half_done():
                    raise self.unusable(error.what, doubt.unknown, None) from None
                raise
            self._commit(connection, doubt)
            tried.is_done = True

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A look at one moment of the ledger."""
        with self._turn():
            connection = self._opened()
            try:
                with self._told(connection):
                    self._begin(connection, False)
                    yield connection
                    connection.commit()
            except _CollisionError as collision:
                self._give_up(connection)
                raise self.unusable(str(collision)) from None
            except BaseException:
                self._give_up(connection)
                raise
            self._give_back(connection)

    def settle(self) -> None:
        """Makes sure that what was found in the ledger is durable, also if whoever wrote it was killed at once."""
        if self.path is None:
            return
        try:
            sync_folder(Path(os.path.realpath(self.path)).parent)
        except OSError:
            rule = "it was asked before, so nothing more was spent, and no answer was given"
            raise self.unusable("the disk cannot be read or written", rule) from None

    def require_journal_is_here(self, place: str) -> None:
        """Refuses a file that was moved away from a journal, which says how to undo half of a spend.

        Args:
            place: where it was last written to, as the ledger says.
        """
        journal = None if self._file is None else journal_left_behind(self._file, place)
        if self._file is not None and journal is not None:
            hint = f"move {journal} beside it as {self._file.journal.name}, or move the ledger back"
            what = "it was moved away from the journal of a process that was stopped while it wrote to it"
            raise self.unusable(what, f"{NOTHING_SPENT}. Hint: {hint}")

    def require_whole_if_moved(self, connection: Connection, place: str) -> None:
        """Computes everything again where the file is not the one that was last written to: it was moved, or copied.

        A copy that was made during a write, or a file that was moved without its journal, may hold half of a spend.

        Raises:
            LedgerError: it does.
            _MovedError: it is whole, and about to be written to.
        """
        if self._file is None or place == self.place:
            return
        if self._whole != _state(self._file):
            from hetdp.releases.ledger.verification import require_whole

            require_whole(self, connection)
            self._whole = _state(self._file)
        if connection.get_execution_options()[WRITES]:
            raise _MovedError

    def _note_place(self) -> None:
        """Notes where the file is before anything is spent there, so that a journal that is left there is missed."""
        try:
            self._try(lambda connection: NOTE.write(connection, place=self.place), _Try(), NOTING)
        except _UnsureError as unsure:
            raise self.unusable(str(unsure)) from None

    # Steps of a transaction -------------------------------------------------------------------------------------------

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not TURN.acquire(timeout=self.timeout):
            raise self.unusable("another thread is writing to it, and did not finish in time")
        before = self._file
        TURN.under_way += 1
        try:
            self._file = self._find()
            self._where[:] = [] if self._file is None else [self._file.path]
            yield
        finally:
            TURN.under_way -= 1
            if TURN.under_way:
                self._file = before
            TURN.release()

    def _opened(self) -> Connection:
        """A connection; that to a file may have been kept from the transaction before."""
        with self._told(None):
            return self._engine.connect() if self._file is None else self._kept.take(self._file)

    def _begin(self, connection: Connection, writes: bool) -> None:
        connection.execution_options(**{WRITES: writes, LIMIT: self.timeout})
        connection.begin()

    def _give_back(self, connection: Connection) -> None:
        """Keeps the connection to a file for the next transaction, if it is still the same file."""
        if self._file is None:
            connection.close()
            return
        with self._told(connection):
            self._kept.give_back(connection, self._file.now())

    def _give_up(self, connection: Connection) -> None:
        """Undoes a transaction, and closes its connection."""
        with suppress(Exception):
            connection.rollback()
        with suppress(Exception):
            connection.close()

    def _commit(self, connection: Connection, doubt: Doubt) -> None:
        """Commits: done and durable when this returns.

        Raises:
            LedgerError, _CollisionError: it was certainly not done.
            _UnsureError: it may have been done.
        """
        driver: Any = connection.connection.driver_connection
        is_done = False
        try:
            if self._file is not None:
                with uninterrupted():  # an interrupt waits for the few moments that this takes
                    self._commit_file(connection, driver, doubt)
                    is_done = True
            else:
                self._commit_server(connection, driver)
        except KeyboardInterrupt:
            self._give_up(connection)
            raise InterruptedSpend(doubt.done if is_done else doubt.unknown) from None

    def _commit_file(self, connection: Connection, driver: Any, doubt: Doubt) -> None:
        try:
            driver.execute("COMMIT")
            connection.commit()  # nothing is left to do; SQLAlchemy learns that it is over
        except (SQLAlchemyError, sqlite3.Error) as error:
            self._give_up(connection)
            if _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) and not self._is_half_done():
                raise self.unusable(IN_USE) from None
            raise _UnsureError(_reason(error)) from None
        try:
            self._require_still()
        except LedgerError as error:
            self._give_up(connection)
            raise self.unusable(error.what, BEFORE if error.what == REPLACED else doubt.done, True) from None
        with suppress(LedgerError):
            self._give_back(connection)

    def _commit_server(self, connection: Connection, driver: Any) -> None:
        from hetdp.releases.ledger import postgres

        try:
            driver.commit()
            connection.commit()
        except Exception as error:
            self._give_up(connection)
            original = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
            reason = postgres.reason_of(original, driver)
            if not postgres.is_undone(original):
                raise _UnsureError(reason) from None
            if getattr(original, "sqlstate", None) in postgres.COLLISIONS:
                raise _CollisionError(reason) from None
            raise self.unusable(reason) from None
        self._give_up(connection)

    def _found_out(
        self, reason: str, result: Result, is_there: Callable[[Connection, Result], bool], doubt: Doubt
    ) -> Result:
        """What became of a commit that failed: its result if it was done and is durable.

        A file is locked while it is written to, so what is not there now will never be; but another file that has taken
        its place tells nothing. A server may still be committing; what is there now is durable.
        """
        before = self._file
        try:
            with self.reading() as connection:
                is_done: bool | None = is_there(connection, result)
            if before is not None and (self._file is None or not os.path.samestat(before.state, self._file.state)):
                is_done = None
        except HetdpError:
            is_done = None
        except KeyboardInterrupt:
            raise InterruptedSpend(doubt.unknown) from None
        if is_done and self.path is None:
            return result
        if is_done:
            raise self.unusable(reason, doubt.done, True)
        if is_done is False and self.path is not None:
            raise self.unusable(reason)
        raise self.unusable(reason, doubt.unknown, None)

    # The file ---------------------------------------------------------------------------------------------------------

    def _find(self) -> File | None:
        """The file of the ledger, if it has one name and no journal is left beside it; None for a server."""
        if self.path is None:
            return None
        making = "hetdp ledger init makes one, hetdp.Ledger.create in Python"
        try:
            found = find_file(self.path)
        except PermissionError:
            raise self.unusable(f"{CLOSED}: this user may not look into its folder") from None
        except (FileNotFoundError, NotADirectoryError):
            raise self.unusable("there is no ledger here", making) from None
        except OSError as error:
            raise self.unusable(f"{CLOSED}: {error.strerror or 'the system refused'}") from None
        if not stat.S_ISREG(found.state.st_mode):
            raise self.unusable("it is no file", making)
        if has_several_names(found):
            finish_creation(found)
            found = found.now() or found
        self._require_one_name(found)
        wrong = journal_fault(found)
        if wrong is not None:
            raise self.unusable(*wrong)
        if TURN.under_way == 1 and has_journal(found.journal):
            words = resolve_journal(found, self.timeout, self._require_whole)
            if words is not None:
                raise self.unusable(words)
            found = found.now() or found
        return found

    def _require_one_name(self, file: File) -> None:
        wrong = name_fault(file) if self._known_as is None else None
        if wrong is not None:
            raise self.unusable(*wrong)

    def _require_still(self) -> None:
        """Refuses a file that is no longer the one that its path leads to, or has another name by now."""
        if self._file is None or self.path is None:
            return
        try:
            now = find_file(self.path)
        except (FileNotFoundError, NotADirectoryError):
            raise self.unusable(REPLACED) from None
        except OSError:
            raise self.unusable(REASONS[sqlite3.SQLITE_IOERR]) from None
        if not os.path.samestat(now.state, self._file.state):
            raise self.unusable(REPLACED)
        if has_several_names(now):
            self._require_one_name(now)

    def _is_half_done(self) -> bool:
        """Whether a journal is left, so that it is decided later what becomes of the transaction."""
        return self._file is not None and has_abandoned_journal(self._file)

    def _require_whole(self, path: Path, as_it_is: bool) -> None:
        """Computes everything again in a file, without its journal if wanted.

        Raises:
            LedgerError: it is no whole ledger.
        """
        from hetdp.releases.ledger.verification import require_whole

        place = f"file:{quote(str(path))}?mode={'ro&immutable=1' if as_it_is else 'rw'}"
        engine = _engine(lambda: sqlite3.connect(place, uri=True, isolation_level=None))
        sqlalchemy.event.listen(engine, "begin", _begin)
        with self._told(None), engine.connect() as connection:
            self._begin(connection, False)
            require_whole(self, connection, path)

    @contextmanager
    def _told(self, connection: Connection | None) -> Iterator[None]:
        """Errors of databases in our words."""
        driver: Any = None if connection is None or self.path is not None else _driver(connection)
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            self._raise_in_words(error, driver)
        except (OverflowError, UnicodeError):  # numbers and text in the file that no database holds
            raise self.unusable("it is damaged") from None

    def _raise_in_words(self, error: Exception, driver: Any) -> None:
        if self.path is None:
            from hetdp.releases.ledger import postgres

            original = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
            reason = postgres.reason_of(original, driver)
            if getattr(original, "sqlstate", None) in postgres.COLLISIONS:
                raise _CollisionError(reason) from None
            raise self.unusable(reason) from None
        reason = _reason(error)
        if reason == CLOSED and not os.access(self.path, os.R_OK, **EFFECTIVE):
            reason = f"{reason}: this user may not read it"
        elif reason in (CLOSED, UNWRITABLE) and _is_in_closed_folder(self.path):
            reason = "its folder cannot be written to"
        raise self.unusable(reason) from None


def _is_in_closed_folder(path: Path) -> bool:
    """Whether the file could be written to, but not the folder, which has to hold its journal."""
    real = Path(os.path.realpath(path))
    return os.access(real, os.W_OK, **EFFECTIVE) and not os.access(real.parent, os.W_OK, **EFFECTIVE)


def _state(file: File) -> str:
    """What tells a file from itself after somebody wrote to it."""
    state = file.state
    return f"{file.place} {state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"


def _driver(connection: Connection) -> Any:
    """The connection of the driver; None if it is closed."""
    with suppress(SQLAlchemyError):
        return connection.connection.driver_connection
    return None


def _engine(connect: Callable[[], sqlite3.Connection]) -> Engine:
    return sqlalchemy.create_engine("sqlite://", creator=connect, poolclass=NullPool)


def _sqlite(where: list[Path], timeout: float) -> Engine:
    def connect() -> sqlite3.Connection:  # threads take turns with it
        place = f"file:{quote(str(where[0]))}?mode=rw"
        given: Any = {"isolation_level": None, "timeout": timeout, "check_same_thread": False}
        connection: sqlite3.Connection = sqlite3.connect(place, uri=True, **given)
        try:
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    return _engine(connect)


def _postgres(url: URL) -> Engine:
    try:
        from hetdp.releases.ledger.postgres import engine_of

        return engine_of(url)
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
        return
    from hetdp.releases.ledger.postgres import begin

    begin(connection, options[WRITES], options[LIMIT])


def _code(error: Exception) -> int | None:
    """The number by which SQLite knows an error; None if it gives none."""
    original = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(original, "sqlite_errorcode", None)
    return None if code is None or code == MOVED else code & 0xFF


def _reason(error: Exception) -> str:
    original = error.orig if isinstance(error, DBAPIError) else error
    if getattr(original, "sqlite_errorcode", None) == MOVED:
        return REPLACED
    return REASONS.get(_code(error) or -1, "it is damaged, or no ledger")

"""A ledger in an SQLite file: how it is found, opened, committed to and created.

The file has one name and one journal (see `sqlite_file`). Before each transaction it is looked up again, and before
each commit it must still be the same file.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

import sqlalchemy
from sqlalchemy import column, select, table
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from hetdp.errors import InterruptedSpend, LedgerError, UsageError
from hetdp.interrupts import delay_interrupts
from hetdp.releases.ledger import schema
from hetdp.releases.ledger.connection_cache import TURN, ConnectionCache
from hetdp.releases.ledger.database import (
    CREATING,
    NOTHING_SPENT,
    CommitDoubt,
    Database,
    MovedError,
    Result,
    UnsureError,
    begin,
    driver_of,
    give_up,
    is_writing,
)
from hetdp.releases.ledger.schema import Statement, read_pragma
from hetdp.releases.ledger.sqlite_file import (
    IN_USE,
    PLACE,
    File,
    draft_of,
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
from hetdp.releases.ledger.verification import require_whole

CLOSED, UNWRITABLE = "it cannot be opened", "it cannot be written to"
LOCKED = "somebody else is writing to it, and did not finish in time"
UNREADABLE = "the disk cannot be read or written"
ACCESS_OPTIONS: dict[str, Any] = {"effective_ids": True} if os.access in os.supports_effective_ids else {}
REASONS = {  # SQLite's errors in our words: those of the driver may contain private data
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_READONLY: UNWRITABLE,
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_NOTADB: "it is not a ledger",
    sqlite3.SQLITE_CANTOPEN: CLOSED,
    sqlite3.SQLITE_PERM: CLOSED,
    sqlite3.SQLITE_IOERR: UNREADABLE,
}
MOVED_CODE = 1032  # SQLITE_READONLY_DBMOVED: the file was renamed or removed
REPLACED = "it was replaced, moved or removed while it was written to"
BEFORE = (
    "this was written to the file that was here before, and no answer was given. Hint: put that file back and do the"
    " same again"
)
CREATE_HINT = "hetdp.Ledger.create makes one"
PRAGMAS = ("synchronous = EXTRA", "trusted_schema = OFF", "cell_size_check = ON")
OBJECTS = Statement(select(column("type"), column("name")).select_from(table("sqlite_master")))


class SqliteDatabase(Database):
    """A ledger in a file.

    Args:
        path: the file.
        timeout: how many seconds to wait for others who write.
        known_as: the path that the file will have, while it is being created.
    """

    driver_errors: ClassVar[tuple[type[Exception], ...]] = (sqlite3.Error,)
    found_is_durable: ClassVar[bool] = False  # the disk failed, and may fail to keep it
    missing_is_final: ClassVar[bool] = True  # the file is locked while it is written to

    def __init__(self, path: Path, timeout: float, known_as: Path | None = None) -> None:
        super().__init__(str(path), timeout)
        self.path = path.absolute()  # wherever the process goes
        self._known_as = known_as
        self._verified = ""  # the state in which a moved file was verified
        self._file: File | None = None  # as the transaction that is under way, or was last, has found it
        self._where: list[Path] = []  # its path, for new connections
        self._cache = ConnectionCache(_engine_at(self._where, timeout).connect)

    @property
    def file(self) -> Path:
        """The file of the ledger."""
        return self.path

    @property
    def place(self) -> str:
        """The inode and the path of the file."""
        if self._file is None:
            return ""
        return self._file.place if self._known_as is None else self._file._replace(path=self._known_as).place

    def is_place(self, text: str) -> bool:
        """True if a text is an inode and a path."""
        return PLACE.fullmatch(text) is not None

    # Transactions -----------------------------------------------------------------------------------------------------

    @contextmanager
    def locate(self) -> Iterator[None]:
        """Finds the file; a transaction within another one finds it for itself."""
        before = self._file
        try:
            self._file = self._find()
            self._where[:] = [self._file.path]
            yield
        finally:
            if TURN.under_way > 1:
                self._file = before

    def connect(self) -> Connection:
        """The cached connection, or a new one."""
        assert self._file is not None
        return self._cache.take(self._file)

    def close(self, connection: Connection) -> None:
        """Caches the connection for the next transaction, if the file is still the same."""
        self._cache.give_back(connection, None if self._file is None else self._file.now())

    def commit(self, connection: Connection, doubt: CommitDoubt) -> None:
        """Commits; Ctrl-C is delayed for the few moments that this takes."""
        is_done = False
        try:
            with delay_interrupts():
                self._commit(connection, doubt)
                is_done = True
        except KeyboardInterrupt:
            give_up(connection)
            raise InterruptedSpend(doubt.done if is_done else doubt.unknown) from None

    def _commit(self, connection: Connection, doubt: CommitDoubt) -> None:
        driver: Any = connection.connection.driver_connection
        try:
            driver.execute("COMMIT")
            connection.commit()  # nothing is left to do; SQLAlchemy learns that it is over
        except (SQLAlchemyError, sqlite3.Error) as error:
            give_up(connection)
            if _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) and not self.is_half_done():
                raise self.ledger_error(IN_USE) from None
            raise UnsureError(_reason(error)) from None
        try:
            self.require_in_place()
        except LedgerError as error:
            give_up(connection)
            raise self.ledger_error(error.what, BEFORE if error.what == REPLACED else doubt.done, True) from None
        with suppress(LedgerError), self._explain_errors(connection):
            self.close(connection)

    def explain(self, error: Exception, driver: Any) -> LedgerError:
        """The reason of SQLite's error, or what in the file's permissions led to it."""
        reason = _reason(error)
        if reason == CLOSED and not os.access(self.path, os.R_OK, **ACCESS_OPTIONS):
            reason = f"{reason}: this user may not read it"
        elif reason in (CLOSED, UNWRITABLE) and _is_in_closed_folder(self.path):
            reason = "its folder cannot be written to"
        return self.ledger_error(reason)

    def find_result(self, result: Result, is_there: Callable[[Connection, Result], bool]) -> bool | None:
        """True if the result is in the file; None if another file has taken its place."""
        before = self._file
        found = super().find_result(result, is_there)
        now = self._file
        if before is not None and (now is None or not os.path.samestat(before.state, now.state)):
            return None
        return found

    def sync(self) -> None:
        """Makes the removal of the journal durable, which the writer may have been killed before."""
        try:
            sync_folder(Path(os.path.realpath(self.path)).parent)
        except OSError:
            rule = "it was asked before, so nothing more was spent, and no answer was given"
            raise self.ledger_error(UNREADABLE, rule) from None

    # The file ---------------------------------------------------------------------------------------------------------

    def create(
        self, fill: Callable[[Database, Connection], Result], is_there: Callable[[Connection, Result], bool]
    ) -> None:
        """Makes the ledger under another name, readable by its owner only, and links it to its own."""
        if self.path.exists() or self.path.is_symlink():
            raise self.exists_error()
        draft = draft_of(self.path, secrets.token_hex(8))
        drafting = SqliteDatabase(draft, self.timeout, Path(os.path.realpath(self.path)))

        def make(connection: Connection) -> Result:
            connection.exec_driver_sql(f"PRAGMA application_id = {schema.APPLICATION}")
            connection.exec_driver_sql(f"PRAGMA user_version = {schema.VERSION}")
            return fill(drafting, connection)

        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            drafting.write(make, is_there, CREATING)
            os.link(draft, self.path)
            with suppress(OSError):
                sync_folder(self.path.parent)
        except FileExistsError:
            raise self.exists_error() from None
        except OSError as refusal:
            what = f"a ledger cannot be made here: {refusal.strerror or 'the system refused'}"
            raise self.ledger_error(what, "its folder must exist and allow new files") from None
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def save_copy(self, place: Path) -> None:
        """Saves a copy by SQLite's own backup; nothing that exists is replaced."""
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise UsageError(f"{str(place)!r} exists", "a copy of a ledger never replaces a file") from None
        except OSError as refusal:
            what = f"a copy cannot be saved beside it: {refusal.strerror or 'the system refused'}"
            raise self.ledger_error(what, "its folder must allow new files") from None
        try:
            with self.read_transaction() as connection, closing(sqlite3.connect(place)) as copy:
                self.require_shape(connection)
                driver_of(connection).backup(copy)
        except BaseException:
            place.unlink(missing_ok=True)
            raise

    def require_in_place(self) -> None:
        """Refuses a file that was replaced at its path, or that has gained a second name."""
        if self._file is None:
            return
        try:
            now = find_file(self.path)
        except (FileNotFoundError, NotADirectoryError):
            raise self.ledger_error(REPLACED) from None
        except OSError:
            raise self.ledger_error(UNREADABLE) from None
        if not os.path.samestat(now.state, self._file.state):
            raise self.ledger_error(REPLACED)
        if has_several_names(now):
            self._require_one_name(now)

    def is_half_done(self) -> bool:
        """True if a journal is left that no process uses."""
        return self._file is not None and has_abandoned_journal(self._file)

    def require_own_journal(self, place: str) -> None:
        """Refuses a file that was moved away from its journal, which says how to undo half of a spend."""
        journal = None if self._file is None else journal_left_behind(self._file, place)
        if self._file is not None and journal is not None:
            hint = f"move {journal} beside it as {self._file.journal.name}, or move the ledger back"
            what = "it was moved away from the journal of a process that was stopped while it wrote to it"
            raise self.ledger_error(what, f"{NOTHING_SPENT}. Hint: {hint}")

    def require_whole_if_moved(self, connection: Connection, place: str) -> None:
        """Verifies a file that is not the one that was last written to.

        A copy that was made during a write, or a file that was moved without its journal, may hold half of a spend.
        """
        if self._file is None or place == self.place:
            return
        if self._verified != _state_of(self._file):
            require_whole(self, connection)
            self._verified = _state_of(self._file)
        if is_writing(connection):
            raise MovedError

    def require_shape(self, connection: Connection, path: Path | None = None) -> None:
        """Refuses a file that is not a ledger, has another journal mode, is truncated, or has other tables."""
        ((application,),) = read_pragma(connection, "application_id")
        ((version,),) = read_pragma(connection, "user_version")
        if application != schema.APPLICATION:
            raise self.ledger_error("it is not a ledger", CREATE_HINT)
        if version != schema.VERSION:
            raise self.ledger_error("it is a ledger of another version")
        if read_pragma(connection, "journal_mode") != [("delete",)]:
            rule = f"{NOTHING_SPENT}. Hint: `sqlite3 FILE 'PRAGMA journal_mode = DELETE'` sets it back"
            raise self.ledger_error("its journal mode was changed", rule)
        ((pages,),), ((size,),) = read_pragma(connection, "page_count"), read_pragma(connection, "page_size")
        try:
            length = (path or self.path).stat().st_size
        except OSError:
            raise self.ledger_error(UNREADABLE) from None
        if length != pages * size:
            raise self.ledger_error("it is truncated, or something was added to it")
        objects = {tuple(row) for row in OBJECTS.rows(connection)}
        found = {one for one in objects if not str(one[1]).startswith("sqlite_autoindex_hetdp_")}
        if found != {("table", name) for name in schema.NAMES} | {("index", name) for name in schema.INDICES}:
            raise self.ledger_error("it has other tables than a ledger")
        for each in schema.metadata.tables.values():
            columns = [(row[1], bool(row[5])) for row in read_pragma(connection, f"table_info({each.name})")]
            if columns != [(one.name, bool(one.primary_key)) for one in each.columns]:
                raise self.ledger_error("it has other columns than a ledger")

    def require_undamaged(self, connection: Connection) -> None:
        """Runs SQLite's own check."""
        if read_pragma(connection, "integrity_check(1)") != [("ok",)]:
            raise self.ledger_error("it is damaged")

    def _find(self) -> File:
        """The file, if it has one name and no journal is left beside it."""
        try:
            found = find_file(self.path)
        except PermissionError:
            raise self.ledger_error(f"{CLOSED}: this user may not look into its folder") from None
        except (FileNotFoundError, NotADirectoryError):
            raise self.ledger_error("there is no ledger here", CREATE_HINT) from None
        except OSError as error:
            raise self.ledger_error(f"{CLOSED}: {error.strerror or 'the system refused'}") from None
        if not stat.S_ISREG(found.state.st_mode):
            raise self.ledger_error("it is not a file", CREATE_HINT)
        if has_several_names(found):
            finish_creation(found)
            found = found.now() or found
        self._require_one_name(found)
        wrong = journal_fault(found)
        if wrong is not None:
            raise self.ledger_error(*wrong)
        if TURN.under_way == 1 and has_journal(found.journal):
            words = resolve_journal(found, self.timeout, self._require_whole)
            if words is not None:
                raise self.ledger_error(words)
            found = found.now() or found
        return found

    def _require_one_name(self, file: File) -> None:
        wrong = name_fault(file) if self._known_as is None else None
        if wrong is not None:
            raise self.ledger_error(*wrong)

    def _require_whole(self, path: Path, as_it_is: bool) -> None:
        """Verifies the ledger in a file, without its journal if wanted.

        Raises:
            LedgerError: it is not whole.
        """
        place = f"file:{quote(str(path))}?mode={'ro&immutable=1' if as_it_is else 'rw'}"
        engine = _engine(lambda: sqlite3.connect(place, uri=True, isolation_level=None))
        with self._explain_errors(None), engine.connect() as connection:
            begin(connection, False, self.timeout)
            require_whole(self, connection, path)


def _engine_at(where: list[Path], timeout: float) -> Engine:
    """The SQLAlchemy engine for the file whose path is in the list when it connects."""

    def connect() -> sqlite3.Connection:
        place = f"file:{quote(str(where[0]))}?mode=rw"
        given: Any = {"isolation_level": None, "timeout": timeout, "check_same_thread": False}  # threads take turns
        connection: sqlite3.Connection = sqlite3.connect(place, uri=True, **given)
        try:
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    return _engine(connect)


def _engine(connect: Callable[[], sqlite3.Connection]) -> Engine:
    engine = sqlalchemy.create_engine("sqlite://", creator=connect, poolclass=NullPool)
    sqlalchemy.event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing(connection) else "BEGIN")


def _is_in_closed_folder(path: Path) -> bool:
    """True if the file could be written to, but not the folder, which has to hold its journal."""
    real = Path(os.path.realpath(path))
    return os.access(real, os.W_OK, **ACCESS_OPTIONS) and not os.access(real.parent, os.W_OK, **ACCESS_OPTIONS)


def _state_of(file: File) -> str:
    """The state of the file, which changes with every write."""
    state = file.state
    return f"{file.place} {state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"


def _error_code(error: Exception) -> int | None:
    """SQLite's extended error code; None if the error has none."""
    original = error.orig if isinstance(error, DBAPIError) else error
    return getattr(original, "sqlite_errorcode", None)  # the module sets it on errors of the library only


def _code(error: Exception) -> int | None:
    """SQLite's primary error code; None if there is none."""
    code = _error_code(error)
    return None if code is None or code == MOVED_CODE else code & 0xFF


def _reason(error: Exception) -> str:
    if _error_code(error) == MOVED_CODE:
        return REPLACED
    return REASONS.get(_code(error) or -1, "it is damaged, or no ledger")

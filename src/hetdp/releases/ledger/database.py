"""The interface of a ledger database, and the transactions that all databases share.

`SqliteDatabase` and `PostgresDatabase` implement `Database`; `open_database` in `address` chooses one of them. A
transaction ends in one of three ways, and its error says which: it happened, it did not, or nobody knows.
"""

from __future__ import annotations

import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from sqlalchemy import update
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from hetdp.errors import HetdpError, InterruptedSpend, LedgerError, UsageError
from hetdp.releases.ledger import schema
from hetdp.releases.ledger.connection_cache import TURN
from hetdp.releases.ledger.schema import Statement

Result = TypeVar("Result")

NOTHING_SPENT = "nothing was spent, and no answer was given"
WRITES, LIMIT = "hetdp_writes", "hetdp_timeout"  # the options of a connection that say how a transaction begins
FIRST_PAUSE, LONGEST_PAUSE = 0.01, 1.0  # seconds before a transaction that collided is tried again


class CommitDoubt(NamedTuple):
    """The sentences of a message about a commit that may or may not have happened.

    Attributes:
        unknown: that nobody knows, and what to do then.
        done: that it happened without being confirmed, and what to do then.
    """

    unknown: str
    done: str


SPENDING = CommitDoubt(
    "it is not known whether this was spent, and no answer was given. Hint: ask the same again, of the same version of"
    " the data: if it was spent, the same answer is given for nothing; if not, it is spent then, once",
    "this was spent, and no answer was given. Hint: ask the same again, of the same version of the data: the answer is"
    " in the ledger and is given for nothing",
)
DECLARING = CommitDoubt(
    "it is not known whether this was written; nothing was spent. Hint: do the same again, which changes nothing if it"
    " was written",
    "this was written; nothing was spent",
)
RECORDING = CommitDoubt(
    "it is not known whether this was recorded. Hint: look at hetdp.Ledger.history before you record it again, since"
    " it would be charged twice",
    "this was recorded. Hint: look at hetdp.Ledger.history, and do not record it again",
)
CREATING = CommitDoubt(
    "it is not known whether the ledger was made; nothing was spent. Hint: hetdp.Ledger.status tells",
    "the ledger was made; nothing was spent",
)
NOTING_PLACE = CommitDoubt(NOTHING_SPENT, NOTHING_SPENT)
STORE_PLACE = Statement(update(schema.head), ("place",))


class UnsureError(Exception):
    """A commit failed, and may have happened nevertheless."""


class CollisionError(Exception):
    """The server undid a transaction because of concurrent ones; it may succeed when it is tried again."""


class MovedError(Exception):
    """The file is not where it was last written to; the new place is stored before anything else is written."""


class _Attempts(Generic[Result]):
    """The results of the work, one for each attempt, and whether the last one is durable."""

    def __init__(self) -> None:
        self.results: list[Result] = []
        self.is_done = False


class Database(ABC):
    """A place for a ledger. The transactions of a process run one after the other, and forks share no connection.

    A new kind of database implements the abstract methods. The other public methods have defaults that fit a server;
    a file overrides them.

    Args:
        shown: the address for messages, without a password.
        timeout: how many seconds to wait for others who write.
    """

    driver_errors: ClassVar[tuple[type[Exception], ...]] = ()  # raised besides SQLAlchemy's
    found_is_durable: ClassVar[bool] = True  # what is found after a failed commit is durable
    missing_is_final: ClassVar[bool] = False  # what is missing after a failed commit will not appear later

    def __init__(self, shown: str, timeout: float) -> None:
        self.shown = shown
        self.timeout = timeout

    # What each database implements ------------------------------------------------------------------------------------

    @abstractmethod
    def connect(self) -> Connection:
        """A connection for one transaction. Its "begin" event starts the transaction as `is_writing` says."""

    @abstractmethod
    def commit(self, connection: Connection, doubt: CommitDoubt) -> None:
        """Commits and closes the connection; the transaction is durable when this returns.

        Raises:
            LedgerError, CollisionError: it certainly did not happen; or it did, and `spent` says so.
            UnsureError: it may have happened.
            InterruptedSpend: Ctrl-C came when it could not be undone any more.
        """

    @abstractmethod
    def explain(self, error: Exception, driver: Any) -> Exception:
        """A LedgerError or CollisionError for an error of the database, without the words of its driver.

        Args:
            error: the error.
            driver: the connection of the driver, as it was before; None if there was none.
        """

    @abstractmethod
    def create(
        self, fill: Callable[[Database, Connection], Result], is_there: Callable[[Connection, Result], bool]
    ) -> None:
        """Makes an empty ledger if there is none: whole, or not at all.

        Args:
            fill: makes the tables and the first entry.
            is_there: whether that was written.

        Raises:
            UsageError: something already exists there.
            LedgerError: it cannot be made there.
        """

    # What a file overrides --------------------------------------------------------------------------------------------

    @property
    def file(self) -> Path | None:
        """The file of the ledger, which nothing else may overwrite; None on a server."""
        return None

    @property
    def place(self) -> str:
        """The location that the ledger stores about itself, so that a moved or copied ledger is recognized."""
        return ""

    def is_place(self, text: str) -> bool:
        """True if a stored text can be a location."""
        return text == ""

    def locate(self) -> AbstractContextManager[None]:
        """Finds the ledger before a transaction; what was found holds as long as the context lasts."""
        return nullcontext()

    def close(self, connection: Connection) -> None:
        """Closes the connection after a transaction that only read; it may be cached instead."""
        connection.close()

    def require_in_place(self) -> None:  # noqa: B027
        """Refuses to commit to a ledger that is no longer where it was found."""

    def is_half_done(self) -> bool:
        """True if the outcome of an abandoned transaction is decided later."""
        return False

    def sync(self) -> None:  # noqa: B027
        """Makes sure that what was found in the ledger is durable, even if its writer was killed at once."""

    def save_copy(self, place: Path) -> None:
        """Saves a copy of the ledger in a new file, which only its owner can read, while others may use the ledger.

        Raises:
            UsageError: the file exists.
            LedgerError: the ledger is not in a file, or cannot be copied.
        """
        raise self.ledger_error("it is not in a file", "a database is backed up with the tools of its server")

    def require_shape(self, connection: Connection, path: Path | None = None) -> None:  # noqa: B027
        """Refuses a database whose tables are not exactly those of a ledger.

        Args:
            connection: a transaction there, or in a copy.
            path: the file of the copy.
        """

    def require_undamaged(self, connection: Connection) -> None:  # noqa: B027
        """Refuses a damaged database, as far as it can tell itself."""

    def require_own_journal(self, place: str) -> None:  # noqa: B027
        """Refuses a ledger that was moved away from the journal of an unfinished transaction.

        Args:
            place: where it was last written to, as the ledger says.
        """

    def require_whole_if_moved(self, connection: Connection, place: str) -> None:  # noqa: B027
        """Verifies a ledger that was moved or copied since it was last written to.

        Raises:
            LedgerError: it is not whole.
            MovedError: it is whole, and about to be written to.
        """

    def find_result(self, result: Result, is_there: Callable[[Connection, Result], bool]) -> bool | None:
        """True if the result of a transaction is in the ledger; None if that is unknown."""
        with self.read_transaction() as connection:
            return is_there(connection, result)

    # Transactions -----------------------------------------------------------------------------------------------------

    def write(
        self,
        work: Callable[[Connection], Result],
        is_there: Callable[[Connection, Result], bool],
        doubt: CommitDoubt = SPENDING,
    ) -> Result:
        """Does some work in a transaction that nobody else writes beside; it is durable when this returns.

        Args:
            work: done once; again only if the server undid it because of concurrent transactions.
            is_there: whether what the work has written is in the ledger; asked if a commit failed.
            doubt: what to say then, if that cannot be found out.

        Raises:
            LedgerError: the ledger cannot be used. Its `spent` says whether the work was done: None if nobody knows.
            InterruptedSpend: Ctrl-C came when it could not be undone any more.
        """
        pause, deadline = FIRST_PAUSE, time.monotonic() + self.timeout
        attempts: _Attempts[Result] = _Attempts()
        while True:
            try:
                self._attempt(work, attempts, doubt)
                return attempts.results[-1]
            except UnsureError as unsure:
                return self._resolve(str(unsure), attempts.results[-1], is_there, doubt)
            except MovedError:
                self._store_place()
                continue
            except CollisionError as collision:
                if time.monotonic() + pause > deadline:
                    raise self.ledger_error(str(collision)) from None
            except InterruptedSpend:
                raise
            except KeyboardInterrupt:
                if attempts.is_done:
                    raise InterruptedSpend(doubt.done) from None
                raise
            time.sleep(
                pause * (0.5 + secrets.randbelow(1000) / 1000)
            )  # random, so that colliding transactions do not collide again
            pause = min(2 * pause, LONGEST_PAUSE)

    @contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        """A transaction that sees one moment of the ledger and writes nothing."""
        with self._turn():
            connection = self._connect()
            try:
                with self._explain_errors(connection):
                    begin(connection, False, self.timeout)
                    yield connection
                    connection.commit()
            except CollisionError as collision:
                give_up(connection)
                raise self.ledger_error(str(collision)) from None
            except BaseException:
                give_up(connection)
                raise
            with self._explain_errors(connection):
                self.close(connection)

    def ledger_error(self, what: str, rule: str = NOTHING_SPENT, spent: bool | None = False) -> LedgerError:
        """An error about this ledger."""
        return LedgerError(self.shown, what, rule, spent)

    def exists_error(self) -> UsageError:
        """The error of `create` if there is something at the address."""
        return UsageError(f"{self.shown}: something already exists there", "a ledger is made once and never replaced")

    def _attempt(self, work: Callable[[Connection], Result], attempts: _Attempts[Result], doubt: CommitDoubt) -> None:
        with self._turn():
            connection = self._connect()
            try:
                with self._explain_errors(connection):
                    begin(connection, True, self.timeout)
                    attempts.results.append(work(connection))
                self.require_in_place()
            except BaseException as error:
                give_up(connection)
                if isinstance(error, LedgerError) and error.spent is False and self.is_half_done():
                    raise self.ledger_error(error.what, doubt.unknown, None) from None
                raise
            self.commit(connection, doubt)
            attempts.is_done = True

    def _store_place(self) -> None:
        """Stores where the file is before anything is spent there, so that a journal left there is missed later."""
        try:
            self._attempt(lambda connection: STORE_PLACE.write(connection, place=self.place), _Attempts(), NOTING_PLACE)
        except UnsureError as unsure:
            raise self.ledger_error(str(unsure)) from None

    def _resolve(
        self, reason: str, result: Result, is_there: Callable[[Connection, Result], bool], doubt: CommitDoubt
    ) -> Result:
        """Finds out the outcome of a commit that failed: its result if it happened and is durable."""
        try:
            is_done = self.find_result(result, is_there)
        except HetdpError:
            is_done = None
        except KeyboardInterrupt:
            raise InterruptedSpend(doubt.unknown) from None
        if is_done and self.found_is_durable:
            return result
        if is_done:
            raise self.ledger_error(reason, doubt.done, True)
        if is_done is False and self.missing_is_final:
            raise self.ledger_error(reason)
        raise self.ledger_error(reason, doubt.unknown, None)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not TURN.acquire(timeout=self.timeout):
            raise self.ledger_error("another thread is writing to it, and did not finish in time")
        TURN.under_way += 1
        try:
            with self.locate():
                yield
        finally:
            TURN.under_way -= 1
            TURN.release()

    def _connect(self) -> Connection:
        with self._explain_errors(None):
            return self.connect()

    @contextmanager
    def _explain_errors(self, connection: Connection | None) -> Iterator[None]:
        """Raises errors of the database as those of `explain`."""
        driver = None if connection is None else driver_of(connection)
        errors: tuple[type[Exception], ...] = (SQLAlchemyError, *self.driver_errors)
        try:
            yield
        except errors as error:
            raise self.explain(error, driver) from None
        except (OverflowError, UnicodeError):  # numbers and text in the file that no database holds
            raise self.ledger_error("it is damaged") from None


def begin(connection: Connection, writes: bool, timeout: float) -> None:
    """Begins a transaction; the "begin" event of the engine reads `is_writing` and `timeout_of`."""
    connection.execution_options(**{WRITES: writes, LIMIT: timeout})
    connection.begin()


def is_writing(connection: Connection) -> bool:
    """True if the transaction was begun in order to write."""
    return bool(connection.get_execution_options()[WRITES])


def timeout_of(connection: Connection) -> float:
    """The number of seconds that the transaction may wait for others."""
    return float(connection.get_execution_options()[LIMIT])


def give_up(connection: Connection) -> None:
    """Undoes a transaction and closes its connection."""
    with suppress(Exception):
        connection.rollback()
    with suppress(Exception):
        connection.close()


def driver_of(connection: Connection) -> Any:
    """The connection of the driver; None if it is closed."""
    with suppress(SQLAlchemyError):
        return connection.connection.driver_connection
    return None

"""The chain of entries: its head, what is found in it, and what is added to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import bindparam, insert, or_, select, update
from sqlalchemy.engine import Connection

from hetdp.errors import UsageError, counted
from hetdp.release.ledger import tables
from hetdp.release.ledger.database import Database
from hetdp.release.ledger.entry import CREATE, Entry, asked, parsed, previous_of
from hetdp.release.ledger.file import PLACE
from hetdp.release.ledger.statements import Statement

CHANGED = "it was changed, or is damaged"
SECRET = "secret_sha256"

_entries = tables.entries
_next = tables.entries.alias("following")
_with_next = select(_entries, _next.c.body.label("following")).outerjoin(_next, _next.c.number == _entries.c.number + 1)
HEAD, HEAD_LOCKED = Statement(select(tables.head)), Statement(select(tables.head).with_for_update())
ENDS = Statement(select(_entries).where(or_(_entries.c.number == 1, _entries.c.number >= bindparam("last"))).limit(3))
BY_NUMBER = Statement(_with_next.where(_entries.c.number == bindparam("wanted")))
BY_QUESTION = Statement(_with_next.where(_entries.c.asked == bindparam("wanted")))
ADD = Statement(insert(_entries), ("number", "asked", "body"))
MOVE = Statement(update(tables.head), ("entries", "hash", "place"))


class Head(NamedTuple):
    """Where the chain ends.

    Attributes:
        ledger: what tells this ledger from all others.
        secret: what pseudonyms are made with.
        entries: how many entries there are.
        hash: of the last of them.
        place: where it is now, which the next entry notes.
    """

    ledger: str
    secret: bytes
    entries: int
    hash: str
    place: str


def read_head(
    database: Database, connection: Connection, expected: str | None = None, is_trusted: bool = False
) -> Head:
    """The head, compared with the last entry and the first; where it is going to be written, nobody else may.

    A file that was moved or copied since it was last written to is computed again as a whole.

    Args:
        database: where the ledger is.
        connection: a transaction there.
        expected: which ledger it must be, if that is known.
        is_trusted: whether the file is taken as it is, wherever it was written to.

    Raises:
        LedgerError: it is another one, or was changed.
    """
    writes = connection.get_execution_options()["hetdp_writes"]  # SQLite has locked the whole file by now
    rows = (HEAD_LOCKED if writes else HEAD).rows(connection)
    if len(rows) != 1:
        raise database.unusable(CHANGED)
    row = rows[0]
    if row.one != 1 or row.schema_version != tables.VERSION:
        raise database.unusable("it is a ledger of another version")
    if not is_trusted and isinstance(row.place, str):
        database.require_journal_is_here(row.place)
    try:
        head = _head_of(row, database)
    except ValueError:
        raise database.unusable(CHANGED) from None
    if expected not in (None, head.ledger):
        raise database.unusable("it is not the ledger that was here before")
    ends = {row.number: row for row in ENDS.rows(connection, last=head.entries)}
    if ends.keys() != {1, head.entries}:
        raise database.unusable(CHANGED)
    last = read_entry(database, head, ends[head.entries])
    first = last if head.entries == 1 else read_entry(database, head, ends[1])
    if last.hash != head.hash or first.kind != CREATE or first.facts != {SECRET: sha256(head.secret).hexdigest()}:
        raise database.unusable(CHANGED)
    if not is_trusted:
        database.require_whole_if_moved(connection, row.place)
    return head


def _head_of(row: Any, database: Database) -> Head:
    """The head from its row; ValueError if it is none."""
    texts = row.ledger, row.secret, row.hash, row.place
    if not all(isinstance(text, str) for text in texts) or type(row.entries) is not int:
        raise ValueError("not the values of a head")
    if (row.place != "") if database.path is None else not PLACE.fullmatch(row.place):
        raise ValueError("not a place")
    return Head(row.ledger, bytes.fromhex(row.secret), row.entries, row.hash, database.place)


def entry_at(database: Database, connection: Connection, head: Head, number: int) -> Entry:
    """One entry, compared with what the next one, or the head, says about it."""
    rows = BY_NUMBER.rows(connection, wanted=number)
    if len(rows) != 1:
        raise database.unusable(CHANGED)
    return _linked(database, head, rows[0])


def find(database: Database, connection: Connection, head: Head, *what: str) -> dict[str, Entry]:
    """The entries by which something was asked or declared, as far as there are any."""
    rows = [row for wanted in what for row in BY_QUESTION.rows(connection, wanted=wanted)]
    return {row.asked: _linked(database, head, row) for row in rows}


def _linked(database: Database, head: Head, row: Any) -> Entry:
    entry = read_entry(database, head, row)
    try:
        expected = head.hash if entry.number == head.entries else previous_of(row.following)
    except ValueError:
        raise database.unusable(CHANGED) from None
    if entry.hash != expected:
        raise database.unusable(CHANGED)
    return entry


def read_entry(database: Database, head: Head, row: Any) -> Entry:
    """An entry from its row, which says the same about itself everywhere."""
    try:
        entry = parsed(row.body)
    except (ValueError, TypeError):
        raise database.unusable(CHANGED) from None
    if entry.number != row.number or entry.ledger != head.ledger or asked(entry) != row.asked:
        raise database.unusable(CHANGED)
    return entry


def append(connection: Connection, head: Head, kind: str, **facts: Any) -> tuple[Head, Entry]:
    """Adds an entry, and moves the head to it."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    entry = Entry(head.ledger, head.entries + 1, head.hash, now, kind, **facts)
    head = head._replace(entries=entry.number, hash=entry.hash)
    ADD.write(connection, number=entry.number, asked=asked(entry), body=entry.body)
    MOVE.write(connection, entries=head.entries, hash=head.hash, place=head.place)
    return head, entry


def require_receipts(
    database: Database, connection: Connection, head: Head, receipts: Iterable[Mapping[str, Any]]
) -> int:
    """Refuses a ledger that does not hold what its records say; returns how many were compared."""
    number = 0
    for number, receipt in enumerate(receipts, 1):
        ledger, entry, expected = (receipt.get(name) for name in ("ledger", "entry", "hash"))
        if not isinstance(ledger, str) or type(entry) is not int or not isinstance(expected, str):
            raise UsageError(f"receipt {number} is none", "a receipt has ledger, entry and hash")
        if ledger != head.ledger:
            rule = "records are compared with the ledger they name, also one whose place a new record would take"
            hint = "give the new record another name, or leave the old one out"
            raise UsageError(f"receipt {number} is of another ledger", rule, hint)
        _require_receipt(database, connection, head, entry, expected)
    return number


def _require_receipt(database: Database, connection: Connection, head: Head, number: int, expected: str) -> None:
    if number > head.entries:
        missing = counted(number - head.entries, "entry").replace("entrys", "entries")
        what = f"it is older than its records: {missing} that its records name are missing"
        raise database.unusable(what, "a restored copy would spend again what is spent already")
    if number < 1 or entry_at(database, connection, head, number).hash != expected:
        what = f"it went another way than its records: entry {number} is not the one that its records name"
        raise database.unusable(
            what, "a restored copy was spent from, and lacks what was spent before; or the record is false"
        )


def is_written(connection: Connection, entry: Entry) -> bool:
    """Whether exactly this entry is in the ledger."""
    return [row.body for row in BY_NUMBER.rows(connection, wanted=entry.number)] == [entry.body]

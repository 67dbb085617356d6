"""The chain of a ledger: entries as lines of JSON, each with the hash of the one before it, and the head.

Reading an entry compares it with what the next entry, or the head, says about it, so that a change is found.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple
from unicodedata import normalize

import sqlalchemy
from sqlalchemy import bindparam, insert, or_, select, update
from sqlalchemy.engine import Connection

from hetdp.errors import UsageError
from hetdp.releases.ledger import schema
from hetdp.releases.ledger.charge import canonical_json, is_name
from hetdp.releases.ledger.database import Database, is_writing
from hetdp.releases.ledger.schema import Statement
from hetdp.text import format_value, pluralize

VERSION = 1
TITLE, QUESTION, WORDS, AREAS = "title", "question", "words", "areas"  # what was asked and answered, in words
CREATE, DECLARE, SPEND, RECORD, STATE = KINDS = ("create", "declare", "spend", "record", "state")
KEYS = {
    "schema_version": int,
    "ledger": str,
    "number": int,
    "previous": str,
    "time": str,
    "kind": str,
    "source": str,
    "request": str,
    "version": str,
    "charge": str,
    "accounts": int,
    "answers": list,
    "facts": dict,
}


@dataclass(frozen=True)
class Entry:
    """One entry of a ledger. It never changes.

    Attributes:
        ledger: the id of the ledger.
        number: its position: 1, 2, 3, …
        previous: the hash of the entry before it; empty for the first.
        time: when it was made, in UTC.
        kind: ``create``, ``declare``, ``spend``, ``record`` or ``state``.
        source: the data it is about; empty for ``create``.
        request: the digest of what was asked; empty if nothing was.
        version: the declared version of the data; likewise.
        charge: the digest of who was charged how much; likewise.
        accounts: how many accounts were charged.
        answers: the answers that were drawn, true for answer 1.
        facts: what else belongs to it.
    """

    ledger: str
    number: int
    previous: str
    time: str
    kind: str
    source: str = ""
    request: str = ""
    version: str = ""
    charge: str = ""
    accounts: int = 0
    answers: tuple[bool, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def body(self) -> str:
        """The line of JSON that is hashed; its length does not depend on the answers."""
        document = {name: getattr(self, name) for name in KEYS if name != "schema_version"}
        document |= {"schema_version": VERSION, "answers": [int(answer) for answer in self.answers]}
        return canonical_json(document)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of that line, in hexadecimal."""
        return digest(self.body)

    @property
    def question(self) -> str:
        """What was asked: its title, or its sentence; empty if nothing was asked, or the entry is of an older hetdp."""
        found = self.facts.get(TITLE, self.facts.get(QUESTION))
        return found if isinstance(found, str) else ""

    @property
    def published(self) -> tuple[str, ...]:
        """The answers, by the names that the release used: ``1`` and ``2`` if it named none.

        With areas, each answer follows the name of its area, such as ``Town: yes``.
        """
        words = self.facts.get(WORDS)
        if not (isinstance(words, list) and len(words) == 2 and all(isinstance(word, str) for word in words)):
            words = ["1", "2"]
        said = [words[not answer] for answer in self.answers]
        areas = self.facts.get(AREAS)
        if not (isinstance(areas, list) and len(areas) == len(said) and all(isinstance(one, str) for one in areas)):
            return tuple(said)
        return tuple(f"{area}: {answer}" for area, answer in zip(areas, said, strict=True))

    def receipt(self) -> dict[str, Any]:
        """The part of this entry that a record keeps, so that an older copy of the ledger is noticed later."""
        return {"ledger": self.ledger, "entry": self.number, "hash": self.hash}


def digest(body: str) -> str:
    """SHA-256 of a line, in hexadecimal."""
    return sha256(body.encode()).hexdigest()


def question_key(source: str, request: str, version: str) -> str:
    """The key by which a question about a version of the data is found."""
    return digest(canonical_json({"source": source, "request": request, "version": normalize_version(version)}))


def normalize_version(version: str) -> str:
    """A version in its comparable form: lower case, without leading zeros.

    Other decimals are compared as they are written: 1.10 may be the tenth version, or October.

    >>> normalize_version("2.0") == normalize_version("02") == "2", normalize_version("V2"), normalize_version("1.10")
    (True, 'v2', '1.10')
    """
    plain = normalize("NFKC", version).casefold().strip()
    number = re.fullmatch(r"0*([0-9]+)(\.0*)?", plain)
    return number[1] if number else plain


def declaration_key(source: str) -> str:
    """The key by which the declaration of a source is found."""
    return digest(canonical_json({"declared": source}))


def entry_key(entry: Entry) -> str | None:
    """The key by which an entry is found; None if it has none."""
    if entry.kind == SPEND:
        return question_key(entry.source, entry.request, entry.version)
    return declaration_key(entry.source) if entry.kind == DECLARE else None


def require_text(**given: Any) -> None:
    """Refuses values that are not text; the name of a source is printable and not empty.

    Names of sources and versions have no blanks at their ends, which nobody sees: they would mean other data.
    """
    for name, value in given.items():
        if not isinstance(value, str):
            raise UsageError(f"{format_value(value)} is not a {name}", "it must be text")
        if name == "source" and not (value and is_name(value)):
            raise UsageError(
                f"{format_value(value)} is not a {name}", "it must be text, on one line, without control characters"
            )
        if name in ("source", "version") and value != value.strip():
            raise UsageError(f"{format_value(value)} is not a {name}", "it has no blanks at its ends", "leave them out")


def normalize_name(name: str) -> str:
    """A name in lower case without blanks, for finding names that people would confuse."""
    return "".join(normalize("NFKC", name).casefold().split())


def check_facts(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The facts of an entry as they are read back from JSON.

    Raises:
        UsageError: they are not JSON.
    """
    try:
        facts: dict[str, Any] = json.loads(canonical_json(dict(given or {})))
    except (TypeError, ValueError, RecursionError):
        raise UsageError(
            "the facts of an entry are not JSON", "they hold text, finite numbers, lists and names"
        ) from None
    return facts


def parse_entry(body: Any) -> Entry:
    """An entry from its line; ValueError if it is invalid."""
    if not isinstance(body, str):
        raise ValueError("not text")
    try:
        found = json.loads(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(found, dict) or found.keys() != KEYS.keys():
        raise ValueError("not the keys of an entry")
    if any(type(found[name]) is not kind for name, kind in KEYS.items()):
        raise ValueError("not the values of an entry")
    if found.pop("schema_version") != VERSION or found["kind"] not in KINDS:
        raise ValueError("not an entry of this version")
    if any(type(answer) is not int or answer not in (0, 1) for answer in found["answers"]):
        raise ValueError("not answers")
    entry = Entry(**found | {"answers": tuple(map(bool, found["answers"]))})
    if entry.body != body:
        raise ValueError("not as an entry is written")
    return entry


def previous_of(body: Any) -> str:
    """The hash of the entry before, from the line of an entry; ValueError if it is invalid."""
    try:
        return str(json.loads(body)["previous"])
    except (TypeError, KeyError, RecursionError):
        raise ValueError("not an entry") from None


CHANGED = "it was changed, or is damaged"
SECRET = "secret_sha256"

_entries = schema.entries
_next = schema.entries.alias("following")
_with_next = select(_entries, _next.c.body.label("following")).outerjoin(_next, _next.c.number == _entries.c.number + 1)
LEDGER = Statement(select(schema.head.c.ledger))
HEAD, HEAD_LOCKED = Statement(select(schema.head)), Statement(select(schema.head).with_for_update())
ENDS = Statement(select(_entries).where(or_(_entries.c.number == 1, _entries.c.number >= bindparam("last"))).limit(3))
BY_NUMBER = Statement(_with_next.where(_entries.c.number == bindparam("wanted")))
BY_QUESTION = Statement(_with_next.where(_entries.c.asked == bindparam("wanted")))
ADD = Statement(insert(_entries), ("number", "asked", "body"))
MOVE = Statement(update(schema.head), ("entries", "hash", "place"))


class Head(NamedTuple):
    """The end of the chain.

    Attributes:
        ledger: the id of the ledger.
        secret: the key of the pseudonyms.
        entries: how many entries there are.
        hash: of the last of them.
        place: where the ledger is now, which the next entry stores.
    """

    ledger: str
    secret: bytes
    entries: int
    hash: str
    place: str


def read_head(
    database: Database, connection: Connection, expected: str | None = None, is_trusted: bool = False
) -> Head:
    """The head, compared with the first and the last entry; it is locked if the transaction writes.

    A file that was moved or copied since it was last written to is verified as a whole.

    Args:
        database: where the ledger is.
        connection: a transaction there.
        expected: the id that the ledger must have, if that is known.
        is_trusted: whether to skip the checks for a file that was moved.

    Raises:
        LedgerError: it is another one, or was changed.
    """
    rows = (HEAD_LOCKED if is_writing(connection) else HEAD).rows(connection)  # SQLite has locked the whole file
    if len(rows) != 1:
        raise database.ledger_error(CHANGED)
    row = rows[0]
    if row.one != 1 or row.schema_version != schema.VERSION:
        raise database.ledger_error("it is a ledger of another version")
    if not is_trusted and isinstance(row.place, str):
        database.require_own_journal(row.place)
    try:
        head = _head_of(row, database)
    except ValueError:
        raise database.ledger_error(CHANGED) from None
    if expected not in (None, head.ledger):
        raise database.ledger_error("it is not the ledger that was here before")
    ends = {row.number: row for row in ENDS.rows(connection, last=head.entries)}
    if ends.keys() != {1, head.entries}:
        raise database.ledger_error(CHANGED)
    last = read_entry(database, head, ends[head.entries])
    first = last if head.entries == 1 else read_entry(database, head, ends[1])
    if last.hash != head.hash or first.kind != CREATE or first.facts != {SECRET: sha256(head.secret).hexdigest()}:
        raise database.ledger_error(CHANGED)
    if not is_trusted:
        database.require_whole_if_moved(connection, row.place)
    return head


def _head_of(row: Any, database: Database) -> Head:
    """The head from its row; ValueError if it is invalid."""
    texts = row.ledger, row.secret, row.hash, row.place
    if not all(isinstance(text, str) for text in texts) or type(row.entries) is not int:
        raise ValueError("not the values of a head")
    if not database.is_place(row.place):
        raise ValueError("not a place")
    return Head(row.ledger, bytes.fromhex(row.secret), row.entries, row.hash, database.place)


def entry_at(database: Database, connection: Connection, head: Head, number: int) -> Entry:
    """One entry, compared with what the next one, or the head, says about it."""
    rows = BY_NUMBER.rows(connection, wanted=number)
    if len(rows) != 1:
        raise database.ledger_error(CHANGED)
    return _link(database, head, rows[0])


def find_entries(database: Database, connection: Connection, head: Head, *what: str) -> dict[str, Entry]:
    """The entries with these keys, by key; a key without an entry is left out."""
    rows = [row for wanted in what for row in BY_QUESTION.rows(connection, wanted=wanted)]
    return {row.asked: _link(database, head, row) for row in rows}


def _link(database: Database, head: Head, row: Any) -> Entry:
    entry = read_entry(database, head, row)
    try:
        expected = head.hash if entry.number == head.entries else previous_of(row.following)
    except ValueError:
        raise database.ledger_error(CHANGED) from None
    if entry.hash != expected:
        raise database.ledger_error(CHANGED)
    return entry


def read_entry(database: Database, head: Head, row: Any) -> Entry:
    """An entry from its row, whose columns must agree with it."""
    try:
        entry = parse_entry(row.body)
    except (ValueError, TypeError):
        raise database.ledger_error(CHANGED) from None
    if entry.number != row.number or entry.ledger != head.ledger or entry_key(entry) != row.asked:
        raise database.ledger_error(CHANGED)
    return entry


def append_entry(connection: Connection, head: Head, kind: str, **facts: Any) -> tuple[Head, Entry]:
    """Adds an entry, and moves the head to it."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    entry = Entry(head.ledger, head.entries + 1, head.hash, now, kind, **facts)
    head = head._replace(entries=entry.number, hash=entry.hash)
    ADD.write(connection, number=entry.number, asked=entry_key(entry), body=entry.body)
    MOVE.write(connection, entries=head.entries, hash=head.hash, place=head.place)
    return head, entry


def require_receipts(
    database: Database, connection: Connection, head: Head, receipts: Iterable[Mapping[str, Any]]
) -> int:
    """Refuses a ledger that lacks an entry that a record names; returns how many receipts were compared."""
    number = 0
    for number, receipt in enumerate(receipts, 1):
        ledger, entry, expected = (receipt.get(name) for name in ("ledger", "entry", "hash"))
        if not isinstance(ledger, str) or type(entry) is not int or not isinstance(expected, str):
            raise UsageError(f"receipt {number} is invalid", "a receipt has ledger, entry and hash")
        if ledger != head.ledger:
            rule = "records are compared with the ledger they name, also one whose place a new record would take"
            hint = "give the new record another name, or leave the old one out"
            raise UsageError(f"receipt {number} is of another ledger", rule, hint)
        _require_receipt(database, connection, head, entry, expected)
    return number


def _require_receipt(database: Database, connection: Connection, head: Head, number: int, expected: str) -> None:
    if number > head.entries:
        missing = pluralize(number - head.entries, "entry").replace("entrys", "entries")
        verb = "is" if number == head.entries + 1 else "are"
        what = f"it is older than its records: {missing} that its records name {verb} missing"
        raise database.ledger_error(what, "a restored copy would spend again what has already been spent")
    if number < 1 or entry_at(database, connection, head, number).hash != expected:
        what = f"it has diverged from its records: entry {number} is not the one that they name"
        raise database.ledger_error(what, "a restored copy was used and lacks earlier charges, or the record is false")


def is_written(connection: Connection, entry: Entry) -> bool:
    """True if exactly this entry is in the ledger."""
    return [row.body for row in BY_NUMBER.rows(connection, wanted=entry.number)] == [entry.body]


def create_chain(database: Database, connection: Connection) -> str:
    """Makes the tables of a ledger and its first entry; returns the ledger's id."""
    schema.metadata.create_all(connection, checkfirst=False)
    secret = secrets.token_bytes(32)
    head = Head(secrets.token_hex(16), secret, 0, "", database.place)
    row = {"one": 1, "schema_version": schema.VERSION, "ledger": head.ledger, "secret": secret.hex()}
    connection.execute(insert(schema.head).values(**row, entries=0, hash="", place=head.place))
    append_entry(connection, head, CREATE, facts={SECRET: sha256(secret).hexdigest()})
    return head.ledger


def is_created(connection: Connection, ledger: str) -> bool:
    """True if the ledger with this id was made."""
    return sqlalchemy.inspect(connection).has_table(schema.head.name) and LEDGER.rows(connection)[0].ledger == ledger

"""One entry of the ledger, as the line of JSON whose digest the next entry holds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any
from unicodedata import normalize

from hetdp.errors import UsageError, shown
from hetdp.release.ledger.sealed import canonical, is_name

VERSION = 1
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
    """What a ledger says about one thing that was done; it stays as it is for ever.

    Attributes:
        ledger: what tells this ledger from all others.
        number: its place: 1, 2, 3, …
        previous: the hash of the entry before it; empty for the first.
        time: when it was made, in UTC.
        kind: ``create``, ``declare``, ``spend``, ``record`` or ``state``.
        source: the data it is about; empty for ``create``.
        request: the digest of what was asked; empty unless something was.
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
        """The line of JSON that is hashed; whatever the answers, it is as long."""
        document = {name: getattr(self, name) for name in KEYS if name != "schema_version"}
        document |= {"schema_version": VERSION, "answers": [int(answer) for answer in self.answers]}
        return canonical(document)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of that line, in hexadecimal."""
        return digest(self.body)

    def receipt(self) -> dict[str, Any]:
        """What a record keeps of this entry, so that an older copy of the ledger is noticed later."""
        return {"ledger": self.ledger, "entry": self.number, "hash": self.hash}


def digest(body: str) -> str:
    """SHA-256 of a line, in hexadecimal."""
    return sha256(body.encode()).hexdigest()


def question(source: str, request: str, version: str) -> str:
    """What tells one question about declared data from another."""
    return digest(canonical({"source": source, "request": request, "version": same_version(version)}))


def same_version(version: str) -> str:
    """A version of the data in the form in which versions are compared: without capitals, whole numbers as such.

    Other decimals are compared as they are written: 1.10 may be the tenth version, or October.

    >>> same_version("2.0") == same_version("02") == "2", same_version("V2"), same_version("1.10")
    (True, 'v2', '1.10')
    """
    plain = normalize("NFKC", version).casefold().strip()
    number = re.fullmatch(r"0*([0-9]+)(\.0*)?", plain)
    return number[1] if number else plain


def declaration(source: str) -> str:
    """By what the declaration of a source is found."""
    return digest(canonical({"declared": source}))


def asked(entry: Entry) -> str | None:
    """By what an entry is found again, if it is."""
    if entry.kind == SPEND:
        return question(entry.source, entry.request, entry.version)
    return declaration(entry.source) if entry.kind == DECLARE else None


def require_text(**given: Any) -> None:
    """Refuses what is no text, each by its name; that of a source is not empty, and can be shown.

    Names of data and of its versions have no blanks at their ends: nobody sees them, and they would mean other data.
    """
    for name, value in given.items():
        if not isinstance(value, str):
            raise UsageError(f"{shown(value)} is no {name}", "it is text")
        if name == "source" and not (value and is_name(value)):
            raise UsageError(f"{shown(value)} is no {name}", "it is text, on one line, without control characters")
        if name in ("source", "version") and value != value.strip():
            raise UsageError(f"{shown(value)} is no {name}", "it has no blanks at its ends", "leave them out")


def looks(name: str) -> str:
    """What people see of a name: without capitals and blanks."""
    return "".join(normalize("NFKC", name).casefold().split())


def facts_of(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Facts as they will be read again."""
    try:
        facts: dict[str, Any] = json.loads(canonical(dict(given or {})))
    except (TypeError, ValueError, RecursionError):
        raise UsageError(
            "the facts of an entry are no JSON", "they hold text, finite numbers, lists and names"
        ) from None
    return facts


def parsed(body: Any) -> Entry:
    """An entry from its line; ValueError if it is not one."""
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
    """What the line of an entry says about the one before it; ValueError if it is none."""
    try:
        return str(json.loads(body)["previous"])
    except (TypeError, KeyError, RecursionError):
        raise ValueError("not an entry") from None

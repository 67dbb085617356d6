"""What was spent of one person's privacy, by which questions, and what is left; for the person who asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import bindparam, select
from sqlalchemy.engine import Connection

from hetdp.errors import Fault, InputError, UsageError
from hetdp.releases.ledger import schema
from hetdp.releases.ledger.accounts import (
    CAP,
    CAP_DELTA,
    SPENT,
    SPENT_DELTA,
    Terms,
    is_charged_by_class,
    naming_of,
    read_person,
)
from hetdp.releases.ledger.amounts import DELTA_SCALE, INFINITE, format_units
from hetdp.releases.ledger.chain import CHANGED, Entry, Head
from hetdp.releases.ledger.charge import decode_charge, make_pseudonyms
from hetdp.releases.ledger.charging import remaining_amounts
from hetdp.releases.ledger.database import Database
from hetdp.releases.ledger.schema import Statement
from hetdp.releases.ledger.status import history_of
from hetdp.text import format_value

CONTENT = Statement(select(schema.charges.c.content).where(schema.charges.c.digest == bindparam("wanted")))
LONGEST_ID = 1 << 16  # characters


@dataclass(frozen=True)
class PersonCharge:
    """One charge to a person. It says what was published about everybody, and nothing about the person's own answer.

    Attributes:
        entry: the number of the entry.
        time: when it was made, in UTC.
        kind: ``spend`` for a release, ``record`` for a spend that was made outside hetdp.
        version: the version of the data that was asked about; empty for ``record``.
        question: what was asked, as the ledger keeps it: its title or sentence; the digest of the question in older
            entries; empty for ``record``.
        note: for ``record``, where the amount was spent, and for what.
        published: the published answers in words, one for each area.
        spent: the amount that was charged, as a decimal: ε, or μ².
        spent_delta: the same for δ; None if the currency has none.
    """

    entry: int
    time: str
    kind: str
    version: str
    question: str
    note: str
    published: tuple[str, ...]
    spent: str
    spent_delta: str | None = None


@dataclass(frozen=True)
class PersonAccount:
    """The account of one person. It does not hold the person's id, and nothing about anybody else.

    Attributes:
        source: the name of the data.
        currency: how its privacy is counted.
        unit: what amounts are of: ε, or μ².
        named: the kind of the people's ids, such as their column; None if it is not stated.
        cap: what the person may spend, as a decimal; ``inf`` is no limit.
        spent: what the person has spent.
        left: what is left.
        cap_delta: what the person may spend of δ; None if the currency has none.
        spent_delta: what the person has spent of δ; likewise.
        left_delta: what is left of δ; likewise.
        charges: the charges that add up to this, the oldest first.
    """

    source: str
    currency: str
    unit: str
    named: str | None
    cap: str
    spent: str
    left: str
    cap_delta: str | None
    spent_delta: str | None
    left_delta: str | None
    charges: tuple[PersonCharge, ...]


def person_account(database: Database, connection: Connection, head: Head, terms: Terms, person: Any) -> PersonAccount:
    """The account of one person, recomputed from the charges.

    Args:
        database: where the ledger is.
        connection: a transaction there.
        head: the end of the chain; it has the secret of the pseudonyms.
        terms: the source.
        person: the id of the person, exactly as it was charged.

    Raises:
        UsageError: the id is not one, or classes pay.
        InputError: nobody with this id was charged.
        LedgerError: the charges do not add up to the balance.
    """
    if isinstance(person, str) and len(person) > LONGEST_ID:
        raise UsageError("an id that is too long", f"an id has at most {LONGEST_ID:,} characters")
    key = make_pseudonyms([person], head.secret)[0:1].tobytes()
    if is_charged_by_class(connection, terms):
        rule = f"the accounts of the source {format_value(terms.source)} are classes, and it knows no people"
        raise UsageError("an account of one person", rule, "the status of the ledger lists its classes")
    entries = history_of(database, connection, head)
    try:
        named, balance = naming_of(connection, terms), read_person(connection, terms, key)
        charges, total = _charges_of(connection, entries, terms, key)
    except (ValueError, TypeError):
        raise database.unusable(CHANGED) from None
    if balance is None and not charges:
        raise _unknown_person(terms, named)
    if balance is None or (int(balance[SPENT]), int(balance[SPENT_DELTA])) != total:
        raise database.unusable(CHANGED)
    left, scale = remaining_amounts(balance.reshape(4, 1)), terms.currency.scale
    return PersonAccount(
        source=terms.source,
        currency=terms.currency.name,
        unit=terms.currency.unit,
        named=named,
        cap=format_units(int(balance[CAP]), scale),
        spent=format_units(int(balance[SPENT]), scale),
        left=format_units(int(left[0, 0]), scale),
        cap_delta=_delta(terms, int(balance[CAP_DELTA])),
        spent_delta=_delta(terms, int(balance[SPENT_DELTA])),
        left_delta=_delta(terms, int(left[1, 0])),
        charges=tuple(charges),
    )


def _unknown_person(terms: Terms, named: str | None) -> InputError:
    """The error, which repeats no id."""
    subject, where = f"the source {format_value(terms.source)}", f", as in the column {format_value(named)}"
    rule = f"ids are compared exactly{'' if named is None else where}; a person who was never charged has no account"
    hint = "7 and 07 are different ids, and so are Ann and ann"
    return InputError(subject, [Fault("nobody with this id was charged", subject, "", rule, hint)])


def _charges_of(
    connection: Connection, entries: list[Entry], terms: Terms, key: bytes
) -> tuple[list[PersonCharge], tuple[int, int]]:
    """The charges to a person, and their sums. ValueError if a charge is invalid."""
    listed, first, second = [], 0, 0
    amounts: dict[str, tuple[int, int] | None] = {}
    for entry in entries:
        if entry.source != terms.source or not entry.charge:
            continue
        if entry.charge not in amounts:
            amounts[entry.charge] = _amounts_in(connection, entry.charge, key)
        paid = amounts[entry.charge]
        if paid is not None:
            first, second = min(first + paid[0], INFINITE), min(second + paid[1], INFINITE)
            listed.append(_person_charge(terms, entry, paid))
    return listed, (first, second)


def _amounts_in(connection: Connection, digest: str, key: bytes) -> tuple[int, int] | None:
    """What a charge takes from one person; None if the person does not pay it."""
    (content,) = (row.content for row in CONTENT.rows(connection, wanted=digest))
    charge = decode_charge(content)
    if charge.digest != digest:
        raise ValueError("another charge")
    wanted = np.frombuffer(key, charge.keys.dtype)
    at = int(np.searchsorted(charge.keys, wanted)[0])
    if at == len(charge.keys) or charge.keys[at : at + 1].tobytes() != key:
        return None
    return int(charge.amounts[at]), int(charge.deltas[at])


def _person_charge(terms: Terms, entry: Entry, paid: tuple[int, int]) -> PersonCharge:
    note = entry.facts.get("note")
    return PersonCharge(
        entry.number,
        entry.time,
        entry.kind,
        entry.version,
        entry.question or entry.request,
        note if isinstance(note, str) else "",
        entry.published,
        format_units(paid[0], terms.currency.scale),
        _delta(terms, paid[1]),
    )


def _delta(terms: Terms, units: int) -> str | None:
    return format_units(units, DELTA_SCALE) if terms.currency.has_delta else None

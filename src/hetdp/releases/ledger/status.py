"""Balances: what the accounts of each source, or one person, may spend and have spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, select
from sqlalchemy.engine import Connection

from hetdp.errors import Fault, InputError, UsageError
from hetdp.people.privacy.meaning import strength
from hetdp.releases.ledger import schema
from hetdp.releases.ledger.accounts import (
    CAP,
    CAP_DELTA,
    NOBODY,
    SPENT,
    SPENT_DELTA,
    Terms,
    exceeds_cap,
    is_charged_by_class,
    naming_of,
    read_classes,
    read_people,
    read_person,
)
from hetdp.releases.ledger.amounts import DELTA_SCALE, INFINITE, format_units
from hetdp.releases.ledger.chain import CHANGED, DECLARE, Entry, Head, read_entry
from hetdp.releases.ledger.charge import decode_charge, make_pseudonyms
from hetdp.releases.ledger.charging import find_neighbours, read_terms, remaining_amounts
from hetdp.releases.ledger.database import Database
from hetdp.releases.ledger.neighbours import PERSON, REPLACE_ONE, Neighbours
from hetdp.releases.ledger.schema import Statement
from hetdp.text import did_you_mean, format_value
from hetdp.theory.pure import BY_EPSILON

CONTENT = Statement(select(schema.charges.c.content).where(schema.charges.c.digest == bindparam("wanted")))
LONGEST_ID = 1 << 16  # characters


@dataclass(frozen=True)
class Balance:
    """The cap and the spent amount of one class, as decimals; ``inf`` is no limit.

    Attributes:
        name: the class.
        cap: what it may spend: ε, or μ².
        spent: what it has spent.
        cap_delta: the same for δ; None if the currency has none.
        spent_delta: what it has spent of δ.
        left: what is left of its cap; 0 if it has spent more.
        left_delta: the same for δ.
    """

    name: str
    cap: str
    spent: str
    left: str
    cap_delta: str | None = None
    spent_delta: str | None = None
    left_delta: str | None = None


@dataclass(frozen=True)
class Group:
    """The people who have the same cap.

    Attributes:
        cap: what each of them may spend, as a decimal.
        cap_delta: the same for δ; None if the currency has none.
        classes: the classes that were declared with this cap.
        people: how many of them have spent something.
        most_spent: the largest amount spent by any of them.
        least_left: the smallest amount that any of them has left; their cap if there is nobody.
        exhausted: how many of them have nothing left.
    """

    cap: str
    cap_delta: str | None
    classes: tuple[str, ...]
    people: int
    most_spent: str
    least_left: str
    exhausted: int


@dataclass(frozen=True)
class Status:
    """The balances of one source.

    Attributes:
        source: its name.
        currency: how its privacy is counted.
        unit: what amounts are of: ε, or μ².
        cap: what every account may spend, as a decimal.
        cap_delta: the same for δ; None if the currency has none.
        classes: the classes that have a cap of their own, or have spent something; none where people pay.
        people: how many people have spent something.
        named: the kind of their ids, as the first charge to people stated it; None if it did not, or there is none.
        most_spent: the largest amount spent by any of them.
        least_left: the smallest amount that any of them has left; the cap if there is nobody.
        exhausted: how many of them have nothing left.
        by_cap: the same people by what they may spend, the lowest cap first, with the classes that have it.
        privacy_unit: whose data changes between neighbouring datasets; None if it is not stated.
        relation: how it changes, such as ``replace-one``; likewise.
    """

    source: str
    currency: str
    unit: str
    cap: str
    cap_delta: str | None
    classes: tuple[Balance, ...]
    people: int
    named: str | None
    most_spent: str
    least_left: str
    exhausted: int
    by_cap: tuple[Group, ...]
    privacy_unit: str | None = None
    relation: str | None = None


def history_of(database: Database, connection: Connection, head: Head) -> list[Entry]:
    """All entries in order."""
    rows = connection.execute(select(schema.entries).order_by(schema.entries.c.number))
    return [read_entry(database, head, row) for row in rows]


def status_of(database: Database, connection: Connection, head: Head, source: str | None) -> list[Status]:
    """All sources, or one."""
    every = [read_terms(database, entry) for entry in history_of(database, connection, head) if entry.kind == DECLARE]
    listed = [terms for terms in every if source in (None, terms.source)]
    if not listed and source is not None:
        rule, known = "data is declared before it is asked about", [terms.source for terms in every]
        raise UsageError(f"the ledger has no source {format_value(source)}", rule, did_you_mean(source, known))
    try:
        return [_status(connection, terms, find_neighbours(database, connection, head, terms)) for terms in listed]
    except (ValueError, TypeError):
        raise database.ledger_error(CHANGED) from None


def _status(connection: Connection, terms: Terms, neighbours: Neighbours) -> Status:
    shares = read_people(connection, terms)
    balances = np.concatenate([NOBODY.balances, *(share.balances for share in shares)], axis=1)
    known = {} if shares else {name: (cap, 0, cap_delta, 0) for name, (cap, cap_delta) in terms.caps.items()}
    known |= dict(read_classes(connection, terms, None))
    return Status(
        terms.source,
        terms.currency.name,
        terms.currency.unit,
        format_units(terms.cap[0], terms.currency.scale),
        _delta(terms, terms.cap[1]),
        tuple(_balance(terms, name, values) for name, values in sorted(known.items())),
        balances.shape[1],
        naming_of(connection, terms),
        *_spending(terms, balances, terms.cap[0]),
        _by_cap(terms, balances) if shares else (),
        *neighbours,
    )


def _spending(terms: Terms, balances: NDArray[np.int64], cap: int) -> tuple[str, str, int]:
    """The largest amount that a person of a group has spent, the smallest that is left, and how many have nothing left.

    Args:
        terms: the source.
        balances: the people of the group.
        cap: what is left of it if there are none.
    """
    more = balances.copy()
    more[SPENT] += more[SPENT] < INFINITE
    if terms.currency.has_delta:
        more[SPENT_DELTA] += more[SPENT_DELTA] < INFINITE
    left = remaining_amounts(balances)[0].min(initial=INFINITE if balances.shape[1] else cap)
    spent, scale = balances[SPENT].max(initial=0), terms.currency.scale
    return format_units(int(spent), scale), format_units(int(left), scale), int(np.count_nonzero(exceeds_cap(more)))


def _by_cap(terms: Terms, balances: NDArray[np.int64]) -> tuple[Group, ...]:
    """The people grouped by their caps; the ledger does not store their classes."""
    declared: dict[tuple[int, int], list[str]] = {}
    for name, pair in terms.caps.items():
        declared.setdefault(pair, []).append(name)
    (firsts, first), (seconds, second) = (np.unique(balances[row], return_inverse=True) for row in (CAP, CAP_DELTA))
    numbers = first * len(seconds) + second
    columns: dict[tuple[int, int], NDArray[np.intp]] = {pair: np.zeros(0, np.intp) for pair in declared}
    for number in np.unique(numbers).tolist():
        pair = int(firsts[number // len(seconds)]), int(seconds[number % len(seconds)])
        columns[pair] = np.flatnonzero(numbers == number)
    return tuple(
        Group(
            format_units(pair[0], terms.currency.scale),
            _delta(terms, pair[1]),
            tuple(sorted(declared.get(pair, ()))),
            len(columns[pair]),
            *_spending(terms, balances[:, columns[pair]], pair[0]),
        )
        for pair in sorted(columns)
    )


def _balance(terms: Terms, name: str, values: tuple[int, ...]) -> Balance:
    scale = terms.currency.scale
    left, left_delta = remaining_amounts(np.array(values, np.int64).reshape(4, 1))[:, 0].tolist()
    amounts = (format_units(units, scale) for units in (values[CAP], values[SPENT], left))
    deltas = (_delta(terms, units) for units in (values[CAP_DELTA], values[SPENT_DELTA], left_delta))
    return Balance(name, *amounts, *deltas)


def _delta(terms: Terms, units: int) -> str | None:
    return format_units(units, DELTA_SCALE) if terms.currency.has_delta else None


# One person's account, for the person who asks ------------------------------------------------------------------------


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
        meaning: what everything that was spent can reveal about the person at most, as a sentence; empty unless the
            source counts ε by replacing one person's answers.
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
    meaning: str = ""


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
        raise database.ledger_error(CHANGED) from None
    if balance is None and not charges:
        raise _unknown_person(terms, named)
    if balance is None or (int(balance[SPENT]), int(balance[SPENT_DELTA])) != total:
        raise database.ledger_error(CHANGED)
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
        meaning=_meaning(terms, find_neighbours(database, connection, head, terms), int(balance[SPENT])),
    )


def _meaning(terms: Terms, neighbours: Neighbours, spent: int) -> str:
    """What an amount of ε can reveal about one person at most, in words for that person."""
    if terms.currency is not BY_EPSILON or neighbours != (PERSON, REPLACE_ONE):
        return ""
    found = strength(format_units(spent, terms.currency.scale))
    warning = f" {found.warning}." if found.warning and spent < INFINITE else ""  # else the sentence says it
    return found.belief_from("all of this together") + warning


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

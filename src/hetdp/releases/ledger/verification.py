"""Verification: recomputes everything in a ledger from its chain, and compares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import bindparam, select
from sqlalchemy.engine import Connection

from hetdp.releases.ledger import schema
from hetdp.releases.ledger.accounts import (
    NOBODY,
    Share,
    Terms,
    caps_of,
    charge_share,
    naming_of,
    read_classes,
    read_people,
)
from hetdp.releases.ledger.amounts import INFINITE
from hetdp.releases.ledger.chain import CHANGED, CREATE, DECLARE, RECORD, SPEND, STATE, Head, read_entry, read_head
from hetdp.releases.ledger.charge import CLASS, SealedCharge, decode_charge
from hetdp.releases.ledger.charging import read_terms
from hetdp.releases.ledger.database import Database
from hetdp.releases.ledger.neighbours import (
    NEIGHBOURS,
    Neighbours,
    combine_neighbours,
    read_neighbours,
    state_neighbours,
)
from hetdp.releases.ledger.schema import Statement

ENTRIES = Statement(select(schema.entries).order_by(schema.entries.c.number))
DIGESTS = Statement(select(schema.charges.c.digest))
CONTENT = Statement(select(schema.charges.c.content).where(schema.charges.c.digest == bindparam("wanted")))
STATED = Statement(select(schema.sources))
SOURCES = [Statement(select(table.c.source).distinct()) for table in (schema.classes, schema.people)]


@dataclass(frozen=True)
class VerifiedLedger:
    """The result of a verification that found no difference.

    Attributes:
        ledger: the id of the ledger.
        entry: the number of the last entry.
        hash: the hash of it; with the two above a receipt.
        sources: how many sources it has.
        classes: how many class accounts.
        people: how many people's accounts.
        records: how many receipts were compared.
    """

    ledger: str
    entry: int
    hash: str
    sources: int
    classes: int
    people: int
    records: int


class Replay:
    """The state that the chain implies so far: sources, and how often each charge of a source was made."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.terms: dict[str, Terms] = {}
        self.times: dict[
            tuple[int, str], int
        ] = {}  # in the order in which accounts were made; caps come out the same, however often a charge comes again
        self.sizes: dict[str, int] = {}
        self.neighbours: dict[str, Neighbours] = {}
        self.charged: set[str] = set()
        self.stated: dict[int, int] = {}  # which entry says the unit and the relation of a source

    def take(self, entry: Any) -> None:
        """Adds the next entry."""
        if (entry.kind == CREATE) != (entry.number == 1):
            raise self._database.ledger_error(CHANGED)
        if entry.kind == DECLARE:
            terms = self.terms[entry.source] = read_terms(self._database, entry)
            self.neighbours[entry.source] = terms.neighbours
        elif entry.kind == STATE:
            self._relate(entry)
        elif entry.kind in (SPEND, RECORD):
            if entry.source not in self.terms or self.sizes.setdefault(entry.charge, entry.accounts) != entry.accounts:
                raise self._database.ledger_error(CHANGED)
            charge = self.terms[entry.source].number, entry.charge
            self.times[charge] = self.times.get(charge, 0) + 1
            self._relate(entry)
            if entry.accounts:
                self.charged.add(entry.source)

    def _relate(self, entry: Any) -> None:
        """Adds the unit and relation that an entry states; they must not contradict earlier ones."""
        source, is_stated = entry.source, entry.kind == STATE
        try:
            before, given = self.neighbours[source], read_neighbours(entry.facts.get(NEIGHBOURS))
            after = (
                state_neighbours(before, given, source)
                if is_stated
                else combine_neighbours(before, given, source in self.charged, source)
            )
        except (KeyError, ValueError):
            raise self._database.ledger_error(CHANGED) from None
        if after != given or (is_stated and after == before):
            raise self._database.ledger_error(CHANGED)
        if after != before:
            self.neighbours[source], self.stated[self.terms[source].number] = after, entry.number


def require_whole(database: Database, connection: Connection, path: Path | None = None) -> None:
    """Refuses a ledger that differs from its chain, as an interrupted write may leave it.

    Args:
        database: where the ledger is.
        connection: a transaction there, or in a copy.
        path: the file, if it is not that of the database.
    """
    database.require_shape(connection, path)
    verify_chain(database, connection, read_head(database, connection, is_trusted=True), 0)


def verify_chain(database: Database, connection: Connection, head: Head, records: int) -> VerifiedLedger:
    """Reads the whole chain and recomputes every balance.

    Args:
        database: where the ledger is.
        connection: a transaction there.
        head: the end of the chain.
        records: how many receipts were compared.

    Raises:
        LedgerError: something differs.
    """
    database.require_undamaged(connection)
    replay = _replay(database, connection, head)
    try:
        sums = _sum_charges(connection, replay)
        people = _compare(connection, replay, sums)
    except (ValueError, TypeError):
        raise database.ledger_error(CHANGED) from None
    classes = sum(len(names) for names, _, _ in sums.values())
    return VerifiedLedger(head.ledger, head.entries, head.hash, len(replay.terms), classes, people, records)


def _replay(database: Database, connection: Connection, head: Head) -> Replay:
    """Reads the chain and recomputes every hash."""
    replay, number, previous = Replay(database), 0, ""
    for row in ENTRIES.each(connection):
        entry, number = read_entry(database, head, row), number + 1
        if entry.number != number or entry.previous != previous:
            raise database.ledger_error(CHANGED)
        previous = entry.hash
        replay.take(entry)
    if (number, previous) != (head.entries, head.hash):
        raise database.ledger_error(CHANGED)
    return replay


Sums = dict[int, tuple[dict[str, tuple[int, ...]], Share, str | None]]  # the last is what people's ids are


def _sum_charges(connection: Connection, replay: Replay) -> Sums:
    """Computes the amount that every account of every source must have spent."""
    stored = {row.digest for row in DIGESTS.each(connection)}
    if stored != {digest for _, digest in replay.times}:
        raise ValueError("a charge is missing, or was never made")
    terms = {each.number: each for each in replay.terms.values()}
    sums: Sums = {number: ({}, NOBODY, None) for number in terms}
    for (number, digest), times in replay.times.items():
        (row,) = CONTENT.rows(connection, wanted=digest)
        charge = decode_charge(row.content)
        if charge.digest != digest or charge.accounts != replay.sizes[digest]:
            raise ValueError("another charge")
        if charge.currency != terms[number].currency.name:
            raise ValueError("a charge of another currency")
        names, people, named = sums[number]
        costs = _times(charge.amounts, times), _times(charge.deltas, times)
        if charge.kind == CLASS:
            _add_classes(names, terms[number], charge, costs)
        elif charge.accounts:
            if len(people.keys) and charge.named != named:
                raise ValueError("people who are named in two ways")
            caps = caps_of(terms[number], charge)
            people = charge_share(people, charge.keys, *costs, caps, bool(charge.class_names))[0]
            sums[number] = names, people, charge.named
    return sums


def _times(amounts: Any, times: int) -> Any:
    return np.where(amounts > INFINITE // times, INFINITE, amounts * times)


def _add_classes(names: dict[str, tuple[int, ...]], terms: Terms, charge: SealedCharge, costs: Any) -> None:
    for name, amount, delta in zip(charge.names, *map(np.ndarray.tolist, costs), strict=True):
        cap, cap_delta = terms.cap_of(name)
        _, spent, _, spent_delta = names.get(name, (cap, 0, cap_delta, 0))
        names[name] = cap, min(spent + amount, INFINITE), cap_delta, min(spent_delta + delta, INFINITE)


def _compare(connection: Connection, replay: Replay, sums: Sums) -> int:
    """Compares all balances; returns how many people have one."""
    known = {terms.number for terms in replay.terms.values()}
    for sources in SOURCES:
        if {row.source for row in sources.each(connection)} - known:
            raise ValueError("accounts of no source")
    if {row.source: row.entry for row in STATED.each(connection)} != replay.stated:
        raise ValueError("another unit or relation of a source")
    count = 0
    for terms in replay.terms.values():
        names, people, named = sums[terms.number]
        if names and len(people.keys):
            raise ValueError("accounts of two kinds")
        if dict(read_classes(connection, terms, None)) != names:
            raise ValueError("another balance of a class")
        if naming_of(connection, terms) != named:
            raise ValueError("people who are named otherwise")
        shares = read_people(connection, terms)
        keys = b"".join(share.keys.tobytes() for share in shares)
        balances = np.concatenate([NOBODY.balances, *(share.balances for share in shares)], axis=1)
        if keys != people.keys.tobytes() or not np.array_equal(balances, people.balances):
            raise ValueError("another balance of a person")
        count += len(people.keys)
    return count

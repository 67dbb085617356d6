"""How a ledger stands: what each source may spend and has spent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlalchemy import select
from sqlalchemy.engine import Connection

from hetdp.errors import UsageError, shown
from hetdp.release.ledger import tables
from hetdp.release.ledger.accounts import (
    CAP,
    CAP_DELTA,
    SPENT,
    SPENT_DELTA,
    Terms,
    exceeding,
    read_classes,
)
from hetdp.release.ledger.amounts import DELTA_SCALE, INFINITE, written
from hetdp.release.ledger.chain import CHANGED, Head, read_entry
from hetdp.release.ledger.charging import checked_terms
from hetdp.release.ledger.database import Database
from hetdp.release.ledger.entry import DECLARE, Entry
from hetdp.release.ledger.people import naming_of, read_people


@dataclass(frozen=True)
class Balance:
    """What one class may spend and has spent, as decimals; ``inf`` is no limit.

    Attributes:
        name: the class.
        cap: what it may spend: ε, or μ².
        spent: what it has spent.
        cap_delta: the same for δ; None if the currency has none.
        spent_delta: what it has spent of δ.
    """

    name: str
    cap: str
    spent: str
    cap_delta: str | None = None
    spent_delta: str | None = None


@dataclass(frozen=True)
class Status:
    """How one source stands.

    Attributes:
        source: its name.
        currency: how its privacy is counted.
        unit: what amounts are of: ε, or μ².
        cap: what every account may spend, as a decimal.
        cap_delta: the same for δ; None if the currency has none.
        classes: the classes that have a cap of their own, or have spent something.
        people: how many people have spent something.
        named: what their ids are, as the first charge to people said; None if it did not, or there is none.
        most_spent: what the one of them has spent who has spent most.
        exhausted: how many of them have nothing left.
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
    exhausted: int


def history_of(database: Database, connection: Connection, head: Head) -> list[Entry]:
    """All entries in order."""
    rows = connection.execute(select(tables.entries).order_by(tables.entries.c.number))
    return [read_entry(database, head, row) for row in rows]


def status_of(database: Database, connection: Connection, head: Head, source: str | None) -> list[Status]:
    """All sources, or one."""
    listed = [
        checked_terms(database, entry) for entry in history_of(database, connection, head) if entry.kind == DECLARE
    ]
    if source is not None:
        listed = [terms for terms in listed if terms.source == source]
        if not listed:
            raise UsageError(f"the ledger has no source {shown(source)}", "data is declared before it is asked about")
    try:
        return [_status(connection, terms) for terms in listed]
    except (ValueError, TypeError):
        raise database.unusable(CHANGED) from None


def _status(connection: Connection, terms: Terms) -> Status:
    known = {name: (cap, 0, cap_delta, 0) for name, (cap, cap_delta) in terms.caps.items()}
    known |= dict(read_classes(connection, terms, None))
    people, most, exhausted = 0, 0, 0
    for share in read_people(connection, terms):
        people += len(share.keys)
        most = max(most, int(share.balances[SPENT].max(initial=0)))
        more = share.balances.copy()
        more[SPENT] += more[SPENT] < INFINITE
        if terms.currency.has_delta:
            more[SPENT_DELTA] += more[SPENT_DELTA] < INFINITE
        exhausted += int(np.count_nonzero(exceeding(more)))
    scale = terms.currency.scale
    return Status(
        terms.source,
        terms.currency.name,
        terms.currency.unit,
        written(terms.cap[0], scale),
        _delta(terms, terms.cap[1]),
        tuple(_balance(terms, name, values) for name, values in sorted(known.items())),
        people,
        naming_of(connection, terms),
        written(most, scale),
        exhausted,
    )


def _balance(terms: Terms, name: str, values: tuple[int, ...]) -> Balance:
    scale = terms.currency.scale
    deltas = _delta(terms, values[CAP_DELTA]), _delta(terms, values[SPENT_DELTA])
    return Balance(name, written(values[CAP], scale), written(values[SPENT], scale), *deltas)


def _delta(terms: Terms, units: int) -> str | None:
    return written(units, DELTA_SCALE) if terms.currency.has_delta else None

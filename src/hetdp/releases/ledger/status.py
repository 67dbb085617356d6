"""Balances: what the accounts of each source may spend and have spent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.engine import Connection

from hetdp.errors import UsageError
from hetdp.releases.ledger import schema
from hetdp.releases.ledger.accounts import (
    CAP,
    CAP_DELTA,
    NOBODY,
    SPENT,
    SPENT_DELTA,
    Terms,
    exceeds_cap,
    naming_of,
    read_classes,
    read_people,
)
from hetdp.releases.ledger.amounts import DELTA_SCALE, INFINITE, format_units
from hetdp.releases.ledger.chain import CHANGED, DECLARE, Entry, Head, read_entry
from hetdp.releases.ledger.charging import find_neighbours, read_terms, remaining_amounts
from hetdp.releases.ledger.database import Database
from hetdp.releases.ledger.neighbours import Neighbours
from hetdp.text import format_value


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
    listed = [read_terms(database, entry) for entry in history_of(database, connection, head) if entry.kind == DECLARE]
    if source is not None:
        listed = [terms for terms in listed if terms.source == source]
        if not listed:
            raise UsageError(
                f"the ledger has no source {format_value(source)}", "data is declared before it is asked about"
            )
    try:
        return [_status(connection, terms, find_neighbours(database, connection, head, terms)) for terms in listed]
    except (ValueError, TypeError):
        raise database.unusable(CHANGED) from None


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

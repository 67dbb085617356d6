"""Charging the accounts of a source inside a transaction, and keeping the charge itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.engine import Connection

from hetdp.errors import UsageError, shown
from hetdp.release.ledger import tables
from hetdp.release.ledger.accounts import Terms, charge_classes, is_charged, terms_of
from hetdp.release.ledger.chain import CHANGED, Head, entry_at
from hetdp.release.ledger.charge import Charge
from hetdp.release.ledger.database import Database
from hetdp.release.ledger.entry import RECORD, SPEND, STATE, Entry
from hetdp.release.ledger.neighbours import NEIGHBOURS, Neighbours, joined, read_neighbours
from hetdp.release.ledger.people import charge_people
from hetdp.release.ledger.sealed import CLASS, Sealed, opened
from hetdp.release.ledger.statements import Statement

IS_KEPT = Statement(select(tables.charges.c.digest).where(tables.charges.c.digest == bindparam("wanted")))
KEEP = Statement(insert(tables.charges), ("digest", "content"))
CONTENT = Statement(select(tables.charges.c.content).where(tables.charges.c.digest == bindparam("wanted")))
_of_source: Any = tables.sources.c.source == bindparam("of_source")
STATED_AT = Statement(select(tables.sources.c.entry).where(_of_source))
ADD_STATED = Statement(insert(tables.sources), ("source", "entry"))
MOVE_STATED = Statement(update(tables.sources).where(_of_source), ("entry",))


class Charged(NamedTuple):
    """What a charge came to.

    Attributes:
        sealed: the charge as it is kept.
        exceeded: how many accounts now exceed their caps.
        classes: their names, if they are classes.
    """

    sealed: Sealed
    exceeded: int
    classes: tuple[str, ...]


def charge_all(database: Database, connection: Connection, head: Head, terms: Terms, charge: Charge) -> Charged:
    """Charges everybody; if somebody then exceeds their cap, the caller is to undo the transaction."""
    require_currency(terms, charge)
    sealed = charge.sealed(head.secret)
    try:
        if sealed.kind == CLASS:
            names = tuple(charge_classes(connection, terms, sealed))
            charged = Charged(sealed, len(names), names)
        else:
            charged = Charged(sealed, charge_people(connection, terms, sealed), ())
    except UsageError:
        raise
    except (ValueError, TypeError):
        raise database.unusable(CHANGED) from None
    keep(connection, sealed)
    return charged


def require_currency(terms: Terms, charge: Charge) -> None:
    """Refuses a charge that is counted otherwise than its source."""
    if charge.currency != terms.currency.name:
        rule = f"the source {shown(terms.source)} counts {terms.currency.name}"
        raise UsageError(f"a charge of {charge.currency}", rule)


def neighbours_known(database: Database, connection: Connection, head: Head, terms: Terms) -> Neighbours:
    """The unit and the relation of a source, as its declaration, its first charge or a later statement gives them."""
    rows = STATED_AT.rows(connection, of_source=terms.number)
    if not rows:
        return terms.neighbours
    entry = entry_at(database, connection, head, rows[0].entry)
    try:
        if entry.source != terms.source or entry.kind not in (SPEND, RECORD, STATE):
            raise ValueError("an entry that states nothing of this source")
        return read_neighbours(entry.facts.get(NEIGHBOURS))
    except ValueError:
        raise database.unusable(CHANGED) from None


def neighbours_after(
    database: Database, connection: Connection, head: Head, terms: Terms, given: Neighbours
) -> tuple[Neighbours, bool]:
    """The unit and the relation of a source after a charge, and whether that is news.

    Args:
        database: where the ledger is.
        connection: a transaction there.
        head: where its chain ends.
        terms: the source.
        given: what the charge is about.

    Raises:
        UsageError: the charge is about something else than the source.
    """
    known = neighbours_known(database, connection, head, terms)
    after = joined(known, given, is_charged(connection, terms), terms.source)
    return after, after != known


def point_to(connection: Connection, terms: Terms, number: int) -> None:
    """Notes which entry states a source's unit and relation."""
    if STATED_AT.rows(connection, of_source=terms.number):
        MOVE_STATED.write(connection, of_source=terms.number, entry=number)
    else:
        ADD_STATED.write(connection, source=terms.number, entry=number)


def require_same_charge(database: Database, connection: Connection, entry: Entry, sealed: Sealed) -> Entry:
    """The entry of an earlier answer, if the same accounts would pay the same for it now.

    The classes by which caps are found may differ: nothing is charged again, so no cap is looked up.
    """
    if entry.charge != sealed.digest and not _is_same_charge(database, connection, entry, sealed):
        what = "this was asked before of the same version of the data, but others paid for it, or paid otherwise"
        raise UsageError(what, "an answer is given again to the same accounts only", "new data has a new version")
    return entry


def _is_same_charge(database: Database, connection: Connection, entry: Entry, sealed: Sealed) -> bool:
    rows = CONTENT.rows(connection, wanted=entry.charge)
    try:
        (kept,) = (opened(row.content) for row in rows)
    except ValueError:
        raise database.unusable(CHANGED) from None
    alike = [(one.currency, one.kind, one.names, one.named, one.keys.tobytes()) for one in (kept, sealed)]
    return (
        alike[0] == alike[1]
        and np.array_equal(kept.amounts, sealed.amounts)
        and np.array_equal(kept.deltas, sealed.deltas)
    )


def require_terms(database: Database, source: str, entry: Entry | None) -> Terms:
    """What a source was declared with, by the entry that was found."""
    if entry is None:
        raise UsageError(f"the ledger has no source {shown(source)}", "data is declared before it is asked about")
    return checked_terms(database, entry)


def checked_terms(database: Database, entry: Entry) -> Terms:
    """What an entry declares."""
    try:
        return terms_of(entry)
    except (ValueError, TypeError, AttributeError):
        raise database.unusable(CHANGED) from None


def keep(connection: Connection, sealed: Sealed) -> None:
    """Keeps a charge, once."""
    if not IS_KEPT.rows(connection, wanted=sealed.digest):
        KEEP.write(connection, digest=sealed.digest, content=sealed.content)

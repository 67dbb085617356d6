"""Charging the accounts of a source inside a transaction, and keeping the charge itself."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, insert, select
from sqlalchemy.engine import Connection

from hetdp.errors import UsageError, shown
from hetdp.release.ledger import tables
from hetdp.release.ledger.accounts import Terms, charge_classes, terms_of
from hetdp.release.ledger.chain import CHANGED, Head
from hetdp.release.ledger.charge import Charge
from hetdp.release.ledger.database import Database
from hetdp.release.ledger.entry import Entry
from hetdp.release.ledger.people import charge_people
from hetdp.release.ledger.sealed import CLASS, Sealed
from hetdp.release.ledger.statements import Statement

IS_KEPT = Statement(select(tables.charges.c.digest).where(tables.charges.c.digest == bindparam("wanted")))
KEEP = Statement(insert(tables.charges), ("digest", "content"))


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
    if charge.currency != terms.currency.name:
        rule = f"the source {shown(terms.source)} counts {terms.currency.name}"
        raise UsageError(f"a charge of {charge.currency}", rule)
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


def require_same_charge(entry: Entry, sealed: Sealed) -> Entry:
    """The entry of an earlier answer, if the same accounts would pay the same for it now."""
    if entry.charge != sealed.digest:
        what = "this was asked before of the same version of the data, but others paid for it, or paid otherwise"
        raise UsageError(what, "an answer is given again to the same accounts only", "new data has a new version")
    return entry


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

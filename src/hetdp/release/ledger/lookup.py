"""What a release and its record ask of a ledger: which data it knows, and whether an entry is still there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from hetdp.errors import UsageError, shown
from hetdp.release.ledger import tables
from hetdp.release.ledger.chain import entry_at, find, read_entry, read_head, require_receipts
from hetdp.release.ledger.charging import checked_terms, require_terms
from hetdp.release.ledger.entry import DECLARE, Entry, declaration

if TYPE_CHECKING:
    from hetdp.release.ledger.ledger import Ledger

SHOWN = 10
LIKE_DECLARATION = f'%"kind":"{DECLARE}"%'  # as it stands in the line of an entry


def source_of(ledger: Ledger, named: str | None) -> tuple[str, str]:
    """The data that is asked about, and how its privacy is counted; by default the only data that the ledger knows.

    Raises:
        UsageError: it has no such source, or several and none is named.
    """
    database = ledger._database
    with database.reading() as connection:
        head = read_head(database, connection, ledger.id)
        if named is not None:
            if not isinstance(named, str):
                raise UsageError(f"{shown(named)} is no source", "it is text")
            entry = find(database, connection, head, declaration(named)).get(declaration(named))
            return named, require_terms(database, named, entry).currency.name
        asks = select(tables.entries).where(tables.entries.c.body.like(LIKE_DECLARATION))
        rows = connection.execute(asks.order_by(tables.entries.c.number)).all()
        entries = [read_entry(database, head, row) for row in rows]
        known = [checked_terms(database, entry) for entry in entries if entry.kind == DECLARE]
    if len(known) == 1:
        return known[0].source, known[0].currency.name
    if not known:
        raise UsageError("the ledger has no source", "data is declared before it is asked about")
    names = ", ".join(shown(terms.source) for terms in known[:SHOWN]) + (", …" if len(known) > SHOWN else "")
    raise UsageError("no source is named", f"the ledger has several: {names}")


def entry_of(ledger: Ledger, receipt: Mapping[str, Any]) -> Entry:
    """The entry that a receipt of this ledger names.

    Raises:
        LedgerError: it is not there, or another one is: the ledger is older than its records.
    """
    database = ledger._database
    with database.reading() as connection:
        head = read_head(database, connection, ledger.id)
        require_receipts(database, connection, head, [receipt])
        return entry_at(database, connection, head, receipt["entry"])

"""What is asked of a ledger from outside: which data it knows, whether an entry is still there, and who paid most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select
from sqlalchemy.engine import Connection

from hetdp.errors import UsageError
from hetdp.releases.ledger import tables
from hetdp.releases.ledger.accounts import Terms
from hetdp.releases.ledger.amounts import DELTA_SCALE, currency_of, format_units
from hetdp.releases.ledger.chain import (
    CHANGED,
    DECLARE,
    SPEND,
    Entry,
    Head,
    declaration_key,
    digest,
    entry_at,
    find_entries,
    normalize_name,
    read_entry,
    read_head,
    require_receipts,
)
from hetdp.releases.ledger.charge import decode_charge
from hetdp.releases.ledger.charging import read_terms, require_terms
from hetdp.releases.ledger.database import Database
from hetdp.releases.ledger.sqlite import Statement
from hetdp.text import format_value

if TYPE_CHECKING:
    from hetdp.releases.ledger.ledger import Ledger

SHOWN = 10
MOST_ALIKE = 1000  # entries that are similar, of which the latest are looked at
LIKE_DECLARATION = f'%"kind":"{DECLARE}"%'  # as it stands in the line of an entry
_number = tables.entries.c.number
_later = select(tables.entries).where(_number > bindparam("after"), tables.entries.c.body.like(LIKE_DECLARATION))
BODY = Statement(select(tables.entries.c.body).where(_number == bindparam("wanted")))
CONTENT = Statement(select(tables.charges.c.content).where(tables.charges.c.digest == bindparam("wanted")))
DECLARATIONS = Statement(_later.order_by(_number))
_alike = select(tables.entries).where(tables.entries.c.body.like(bindparam("words")))
ALIKE = Statement(_alike.order_by(_number.desc()).limit(MOST_ALIKE))


@dataclass
class KnownSources:
    """Which data a ledger has declared, as far as it was read; a spend looks its own declaration up again.

    Attributes:
        entries: how many entries were read.
        hash: of the last of them.
        declared: what they declare.
    """

    entries: int = 0
    hash: str = ""
    declared: list[Terms] = field(default_factory=list)

    def look(self, database: Database, connection: Connection, head: Head) -> None:
        """Reads what was declared since; in a copy with another past, everything again."""
        last = [digest(row.body) for row in BODY.rows(connection, wanted=self.entries)]
        if last != [self.hash]:
            self.entries, self.declared = 0, []
        entries = [read_entry(database, head, row) for row in DECLARATIONS.rows(connection, after=self.entries)]
        self.declared += [read_terms(database, entry) for entry in entries if entry.kind == DECLARE]
        self.entries, self.hash = head.entries, head.hash

    def require_unlike(self, source: str) -> None:
        """Refuses a new name that differs from a known one in capitals and blanks only."""
        for terms in self.declared:
            if normalize_name(terms.source) == normalize_name(source):
                rule = "data whose names differ only in capitals or blanks is easily confused, and has two budgets"
                hint = f"it is {format_value(terms.source)}, if it is the same data"
                raise UsageError(
                    f"the source {format_value(source)} looks like {format_value(terms.source)}", rule, hint
                )

    def only(self) -> Terms:
        """The only data that the ledger knows.

        Raises:
            UsageError: it knows none, or several.
        """
        known = self.declared
        if len(known) == 1:
            return known[0]
        if not known:
            raise UsageError("the ledger has no source", "data is declared before it is asked about")
        names = ", ".join(format_value(terms.source) for terms in known[:SHOWN]) + (", …" if len(known) > SHOWN else "")
        raise UsageError("no source is named", f"the ledger has several: {names}")


def find_source(ledger: Ledger, named: str | None) -> tuple[str, str]:
    """The data that is asked about, and how its privacy is counted; by default the only data that the ledger knows.

    What is known already is not read again: whoever spends compares it with the ledger as it is then.

    Raises:
        UsageError: it has no such source, or several and none is named.
    """
    database, seen = ledger._database, ledger._seen
    if named is not None and not isinstance(named, str):
        raise UsageError(f"{format_value(named)} is no source", "it is text")
    if named is None and len(seen.declared) == 1:
        return seen.only().source, seen.only().currency.name
    with database.reading() as connection:
        head = read_head(database, connection, ledger.id)
        if named is not None:
            entry = find_entries(database, connection, head, declaration_key(named)).get(declaration_key(named))
            return named, require_terms(database, named, entry).currency.name
        seen.look(database, connection, head)
    return seen.only().source, seen.only().currency.name


def similar_entries(ledger: Ledger, source: str, theme: str, key: str) -> list[Entry]:
    """Earlier answers about the same theme, the latest first; none if exactly this was asked before.

    Args:
        ledger: the ledger.
        source: the data.
        theme: a digest, which entries keep among their facts, and which similar questions have in common.
        key: by which this question is found.
    """
    database = ledger._database
    with database.reading() as connection:
        head = read_head(database, connection, ledger.id)
        if find_entries(database, connection, head, key):
            return []
        rows = ALIKE.rows(connection, words=f'%"theme":"{theme}"%')
    entries = [read_entry(database, head, row) for row in rows]
    return [one for one in entries if (one.kind, one.source, one.facts.get("theme")) == (SPEND, source, theme)]


def largest_payments(ledger: Ledger, entries: Iterable[Entry]) -> dict[str, str]:
    """For each charge of these entries, what the one pays who pays most, in words.

    Raises:
        LedgerError: a charge is missing, or was changed.
    """
    database, found = ledger._database, {}
    for wanted in dict.fromkeys(entry.charge for entry in entries if entry.charge):
        with database.reading() as connection:
            rows = CONTENT.rows(connection, wanted=wanted)
        try:
            (charge,) = (decode_charge(row.content) for row in rows)
        except ValueError:
            raise database.unusable(CHANGED) from None
        known = currency_of(charge.currency)
        words = f"{known.unit} {format_units(int(charge.amounts.max(initial=0)), known.scale)}"
        delta = f", δ {format_units(int(charge.deltas.max(initial=0)), DELTA_SCALE)}" if known.has_delta else ""
        found[wanted] = words + delta
    return found


def find_receipt(ledger: Ledger, receipt: Mapping[str, Any]) -> Entry:
    """The entry that a receipt of this ledger names.

    Raises:
        LedgerError: it is not there, or another one is: the ledger is older than its records, or a restored copy.
    """
    database = ledger._database
    with database.reading() as connection:
        head = read_head(database, connection, ledger.id)
        require_receipts(database, connection, head, [receipt])
        return entry_at(database, connection, head, receipt["entry"])

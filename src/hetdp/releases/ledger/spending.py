"""One spend: looked up, charged, drawn and written down in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy.engine import Connection

from hetdp.errors import BudgetError
from hetdp.releases.ledger.chain import (
    SPEND,
    Entry,
    append_entry,
    check_facts,
    declaration_key,
    find_entries,
    is_written,
    question_key,
    read_head,
    require_receipts,
    require_text,
)
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.charging import (
    charge_all,
    neighbours_after,
    require_same_charge,
    require_terms,
    store_statement,
)
from hetdp.releases.ledger.database import Database
from hetdp.releases.ledger.lookup import KnownSources
from hetdp.releases.ledger.neighbours import NEIGHBOURS, NOTHING, Neighbours


class SpendRequest(NamedTuple):
    """What is asked of a ledger, and who pays.

    Attributes:
        source: the data that is asked about.
        charge: who pays how much.
        request: a digest of what is asked.
        version: the declared version of the data.
        draw: gives the answers.
        facts: what else the entry is to hold.
        receipts: of earlier entries, which the ledger must still have.
        neighbours: the unit and the relation that the charge is about.
    """

    source: str
    charge: Charge
    request: str
    version: str
    draw: Callable[[], Sequence[bool]]
    facts: Mapping[str, Any] | None = None
    receipts: Iterable[Mapping[str, Any]] = ()
    neighbours: Neighbours = NOTHING


class SpendResult(NamedTuple):
    """What came of a spend.

    Attributes:
        entry: the entry with the answers.
        is_new: whether it was drawn and paid for now, and not earlier.
    """

    entry: Entry
    is_new: bool


def spend(database: Database, ledger: str, asked: SpendRequest, only: KnownSources | None = None) -> SpendResult:
    """Charges everybody or nobody, draws answers, and returns them when all of it is written down durably.

    Args:
        database: where the ledger is.
        ledger: which one it must be.
        asked: what is asked.
        only: where the source was not named, since it was the only one: what was seen then. There must still be no
            other.

    Raises:
        BudgetError, LedgerError, UsageError: as `Ledger.spend` says.
    """
    require_text(source=asked.source, request=asked.request, version=asked.version)
    facts = check_facts(asked.facts)
    receipts: list[Mapping[str, Any]] = []
    drawn: list[tuple[bool, ...]] = []

    def work(connection: Connection) -> SpendResult:
        head = read_head(database, connection, ledger)
        if only is not None:
            only.look(database, connection, head)
            only.only()
        receipts.extend(asked.receipts if not receipts else ())
        require_receipts(database, connection, head, receipts)
        key, declared_as = question_key(asked.source, asked.request, asked.version), declaration_key(asked.source)
        known = find_entries(database, connection, head, key, declared_as)
        if key in known:
            sealed = asked.charge.seal(head.secret)
            return SpendResult(require_same_charge(database, connection, known[key], sealed), False)
        terms = require_terms(database, asked.source, known.get(declared_as))
        after, is_news = neighbours_after(database, connection, head, terms, asked.neighbours)
        sealed, exceeded, names = charge_all(database, connection, head, terms, asked.charge)
        if exceeded:
            raise BudgetError(asked.source, exceeded, sealed.accounts, names)
        if not drawn:  # once, however often the server has this done again
            drawn.append(tuple(bool(answer) for answer in asked.draw()))
        told = {"source": asked.source, "request": asked.request, "version": asked.version, "charge": sealed.digest}
        kept = facts | ({NEIGHBOURS: after.document()} if any(after) else {})
        entry = append_entry(connection, head, SPEND, **told, accounts=sealed.accounts, answers=drawn[0], facts=kept)[1]
        if is_news:
            store_statement(connection, terms, entry.number)
        return SpendResult(entry, True)

    spent = database.write(work, lambda connection, found: is_written(connection, found.entry))
    if not spent.is_new:
        database.settle()
    return spent

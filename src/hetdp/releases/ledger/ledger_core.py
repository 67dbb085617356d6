"""The operations that the rest of hetdp needs from a ledger: one spend, its price, and searches in the entries.

`Ledger` is the public face of a `LedgerCore`; `release`, `price` and the check of a record use the core itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.engine import Connection

from hetdp.errors import BudgetError, UsageError
from hetdp.releases.ledger import schema
from hetdp.releases.ledger.accounts import Terms
from hetdp.releases.ledger.amounts import DELTA_SCALE, currency_of, format_units
from hetdp.releases.ledger.chain import (
    CHANGED,
    DECLARE,
    SPEND,
    Entry,
    Head,
    append_entry,
    check_facts,
    declaration_key,
    digest,
    entry_at,
    find_entries,
    is_written,
    normalize_name,
    question_key,
    read_entry,
    read_head,
    require_receipts,
    require_text,
)
from hetdp.releases.ledger.charge import Charge, decode_charge
from hetdp.releases.ledger.charging import (
    ClassPrice,
    charge_all,
    class_prices,
    neighbours_after,
    read_terms,
    require_currency,
    require_same_charge,
    require_terms,
    store_statement,
)
from hetdp.releases.ledger.database import Database
from hetdp.releases.ledger.neighbours import NEIGHBOURS, NOTHING, Neighbours
from hetdp.releases.ledger.schema import Statement
from hetdp.text import format_value

SHOWN = 10  # sources in a message
MOST_SIMILAR = 1000  # similar entries that are looked at, the latest ones
LIKE_DECLARATION = f'%"kind":"{DECLARE}"%'  # in the line of an entry
_number = schema.entries.c.number
_later = select(schema.entries).where(_number > bindparam("after"), schema.entries.c.body.like(LIKE_DECLARATION))
BODY = Statement(select(schema.entries.c.body).where(_number == bindparam("wanted")))
CONTENT = Statement(select(schema.charges.c.content).where(schema.charges.c.digest == bindparam("wanted")))
DECLARATIONS = Statement(_later.order_by(_number))
_similar = select(schema.entries).where(schema.entries.c.body.like(bindparam("words")))
SIMILAR = Statement(_similar.order_by(_number.desc()).limit(MOST_SIMILAR))


class SpendRequest(NamedTuple):
    """A request to spend: what is asked, and who pays.

    Attributes:
        source: the data that is asked about.
        charge: who pays how much.
        request: a digest of what is asked.
        version: the declared version of the data.
        draw: draws the answers.
        facts: what else the entry is to hold.
        receipts: of earlier entries, which the ledger must still have.
        neighbours: the unit and the relation that the charge is about.
        is_only: whether the source was not named, because the ledger has no other; there must still be no other.
    """

    source: str
    charge: Charge
    request: str
    version: str
    draw: Callable[[], Sequence[bool]]
    facts: Mapping[str, Any] | None = None
    receipts: Iterable[Mapping[str, Any]] = ()
    neighbours: Neighbours = NOTHING
    is_only: bool = False


class SpendResult(NamedTuple):
    """The result of a spend.

    Attributes:
        entry: the entry with the answers.
        is_new: whether it was drawn and paid for now, and not earlier.
    """

    entry: Entry
    is_new: bool


class Quote(NamedTuple):
    """The price of a spend.

    Attributes:
        terms: the source and its caps.
        earlier: the entry, if exactly this was asked before; then nothing is charged.
        classes: what each class would pay.
    """

    terms: Terms
    earlier: Entry | None
    classes: list[ClassPrice]


@dataclass
class KnownSources:
    """The sources that a ledger has declared, as far as its entries were read; a spend reads its own again.

    Attributes:
        entries: how many entries were read.
        hash: of the last of them.
        declared: what they declare.
    """

    entries: int = 0
    hash: str = ""
    declared: list[Terms] = field(default_factory=list)

    def update(self, database: Database, connection: Connection, head: Head) -> None:
        """Reads what was declared since; in a copy with another past, everything again."""
        last = [digest(row.body) for row in BODY.rows(connection, wanted=self.entries)]
        if last != [self.hash]:
            self.entries, self.declared = 0, []
        entries = [read_entry(database, head, row) for row in DECLARATIONS.rows(connection, after=self.entries)]
        self.declared += [read_terms(database, entry) for entry in entries if entry.kind == DECLARE]
        self.entries, self.hash = head.entries, head.hash

    def require_distinct(self, source: str) -> None:
        """Refuses a new name that differs from a known one in capitals and blanks only."""
        for terms in self.declared:
            if normalize_name(terms.source) == normalize_name(source):
                rule = "data whose names differ only in capitals or blanks is easily confused, and has two budgets"
                hint = f"it is {format_value(terms.source)}, if it is the same data"
                raise UsageError(
                    f"the source {format_value(source)} looks like {format_value(terms.source)}", rule, hint
                )

    def only(self) -> Terms:
        """The only source of the ledger.

        Raises:
            UsageError: it has none, or several.
        """
        known = self.declared
        if len(known) == 1:
            return known[0]
        if not known:
            raise UsageError("the ledger has no source", "data is declared before it is asked about")
        names = ", ".join(format_value(terms.source) for terms in known[:SHOWN]) + (", …" if len(known) > SHOWN else "")
        raise UsageError("no source is named", f"the ledger has several: {names}")


class LedgerCore:
    """An open ledger.

    Args:
        database: where it is.

    Raises:
        LedgerError: there is no ledger, or it is damaged, changed or locked.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.sources = KnownSources()
        with database.read_transaction() as connection:
            database.require_shape(connection)
            self.id = read_head(database, connection).ledger

    def read_head(self, connection: Connection) -> Head:
        """The head of the chain, if it is still the same ledger."""
        return read_head(self.database, connection, self.id)

    def find_terms(self, connection: Connection, head: Head, source: str) -> Terms:
        """The terms with which a source was declared.

        Raises:
            UsageError: there is no such source.
        """
        key = declaration_key(source)
        return self._require_terms(
            connection, head, source, find_entries(self.database, connection, head, key).get(key)
        )

    def _require_terms(self, connection: Connection, head: Head, source: str, entry: Entry | None) -> Terms:
        if entry is None:  # the message suggests a source that may be meant
            self.sources.update(self.database, connection, head)
        return require_terms(self.database, source, entry, [terms.source for terms in self.sources.declared])

    def find_source(self, name: str | None) -> tuple[str, str]:
        """A source and its currency; by default the only source of the ledger.

        What is known already is not read again: a spend compares it with the ledger as it is then.

        Raises:
            UsageError: there is no such source, or there are several and none is named.
        """
        if name is not None and not isinstance(name, str):
            raise UsageError(f"{format_value(name)} is not a source", "it must be text")
        if name is not None or len(self.sources.declared) != 1:
            with self.database.read_transaction() as connection:
                head = self.read_head(connection)
                if name is not None:
                    return name, self.find_terms(connection, head, name).currency.name
                self.sources.update(self.database, connection, head)
        terms = self.sources.only()
        return terms.source, terms.currency.name

    def spend(self, asked: SpendRequest) -> SpendResult:
        """Charges everybody or nobody, draws answers, and returns them when all of it is written durably.

        Raises:
            BudgetError, LedgerError, UsageError: as `Ledger.spend` says.
        """
        require_text(source=asked.source, request=asked.request, version=asked.version)
        database, facts = self.database, check_facts(asked.facts)
        receipts: list[Mapping[str, Any]] = []
        drawn: list[tuple[bool, ...]] = []

        def work(connection: Connection) -> SpendResult:
            head = self.read_head(connection)
            if asked.is_only:
                self.sources.update(database, connection, head)
                self.sources.only()
            receipts.extend(asked.receipts if not receipts else ())
            require_receipts(database, connection, head, receipts)
            key, declared_as = question_key(asked.source, asked.request, asked.version), declaration_key(asked.source)
            known = find_entries(database, connection, head, key, declared_as)
            if key in known:
                sealed = asked.charge.seal(head.secret)
                return SpendResult(require_same_charge(database, connection, known[key], sealed), False)
            terms = self._require_terms(connection, head, asked.source, known.get(declared_as))
            after, is_news = neighbours_after(database, connection, head, terms, asked.neighbours)
            sealed, exceeded, names = charge_all(database, connection, head, terms, asked.charge)
            if exceeded:
                raise BudgetError(asked.source, exceeded, sealed.accounts, names)
            if not drawn:  # once, however often the server makes us repeat the transaction
                drawn.append(tuple(bool(answer) for answer in asked.draw()))
            entry = append_entry(
                connection,
                head,
                SPEND,
                source=asked.source,
                request=asked.request,
                version=asked.version,
                charge=sealed.digest,
                accounts=sealed.accounts,
                answers=drawn[0],
                facts=facts | ({NEIGHBOURS: after.document()} if any(after) else {}),
            )[1]
            if is_news:
                store_statement(connection, terms, entry.number)
            return SpendResult(entry, True)

        spent = database.write(work, lambda connection, found: is_written(connection, found.entry))
        if not spent.is_new:
            database.sync()
        return spent

    def quote(self, source: str, charge: Charge, request: str, version: str, neighbours: Neighbours) -> Quote:
        """Computes the price of a spend; nothing is written.

        Args:
            source: the data.
            charge: who would pay how much.
            request: a digest of what is asked.
            version: the declared version of the data.
            neighbours: the unit and the relation that the charge is about.

        Raises:
            UsageError: the spend would be refused for another reason than its price.
        """
        require_text(source=source, version=version)
        database, key, declared_as = self.database, question_key(source, request, version), declaration_key(source)
        with database.read_transaction() as connection:
            head = self.read_head(connection)
            known = find_entries(database, connection, head, key, declared_as)
            terms = self._require_terms(connection, head, source, known.get(declared_as))
            require_currency(terms, charge)
            sealed = charge.seal(head.secret)
            if key in known:
                require_same_charge(database, connection, known[key], sealed)
                return Quote(terms, known[key], [])
            neighbours_after(database, connection, head, terms, neighbours)
            try:
                return Quote(terms, None, list(class_prices(connection, terms, sealed)))
            except UsageError:
                raise
            except (ValueError, TypeError):
                raise database.unusable(CHANGED) from None

    def similar_entries(self, source: str, theme: str, request: str, version: str) -> list[Entry]:
        """Earlier answers about the same theme, the latest first; none if exactly this was asked before.

        Args:
            source: the data.
            theme: a digest that similar questions share, and that entries keep among their facts.
            request: a digest of what is asked.
            version: the declared version of the data.
        """
        database = self.database
        with database.read_transaction() as connection:
            head = self.read_head(connection)
            if find_entries(database, connection, head, question_key(source, request, version)):
                return []
            rows = SIMILAR.rows(connection, words=f'%"theme":"{theme}"%')
        entries = [read_entry(database, head, row) for row in rows]
        return [one for one in entries if (one.kind, one.source, one.facts.get("theme")) == (SPEND, source, theme)]

    def largest_payments(self, entries: Iterable[Entry]) -> dict[str, str]:
        """For each charge of these entries the largest amount that anybody pays, in words.

        Raises:
            LedgerError: a charge is missing, or was changed.
        """
        found = {}
        for wanted in dict.fromkeys(entry.charge for entry in entries if entry.charge):
            with self.database.read_transaction() as connection:
                rows = CONTENT.rows(connection, wanted=wanted)
            try:
                (charge,) = (decode_charge(row.content) for row in rows)
            except ValueError:
                raise self.database.unusable(CHANGED) from None
            known = currency_of(charge.currency)
            words = f"{known.unit} {format_units(int(charge.amounts.max(initial=0)), known.scale)}"
            delta = f", δ {format_units(int(charge.deltas.max(initial=0)), DELTA_SCALE)}" if known.has_delta else ""
            found[wanted] = words + delta
        return found

    def find_receipt(self, receipt: Mapping[str, Any]) -> Entry:
        """The entry that a receipt of this ledger names.

        Raises:
            LedgerError: it is not there, or another one is: the ledger is older than its records, or a restored copy.
        """
        with self.database.read_transaction() as connection:
            head = self.read_head(connection)
            require_receipts(self.database, connection, head, [receipt])
            return entry_at(self.database, connection, head, receipt["entry"])

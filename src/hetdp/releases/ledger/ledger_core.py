"""The operations that the rest of hetdp needs from a ledger: one spend, its price, and searches in the entries.

`Ledger` is the public face of a `LedgerCore`; `release`, `price` and the check of a record use the core itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.engine import Connection

from hetdp.errors import BudgetError, HetdpError, UsageError
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
from hetdp.releases.ledger.charge import Charge, SealedCharge, combine_charges, decode_charge
from hetdp.releases.ledger.charging import (
    ClassPrice,
    charge_all,
    class_prices,
    largest_amount,
    neighbours_after,
    read_terms,
    require_capped_classes,
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


class Question(NamedTuple):
    """A question of a spend, which gets an entry of its own.

    Attributes:
        charge: who pays how much.
        request: a digest of what is asked.
        draw: draws the answers.
        facts: what else the entry is to hold.
        require_repeatable: refuses an entry that would be repeated as the answer, before anything is charged.
    """

    charge: Charge
    request: str
    draw: Callable[[], Sequence[bool]]
    facts: Mapping[str, Any] | None = None
    require_repeatable: Callable[[Entry], None] | None = None


class SpendRequest(NamedTuple):
    """A request to spend: what is asked together, and who pays.

    Attributes:
        source: the data that is asked about.
        version: the declared version of the data.
        questions: what is asked; all of it is paid for, or nothing.
        receipts: of earlier entries, which the ledger must still have.
        neighbours: the unit and the relation that the charges are about.
        is_only: whether the source was not named, because the ledger has no other; there must still be no other.
    """

    source: str
    version: str
    questions: Sequence[Question]
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
        earlier: for each question the entry, if exactly this was asked before; then nothing is charged for it.
        classes: what each class would pay for all other questions together; empty if there are none.
    """

    terms: Terms
    earlier: list[Entry | None]
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

    def require_capped_classes(self, source: str, classes: Iterable[str]) -> None:
        """Refuses the first charge of a source to all of its people if a class with a cap is missing; see `charging`.

        Raises:
            UsageError: there is no such source, or another class has no cap of its own.
        """
        given = set(classes)
        if given:
            with self.database.read_transaction() as connection:
                terms = self.find_terms(connection, self.read_head(connection), source)
                require_capped_classes(connection, terms, given)

    def spend(self, asked: SpendRequest) -> list[SpendResult]:
        """Charges everybody for all questions or nobody, draws answers, and returns them when all of it is durable.

        Questions that were asked before are not charged, and have their earlier answers.

        Returns:
            the result of each question

        Raises:
            BudgetError, LedgerError, UsageError: as `Ledger.spend` says.
        """
        require_text(source=asked.source, version=asked.version)
        for question in asked.questions:
            require_text(request=question.request)
        if len({question.request for question in asked.questions}) < len(asked.questions):
            raise UsageError("the same question twice", "questions that are asked together are different ones")
        facts = [check_facts(question.facts) for question in asked.questions]
        receipts: list[Mapping[str, Any]] = []
        drawn: dict[int, tuple[bool, ...]] = {}  # once, however often the server makes us repeat the transaction

        def work(connection: Connection) -> list[SpendResult]:
            head = self.read_head(connection)
            if asked.is_only:
                self.sources.update(self.database, connection, head)
                self.sources.only()
            receipts.extend(asked.receipts if not receipts else ())
            require_receipts(self.database, connection, head, receipts)
            return self._spend(connection, head, asked, facts, drawn)

        try:
            spent = self.database.write(work, _are_written)
        except BudgetError as refusal:
            largest = self._largest_payment(asked)
            raise BudgetError(refusal.source, refusal.exceeded, refusal.accounts, refusal.classes, largest) from None
        if not any(one.is_new for one in spent):
            self.database.sync()
        return spent

    def _spend(
        self,
        connection: Connection,
        head: Head,
        asked: SpendRequest,
        facts: list[dict[str, Any]],
        drawn: dict[int, tuple[bool, ...]],
    ) -> list[SpendResult]:
        """A spend within a transaction: all charges first, then all draws, then the entries."""
        database, declared_as = self.database, declaration_key(asked.source)
        keys = [question_key(asked.source, question.request, asked.version) for question in asked.questions]
        known = find_entries(database, connection, head, *keys, declared_as)
        entries = {}
        for at, (key, question) in enumerate(zip(keys, asked.questions, strict=True)):
            if key in known:
                sealed = question.charge.seal(head.secret)
                entries[at] = require_same_charge(database, connection, known[key], sealed)
                if question.require_repeatable is not None:
                    question.require_repeatable(entries[at])
        new = [at for at in range(len(keys)) if at not in entries]
        if new:
            terms = self._require_terms(connection, head, asked.source, known.get(declared_as))
            after, is_news = neighbours_after(database, connection, head, terms, asked.neighbours)
            charged = charge_all(database, connection, head, terms, [asked.questions[at].charge for at in new])
            if charged.exceeded:
                raise BudgetError(asked.source, charged.exceeded, charged.accounts, charged.classes)
            for at in new:
                if at not in drawn:
                    drawn[at] = tuple(bool(answer) for answer in asked.questions[at].draw())
            for at, sealed in zip(new, charged.sealed, strict=True):
                head, entries[at] = append_entry(
                    connection,
                    head,
                    SPEND,
                    source=asked.source,
                    request=asked.questions[at].request,
                    version=asked.version,
                    charge=sealed.digest,
                    accounts=sealed.accounts,
                    answers=drawn[at],
                    facts=facts[at] | ({NEIGHBOURS: after.document()} if any(after) else {}),
                )
            if is_news:
                store_statement(connection, terms, entries[new[0]].number)
        return [SpendResult(entries[at], at in new) for at in range(len(keys))]

    def _largest_payment(self, asked: SpendRequest) -> str:
        """The most that every account of a refused spend can still pay, in words; empty if that cannot be read."""
        questions = [(question.charge, question.request) for question in asked.questions]
        try:
            found = self.quote(asked.source, asked.version, questions, asked.neighbours)
        except HetdpError:  # the spend was refused, whatever has happened to the ledger since
            return ""
        return largest_amount(found.classes, found.terms.currency.unit, len(questions))

    def quote(
        self, source: str, version: str, questions: Sequence[tuple[Charge, str]], neighbours: Neighbours
    ) -> Quote:
        """Computes the price of a spend; nothing is written.

        Args:
            source: the data.
            version: the declared version of the data.
            questions: for each question who would pay how much, and a digest of what is asked.
            neighbours: the unit and the relation that the charges are about.

        Raises:
            UsageError: the spend would be refused for another reason than its price.
        """
        require_text(source=source, version=version)
        database, declared_as = self.database, declaration_key(source)
        keys = [question_key(source, request, version) for _, request in questions]
        with database.read_transaction() as connection:
            head = self.read_head(connection)
            known = find_entries(database, connection, head, *keys, declared_as)
            terms = self._require_terms(connection, head, source, known.get(declared_as))
            new: list[SealedCharge] = []
            for key, (charge, _) in zip(keys, questions, strict=True):
                require_currency(terms, charge)
                sealed = charge.seal(head.secret)
                if key in known:
                    require_same_charge(database, connection, known[key], sealed)
                else:
                    new.append(sealed)
            earlier = [known.get(key) for key in keys]
            if not new:
                return Quote(terms, earlier, [])
            neighbours_after(database, connection, head, terms, neighbours)
            try:
                return Quote(terms, earlier, list(class_prices(connection, terms, combine_charges(new))))
            except UsageError:
                raise
            except (ValueError, TypeError):
                raise database.ledger_error(CHANGED) from None

    def similar_entries(self, source: str, theme: str, request: str, version: str, most: int) -> list[Entry]:
        """The latest answers about the same theme, latest first; none if exactly this was asked before.

        Args:
            source: the data.
            theme: a digest that similar questions share, and that entries keep among their facts.
            request: a digest of what is asked.
            version: the declared version of the data.
            most: how many to return at most.
        """
        database = self.database
        with database.read_transaction() as connection:
            head = self.read_head(connection)
            if find_entries(database, connection, head, question_key(source, request, version)):
                return []
            rows = SIMILAR.rows(connection, words=f'%"theme":"{theme}"%')
        entries = (read_entry(database, head, row) for row in rows)
        similar = (one for one in entries if (one.kind, one.source, one.facts.get("theme")) == (SPEND, source, theme))
        return list(islice(similar, most))

    def answers_to(self, request: str) -> list[Entry]:
        """The entries of a question, for any source and version of the data, latest first.

        Args:
            request: a digest of what is asked.
        """
        with self.database.read_transaction() as connection:
            head = self.read_head(connection)
            rows = SIMILAR.rows(connection, words=f'%"request":"{request}"%')
        entries = (read_entry(self.database, head, row) for row in rows)
        return [one for one in entries if (one.kind, one.request) == (SPEND, request)]

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
                raise self.database.ledger_error(CHANGED) from None
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


def _are_written(connection: Connection, spent: list[SpendResult]) -> bool:
    """True if the entries of a spend are in the ledger."""
    return all(is_written(connection, one.entry) for one in spent)

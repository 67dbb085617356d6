"""The ledger as `hetdp.Ledger` offers it: declare, spend, record, and look at what was spent.

`open_database` chooses the implementation of `Database` for an address; a new one is added there. An address may hold
a password, so it is never shown.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy import select
from sqlalchemy.engine import URL, Connection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from hetdp.errors import UsageError
from hetdp.releases.ledger import schema
from hetdp.releases.ledger.accounts import check_declaration
from hetdp.releases.ledger.chain import (
    CHANGED,
    DECLARE,
    RECORD,
    STATE,
    Entry,
    append_entry,
    create_chain,
    declaration_key,
    find_entries,
    is_created,
    is_written,
    read_head,
    require_receipts,
    require_text,
)
from hetdp.releases.ledger.charge import CLASS, Charge, canonical_json, decode_charge
from hetdp.releases.ledger.charging import (
    charge_all,
    find_neighbours,
    neighbours_after,
    read_terms,
    store_statement,
)
from hetdp.releases.ledger.database import DECLARING, RECORDING, Database
from hetdp.releases.ledger.ledger_core import LedgerCore, Question, SpendRequest
from hetdp.releases.ledger.neighbours import NEIGHBOURS, Neighbours, parse_neighbours, state_neighbours
from hetdp.releases.ledger.sqlite import SqliteDatabase
from hetdp.releases.ledger.status import PersonAccount, Status, history_of, person_account, status_of
from hetdp.releases.ledger.verification import VerifiedLedger, verify_chain
from hetdp.text import format_value, html_table

TIMEOUT = 30.0


class Ledger:
    """A ledger of what has been spent of people's privacy: an SQLite file, or a PostgreSQL database.

    An answer is drawn only if every account can pay for it, and shown only when the charge is durable. The same
    question about the same version of the data has the same answer, and costs nothing the second time.

    Args:
        address: the path of the file, or ``postgresql://USER@HOST/DATABASE``.
        timeout: how many seconds to wait for others who write to it.

    Raises:
        LedgerError: there is no ledger, or it is damaged, changed or locked.
        UsageError: the address is not understood.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger.create(f"{folder}/school.ledger", source="survey", cap=0.3)
    ...     charge = Charge.to_classes("epsilon", {"pupils": 0.1})
    ...     for request in ("first", "second", "third", "third"):
    ...         entry = ledger.spend("survey", charge, request, "2024", lambda: [True])
    ...     ledger.status("survey")[0].classes[0].spent
    '0.3'
    """

    def __init__(self, address: str | PathLike[str], *, timeout: float = TIMEOUT) -> None:
        self._core = LedgerCore(open_database(address, timeout))

    @classmethod
    def create(
        cls,
        address: str | PathLike[str],
        *,
        source: str | None = None,
        cap: Any = None,
        caps: Mapping[str, Any] | None = None,
        currency: str = "epsilon",
        unit: str | None = None,
        relation: str | None = None,
        timeout: float = TIMEOUT,
    ) -> Ledger:
        """Creates a ledger, readable by its owner only, and declares a source if one is named.

        Args:
            address: the path of the file, or ``postgresql://USER@HOST/DATABASE``.
            source: a name for the data, as `declare` takes it.
            cap: what each account may spend, as `declare` takes it.
            caps: other caps for some classes, as `declare` takes them.
            currency: how its privacy is counted, as `declare` takes it.
            unit: whose data changes between neighbours, as `declare` takes it.
            relation: how it changes, as `declare` takes it.
            timeout: how many seconds to wait for others who write to it.

        Returns:
            the ledger

        Raises:
            UsageError: something already exists there, a cap is not a number, or there is a cap without a source.
            LedgerError: it cannot be created there.
        """
        given = {"cap": cap, "caps": caps, "unit": unit, "relation": relation}
        if source is None and any(value is not None for value in given.values()):
            what = next(name for name, value in given.items() if value is not None)
            raise UsageError(f"{what}= without source=", "they are about the data that source= names")
        if source is not None:
            require_text(source=source)
            check_declaration(currency, cap, caps, parse_neighbours(unit, relation))
        open_database(address, timeout).create(create_chain, is_created)
        ledger = cls(address, timeout=timeout)
        if source is not None:
            ledger.declare(source, cap=cap, caps=caps, currency=currency, unit=unit, relation=relation)
        return ledger

    def __repr__(self) -> str:
        return f"Ledger({self.place!r})"

    def _repr_html_(self) -> str:
        """For notebooks: what each account of each source may spend, and what was spent. It names no person."""
        rows: list[tuple[Any, ...]] = []
        for source in self.status():
            rows += [(source.source, one.name, one.cap, one.spent, one.left) for one in source.classes]
            if source.people or not source.classes:
                people = "1 person" if source.people == 1 else f"{source.people:,} people"
                rows.append((source.source, people, source.cap, source.most_spent, source.least_left))
        return html_table(f"Ledger {self.place}", ["source", "account", "cap", "spent (most)", "left (least)"], rows)

    @property
    def id(self) -> str:
        """The id of this ledger, unlike that of any other."""
        return self._core.id

    @property
    def place(self) -> str:
        """Its address, without a password."""
        return self._core.database.shown

    def declare(
        self,
        source: str,
        *,
        cap: Any = None,
        caps: Mapping[str, Any] | None = None,
        currency: str = "epsilon",
        unit: str | None = None,
        relation: str | None = None,
    ) -> Entry:
        """Declares a source: a name for data, and what each account may spend of it. It cannot be changed afterwards.

        Args:
            source: a name for the data.
            cap: what each account may spend: ε, a pair of ε and δ, or μ, as numbers or decimal text; ``inf`` is no
                limit.
            caps: other caps for some classes, and for the people in them; of several caps the lowest holds.
            currency: how its privacy adds up: ``epsilon``, ``epsilon-delta``, or that of another notion.
            unit: whose data changes between neighbouring datasets: ``person``, ``household`` or any other text. The
                first charge fixes what is not declared; a charge about anything else is refused.
            relation: how it changes: ``replace-one`` (one person's answer changes), ``add-remove`` (one person joins
                or leaves) or any other text. For a source that was declared without them, unit and relation may be
                stated later, once, without a cap.

        Returns:
            the entry that declares or states it; an earlier one if it says the same

        Raises:
            UsageError: it was declared differently, a cap is not a number, or the name resembles that of another one.
            LedgerError: the ledger cannot be used.
        """
        require_text(source=source)
        given = parse_neighbours(unit, relation)
        only_states = any(given) and cap is None and not caps
        facts = {} if only_states else check_declaration(currency, cap, caps, given)

        core, database, key = self._core, self._core.database, declaration_key(source)

        def work(connection: Connection) -> Entry:
            head = core.read_head(connection)
            earlier = find_entries(database, connection, head, key).get(key)
            if earlier is None:
                declared = facts or check_declaration(currency, cap, caps, given)  # it has no cap, which is refused
                core.sources.update(database, connection, head)
                core.sources.require_distinct(source)
                return append_entry(connection, head, DECLARE, source=source, facts=declared)[1]
            if facts and any(earlier.facts[name] != facts[name] for name in ("currency", "cap", "caps")):
                rule = "a source is declared once; new data has a new name"
                raise UsageError(
                    f"the source {format_value(source)} was declared with other caps or another currency", rule
                )
            terms = read_terms(database, earlier)
            known = find_neighbours(database, connection, head, terms)
            after = state_neighbours(known, given, source)
            if after == known:
                return earlier
            entry = append_entry(connection, head, STATE, source=source, facts={NEIGHBOURS: after.document()})[1]
            store_statement(connection, terms, entry.number)
            return entry

        return database.write(work, is_written, DECLARING)

    def spend(
        self,
        source: str,
        charge: Charge,
        request: str,
        version: str,
        draw: Callable[[], Sequence[bool]],
        facts: Mapping[str, Any] | None = None,
        *,
        receipts: Iterable[Mapping[str, Any]] = (),
        unit: str | None = None,
        relation: str | None = None,
    ) -> Entry:
        """Charges all accounts or none, draws the answers, and returns them when all of it is durable.

        Args:
            source: the data that is asked about.
            charge: who pays how much.
            request: a digest of what is asked.
            version: the declared version of the data. The same request on the same version has the same answers.
            draw: draws the answers; called once if every account can pay, and not at all if this was asked before.
            facts: what else the entry holds, as JSON.
            receipts: receipts of earlier entries, from their records; a copy that lacks them is refused.
            unit: whose data changes between neighbours, as `declare` takes it; None if it is not stated.
            relation: how it changes, likewise.

        Returns:
            the entry with the answers: a new one, or the earlier one

        Raises:
            BudgetError: an account would exceed its cap; nothing was spent, `draw` was not called.
            LedgerError: the ledger cannot be used; nothing was spent. If that is not known, because a commit failed in
                its last moment, the error says so, and its `spent` is None. Asking again is safe: it is paid for once.
            UsageError: no such source, a charge of another currency, unit or relation, or another charge than when it
                was asked before.
        """
        about = parse_neighbours(unit, relation)
        question = Question(charge, request, draw, facts)
        (spent,) = self._core.spend(SpendRequest(source, version, [question], receipts, about))
        return spent.entry

    def record(
        self, source: str, charge: Charge, note: str, *, unit: str | None = None, relation: str | None = None
    ) -> Entry:
        """Records what was spent outside hetdp; since it is a fact, it may exceed a cap.

        Args:
            source: the data.
            charge: who paid how much.
            note: where, and for what.
            unit: whose data changes between neighbours, as `declare` takes it; by default what the source has.
            relation: how it changes, likewise.

        Raises:
            LedgerError: the ledger cannot be used. If its `spent` is None, look at `history` before you record again.
            UsageError: there is no such source, or the charge is of another currency, unit or relation.
        """
        given = parse_neighbours(unit, relation)
        require_text(source=source, note=note)
        core, database = self._core, self._core.database

        def work(connection: Connection) -> Entry:
            head = core.read_head(connection)
            terms = core.find_terms(connection, head, source)
            inherited = find_neighbours(database, connection, head, terms)
            about = Neighbours(*(now or before for now, before in zip(given, inherited, strict=True)))
            after, is_news = neighbours_after(database, connection, head, terms, about)
            (sealed,) = charge_all(database, connection, head, terms, [charge]).sealed
            facts = {"note": note} | ({NEIGHBOURS: after.document()} if any(after) else {})
            paid: dict[str, Any] = {"source": source, "charge": sealed.digest, "accounts": sealed.accounts}
            entry = append_entry(connection, head, RECORD, **paid, facts=facts)[1]
            if is_news:
                store_statement(connection, terms, entry.number)
            return entry

        return database.write(work, is_written, RECORDING)

    def status(self, source: str | None = None) -> list[Status]:
        """The caps and the spent amounts of each source; people are counted, not listed.

        Args:
            source: this one only.

        Returns:
            for each source an object with `source`, `currency`, `unit`, `cap`, `cap_delta`, `classes` (with `name`,
            `cap`, `spent`, `left`, `cap_delta`, `spent_delta`, `left_delta`), `people`, `named`, `most_spent`,
            `least_left`, `exhausted`, `by_cap` (the same people by what they may spend), `privacy_unit` and `relation`
            (None if not stated); amounts as decimal text

        Raises:
            LedgerError: the ledger cannot be used.
            UsageError: there is no such source.
        """
        core = self._core
        with core.database.read_transaction() as connection:
            return status_of(core.database, connection, core.read_head(connection), source)

    def person(self, person: str | int, source: str | None = None) -> PersonAccount:
        """The account of one person: what was spent, by which questions, and what is left. It names nobody.

        A person's own answer is never in a ledger; what was published about everybody is.

        Args:
            person: the id, exactly as it was charged: 7 and "7" are the same person, "07" is another one.
            source: the data; needed if the ledger has several.

        Returns:
            an object with `source`, `currency`, `unit`, `named`, `cap`, `spent`, `left` (and `cap_delta`,
            `spent_delta`, `left_delta`, None if the currency has no δ), and `charges`, each with `entry`, `time`,
            `kind`, `version`, `question`, `note`, `published`, `spent` and `spent_delta`, and `meaning`, a sentence
            about what all of it can reveal; amounts as decimal text

        Raises:
            InputError: nobody with this id was charged.
            LedgerError: the ledger cannot be used.
            UsageError: there is no such source, or its classes pay.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     ledger = Ledger.create(f"{folder}/school.ledger", source="survey", cap=1)
        ...     charge = Charge.to_people("epsilon", ["Ann", "Bob"], ["0.1", "0.4"])
        ...     entry = ledger.spend("survey", charge, "first", "2024", lambda: [True])
        ...     account = ledger.person("Bob")
        >>> account.spent, account.left, [charge.entry for charge in account.charges]
        ('0.4', '0.6', [3])
        """
        core = self._core
        with core.database.read_transaction() as connection:
            head = core.read_head(connection)
            if source is None:
                core.sources.update(core.database, connection, head)
            terms = core.sources.only() if source is None else core.find_terms(connection, head, source)
            return person_account(core.database, connection, head, terms, person)

    def history(self) -> list[Entry]:
        """All entries, the oldest first.

        Raises:
            LedgerError: the ledger cannot be used.
        """
        core = self._core
        with core.database.read_transaction() as connection:
            return history_of(core.database, connection, core.read_head(connection))

    def verify(self, records: Iterable[Mapping[str, Any]] = ()) -> VerifiedLedger:
        """Recomputes everything from the chain: hashes, charges, caps and the balance of every account.

        Args:
            records: receipts from the records of releases, or anything else with ``ledger``, ``entry`` and ``hash``.

        Returns:
            an object with `ledger`, `entry`, `hash` (of the last entry), `sources`, `classes`, `people` and `records`

        Raises:
            LedgerError: something is not as the chain says, or the ledger is older than its records.
        """
        core, database = self._core, self._core.database
        with database.read_transaction() as connection:
            database.require_shape(connection)
            head = core.read_head(connection)
            compared = require_receipts(database, connection, head, records)
            return verify_chain(database, connection, head, compared)

    def export(self) -> Iterator[str]:
        """The whole ledger as lines of JSON that anyone can check; the secret of the pseudonyms is left out.

        Raises:
            LedgerError: the ledger cannot be used.
        """
        yield from export_lines(self._core.database)


def core_of(ledger: Ledger | str | PathLike[str]) -> LedgerCore:
    """The core of a ledger, for hetdp's own modules; an address is opened first.

    Raises:
        LedgerError: there is no ledger, or it is damaged, changed or locked.
        UsageError: the address is not understood.
    """
    return (ledger if isinstance(ledger, Ledger) else Ledger(ledger))._core


def export_lines(database: Database) -> Iterator[str]:
    """Each entry as the line that is hashed, in order; then each charge once, with its digest.

    Entries never change, so that charges are read one by one, and nobody has to wait meanwhile.
    """
    with database.read_transaction() as connection:
        entries = history_of(database, connection, read_head(database, connection))
    yield from (entry.body for entry in entries)
    for digest in sorted({entry.charge for entry in entries if entry.charge}):
        with database.read_transaction() as connection:
            content = connection.scalar(select(schema.charges.c.content).where(schema.charges.c.digest == digest))
        try:
            charge = decode_charge(content)
        except ValueError:
            raise database.ledger_error(CHANGED) from None
        if charge.digest != digest:
            raise database.ledger_error(CHANGED)
        form = (
            {"text": charge.content.decode()}
            if charge.kind == CLASS
            else {"base64": b64encode(charge.content).decode()}
        )
        yield canonical_json({"charge": digest, **form})


# The address of a ledger ----------------------------------------------------------------------------------------------


POSTGRES = ("postgres", "postgresql", "postgresql+psycopg")
LIKE_A_URL = re.compile(r"[a-z][\w+.-]+:/|postgres(ql)?(\+\w+)?[:/]", re.IGNORECASE)


def open_database(address: Any, timeout: float) -> Database:
    """The database at an address; nothing is connected yet.

    Args:
        address: the path of an SQLite file, or the URL of a PostgreSQL database.
        timeout: how many seconds to wait for others who write.

    Raises:
        UsageError: the address is not understood, or the driver is not installed.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, Real) or not 0 <= timeout < inf:
        raise UsageError(f"timeout={format_value(timeout)}", "it must be a number of seconds ≥ 0")
    timeout = float(timeout)
    text = _text_of(address)
    url = _url_of(text)
    if url is None or url.drivername.startswith("sqlite"):
        return SqliteDatabase(Path(text if url is None else url.database or ""), timeout)
    return _open_postgres(url, timeout)


def _open_postgres(url: URL, timeout: float) -> Database:
    try:
        from hetdp.releases.ledger.postgres import PostgresDatabase

        return PostgresDatabase(url, timeout)
    except ModuleNotFoundError:
        raise UsageError(
            "PostgreSQL needs psycopg, which is not installed",
            "pip install '.[postgres]' in the folder of hetdp's sources brings it",
        ) from None
    except (SQLAlchemyError, ValueError):
        raise _invalid_address() from None


def _text_of(address: Any) -> str:
    """The address as a text that can be a path or a URL."""
    text = os.fspath(address) if isinstance(address, (str, os.PathLike)) else None
    if not isinstance(text, str) or "\0" in text:
        raise _invalid_address()
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _invalid_address() from None
    return text


def _url_of(text: str) -> URL | None:
    """The URL; None for a path. A text that resembles a URL is refused without being shown."""
    if "://" not in text:
        if LIKE_A_URL.match(text):
            raise _invalid_address()
        return None
    try:
        url = sqlalchemy.make_url(text)
    except (ArgumentError, ValueError):
        raise _invalid_address() from None
    is_file = url.drivername == "sqlite" and url.database and not url.host and "?" not in text
    if url.drivername not in POSTGRES and not is_file:
        raise _invalid_address()
    return url


def _invalid_address() -> UsageError:
    """The error, without the address: it may hold a password."""
    rule = "an address is a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE"
    return UsageError("this is not the address of a ledger", rule)

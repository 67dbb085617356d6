"""Charges the accounts of a source inside a transaction, stores the charge, and prices one without writing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.engine import Connection

from hetdp.errors import UsageError
from hetdp.releases.ledger import schema
from hetdp.releases.ledger.accounts import (
    CAP,
    CAP_DELTA,
    SPENT,
    SPENT_DELTA,
    Terms,
    charge_classes,
    charge_people,
    classes_after,
    exceeds_cap,
    is_charged,
    people_after,
    terms_of,
)
from hetdp.releases.ledger.amounts import DELTA_SCALE, INFINITE, format_units
from hetdp.releases.ledger.chain import CHANGED, RECORD, SPEND, STATE, Entry, Head, entry_at
from hetdp.releases.ledger.charge import CLASS, EVERYBODY, Charge, SealedCharge, combine_charges, decode_charge
from hetdp.releases.ledger.database import Database
from hetdp.releases.ledger.neighbours import NEIGHBOURS, Neighbours, combine_neighbours, read_neighbours
from hetdp.releases.ledger.schema import Statement
from hetdp.text import did_you_mean, format_value

IS_STORED = Statement(select(schema.charges.c.digest).where(schema.charges.c.digest == bindparam("wanted")))
STORE = Statement(insert(schema.charges), ("digest", "content"))
CONTENT = Statement(select(schema.charges.c.content).where(schema.charges.c.digest == bindparam("wanted")))
_of_source: Any = schema.sources.c.source == bindparam("of_source")
STATED_AT = Statement(select(schema.sources.c.entry).where(_of_source))
ADD_STATED = Statement(insert(schema.sources), ("source", "entry"))
MOVE_STATED = Statement(update(schema.sources).where(_of_source), ("entry",))


MOST_NAMED = 10  # classes in a message


class ChargeResult(NamedTuple):
    """The result of one charge, or of several at once.

    Attributes:
        sealed: the charges as they are stored.
        accounts: how many accounts pay.
        exceeded: how many accounts now exceed their caps.
        classes: their names, if they are classes.
    """

    sealed: tuple[SealedCharge, ...]
    accounts: int
    exceeded: int
    classes: tuple[str, ...]


def charge_all(
    database: Database, connection: Connection, head: Head, terms: Terms, charges: Sequence[Charge]
) -> ChargeResult:
    """Charges all accounts the sum of some charges; if one exceeds its cap then, the caller undoes the transaction."""
    for charge in charges:
        require_currency(terms, charge)
    sealed = tuple(charge.seal(head.secret) for charge in charges)
    total = combine_charges(sealed)
    names: tuple[str, ...] = ()
    try:
        if total.kind == CLASS:
            names = tuple(charge_classes(connection, terms, total))
            exceeded = len(names)
        else:
            exceeded = charge_people(connection, terms, total)
    except UsageError:
        raise
    except (ValueError, TypeError):
        raise database.ledger_error(CHANGED) from None
    for one in sealed:
        store_charge(connection, one)
    return ChargeResult(sealed, total.accounts, exceeded, names)


def require_capped_classes(connection: Connection, terms: Terms, classes: Iterable[str]) -> None:
    """Refuses the first charge to all people of a source if nobody has a class with a cap, but somebody one without.

    The name was probably written in another way. Those people would have the general cap, and caps cannot be changed.

    Args:
        connection: a transaction.
        terms: the source.
        classes: the classes of the people who pay; none if they are not stated.
    """
    given = set(classes)
    missing, uncapped = sorted(terms.caps.keys() - given - {EVERYBODY}), given - terms.caps.keys()
    if missing and uncapped and not is_charged(connection, terms):
        has = ", ".join(format_value(name) for name in sorted(given)[:MOST_NAMED])
        more = f", … ({len(given):,} in all)" if len(given) > MOST_NAMED else ""
        what = f"the source {format_value(terms.source)} has a cap for {format_value(missing[0])}"
        rule = "a class without a cap of its own has the general one, and caps cannot be changed later"
        hint = "nothing was spent yet: declare a new source, or make a new ledger, with the names of the table"
        raise UsageError(f"{what}, but these people are of {has}{more}", rule, hint)


def require_currency(terms: Terms, charge: Charge) -> None:
    """Refuses a charge in another currency than that of its source."""
    if charge.currency != terms.currency.name:
        rule = f"the source {format_value(terms.source)} counts {terms.currency.name}"
        raise UsageError(f"a charge of {charge.currency}", rule)


def find_neighbours(database: Database, connection: Connection, head: Head, terms: Terms) -> Neighbours:
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
        raise database.ledger_error(CHANGED) from None


def neighbours_after(
    database: Database, connection: Connection, head: Head, terms: Terms, given: Neighbours
) -> tuple[Neighbours, bool]:
    """The unit and the relation of a source after a charge, and whether the charge stated something new.

    Args:
        database: where the ledger is.
        connection: a transaction there.
        head: where its chain ends.
        terms: the source.
        given: what the charge is about.

    Raises:
        UsageError: the charge is about something else than the source.
    """
    known = find_neighbours(database, connection, head, terms)
    after = combine_neighbours(known, given, is_charged(connection, terms), terms.source)
    return after, after != known


def store_statement(connection: Connection, terms: Terms, number: int) -> None:
    """Stores which entry states a source's unit and relation."""
    if STATED_AT.rows(connection, of_source=terms.number):
        MOVE_STATED.write(connection, of_source=terms.number, entry=number)
    else:
        ADD_STATED.write(connection, source=terms.number, entry=number)


def require_same_charge(database: Database, connection: Connection, entry: Entry, sealed: SealedCharge) -> Entry:
    """The entry of an earlier answer, if the same accounts would pay the same for it now.

    The classes by which caps are found may differ: nothing is charged again, so no cap is looked up.
    """
    if entry.charge != sealed.digest and not _is_same_charge(database, connection, entry, sealed):
        what = "this was asked before about the same version of the data, but other accounts paid, or other amounts"
        raise UsageError(
            what, "an answer is repeated only for the same accounts and amounts", "new data has a new version"
        )
    return entry


def _is_same_charge(database: Database, connection: Connection, entry: Entry, sealed: SealedCharge) -> bool:
    rows = CONTENT.rows(connection, wanted=entry.charge)
    try:
        (stored,) = (decode_charge(row.content) for row in rows)
    except ValueError:
        raise database.ledger_error(CHANGED) from None
    alike = [(one.currency, one.kind, one.names, one.named, one.keys.tobytes()) for one in (stored, sealed)]
    return (
        alike[0] == alike[1]
        and np.array_equal(stored.amounts, sealed.amounts)
        and np.array_equal(stored.deltas, sealed.deltas)
    )


def require_terms(database: Database, source: str, entry: Entry | None, known: Iterable[str] = ()) -> Terms:
    """The terms with which a source was declared; refuses a source without any.

    Args:
        database: the database of the ledger.
        source: the name of the source.
        entry: the entry that declares it, if there is one.
        known: names of other sources, one of which may be meant.

    Raises:
        UsageError: there is no such entry.
    """
    if entry is None:
        rule = "data is declared before it is asked about"
        raise UsageError(f"the ledger has no source {format_value(source)}", rule, did_you_mean(source, known))
    return read_terms(database, entry)


def read_terms(database: Database, entry: Entry) -> Terms:
    """The terms that an entry declares; raises LedgerError if it is invalid."""
    try:
        return terms_of(entry)
    except (ValueError, TypeError, AttributeError):
        raise database.ledger_error(CHANGED) from None


def store_charge(connection: Connection, sealed: SealedCharge) -> None:
    """Stores a charge, once."""
    if not IS_STORED.rows(connection, wanted=sealed.digest):
        STORE.write(connection, digest=sealed.digest, content=sealed.content)


class ClassPrice(NamedTuple):
    """The price for the accounts of one class. Amounts are decimal text, of ε, or of μ² for the currency gaussian.

    Attributes:
        name: the class; "everybody" where there are none.
        accounts: how many of them pay: 1, or how many people.
        cap: what each may spend; of several caps the lowest.
        highest_cap: of several caps the highest; otherwise `cap`.
        charged: the most that one of them would be charged.
        left: the least that one of them has left now.
        left_after: the least that one of them would have left; None if somebody has not enough.
        charged_delta: the most δ that one of them would be charged; None if the currency has none.
        left_after_delta: the least δ that one of them would have left; likewise.
        exceeded: how many of them have not enough.
        largest: the largest ε, or μ, that would fit all of them.
        largest_delta: the largest δ that would fit all of them; None if the currency has none.
    """

    name: str
    accounts: int
    cap: str
    highest_cap: str
    charged: str
    left: str
    left_after: str | None
    charged_delta: str | None
    left_after_delta: str | None
    exceeded: int
    largest: str
    largest_delta: str | None = None


def largest_amount(rows: Iterable[ClassPrice], unit: str, questions: int = 1) -> str:
    """The most that every account of these classes can pay, in words; empty without classes.

    Args:
        rows: the classes.
        unit: the unit of amounts: ε, or μ².
        questions: the number of questions that are paid together.
    """
    listed = list(rows)
    if not listed:
        return ""
    deltas = [one.largest_delta for one in listed if one.largest_delta is not None]
    words = f"{unit.removesuffix('²')} = {min((one.largest for one in listed), key=Decimal)}"
    words = f"{words} and δ = {min(deltas, key=Decimal)}" if deltas else words
    return f"{words}, for all questions together" if questions > 1 else words


def class_prices(connection: Connection, terms: Terms, sealed: SealedCharge) -> Iterator[ClassPrice]:
    """The price for the accounts of each class."""
    codes: NDArray[Any]
    if sealed.kind == CLASS:
        names, codes = sealed.names, np.arange(sealed.accounts)
        _, before, after = classes_after(connection, terms, sealed)
    else:
        names = sealed.class_names or (EVERYBODY,)
        codes = sealed.class_numbers if sealed.class_names else np.zeros(sealed.accounts, np.intp)
        before, after = people_after(connection, terms, sealed)
    left, left_after, over = remaining_amounts(before), remaining_amounts(after), exceeds_cap(after)
    for code in np.unique(codes).tolist():
        here = codes == code
        yield _row(
            terms, names[code], before[:, here], left[:, here], left_after[:, here], over[here], _costs(sealed, here)
        )


def _costs(sealed: SealedCharge, here: NDArray[np.bool_]) -> tuple[int, int]:
    return int(sealed.amounts[here].max()), int(sealed.deltas[here].max())


def remaining_amounts(balances: NDArray[np.int64]) -> NDArray[np.int64]:
    """The remaining budget of each account, of both amounts; 0 if it has spent more than its cap."""
    caps, spent = balances[[CAP, CAP_DELTA]], balances[[SPENT, SPENT_DELTA]]
    return np.where(caps == INFINITE, INFINITE, np.maximum(caps - np.minimum(spent, caps), 0))


def _row(
    terms: Terms,
    name: str,
    before: NDArray[np.int64],
    left: NDArray[np.int64],
    after: NDArray[np.int64],
    over: NDArray[np.bool_],
    costs: tuple[int, int],
) -> ClassPrice:
    known, exceeded = terms.currency, int(over.sum())
    least, scale = int(left[0].min()), terms.currency.scale
    after_words = format_units(int(after[0].min()), scale), format_units(int(after[1].min()), DELTA_SCALE)
    return ClassPrice(
        name,
        before.shape[1],
        format_units(int(before[CAP].min()), scale),
        format_units(int(before[CAP].max()), scale),
        format_units(costs[0], scale),
        format_units(least, scale),
        None if exceeded else after_words[0],
        format_units(costs[1], DELTA_SCALE) if known.has_delta else None,
        after_words[1] if known.has_delta and not exceeded else None,
        exceeded,
        _largest(least, scale, known.squared),
        format_units(int(left[1].min()), DELTA_SCALE) if known.has_delta else None,
    )


def _largest(units: int, scale: int, squared: bool) -> str:
    """The largest ε that fits, rounded down; or μ, whose square does."""
    if squared and units < INFINITE:
        return format_units(isqrt(units), isqrt(scale))
    return format_units(units, scale)

"""What a source allows, and what its class accounts have spent of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import and_, bindparam, insert, select, update
from sqlalchemy.engine import Connection

from hetdp.errors import UsageError
from hetdp.releases.ledger.amounts import INFINITE, add_units
from hetdp.releases.ledger.chain import Entry
from hetdp.releases.ledger.charge import CLASS, EVERYBODY, PERSON, SealedCharge
from hetdp.releases.ledger.neighbours import NEIGHBOURS, NOTHING, Neighbours, read_neighbours
from hetdp.releases.ledger.sqlite import Statement
from hetdp.releases.ledger.tables import classes, people
from hetdp.text import format_value
from hetdp.theory.catalogue import currency_named
from hetdp.theory.notion import Currency

CAP, SPENT, CAP_DELTA, SPENT_DELTA = range(4)  # the rows of balances
COLUMNS = ("cap", "spent", "cap_delta", "spent_delta")
MOST_NAMES = 500  # of one statement
FEW_NAMES = 4  # for each of which there is a statement

_source: Any = bindparam("of_source")
_name: Any = bindparam("of_name")
_all = select(classes).where(classes.c.source == _source).order_by(classes.c.name)
ALL_CLASSES = Statement(_all)
SOME_CLASSES = _all.where(classes.c.name.in_(bindparam("names", expanding=True)))
ONE_CLASS = Statement(_all.where(classes.c.name == _name))
NAMED = Statement(select(classes.c.name).where(and_(classes.c.source == _source, classes.c.name != EVERYBODY)).limit(1))
ADD_CLASS = Statement(insert(classes), ("source", "name", *COLUMNS))
CHANGE_CLASS = Statement(update(classes).where(and_(classes.c.source == _source, classes.c.name == _name)), COLUMNS)
FIRST = {
    table: Statement(select(table.c.source).where(table.c.source == _source).limit(1)) for table in (classes, people)
}


class Terms(NamedTuple):
    """What a source was declared with.

    Attributes:
        number: of the entry that declares it; accounts know their source by it.
        source: its name.
        currency: how its privacy is counted.
        cap: what every account may spend, and of δ.
        caps: the same for the accounts, and for the people, of some classes.
        neighbours: the unit and the relation, as far as the declaration states them.
    """

    number: int
    source: str
    currency: Currency
    cap: tuple[int, int]
    caps: dict[str, tuple[int, int]]
    neighbours: Neighbours = NOTHING

    def cap_of(self, name: str) -> tuple[int, int]:
        """What a class, or a person in it, may spend; whoever is in no class that was said, no more than any class."""
        return self.caps.get(name, self.least() if name == EVERYBODY else self.cap)

    def least(self) -> tuple[int, int]:
        """What somebody may spend whose class nobody has said: no more than any class."""
        firsts, seconds = zip(self.cap, *self.caps.values(), strict=True)
        return min(firsts), min(seconds)


def terms_of(entry: Entry) -> Terms:
    """What an entry declares; ValueError if it does not."""
    facts = entry.facts
    currency = currency_named(facts.get("currency"))
    if facts.keys() - {NEIGHBOURS} != {"currency", "cap", "caps"} or currency is None:
        raise ValueError("no declaration")
    caps = {name: _pair(pair) for name, pair in facts["caps"].items()}
    neighbours = read_neighbours(facts.get(NEIGHBOURS))
    return Terms(entry.number, entry.source, currency, _pair(facts["cap"]), caps, neighbours)


def _pair(given: Any) -> tuple[int, int]:
    first, second = given
    if type(first) is not int or type(second) is not int or not (0 <= first <= INFINITE and 0 <= second <= INFINITE):
        raise ValueError("no cap")
    return first, second


def exceeds_cap(balances: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which accounts have spent more than they may."""
    over = (balances[CAP] < INFINITE) & (balances[SPENT] > balances[CAP])
    found: NDArray[np.bool_] = over | ((balances[CAP_DELTA] < INFINITE) & (balances[SPENT_DELTA] > balances[CAP_DELTA]))
    return found


def require_kind(connection: Connection, terms: Terms, kind: str) -> None:
    """Refuses accounts of another kind than those that the source has; asked only where none of this kind is known."""
    if FIRST[classes if kind == PERSON else people].rows(connection, of_source=terms.number):
        has, wants = ("people", "classes") if kind == CLASS else ("classes", "people")
        rule = (
            f"the accounts of the source {format_value(terms.source)} are {has}; the same people would have two budgets"
        )
        hint = "hetdp ledger record --people, Charge.to_people in Python" if kind == CLASS else "leave people's ids out"
        raise UsageError(f"a charge to {wants}", rule, f"charge its {has}, as before: {hint}")


def _require_grouping(connection: Connection, terms: Terms, is_everybody: bool) -> None:
    """Refuses to charge everybody without their classes where others were charged by class, and the other way round.

    Asked only where no class is known that pays. The same people would have the budget of their class, and everybody's.
    """
    given = is_everybody, bool(NAMED.rows(connection, of_source=terms.number))
    source = format_value(terms.source)
    if given == (True, True):
        rule = f"the source {source} is charged by class; the people of a class would have a second budget"
        raise UsageError("a charge to everybody, without classes", rule, "say the class of every edge, as before")
    if given == (False, False) and ONE_CLASS.rows(connection, of_source=terms.number, of_name=EVERYBODY):
        rule = f"so far, the source {source} charged everybody without classes; the same people would have two budgets"
        raise UsageError("a charge by class", rule, "leave the classes out, as before")


def is_charged(connection: Connection, terms: Terms) -> bool:
    """Whether anybody was charged for the source before."""
    return any(first.rows(connection, of_source=terms.number) for first in FIRST.values())


def classes_after(
    connection: Connection, terms: Terms, charge: SealedCharge
) -> tuple[set[str], NDArray[np.int64], NDArray[np.int64]]:
    """The class accounts that are known, and the balances of those that pay, before a charge and after it.

    Raises:
        UsageError: the accounts of the source are of another kind.
    """
    known = dict(read_classes(connection, terms, charge.names))
    if charge.names and not known:
        require_kind(connection, terms, CLASS)
    if charge.names and EVERYBODY not in terms.caps and not known.keys() - {EVERYBODY}:
        _require_grouping(connection, terms, charge.names == (EVERYBODY,))
    rows = [known.get(name, _empty(terms.cap_of(name))) for name in charge.names]
    before = np.array(rows, np.int64).reshape(-1, 4).T.copy()
    after = before.copy()
    after[SPENT] = add_units(before[SPENT], charge.amounts)
    after[SPENT_DELTA] = add_units(before[SPENT_DELTA], charge.deltas)
    return set(known), before, after


def charge_classes(connection: Connection, terms: Terms, charge: SealedCharge) -> list[str]:
    """Charges class accounts; returns those that then exceed their caps."""
    known, _, balances = classes_after(connection, terms, charge)
    for name, values in zip(charge.names, balances.T.tolist(), strict=True):
        row = dict(zip(COLUMNS, values, strict=True))
        if name in known:
            CHANGE_CLASS.write(connection, of_source=terms.number, of_name=name, **row)
        else:
            ADD_CLASS.write(connection, source=terms.number, name=name, **row)
    return [charge.names[at] for at in np.flatnonzero(exceeds_cap(balances)).tolist()]


def _empty(cap: tuple[int, int]) -> tuple[int, int, int, int]:
    return cap[0], 0, cap[1], 0


def read_classes(connection: Connection, terms: Terms, names: tuple[str, ...] | None) -> list[tuple[str, Any]]:
    """Class accounts with their balances: some by name, or all; ValueError if they are none."""
    source = {"of_source": terms.number}
    if names is None:
        rows = ALL_CLASSES.rows(connection, **source)
    elif len(names) <= FEW_NAMES:
        rows = [row for name in names for row in ONE_CLASS.rows(connection, of_name=name, **source)]
    else:
        parts = [names[at : at + MOST_NAMES] for at in range(0, len(names), MOST_NAMES)]
        rows = [row for part in parts for row in connection.execute(SOME_CLASSES, {"names": part, **source}).all()]
    found = [(row.name, tuple(getattr(row, column) for column in COLUMNS)) for row in rows]
    for name, values in found:
        if not isinstance(name, str) or any(type(value) is not int or value < 0 for value in values):
            raise ValueError("no balance")
    return found

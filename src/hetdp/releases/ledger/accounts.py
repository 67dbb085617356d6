"""The accounts of a source: what each may spend by its declaration, and what classes and people have spent.

Class accounts have one row each. People are stored in the order of their pseudonyms, some thousands of them to a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import and_, bindparam, insert, select, update
from sqlalchemy.engine import Connection

from hetdp.errors import UsageError
from hetdp.releases.ledger.amounts import DELTA_SCALE, INFINITE, add_units, currency_of, units_of_cap
from hetdp.releases.ledger.chain import Entry
from hetdp.releases.ledger.charge import AMOUNT, CLASS, EVERYBODY, KEY, KEY_BYTES, PERSON, SealedCharge, is_name
from hetdp.releases.ledger.neighbours import NEIGHBOURS, NOTHING, Neighbours, read_neighbours
from hetdp.releases.ledger.schema import Statement, classes, people
from hetdp.text import format_value
from hetdp.theory.catalogue import find_currency
from hetdp.theory.notion import Currency

CAP, SPENT, CAP_DELTA, SPENT_DELTA = range(4)  # the rows of balances
COLUMNS = ("cap", "spent", "cap_delta", "spent_delta")
MOST_NAMES = 500  # in one statement
FEW_NAMES = 4  # up to so many names, each has a statement of its own

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
    """The terms with which a source was declared.

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
        """The cap of a class, or of a person in it; without a stated class, the smallest cap of all."""
        return self.caps.get(name, self.least() if name == EVERYBODY else self.cap)

    def least(self) -> tuple[int, int]:
        """The cap of a person without a stated class: the smallest cap of all."""
        firsts, seconds = zip(self.cap, *self.caps.values(), strict=True)
        return min(firsts), min(seconds)


def terms_of(entry: Entry) -> Terms:
    """The terms that an entry declares; raises ValueError if it declares none."""
    facts = entry.facts
    currency = find_currency(facts.get("currency"))
    if facts.keys() - {NEIGHBOURS} != {"currency", "cap", "caps"} or currency is None:
        raise ValueError("no declaration")
    caps = {name: _pair(pair) for name, pair in facts["caps"].items()}
    neighbours = read_neighbours(facts.get(NEIGHBOURS))
    return Terms(entry.number, entry.source, currency, _pair(facts["cap"]), caps, neighbours)


def check_declaration(
    currency: str, limit: Any, caps: Mapping[str, Any] | None, neighbours: Neighbours = NOTHING
) -> dict[str, Any]:
    """The facts of an entry that declares a source; caps are rounded down.

    Raises:
        UsageError: no cap is given, or one is not a number.
    """
    known = currency_of(currency)
    if limit is None:
        rule = "a source is declared with what each account may spend"
        raise UsageError("no cap is given", rule, "such as cap=1")

    def pair(value: Any) -> list[int]:
        if not known.has_delta:
            return [units_of_cap(value, known.scale, known.squared), 0]
        if str(value) == "inf":
            return [units_of_cap(value, 1)] * 2
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise UsageError(f"{format_value(value)} is not a cap of {known.name}", "it must be a pair: ε and δ")
        return [units_of_cap(value[0], known.scale), units_of_cap(value[1], DELTA_SCALE)]

    for name in caps or {}:
        if not is_name(name):
            raise UsageError(f"{format_value(name)} is not the name of a class", "class accounts have names of text")
    return {
        "currency": currency,
        "cap": pair(limit),
        "caps": {name: pair(value) for name, value in (caps or {}).items()},
    } | ({NEIGHBOURS: neighbours.document()} if any(neighbours) else {})


def _pair(given: Any) -> tuple[int, int]:
    first, second = given
    if type(first) is not int or type(second) is not int or not (0 <= first <= INFINITE and 0 <= second <= INFINITE):
        raise ValueError("no cap")
    return first, second


def exceeds_cap(balances: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Marks the accounts that have spent more than their caps."""
    over = (balances[CAP] < INFINITE) & (balances[SPENT] > balances[CAP])
    found: NDArray[np.bool_] = over | ((balances[CAP_DELTA] < INFINITE) & (balances[SPENT_DELTA] > balances[CAP_DELTA]))
    return found


def require_account_kind(connection: Connection, terms: Terms, kind: str) -> None:
    """Refuses accounts of another kind than those of the source; called only if none of this kind is known."""
    if FIRST[classes if kind == PERSON else people].rows(connection, of_source=terms.number):
        has, wanted = ("people", "classes") if kind == CLASS else ("classes", "people")
        rule = (
            f"the accounts of the source {format_value(terms.source)} are {has}; the same people would have two budgets"
        )
        hint = "hetdp.Charge.to_people makes such a charge" if kind == CLASS else "leave people's ids out"
        raise UsageError(f"a charge to {wanted}", rule, f"charge its {has}, as before: {hint}")


def _require_grouping(connection: Connection, terms: Terms, is_everybody: bool) -> None:
    """Refuses a charge without classes if the source was charged by class before, and the other way round.

    Otherwise the same people would have the budget of their class and the budget of everybody. Called only if none of
    the charged classes is known.
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
    """True if anybody was charged before."""
    return any(first.rows(connection, of_source=terms.number) for first in FIRST.values())


def is_charged_by_class(connection: Connection, terms: Terms) -> bool:
    """True if classes were charged before."""
    return bool(FIRST[classes].rows(connection, of_source=terms.number))


def classes_after(
    connection: Connection, terms: Terms, charge: SealedCharge
) -> tuple[set[str], NDArray[np.int64], NDArray[np.int64]]:
    """The known class accounts, and the balances of those that pay before and after a charge.

    Raises:
        UsageError: the accounts of the source are of another kind.
    """
    known = dict(read_classes(connection, terms, charge.names))
    if charge.names and not known:
        require_account_kind(connection, terms, CLASS)
    if charge.names and EVERYBODY not in terms.caps and not known.keys() - {EVERYBODY}:
        _require_grouping(connection, terms, charge.names == (EVERYBODY,))
    rows = [known.get(name, _empty(terms.cap_of(name))) for name in charge.names]
    before = np.array(rows, np.int64).reshape(-1, 4).T.copy()
    after = before.copy()
    after[SPENT] = add_units(before[SPENT], charge.amounts)
    after[SPENT_DELTA] = add_units(before[SPENT_DELTA], charge.deltas)
    return set(known), before, after


def charge_classes(connection: Connection, terms: Terms, charge: SealedCharge) -> list[str]:
    """Charges class accounts; returns the names of those that exceed their caps then."""
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
    """Class accounts with their balances, some by name or all; ValueError if a row is invalid."""
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


MOST = 8192  # people in one row; a larger row is divided into rows of about half as many
LOWEST = bytes(KEY_BYTES)

_first: Any = bindparam("of_first")
_one = and_(people.c.source == _source, people.c.first == _first)
STARTS = Statement(select(people.c.first, people.c.named).where(people.c.source == _source).order_by(people.c.first))
ALL = Statement(select(people).where(people.c.source == _source).order_by(people.c.first))
ONE = Statement(select(people.c.pseudonyms, people.c.balances).where(_one))
ADD = Statement(insert(people), ("source", "first", "pseudonyms", "balances", "named"))
CHANGE = Statement(update(people).where(_one), ("pseudonyms", "balances"))


class Share(NamedTuple):
    """The people of one row: those whose pseudonyms lie in its range.

    Attributes:
        keys: their pseudonyms, in order.
        balances: four rows: caps, spent, caps of δ, δ spent.
    """

    keys: NDArray[np.bytes_]
    balances: NDArray[np.int64]


NOBODY = Share(np.zeros(0, KEY), np.zeros((4, 0), np.int64))


def charge_people(connection: Connection, terms: Terms, charge: SealedCharge) -> int:
    """Charges people; returns how many exceed their caps then. ValueError if a balance is invalid."""
    firsts = _starts(connection, terms, charge)
    starts = _in_order(firsts or _new_rows(charge.keys))
    row_of = np.searchsorted(starts, charge.keys, side="right") - 1
    caps, too_many = caps_of(terms, charge), 0
    for row in np.unique(row_of).tolist():
        part = slice(*np.searchsorted(row_of, [row, row + 1]))
        before = _read(connection, terms, starts, row) if firsts else NOBODY
        costs = charge.amounts[part], charge.deltas[part]
        after, where = charge_share(before, charge.keys[part], *costs, caps[:, part], bool(charge.class_names))
        too_many += int(exceeds_cap(after.balances[:, where]).sum())
        _write(connection, terms, starts[row : row + 1].tobytes(), after, bool(firsts), charge.named)
    return too_many


def people_after(
    connection: Connection, terms: Terms, charge: SealedCharge
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The balances of those who pay before and after a charge; nothing is written. ValueError if one is invalid."""
    _starts(connection, terms, charge)
    shares = [NOBODY, *read_people(connection, terms)]
    known = Share(
        np.concatenate([one.keys for one in shares]), np.concatenate([one.balances for one in shares], axis=1)
    )
    caps, nothing = caps_of(terms, charge), np.zeros(charge.accounts, np.int64)
    before, after = (
        charge_share(known, charge.keys, *costs, caps, bool(charge.class_names))
        for costs in ((nothing, nothing), (charge.amounts, charge.deltas))
    )
    return before[0].balances[:, before[1]], after[0].balances[:, after[1]]


def _starts(connection: Connection, terms: Terms, charge: SealedCharge) -> list[bytes]:
    """The first pseudonyms of the rows; refuses people if classes pay, or if their ids are of another kind."""
    rows = STARTS.rows(connection, of_source=terms.number)
    firsts = [row.first for row in rows]
    if charge.accounts and not firsts:
        require_account_kind(connection, terms, PERSON)
    elif charge.accounts and charge.named != (known := _id_name_in(rows)):
        raise _refuse_other_ids(terms, known, charge.named)
    return firsts


def naming_of(connection: Connection, terms: Terms) -> str | None:
    """The kind of id that the first charge to people fixed; ValueError if rows disagree."""
    rows = STARTS.rows(connection, of_source=terms.number)
    return _id_name_in(rows) if rows else None


def _id_name_in(rows: Sequence[Any]) -> str | None:
    (found,) = {row.named for row in rows}
    if found is not None and not isinstance(found, str):
        raise ValueError("no name of what names people")
    return found


def _refuse_other_ids(terms: Terms, known: str | None, given: str | None) -> UsageError:
    source = f"the people of the source {format_value(terms.source)}"
    what = (
        "a charge to people by ids that have no name"
        if given is None
        else f"a charge to people by {format_value(given)}"
    )
    if known is None:
        rule = f"{source} were charged by ids that have no name; the same people would have two budgets"
        return UsageError(what, rule, "give the same ids as before, and no named=")
    rule = f"{source} are named by {format_value(known)}; the same people would have two budgets"
    return UsageError(what, rule, f"give named={format_value(known)}, as before")


def _new_rows(keys: NDArray[np.bytes_]) -> list[bytes]:
    """The first pseudonyms of new rows, each half full."""
    half = MOST // 2
    return [LOWEST, *(keys[at : at + 1].tobytes() for at in range(half, len(keys) if len(keys) > MOST else 0, half))]


def _in_order(firsts: Sequence[Any]) -> NDArray[np.bytes_]:
    if firsts[0] != LOWEST or not all(isinstance(first, bytes) and len(first) == KEY_BYTES for first in firsts):
        raise ValueError("no shares")
    return np.frombuffer(b"".join(firsts), KEY)


def _read(connection: Connection, terms: Terms, starts: NDArray[np.bytes_], row: int) -> Share:
    first = starts[row : row + 1].tobytes()
    (found,) = ONE.rows(connection, of_source=terms.number, of_first=first)
    share = parse_share(terms, found.pseudonyms, found.balances)
    require_inside(share, starts[row : row + 2])
    return share


def _write(connection: Connection, terms: Terms, first: bytes, share: Share, is_there: bool, named: str | None) -> None:
    """Writes a row, or several if people have become too many for one."""
    count = len(share.keys)
    parts = 1 if count <= MOST else -(-2 * count // MOST)
    ends = np.linspace(0, count, parts + 1).astype(int).tolist()
    for at, (begin, end) in enumerate(pairwise(ends)):
        balances = share.balances[: _rows(terms), begin:end].astype(AMOUNT).tobytes()
        values = {"pseudonyms": share.keys[begin:end].tobytes(), "balances": balances}
        if at == 0 and is_there:
            CHANGE.write(connection, of_source=terms.number, of_first=first, **values)
        else:
            start = first if at == 0 else values["pseudonyms"][:KEY_BYTES]
            ADD.write(connection, source=terms.number, first=start, named=named, **values)


def caps_of(terms: Terms, charge: SealedCharge) -> NDArray[np.int64]:
    """The caps of the people of a charge by their classes, or the least cap without classes: ε and δ, two rows."""
    if not charge.class_names:
        return np.repeat(np.array(terms.least(), np.int64)[:, None], charge.accounts, axis=1)
    by_class = np.array([terms.cap_of(name) for name in charge.class_names], np.int64).T
    return by_class[:, charge.class_numbers]


def charge_share(
    before: Share,
    keys: NDArray[np.bytes_],
    amounts: NDArray[np.int64],
    deltas: NDArray[np.int64],
    caps: NDArray[np.int64],
    by_class: bool,
) -> tuple[Share, NDArray[np.intp]]:
    """The people of a row after a charge, and the positions of those who paid.

    People without an account get one. A cap that was found by class lowers the cap of an account that has a higher one.
    """
    if len(keys) == len(before.keys) and bool((keys == before.keys).all()):  # the same people pay, which is common
        at, is_new = np.arange(len(keys)), np.zeros(len(keys), bool)
    else:
        at, is_new = np.searchsorted(before.keys, keys), np.ones(len(keys), bool)
        inside = at < len(before.keys)
        is_new[inside] = before.keys[at[inside]] != keys[inside]
    all_keys, balances, where = before.keys, before.balances.copy(), at
    if bool(is_new.any()):
        fresh = np.zeros((4, int(is_new.sum())), np.int64)
        fresh[CAP], fresh[CAP_DELTA] = caps[:, is_new]
        all_keys = np.insert(before.keys, at[is_new], keys[is_new])
        balances = np.insert(before.balances, at[is_new], fresh, axis=1)
        where = np.searchsorted(all_keys, keys)
    if by_class:
        balances[CAP, where] = np.minimum(balances[CAP, where], caps[0])
        balances[CAP_DELTA, where] = np.minimum(balances[CAP_DELTA, where], caps[1])
    balances[SPENT, where] = add_units(balances[SPENT, where], amounts)
    balances[SPENT_DELTA, where] = add_units(balances[SPENT_DELTA, where], deltas)
    return Share(all_keys, balances), where


def read_people(connection: Connection, terms: Terms) -> list[Share]:
    """All people of a source, in order; ValueError if a row is invalid."""
    rows = ALL.rows(connection, of_source=terms.number)
    if not rows:
        return []
    starts = _in_order([row.first for row in rows])
    shares = [parse_share(terms, row.pseudonyms, row.balances) for row in rows]
    for at, share in enumerate(shares):
        require_inside(share, starts[at : at + 2])
    return shares


def read_person(connection: Connection, terms: Terms, key: bytes) -> NDArray[np.int64] | None:
    """The balance of one person; None if the person was never charged. ValueError if the row is invalid."""
    firsts = [row.first for row in STARTS.rows(connection, of_source=terms.number)]
    if not firsts:
        return None
    starts, wanted = _in_order(firsts), np.frombuffer(key, KEY)
    share = _read(connection, terms, starts, int(np.searchsorted(starts, wanted, side="right")[0]) - 1)
    at = int(np.searchsorted(share.keys, wanted)[0])
    is_there = at < len(share.keys) and share.keys[at : at + 1].tobytes() == key
    return share.balances[:, at] if is_there else None


def parse_share(terms: Terms, keys: Any, balances: Any) -> Share:
    """The people of a row from its bytes; ValueError if they are invalid."""
    if not isinstance(keys, bytes) or not isinstance(balances, bytes) or len(keys) % KEY_BYTES:
        raise ValueError("no share")
    listed = np.frombuffer(keys, KEY)
    values = np.zeros((4, len(listed)), np.int64)
    values[: _rows(terms)] = np.frombuffer(balances, AMOUNT).reshape(_rows(terms), len(listed))
    if bool((values < 0).any() or (listed[1:] <= listed[:-1]).any()):
        raise ValueError("no share")
    return Share(listed, values)


def require_inside(share: Share, ends: NDArray[np.bytes_]) -> None:
    """Refuses people who are outside the range of their row."""
    keys = share.keys
    if len(keys) and bool(keys[0] < ends[0] or (len(ends) == 2 and keys[-1] >= ends[1])):
        raise ValueError("people in another row than theirs")


def _rows(terms: Terms) -> int:
    return 4 if terms.currency.has_delta else 2

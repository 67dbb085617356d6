"""Balances: what each account may spend and has spent; charged all together, or not at all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import insert, select, update
from sqlalchemy.engine import Connection

from hetdp.release.ledger.amounts import CURRENCIES, INFINITE, Currency, added
from hetdp.release.ledger.entry import Entry
from hetdp.release.ledger.sealed import AMOUNT, KEY, KEY_BYTES, Sealed
from hetdp.release.ledger.tables import classes, people

CAP, SPENT, CAP_DELTA, SPENT_DELTA = range(4)  # the rows of balances
COLUMNS = ("cap", "spent", "cap_delta", "spent_delta")
MOST_NAMES = 500  # of one statement


class Terms(NamedTuple):
    """What a source was declared with.

    Attributes:
        number: of the entry that declares it; accounts know their source by it.
        source: its name.
        currency: how its privacy is counted.
        cap: what every account may spend, and of δ.
        caps: the same for the accounts, and for the people, of some classes.
    """

    number: int
    source: str
    currency: Currency
    cap: tuple[int, int]
    caps: dict[str, tuple[int, int]]

    def cap_of(self, name: str) -> tuple[int, int]:
        """What a class, or a person in it, may spend."""
        return self.caps.get(name, self.cap)


def terms_of(entry: Entry) -> Terms:
    """What an entry declares; ValueError if it does not."""
    facts = entry.facts
    if facts.keys() != {"currency", "cap", "caps"} or facts["currency"] not in CURRENCIES:
        raise ValueError("no declaration")
    caps = {name: _pair(pair) for name, pair in facts["caps"].items()}
    return Terms(entry.number, entry.source, CURRENCIES[facts["currency"]], _pair(facts["cap"]), caps)


def _pair(given: Any) -> tuple[int, int]:
    first, second = given
    if type(first) is not int or type(second) is not int or not (0 <= first <= INFINITE and 0 <= second <= INFINITE):
        raise ValueError("no cap")
    return first, second


def exceeding(balances: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which accounts have spent more than they may."""
    over = (balances[CAP] < INFINITE) & (balances[SPENT] > balances[CAP])
    found: NDArray[np.bool_] = over | ((balances[CAP_DELTA] < INFINITE) & (balances[SPENT_DELTA] > balances[CAP_DELTA]))
    return found


def charge_classes(connection: Connection, terms: Terms, charge: Sealed) -> list[str]:
    """Charges class accounts; returns those that then exceed their caps."""
    known = dict(read_classes(connection, terms, charge.names))
    before = [known.get(name, _empty(terms.cap_of(name))) for name in charge.names]
    balances = np.array(before, np.int64).reshape(-1, 4).T.copy()
    balances[SPENT] = added(balances[SPENT], charge.amounts)
    balances[SPENT_DELTA] = added(balances[SPENT_DELTA], charge.deltas)
    for name, values in zip(charge.names, balances.T.tolist(), strict=True):
        row = dict(zip(COLUMNS, values, strict=True))
        if name in known:
            which = (classes.c.source == terms.number) & (classes.c.name == name)
            connection.execute(update(classes).where(which).values(row))
        else:
            connection.execute(insert(classes).values(source=terms.number, name=name, **row))
    return [charge.names[at] for at in np.flatnonzero(exceeding(balances)).tolist()]


def _empty(cap: tuple[int, int]) -> tuple[int, int, int, int]:
    return cap[0], 0, cap[1], 0


def read_classes(connection: Connection, terms: Terms, names: tuple[str, ...] | None) -> list[tuple[str, Any]]:
    """Class accounts with their balances: some by name, or all; ValueError if they are none."""
    asks = select(classes).where(classes.c.source == terms.number)
    if names is None:
        rows = connection.execute(asks.order_by(classes.c.name)).all()
    else:
        parts = [names[at : at + MOST_NAMES] for at in range(0, len(names), MOST_NAMES)]
        rows = [row for part in parts for row in connection.execute(asks.where(classes.c.name.in_(part))).all()]
    found = [(row.name, tuple(getattr(row, column) for column in COLUMNS)) for row in rows]
    for name, values in found:
        if not isinstance(name, str) or any(type(value) is not int or value < 0 for value in values):
            raise ValueError("no balance")
    return found


class Share(NamedTuple):
    """Some of the people of a source, those whose pseudonyms begin alike."""

    keys: NDArray[np.bytes_]
    balances: NDArray[np.int64]


NOBODY = Share(np.zeros(0, KEY), np.zeros((4, 0), np.int64))


def charge_people(connection: Connection, terms: Terms, charge: Sealed) -> int:
    """Charges people; returns how many of them then exceed their caps."""
    first = np.frombuffer(charge.keys.tobytes(), np.uint8)[::KEY_BYTES]
    ends = np.searchsorted(first, np.arange(257))
    caps = caps_of(terms, charge)
    too_many = 0
    for share in np.unique(first).tolist():
        part = slice(ends[share], ends[share + 1])
        before = read_share(connection, terms, share)
        costs = charge.amounts[part], charge.deltas[part]
        after, where = charged(before or NOBODY, charge.keys[part], *costs, caps[:, part])
        too_many += int(exceeding(after.balances[:, where]).sum())
        values = {"pseudonyms": after.keys.tobytes(), "balances": after.balances.astype(AMOUNT).tobytes()}
        if before is None:
            connection.execute(insert(people).values(source=terms.number, share=share, **values))
        else:
            which = (people.c.source == terms.number) & (people.c.share == share)
            connection.execute(update(people).where(which).values(values))
    return too_many


def caps_of(terms: Terms, charge: Sealed) -> NDArray[np.int64]:
    """The caps that people of a charge get if they have no account yet: two rows."""
    if not charge.class_names:
        return np.repeat(np.array(terms.cap, np.int64)[:, None], charge.accounts, axis=1)
    by_class = np.array([terms.cap_of(name) for name in charge.class_names], np.int64).T
    return by_class[:, charge.class_numbers]


def charged(
    before: Share,
    keys: NDArray[np.bytes_],
    amounts: NDArray[np.int64],
    deltas: NDArray[np.int64],
    caps: NDArray[np.int64],
) -> tuple[Share, NDArray[np.intp]]:
    """People after a charge, and where in it those who paid are; whoever had no account gets one."""
    at = np.searchsorted(before.keys, keys)
    is_new = np.ones(len(keys), bool)
    inside = at < len(before.keys)
    is_new[inside] = before.keys[at[inside]] != keys[inside]
    fresh = np.zeros((4, int(is_new.sum())), np.int64)
    fresh[CAP], fresh[CAP_DELTA] = caps[:, is_new]
    all_keys = np.insert(before.keys, at[is_new], keys[is_new])
    balances = np.insert(before.balances, at[is_new], fresh, axis=1)
    where = np.searchsorted(all_keys, keys)
    balances[SPENT, where] = added(balances[SPENT, where], amounts)
    balances[SPENT_DELTA, where] = added(balances[SPENT_DELTA, where], deltas)
    return Share(all_keys, balances), where


def read_share(connection: Connection, terms: Terms, share: int) -> Share | None:
    """One share of the people, None if there is nobody; ValueError if it is none."""
    which = (people.c.source == terms.number) & (people.c.share == share)
    row = connection.execute(select(people.c.pseudonyms, people.c.balances).where(which)).one_or_none()
    return None if row is None else parsed_share(share, row.pseudonyms, row.balances)


def parsed_share(share: int, keys: Any, balances: Any) -> Share:
    """People from the bytes in which they are kept."""
    if not isinstance(keys, bytes) or not isinstance(balances, bytes) or len(balances) != 2 * len(keys):
        raise ValueError("no share")
    listed = np.frombuffer(keys, KEY)
    values = np.frombuffer(balances, AMOUNT).astype(np.int64).reshape(4, -1)
    if bool((values < 0).any() or (listed[1:] <= listed[:-1]).any() or set(keys[::KEY_BYTES]) - {share}):
        raise ValueError("no share")
    return Share(listed, values)

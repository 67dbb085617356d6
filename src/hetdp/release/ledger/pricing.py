"""What the accounts of a source would pay for a charge, and what would be left; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.engine import Connection

from hetdp.release.ledger.accounts import CAP, CAP_DELTA, SPENT, SPENT_DELTA, Terms, classes_after, exceeding
from hetdp.release.ledger.amounts import DELTA_SCALE, INFINITE, written
from hetdp.release.ledger.people import people_after
from hetdp.release.ledger.sealed import CLASS, EVERYBODY, Sealed


class ClassPrice(NamedTuple):
    """What the accounts of one class would pay. Amounts are decimal text, of ε, or of μ² for the currency gaussian.

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


def class_prices(connection: Connection, terms: Terms, sealed: Sealed) -> Iterator[ClassPrice]:
    """What the accounts of each class would pay."""
    codes: NDArray[Any]
    if sealed.kind == CLASS:
        names, codes = sealed.names, np.arange(sealed.accounts)
        _, before, after = classes_after(connection, terms, sealed)
    else:
        names = sealed.class_names or (EVERYBODY,)
        codes = sealed.class_numbers if sealed.class_names else np.zeros(sealed.accounts, np.intp)
        before, after = people_after(connection, terms, sealed)
    left, left_after, over = _left(before), _left(after), exceeding(after)
    for code in np.unique(codes).tolist():
        here = codes == code
        yield _row(
            terms, names[code], before[:, here], left[:, here], left_after[:, here], over[here], _costs(sealed, here)
        )


def _costs(sealed: Sealed, here: NDArray[np.bool_]) -> tuple[int, int]:
    return int(sealed.amounts[here].max()), int(sealed.deltas[here].max())


def _left(balances: NDArray[np.int64]) -> NDArray[np.int64]:
    """What each account has left, of both amounts; nothing where it has spent more than it may."""
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
    after_words = written(int(after[0].min()), scale), written(int(after[1].min()), DELTA_SCALE)
    return ClassPrice(
        name,
        before.shape[1],
        written(int(before[CAP].min()), scale),
        written(int(before[CAP].max()), scale),
        written(costs[0], scale),
        written(least, scale),
        None if exceeded else after_words[0],
        written(costs[1], DELTA_SCALE) if known.has_delta else None,
        after_words[1] if known.has_delta and not exceeded else None,
        exceeded,
        _largest(least, scale, known.squared),
    )


def _largest(units: int, scale: int, squared: bool) -> str:
    """The largest ε that fits, rounded down; or μ, whose square does."""
    if squared and units < INFINITE:
        return written(isqrt(units), isqrt(scale))
    return written(units, scale)

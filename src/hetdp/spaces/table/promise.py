"""What is promised to the people of one area, before their answers are read: how accurate, how private."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetdp.spaces.privacy.grid import for_document
from hetdp.spaces.table.policy import Policy
from hetdp.spaces.table.wish import Wish

DIGITS = 6  # of an accuracy in a plan; always rounded down


@dataclass(frozen=True)
class Protection:
    """Whom an ε, or a range of them, is promised to."""

    group: str | None
    people: int
    least: float
    largest: float
    unprotected: int


@dataclass(frozen=True)
class Promise:
    """The mechanism for one area and what it comes to.

    Attributes:
        area: its name; None if there are no areas.
        people: how many there are.
        protections: one for each group.
        mechanism: the mechanism, which knows no answers.
    """

    area: str | None
    people: int
    protections: tuple[Protection, ...]
    mechanism: Any

    def accuracy(self) -> list[tuple[int, float]]:
        """Margins, and the least probability of the right answer at each."""
        return [(int(margin), float(right)) for margin, right in _rows(self.mechanism.accuracy_by_margin())]

    def odds(self) -> str:
        """What one person's answer changes, in a sentence."""
        return str(self.mechanism.odds())

    def body(self) -> dict[str, Any]:
        """As it stands in a plan."""
        accuracy = {str(margin): rounded_down(right) for margin, right in self.accuracy()}
        return {"area": self.area, "people": self.people, "accuracy_by_margin": accuracy}


def promise_of(
    wish: Wish, policy: Policy, area: str | None, rows: Any, population: Callable[..., Any] | None = None
) -> Promise:
    """Fixes the mechanism for the people of some rows.

    Args:
        wish: what is asked for.
        policy: what is public.
        area: the name of the area these people are in.
        rows: which rows they are.
        population: what makes a mechanism of a policy.
    """
    if population is None:
        from hetdp.spaces import population
    epsilon = policy.epsilon[rows]
    groups = None if policy.groups is None else np.asarray(policy.groups.names, dtype=object)[policy.groups.codes[rows]]
    made = population(
        wish.question,
        epsilon,
        values=wish.values,
        groups=groups,
        deciding=None if wish.deciding is None else for_document(wish.deciding),
    )
    return Promise(area, len(epsilon), _protections(policy, rows), made.design(wish.objective))


def rounded_down(probability: float) -> str:
    """A probability in a plan: as text, never more than is promised.

    >>> rounded_down(0.12345678), rounded_down(1.0 - 1e-12)
    ('0.123456', '0.999999')
    """
    return f"{np.floor(probability * 10**DIGITS) / 10**DIGITS:.{DIGITS}f}"


def _protections(policy: Policy, rows: Any) -> tuple[Protection, ...]:
    epsilon = policy.epsilon[rows]
    if policy.groups is None:
        return (_protection(None, epsilon),)
    codes = policy.groups.codes[rows]
    return tuple(_protection(policy.groups.names[at], epsilon[codes == at]) for at in np.unique(codes).tolist())


def _protection(group: str | None, epsilon: Any) -> Protection:
    unprotected = int(np.isinf(epsilon).sum())
    return Protection(group, len(epsilon), float(epsilon.min()), float(epsilon.max()), unprotected)


def _rows(table: Any) -> Any:
    return table.items() if hasattr(table, "items") else table

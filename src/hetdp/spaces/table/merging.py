"""What workers counted in each file, put together: the kinds of people of the whole table, in one order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError
from hetdp.spaces.table.everybody import deciding_of, epsilon_of
from hetdp.spaces.table.policy import Names, Policy, require_names
from hetdp.spaces.table.tasks import MOST_KINDS, NAMED, Tally
from hetdp.spaces.table.wish import Wish


class Merged(NamedTuple):
    """The people of a table by kind.

    Attributes:
        policy: what is public.
        said: how many people of each kind have each value, if that was counted.
    """

    policy: Policy
    said: NDArray[np.int64] | None

    def is_same(self, other: Merged) -> bool:
        """Whether both have the same kinds, with as many people each."""
        mine: list[Any] = [*columns_of(self.policy), self.policy.weights]
        theirs: list[Any] = [*columns_of(other.policy), other.policy.weights]
        names = [[part and part.names for part in (one.policy.groups, one.policy.areas)] for one in (self, other)]
        return names[0] == names[1] and len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))


def merged(name: str, wish: Wish, told: Sequence[Tally]) -> Merged:
    """The kinds of people of all files together, each once, in increasing order of ε and of all else.

    Args:
        name: how messages name the table.
        wish: which columns matter.
        told: what was counted in each file; somebody is there.

    Raises:
        UsageError: people are of too many kinds, or groups are named that nobody belongs to.
        InputError: somebody has no group or area, or there are too many of them.
    """
    found = {
        role: _names(told, role, f"{name}, {column}")
        for role, column in zip(NAMED, (wish.group, wish.area), strict=True)
        if column is not None
    }
    if sum(len(one.people) for one in told) > MOST_KINDS:
        rule = f"workers count people who have the same ε, group and area, up to {MOST_KINDS:,} counts in all files"
        hint = "leave --engine dask out: one machine keeps a few numbers for each person"
        raise UsageError("people of too many kinds", rule, hint)
    rows = {key: np.concatenate([one.columns[key] for one in told]) for key in told[0].columns if key not in NAMED}
    rows["person"] = rows["everybody"]  # one for each kind
    groups, areas = (found.get(role) for role in NAMED)
    people = np.concatenate([one.people for one in told])
    policy = Policy(
        int(people.sum()), epsilon_of(wish, rows, groups) + 0.0, groups, areas, deciding_of(wish, rows, groups), people
    )  # in which no zero has a sign
    said = None if told[0].said is None else np.concatenate([one.said for one in told if one.said is not None])
    return _folded(policy, said)


def _names(told: Sequence[Tally], role: str, where: str) -> Names:
    """All groups or areas by name, in order, and the number of each kind's."""
    all_names: list[str] | None = sorted({name for one in told for name in one.names[role]})
    if any(one.missing[f"no {role}"] for one in told):
        all_names = None
    names = require_names(all_names, where)
    place = {name: at for at, name in enumerate(names)}
    codes = [np.array([place[name] for name in one.names[role]], np.int32)[one.columns[role]] for one in told]
    return Names(tuple(names), np.concatenate(codes))


def columns_of(policy: Policy) -> list[NDArray[Any]]:
    """What kinds of people are told apart by."""
    found = [policy.epsilon, *([policy.deciding] if isinstance(policy.deciding, np.ndarray) else [])]
    return found + [names.codes for names in (policy.groups, policy.areas) if names is not None]


def _folded(policy: Policy, said: NDArray[np.int64] | None) -> Merged:
    """The same with kinds that are in several files counted together."""
    columns = columns_of(policy)
    order = np.lexsort(columns[::-1])
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    first = np.flatnonzero(begins)
    chosen = order[first]
    groups, areas = (
        None if names is None else Names(names.names, names.codes[chosen]) for names in (policy.groups, policy.areas)
    )
    deciding = policy.deciding[chosen] if isinstance(policy.deciding, np.ndarray) else policy.deciding
    assert policy.weights is not None
    weights = np.add.reduceat(policy.weights[order], first)
    answers = None if said is None else np.add.reduceat(said[order], first, axis=0)
    return Merged(Policy(policy.size, policy.epsilon[chosen], groups, areas, deciding, weights), answers)

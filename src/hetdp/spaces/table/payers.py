"""Everybody's id, and which kind of people they are, read file by file, for those who pay; no answer is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp import progress
from hetdp.spaces.table import kinds
from hetdp.spaces.table.database import identifier
from hetdp.spaces.table.everybody import cells, deciding_of, epsilon_of
from hetdp.spaces.table.folders import named
from hetdp.spaces.table.ids import Ids
from hetdp.spaces.table.merging import columns_of
from hetdp.spaces.table.policy import Names, Policy
from hetdp.spaces.table.respondents import Payers
from hetdp.spaces.table.sources import opened
from hetdp.spaces.table.wish import Wish


def payers_in(files: Sequence[Path], wish: Wish, policy: Policy, curator: bool) -> Payers | None:
    """Everybody in some files that are one table; None if somebody is of a kind that is not in the policy.

    Args:
        files: the files.
        wish: which columns are public.
        policy: the kinds of people in the table, as they were counted.
        curator: whether messages may name rows and values.

    Raises:
        InputError: a file cannot be read.
    """
    progress.stage("reading who pays")
    ids, entries, place = Ids(), [np.empty(0, np.int64)], _Places(policy)
    for file in files:
        wanted, uses = {"person": kinds.text(wish.person)}, [wish.person]
        with opened(file, curator=curator, name=named(file)) as source:
            for role, where in (("epsilon", wish.epsilon), ("deciding", wish.deciding)):
                if where is not None and where.column is not None:
                    wanted, uses = wanted | cells(source, where.column, role), [*uses, where.column]
            for role, column, there in (("group", wish.group, policy.groups), ("area", wish.area, policy.areas)):
                if column is not None and there is not None:
                    source.define(role, there.names)
                    wanted[role] = f"enum_code(CAST({kinds.text(column)} AS {identifier(role)}))::INTEGER"
                    uses.append(column)
            rows = source.read(wanted, uses=uses)
        ids.add(rows["person"].tolist())
        groups, areas = (
            None if there is None else Names(there.names, rows[role])
            for role, there in (("group", policy.groups), ("area", policy.areas))
        )
        epsilon, deciding = epsilon_of(wish, rows, groups) + 0.0, deciding_of(wish, rows, groups)
        entries.append(place.of(columns_of(Policy(len(epsilon), epsilon, groups, areas, deciding))))
    every = np.concatenate(entries)
    return None if bool((every < 0).any()) else Payers(ids, every)


class _Places:
    """Where people stand among kinds that are told apart by several columns."""

    def __init__(self, policy: Policy) -> None:
        self._steps: list[tuple[NDArray[Any], NDArray[np.int64]]] = []
        code = np.zeros(len(policy.epsilon), dtype=np.int64)
        for column in columns_of(policy):
            levels, at = np.unique(column, return_inverse=True)
            pairs, code = np.unique(code * len(levels) + at, return_inverse=True)  # fewer than kinds, so none overflows
            self._steps.append((levels, pairs))
        self._entry = np.empty(len(code), dtype=np.int64)
        self._entry[code] = np.arange(len(code))

    def of(self, columns: list[NDArray[Any]]) -> NDArray[np.int64]:
        """The entry of each person; −1 where nobody was like that."""
        code = np.zeros(len(columns[0]), dtype=np.int64)
        known = np.ones(len(code), dtype=np.bool_)
        for column, (levels, pairs) in zip(columns, self._steps, strict=True):
            at = np.minimum(np.searchsorted(levels, column), len(levels) - 1)
            pair = code * len(levels) + at
            code = np.minimum(np.searchsorted(pairs, pair), len(pairs) - 1)
            known &= (levels[at] == column) & (pairs[code] == pair)
        return np.where(known, self._entry[code], -1)

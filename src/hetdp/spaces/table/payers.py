"""Everybody's id and ε, read file by file where all of them pay; no answer is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hetdp import progress
from hetdp.spaces.table import kinds
from hetdp.spaces.table.database import identifier
from hetdp.spaces.table.everybody import cells, epsilon_of
from hetdp.spaces.table.folders import named
from hetdp.spaces.table.ids import Ids
from hetdp.spaces.table.policy import Names, Policy
from hetdp.spaces.table.respondents import Payers
from hetdp.spaces.table.sources import opened
from hetdp.spaces.table.wish import Wish


def payers_in(files: Sequence[Path], wish: Wish, groups: tuple[str, ...] | None, curator: bool) -> Payers:
    """Everybody in some files that are one table.

    Args:
        files: the files.
        wish: which columns are public.
        groups: the names of all groups of the table, if there are groups.
        curator: whether messages may name rows and values.

    Raises:
        InputError: a file cannot be read.
    """
    progress.stage("reading who pays")
    ids, epsilon, codes = Ids(), [np.empty(0)], [np.empty(0, np.int32)]
    for file in files:
        wanted, uses = {"person": kinds.text(wish.person)}, [wish.person]
        with opened(file, curator=curator, name=named(file)) as source:
            if wish.epsilon.column is not None:
                wanted, uses = wanted | cells(source, wish.epsilon.column, "epsilon"), [*uses, wish.epsilon.column]
            if wish.group is not None and groups is not None:
                source.define("group", groups)
                wanted["group"] = f"enum_code(CAST({kinds.text(wish.group)} AS {identifier('group')}))::INTEGER"
                uses.append(wish.group)
            rows = source.read(wanted, uses=uses)
        there = None if groups is None else Names(groups, rows["group"])
        ids.add(rows["person"].tolist())
        epsilon.append(epsilon_of(wish, rows, there))
        codes += [] if there is None else [there.codes]
    every = None if groups is None else Names(groups, np.concatenate(codes))
    return Payers(Policy(len(ids), np.concatenate(epsilon), every, None), ids)

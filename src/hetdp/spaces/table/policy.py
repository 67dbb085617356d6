"""The public policy of a table: who is there, with which ε, in which group and area. No answer is looked at."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp import progress
from hetdp.errors import Fault, InputError
from hetdp.spaces.names import require_known
from hetdp.spaces.privacy.grid import for_document
from hetdp.spaces.table import kinds
from hetdp.spaces.table.condition import require_columns
from hetdp.spaces.table.database import identifier
from hetdp.spaces.table.faults import NOBODY, Faults
from hetdp.spaces.table.sources import Source
from hetdp.spaces.table.wish import Wish

MOST_NAMES = 10_000  # groups, and areas: more would be people
NAMED = (kinds.TEXT, kinds.WHOLE, kinds.TRUTH, kinds.MOMENT)

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Names:
    """A column of groups or areas: their names, in order, and everybody's number among them."""

    names: tuple[str, ...]
    codes: Codes


@dataclass(frozen=True)
class Policy:
    """What is public about the people of a table, in the order of its rows.

    Attributes:
        size: how many there are.
        epsilon: everybody's ε, as written.
        groups: everybody's group, if there is a column of them.
        areas: everybody's area, likewise.
        deciding: what steps that decide are promised: everybody's, or one as written; None for the same.
    """

    size: int
    epsilon: NDArray[np.float64]
    groups: Names | None
    areas: Names | None
    deciding: Any = None

    def parts(self) -> Iterator[tuple[str | None, Any]]:
        """Each area with the numbers of its rows; without areas, one part of all rows."""
        if self.areas is None:
            yield None, slice(None)
            return
        order = np.argsort(self.areas.codes, kind="stable")
        ends = np.cumsum(np.bincount(self.areas.codes, minlength=len(self.areas.names)))
        for at, name in enumerate(self.areas.names):
            yield name, order[(ends[at - 1] if at else 0) : ends[at]]

    def digest(self) -> str:
        """A digest of the policy that does not depend on the order of the rows."""
        found = hashlib.sha256(f"hetdp policy 1 {self.size}\n".encode())
        for area, rows in self.parts():
            epsilon = self.epsilon[rows]
            found.update(f"{area!r} {len(epsilon)}\n".encode())
            if self.groups is None:
                _count(found, np.sort(epsilon))
                continue
            codes = self.groups.codes[rows]
            order = np.lexsort((epsilon, codes))
            ends = np.cumsum(np.bincount(codes, minlength=len(self.groups.names)))
            for name, part in zip(self.groups.names, np.split(epsilon[order], ends[:-1]), strict=True):
                found.update(f"{name!r} {len(part)}\n".encode())
                _count(found, part)
        add_deciding(found, self)
        return found.hexdigest()


def _count(digest: Any, ordered: NDArray[np.float64]) -> None:
    """Adds how many have which ε to a digest, from all of them in order."""
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(ordered)])
    levels = ordered[first] + 0.0  # no zero below zero
    digest.update(np.ascontiguousarray(levels, dtype="<f8").data)
    digest.update(np.ascontiguousarray(np.diff(first, append=len(ordered)), dtype="<i8").data)


def add_deciding(digest: Any, policy: Policy) -> None:
    """Adds who is promised what where they decide to a digest, if that differs between people; in no order of rows."""
    if not isinstance(policy.deciding, np.ndarray):
        return
    columns = [policy.epsilon, policy.deciding]
    columns += [names.codes.astype(np.float64) for names in (policy.groups, policy.areas) if names is not None]
    kind = np.zeros(policy.size, dtype=np.int64)
    for column in columns:
        levels, place = np.unique(column, return_inverse=True)
        _, kind = np.unique(kind * len(levels) + place, return_inverse=True)
    _, first, counts = np.unique(kind, return_index=True, return_counts=True)
    digest.update(f"deciding {len(first)}\n".encode())
    for column in columns:
        digest.update(np.ascontiguousarray(column[first] + 0.0, dtype="<f8").data)
    digest.update(np.ascontiguousarray(counts, dtype="<i8").data)


def read_policy(source: Source, wish: Wish, curator: bool = False) -> Policy:
    """Reads the columns that are public, and refuses a table in which anybody has no ε, or is there twice.

    Args:
        source: the table.
        wish: which columns these are.
        curator: whether messages may name rows and values.

    Raises:
        UsageError: a column is not there.
        InputError: an ε is missing or invalid, a person is there twice, or somebody has no group or area.
    """
    progress.stage("reading the policy")
    require_columns(wish.public, source.columns)
    require_columns(wish.private, source.columns)
    kind = source.columns.__getitem__
    kinds.require_kind(source.name, wish.person, kind(wish.person), (kinds.TEXT, kinds.WHOLE), "the column of people")
    for column in (wish.group, wish.area):
        if column is not None:
            kinds.require_kind(source.name, column, kind(column), NAMED, "a column of groups or areas")
    groups, areas = (_names(source, column) for column in (wish.group, wish.area))
    person = identifier(wish.person)
    wanted = {"person": f"CASE WHEN {person} IS NULL THEN CAST({NOBODY} AS UBIGINT) ELSE hash({person}) END"}
    for name, column, found in (("group", wish.group, groups), ("area", wish.area, areas)):
        if column is not None and found is not None:
            source.define(name, found)
            wanted[name] = f"enum_code(CAST({kinds.text(column)} AS {identifier(name)}))::INTEGER"
    for role, where in (("epsilon", wish.epsilon), ("deciding", wish.deciding)):
        if where is not None and where.column is not None:
            wanted |= _cells(source, where.column, role)
    rows = source.read(wanted, uses=wish.public)
    faults = Faults(source, wish, curator)
    faults.require_rows(len(rows["person"]))
    faults.require_people(rows["person"])
    group_names, area_names = (
        None if names is None else Names(tuple(names), rows[role])
        for role, names in (("group", groups), ("area", areas))
    )
    epsilon = _epsilon(wish, rows, group_names, faults)
    deciding = _deciding(wish, rows, group_names, faults)
    return Policy(len(rows["person"]), epsilon, group_names, area_names, deciding)


def _names(source: Source, column: str | None) -> list[str] | None:
    if column is None:
        return None
    found = source.distinct(column, MOST_NAMES)
    if found is None:
        rule = f"everybody has one, and there are at most {MOST_NAMES:,} different ones"
        where = f"{source.name}, {column}"
        raise InputError(where, [Fault("too many groups or areas, or somebody without one", where, "", rule)])
    return found


def _cells(source: Source, column: str, role: str) -> dict[str, str]:
    """How a column of ε is read, and whether a cell has more digits than a float."""
    declared = source.columns[column]
    kinds.require_kind(source.name, column, declared, (kinds.WHOLE, kinds.NUMBER, kinds.TEXT), "a column of ε")
    value, is_long = kinds.epsilon(column, declared)
    return {role: value} | ({} if is_long is None else {f"{role} long": is_long})


def _epsilon(wish: Wish, rows: dict[str, Any], groups: Names | None, faults: Faults) -> NDArray[np.float64]:
    size = len(rows["person"])
    if wish.epsilon.constant is not None:
        return np.full(size, _lowered(str(wish.epsilon.constant)))
    if wish.epsilon.column is None and groups is not None:
        promised = {group: _lowered(str(epsilon)) for group, epsilon in wish.epsilon.by_group}
        by_code = np.array([promised.get(name, -1.0) for name in groups.names])
        found = by_code[groups.codes]
        faults.require_epsilons(found, "a group without an ε", wish.group or "")
        return found
    return _column(rows, "epsilon", wish.epsilon.column or "", faults)


def _deciding(wish: Wish, rows: dict[str, Any], groups: Names | None, faults: Faults) -> Any:
    where = wish.deciding
    if where is None or where.constant is not None:
        return None if where is None or where.constant is None else for_document(where.constant)
    if where.column is not None:
        return _column(rows, "deciding", where.column, faults)
    assert groups is not None
    promised = dict(where.by_group)
    require_known(promised, groups.names, "group")  # a promise to nobody was meant for somebody
    return np.array([_lowered(str(promised.get(name, np.inf))) for name in groups.names])[groups.codes]


def _column(rows: dict[str, Any], role: str, column: str, faults: Faults) -> NDArray[np.float64]:
    found = np.asarray(rows[role], dtype=np.float64)
    faults.require_epsilons(found, "missing or invalid ε", column)
    if f"{role} long" in rows and rows[f"{role} long"].any():
        found = np.where(
            rows[f"{role} long"] & np.isfinite(found), np.nextafter(found, 0.0), found
        )  # never above what is written
    return found


def _lowered(written: str) -> float:
    """The ε of a text as a float that is not above it."""
    value = float(written)
    return float(np.nextafter(value, 0.0)) if len(written) > kinds.SURE_DIGITS and np.isfinite(value) else value

"""What is wrong with the public columns of a table: always in the same words, unless the curator asks to see more."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp import progress
from hetdp.errors import Fault, InputError
from hetdp.people.names import require_known
from hetdp.people.populations.folding import EpsilonLevels
from hetdp.people.privacy.epsilons import epsilon_for_document
from hetdp.tables import kinds
from hetdp.tables.conditions import require_columns
from hetdp.tables.database import identifier
from hetdp.tables.request import AskRequest
from hetdp.tables.sources import Columns, Source
from hetdp.text import format_value
from hetdp.threads import slices

NOBODY = 2**64 - 1  # instead of a digest, where there is no id
MOST = 20  # rows or values that a curator is shown
HINT = "curator=True shows the first rows"
EPSILON_RULE = "everybody has an ε, which is a number ≥ 0 or inf; nothing is assumed"
NAMELESS, NAME_RULE = "somebody without a group or area", "everybody has one; an empty cell is none"
PERSON_RULE = "everybody is there once, with an id"


class Faults:
    """Refuses what a table may not have, in words that name no row.

    Args:
        name: how messages name the table.
        request: which columns matter.
    """

    def __init__(self, name: str, request: AskRequest) -> None:
        self._name, self._request = name, request

    def require_rows(self, size: int) -> None:
        """Refuses a table of nobody.

        Raises:
            InputError: there are no rows.
        """
        if size == 0:
            fault = Fault("a table without rows", self._name, "", "a question is asked about somebody")
            raise InputError(self._name, [fault])

    def require_all_epsilons(self, epsilon: NDArray[np.float64], deciding: Any) -> None:
        """Refuses rows without an ε, always or where they decide.

        Raises:
            InputError: there are such rows.
        """
        request, invalid = self._request, "missing or invalid ε"
        told = (invalid, request.epsilon.column) if request.epsilon.column else ("a group without an ε", request.group)
        self.require_epsilons(epsilon, told[0], told[1] or "")
        if request.deciding is not None and request.deciding.column is not None:
            self.require_epsilons(deciding, invalid, request.deciding.column)

    def require_epsilons(self, epsilon: NDArray[np.float64], what: str, column: str) -> None:
        """Refuses rows whose ε is missing, negative or no number.

        Raises:
            InputError: there are such rows.
        """
        wrong = ~(epsilon >= 0.0)
        if wrong.any():
            self._refuse(what, column, wrong, EPSILON_RULE)

    def _refuse(self, what: str, column: str, wrong: NDArray[Any], rule: str) -> None:
        where = f"{self._name}, {column}"
        raise InputError(where, [Fault(what, where, "", rule, HINT)])


class RowFaults(Faults):
    """The same where rows can be looked at; a curator is shown the first ones.

    Args:
        source: the table.
        request: which columns matter.
        curator: whether messages may name rows and values.
    """

    def __init__(self, source: Source, request: AskRequest, curator: bool) -> None:
        super().__init__(source.name, request)
        self._source, self._curator = source, curator

    def require_people(self, hashes: NDArray[Any], ordered: NDArray[Any]) -> None:
        """Refuses rows without an id, and ids that are there twice.

        Args:
            hashes: 64 bits of a digest of each id; `NOBODY` where there is none.
            ordered: the same in increasing order.

        Raises:
            InputError: there are such rows.
        """
        if ordered[-1] == NOBODY:  # or one id in 2⁶⁴ has this digest
            missing = {"nobody": f"{identifier(self._request.person)} IS NULL"}
            nobody = self._source.read(missing, uses=[self._request.person])["nobody"]
            if nobody.any():
                self._refuse("a missing id", self._request.person, nobody, PERSON_RULE)
        again = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
        if len(again):  # the same, or only the same digest
            rows = np.flatnonzero(np.isin(hashes, again))
            texts = self._texts(self._request.person)[rows]
            names, counts = np.unique(texts, return_counts=True)
            if (counts > 1).any():
                twice = np.isin(texts, names[counts > 1])
                marked = np.zeros(len(hashes), dtype=bool)
                marked[rows[twice]] = True
                self._refuse("an id that is there twice", self._request.person, marked, PERSON_RULE)

    def refuse_nameless(self, column: str) -> None:
        """Refuses rows without a group or area.

        Raises:
            InputError: there are such rows.
        """
        nameless = {"nameless": f"{identifier(column)} IS NULL"}
        self._refuse(NAMELESS, column, self._source.read(nameless, uses=[column])["nameless"], NAME_RULE)

    def _refuse(self, what: str, column: str, wrong: NDArray[Any], rule: str) -> None:
        if not self._curator:
            super()._refuse(what, column, wrong, rule)
        rows = np.flatnonzero(wrong)
        texts = self._texts(column)
        faults = [
            Fault(f"{what}:", f"{self._source.row(row)}, {column}", format_value(texts[row]), rule)
            for row in rows[:MOST].tolist()
        ]
        raise InputError(self._source.name, faults, len(rows))

    def _texts(self, column: str) -> NDArray[Any]:
        """A public column as it is written."""
        found = self._source.read({"text": f"coalesce({kinds.text(column)}, '')"}, uses=[column])
        return np.asarray(found["text"], dtype=object)


# Everybody's ε from a column, a number or a list by group; what cannot be one is told apart later.


def epsilon_cells(source: Columns, column: str, role: str) -> dict[str, str]:
    """How a column of ε is read, and whether a cell has more digits than a float."""
    declared = source.columns[column]
    kinds.require_kind(source.name, column, declared, (kinds.WHOLE, kinds.NUMBER, kinds.TEXT), "a column of ε")
    value, is_long = kinds.epsilon(column, declared)
    return {role: value} | ({} if is_long is None else {f"{role} long": is_long})


def epsilons_of_rows(request: AskRequest, rows: dict[str, Any], groups: Names | None) -> NDArray[np.float64]:
    """Everybody's ε; below zero, or no number, where there is none."""
    if request.epsilon.constant is not None:
        return np.full(len(rows["person"]), epsilon_at_most(str(request.epsilon.constant)))
    if request.epsilon.column is None and groups is not None:
        promised = {group: epsilon_at_most(str(epsilon)) for group, epsilon in request.epsilon.by_group}
        return np.array([promised.get(name, -1.0) for name in groups.names])[groups.codes]
    return read_epsilons(rows, "epsilon")


def deciding_epsilons(request: AskRequest, rows: dict[str, Any], groups: Names | None) -> Any:
    """What steps that decide are promised: everybody's, or one as written; None for the same as always."""
    where = request.deciding
    if where is None or where.constant is not None:
        return None if where is None or where.constant is None else epsilon_for_document(where.constant)
    if where.column is not None:
        return read_epsilons(rows, "deciding")
    assert groups is not None
    promised = dict(where.by_group)
    require_known(promised, groups.names, "group")  # a promise to nobody was meant for somebody
    return np.array([epsilon_at_most(str(promised.get(name, np.inf))) for name in groups.names])[groups.codes]


def read_epsilons(rows: dict[str, Any], role: str) -> NDArray[np.float64]:
    """A column of ε as floats that are never above what is written."""
    found = np.asarray(rows[role], dtype=np.float64)
    if f"{role} long" in rows and rows[f"{role} long"].any():
        found = np.where(
            rows[f"{role} long"] & np.isfinite(found), np.nextafter(found, 0.0), found
        )  # never above what is written
    return found


def epsilon_at_most(written: str) -> float:
    """The ε of a text as a float that is not above it."""
    value = float(written)
    return float(np.nextafter(value, 0.0)) if len(written) > kinds.SURE_DIGITS and np.isfinite(value) else value


# The public policy of a table: who is there, with which ε, in which group and area. No answer is looked at.


MOST_NAMES = 10_000  # groups, and areas: more would be people
PIECE = 1 << 18  # numbers that a digest takes at a time
NAMED = (kinds.TEXT, kinds.WHOLE, kinds.TRUTH, kinds.MOMENT)

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Names:
    """A column of groups or areas: their names, in order, and everybody's number among them."""

    names: tuple[str, ...]
    codes: Codes


@dataclass(frozen=True)
class Policy:
    """What is public about the people of a table, in the order of its rows; or of kinds of people, who are alike.

    Attributes:
        size: how many people there are.
        epsilon: everybody's ε, as written.
        groups: everybody's group, if there is a column of them.
        areas: everybody's area, likewise.
        deciding: what steps that decide are promised: everybody's, or one as written; None for the same.
        weights: how many people each kind has; None if everybody has a row.
    """

    size: int
    epsilon: NDArray[np.float64]
    groups: Names | None
    areas: Names | None
    deciding: Any = None
    weights: NDArray[np.int64] | None = None

    def parts(self) -> Iterator[tuple[str | None, Any]]:
        """Each area with the numbers of its rows; without areas, one part of all rows."""
        return iter(self._rows.items())

    def ordered(self, area: str | None) -> EpsilonLevels:
        """Everybody's ε in an area, which is sorted once for all that needs it."""
        if area not in self._ordered:
            weights = None if self.weights is None else self.weights[self._rows[area]]
            self._ordered[area] = EpsilonLevels(self.epsilon[self._rows[area]], weights)
        return self._ordered[area]

    def by_group(self, area: str | None) -> list[tuple[str | None, EpsilonLevels]]:
        """The same for each group by name, also for those of whom nobody is there; without groups, one of no name."""
        if self.groups is None:
            return [(None, self.ordered(area))]
        if area not in self._by_group:
            parts = _rows_by_code(self.groups.codes[self._rows[area]], len(self.groups.names))
            epsilon, weights = self.ordered(area).values, self.ordered(area).weights
            self._by_group[area] = [
                (name, EpsilonLevels(epsilon[rows], None if weights is None else weights[rows]))
                for name, rows in zip(self.groups.names, parts, strict=True)
            ]
        return self._by_group[area]

    def without_groups(self) -> Policy:
        """The same people, told apart by ε and area alone; what was sorted is not sorted again."""
        found = replace(self, groups=None)
        found.__dict__["_rows"], found.__dict__["_ordered"] = self._rows, self._ordered
        return found

    def digest(self) -> str:
        """A digest of the policy that does not depend on the order of the rows."""
        return self.pending.result()

    @cached_property
    def pending(self) -> Future[str]:
        """The same, begun when this is first asked for, beside whatever else is done then."""
        pool = ThreadPoolExecutor(1)
        begun = pool.submit(self._digest)
        pool.shutdown(wait=False)
        return begun

    def _digest(self) -> str:
        found = hashlib.sha256(f"hetdp policy 1 {self.size}\n".encode())
        for area in self._rows:
            found.update(f"{area!r} {self.ordered(area).people}\n".encode())
            for name, part in self.by_group(area):
                if name is not None:
                    found.update(f"{name!r} {part.people}\n".encode())
                _add(found, part.levels, "<f8")
                _add(found, part.sizes, "<i8")
        add_deciding(found, self)
        return found.hexdigest()

    @cached_property
    def _rows(self) -> dict[str | None, Any]:
        if self.areas is None:
            return {None: slice(None)}
        return dict(zip(self.areas.names, _rows_by_code(self.areas.codes, len(self.areas.names)), strict=True))

    @cached_property
    def _ordered(self) -> dict[str | None, EpsilonLevels]:
        return {}

    @cached_property
    def _by_group(self) -> dict[str | None, list[tuple[str | None, EpsilonLevels]]]:
        return {}


def _add(digest: Any, numbers: NDArray[Any], form: str) -> None:
    """Adds numbers to a digest, some at a time."""
    for piece in slices(len(numbers), PIECE):
        digest.update(np.ascontiguousarray(numbers[piece], dtype=form).data)


def _rows_by_code(codes: Codes, count: int) -> list[NDArray[np.int64]]:
    """The places of each code, in increasing order."""
    order = np.argsort(codes.astype(np.uint16), kind="stable")  # there are at most MOST_NAMES
    return np.split(order, np.cumsum(np.bincount(codes, minlength=count))[:-1])


def add_deciding(digest: Any, policy: Policy) -> None:
    """Adds who is promised what where they decide to a digest, if that differs between people; in no order of rows."""
    if not isinstance(policy.deciding, np.ndarray):
        return
    columns = [policy.epsilon, policy.deciding]
    columns += [names.codes.astype(np.float64) for names in (policy.groups, policy.areas) if names is not None]
    kind = np.zeros(len(policy.epsilon), dtype=np.int64)
    for column in columns:
        levels, place = np.unique(column, return_inverse=True)
        _, kind = np.unique(kind * len(levels) + place, return_inverse=True)
    _, first = np.unique(kind, return_index=True)
    counts = np.bincount(kind, policy.weights).astype(np.int64)  # sums below 2⁵³ are exact
    digest.update(f"deciding {len(first)}\n".encode())
    for column in columns:
        digest.update(np.ascontiguousarray(column[first] + 0.0, dtype="<f8").data)
    digest.update(np.ascontiguousarray(counts, dtype="<i8").data)


def read_policy(source: Source, request: AskRequest, curator: bool = False) -> Policy:
    """Reads the columns that are public, and refuses a table in which anybody has no ε, or is there twice.

    Args:
        source: the table.
        request: which columns these are.
        curator: whether messages may name rows and values.

    Raises:
        UsageError: a column is not there.
        InputError: an ε is missing or invalid, a person is there twice, or somebody has no group or area.
    """
    progress.report_stage("reading the policy")
    require_known_columns(source, request)
    faults = RowFaults(source, request, curator)
    groups, areas = (_names(source, column, faults) for column in (request.group, request.area))
    person = identifier(request.person)
    wanted = {"person": f"CASE WHEN {person} IS NULL THEN CAST({NOBODY} AS UBIGINT) ELSE hash({person}) END"}
    for name, column, found in (("group", request.group, groups), ("area", request.area, areas)):
        if column is not None and found is not None:
            source.define(name, found)
            wanted[name] = f"enum_code(CAST({kinds.text(column)} AS {identifier(name)}))::INTEGER"
    for role, where in (("epsilon", request.epsilon), ("deciding", request.deciding)):
        if where is not None and where.column is not None:
            wanted |= epsilon_cells(source, where.column, role)
    rows = source.read(wanted, uses=request.public)
    faults.require_rows(len(rows["person"]))
    group_names, area_names = (
        None if names is None else Names(tuple(names), rows[role])
        for role, names in (("group", groups), ("area", areas))
    )
    epsilon, deciding = epsilons_of_rows(request, rows, group_names), deciding_epsilons(request, rows, group_names)
    policy = Policy(len(rows["person"]), epsilon, group_names, area_names, deciding)
    with ThreadPoolExecutor(1) as beside:
        hashes = beside.submit(np.sort, rows["person"])
        if areas is None:
            policy.ordered(None).sort()  # meanwhile
        faults.require_people(rows["person"], hashes.result())
    faults.require_all_epsilons(policy.epsilon, policy.deciding)
    if areas is None and groups is None:  # else much would be sorted twice
        policy.pending  # noqa: B018
    return policy


def require_known_columns(source: Columns, request: AskRequest) -> None:
    """Refuses columns that are not there, or cannot tell people, groups or areas apart, by what they hold.

    Raises:
        UsageError: a column is not there.
        InputError: it holds something else.
    """
    require_columns(request.public, source.columns)
    require_columns(request.private, source.columns)
    kind = source.columns.__getitem__
    kinds.require_kind(
        source.name, request.person, kind(request.person), (kinds.TEXT, kinds.WHOLE), "the column of people"
    )
    if source.holds_reals(request.person):
        where, rule = f"{source.name}, {request.person}", f"the column of people holds {kinds.TEXT} or {kinds.WHOLE}"
        raise InputError(where, [Fault("a column with cells of type", where, "REAL", rule)])
    for column in (request.group, request.area):
        if column is not None:
            kinds.require_kind(source.name, column, kind(column), NAMED, "a column of groups or areas")


def _names(source: Source, column: str | None, faults: RowFaults) -> list[str] | None:
    if column is None:
        return None
    found = source.distinct(column, MOST_NAMES)
    if found is None:
        faults.refuse_nameless(column)
    return require_names(found, f"{source.name}, {column}")


def require_names(found: list[str] | None, where: str) -> list[str]:
    """The names of groups or areas, if they can be used.

    Raises:
        InputError: somebody has none, which is None; there are too many; or one has a NUL in it.
    """
    if found is None:
        raise InputError(where, [Fault(NAMELESS, where, "", NAME_RULE, HINT)])
    if len(found) > MOST_NAMES:
        rule = f"there are at most {MOST_NAMES:,} different ones"
        raise InputError(where, [Fault("too many groups or areas", where, "", rule)])
    if any("\0" in name for name in found):  # arrays of texts cannot tell it from the end
        raise InputError(where, [Fault("a group or area with a NUL in its name", where, "", "a name is plain text")])
    return found

"""The public policy of a table: who is in it, with which ε, group and area; and the faults of these columns.

No answer is read here. Messages about faults are always the same and name no row, unless a curator asks for rows.
"""

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
from hetdp.duck import quote_name
from hetdp.errors import Fault, InputError
from hetdp.people.names import require_known
from hetdp.people.populations.folding import BLOCK, EpsilonLevels
from hetdp.people.privacy.epsilons import epsilon_for_document
from hetdp.tables import kinds
from hetdp.tables.conditions import require_columns
from hetdp.tables.request import NAMED_ROLES, AskRequest
from hetdp.tables.sources import Columns, Source
from hetdp.text import format_value
from hetdp.threads import slices, sort_in_threads

NO_HASH = 2**64 - 1  # instead of a hash, where the id is missing
MOST_SHOWN = 20  # rows or values that are shown to a curator
HINT = "curator=True shows the first rows"
SHOWN_GROUPS = 5  # of those that are given an ε and have no people
EPSILON_RULE = "each person must have an ε, a number ≥ 0 with a decimal point such as 0.5, or inf; there is no default"
NAMELESS, NAME_RULE = (
    "a person without a group, level or area",
    "each person must have one; an empty cell is not a name",
)
PERSON_RULE = "each person must appear once and have an id"
NOBODY_RULE = (
    f"{PERSON_RULE}; delete lines that are empty or have only separators, such as ;;; (in a spreadsheet program, delete"
    " the whole rows)"
)

Hashes = NDArray[np.uint64]


class Faults:
    """Refuses invalid public columns, in messages that name no row.

    Args:
        name: how messages name the table.
        request: names the columns.
    """

    def __init__(self, name: str, request: AskRequest) -> None:
        self._name, self._request = name, request

    def require_rows(self, size: int) -> None:
        """Refuses an empty table.

        Raises:
            InputError: there are no rows.
        """
        if size == 0:
            fault = Fault("a table without rows", self._name, "", "a table has one row for each person")
            raise InputError(self._name, [fault])

    def require_all_epsilons(self, epsilon: NDArray[np.float64], deciding: Any, by: Names | None) -> None:
        """Refuses rows without an ε or a deciding ε. The message names groups that are given an ε but have no people.

        Raises:
            InputError: there are such rows.
        """
        request, invalid = self._request, "missing or invalid ε"
        there, role = () if by is None else by.names, "group" if request.level is None else "level"
        nobody = [format_value(group) for group, _ in request.epsilon.by_group if group not in there]
        without = f"a {role} without an ε" + (
            f" (and nobody is in {', '.join(nobody[:SHOWN_GROUPS])})" if nobody else ""
        )
        source = (invalid, request.epsilon.column) if request.epsilon.column else (without, request.by_column)
        rule = EPSILON_RULE if request.epsilon.column else f"{EPSILON_RULE}; epsilon_by= gives one to each {role}"
        self.require_epsilons(epsilon, source[0], source[1] or "", rule)
        if request.deciding is not None and request.deciding.column is not None:
            self.require_epsilons(deciding, invalid, request.deciding.column)

    def require_epsilons(self, epsilon: NDArray[np.float64], what: str, column: str, rule: str = EPSILON_RULE) -> None:
        """Refuses rows whose ε is missing, negative or not a number.

        Raises:
            InputError: there are such rows.
        """
        wrong = ~(epsilon >= 0.0)
        if wrong.any():
            self._refuse(what, column, wrong, rule)

    def _refuse(self, what: str, column: str, wrong: NDArray[Any], rule: str) -> None:
        where = f"{self._name}, {column}"
        raise InputError(where, [Fault(what, where, "", rule, HINT)])


class RowFaults(Faults):
    """The same for a table whose rows can be read: shows the first faulty rows to a curator.

    Args:
        source: the table.
        request: names the columns.
        curator: whether messages may name rows and values.
    """

    def __init__(self, source: Source, request: AskRequest, curator: bool) -> None:
        super().__init__(source.name, request)
        self._source, self._curator = source, curator

    def require_people(self, hashes: Hashes, again: Hashes) -> None:
        """Refuses missing and duplicate ids.

        Args:
            hashes: a 64-bit hash of each id; `NO_HASH` where the id is missing.
            again: the hashes that occur more than once.

        Raises:
            InputError: there are such rows.
        """
        if hashes.max() == NO_HASH:  # or an id with this very hash
            missing = {"nobody": f"{quote_name(self._request.person)} IS NULL"}
            nobody = self._source.read(missing, uses=[self._request.person])["nobody"]
            if nobody.any():
                self._refuse("a missing id", self._request.person, nobody, NOBODY_RULE)
        if len(again):  # the same id, or only the same hash
            rows = np.flatnonzero(np.isin(hashes, again))
            texts = self._texts(self._request.person)[rows]
            names, counts = np.unique(texts, return_counts=True)
            if (counts > 1).any():
                twice = np.isin(texts, names[counts > 1])
                marked = np.zeros(len(hashes), dtype=bool)
                marked[rows[twice]] = True
                self._refuse("a duplicate id", self._request.person, marked, PERSON_RULE)

    def refuse_nameless(self, column: str) -> None:
        """Refuses rows without a group or area.

        Raises:
            InputError: there are such rows.
        """
        nameless = {"nameless": f"{quote_name(column)} IS NULL"}
        self._refuse(NAMELESS, column, self._source.read(nameless, uses=[column])["nameless"], NAME_RULE)

    def _refuse(self, what: str, column: str, wrong: NDArray[Any], rule: str) -> None:
        if not self._curator:
            super()._refuse(what, column, wrong, rule)
        rows = np.flatnonzero(wrong)
        texts = self._texts(column)
        faults = [
            Fault(f"{what}:", f"{self._source.row(row)}, {column}", format_value(texts[row]), rule)
            for row in rows[:MOST_SHOWN].tolist()
        ]
        raise InputError(self._source.name, faults, len(rows))

    def _texts(self, column: str) -> NDArray[Any]:
        """The texts of a public column."""
        found = self._source.read({"text": f"coalesce({kinds.text(column)}, '')"}, uses=[column])
        return np.asarray(found["text"], dtype=object)


# Ids ------------------------------------------------------------------------------------------------------------------


SHORT_RANGE = 4  # numbers that a table can have for each row, to be marked rather than sorted
SPREAD_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplied by it, neighbours are far apart
MARKED_BITS = 20  # of a key
INTEGER_TYPES = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
)  # in 64 bits with a sign


def id_cell(column: str, declared: str) -> str:
    """The expression that reads a 64-bit hash of each id, `NO_HASH` where it is missing: a whole number is its own."""
    person = quote_name(column)
    if declared in INTEGER_TYPES:
        return f"coalesce(CAST({person} AS BIGINT), {NO_HASH - 2**64 if NO_HASH >= 2**63 else NO_HASH})"
    return f"CASE WHEN {person} IS NULL THEN CAST({NO_HASH} AS UBIGINT) ELSE hash({person}) END"


def find_repeated(hashes: Hashes) -> Hashes:
    """The numbers that occur more than once, sorted.

    Numbers of a short range, such as serial numbers, are marked in a table. Otherwise only 32 bits of each number are
    sorted, which takes half the time of all 64, and the few numbers that share these bits are compared.

    >>> find_repeated(np.array([7, 2**63, 7, 1, 2**63], dtype=np.uint64)).tolist()
    [7, 9223372036854775808]
    """
    if _all_differ(hashes.view(np.int64)):
        return hashes[:0]
    keys = np.empty(len(hashes), dtype=np.uint32)
    for piece in slices(len(hashes), BLOCK):
        keys[piece] = (hashes[piece] * SPREAD_FACTOR) >> np.uint64(32)
    ordered = sort_in_threads(keys)
    shared = ordered[1:][ordered[1:] == ordered[:-1]]
    is_marked, rest = np.zeros(1 << MARKED_BITS, dtype=np.bool_), np.uint32(32 - MARKED_BITS)
    is_marked[shared >> rest] = True
    suspects = [hashes[piece][is_marked[keys[piece] >> rest]] for piece in slices(len(hashes), BLOCK)]
    found, counts = np.unique(np.concatenate(suspects), return_counts=True)
    return found[counts > 1]


def _all_differ(numbers: NDArray[np.int64]) -> bool:
    """True if the numbers are from a short range and differ; False if they do not, or may not."""
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= SHORT_RANGE * len(numbers):
        return False
    is_there = np.zeros(high - low + 1, dtype=np.bool_)
    for piece in slices(len(numbers), BLOCK):
        is_there[numbers[piece] - low] = True
    return int(np.count_nonzero(is_there)) == len(numbers)


# Everybody's ε from a column, one number, or a number for each group --------------------------------------------------


def epsilon_cells(source: Columns, column: str, role: str) -> dict[str, str]:
    """The expressions that read a column of ε, and whether a cell has more digits than a float."""
    declared = source.columns[column]
    kinds.require_kind(source.name, column, declared, (kinds.WHOLE, kinds.NUMBER, kinds.TEXT), "a column of ε")
    value, is_long = kinds.epsilon(column, declared)
    return {role: value} | ({} if is_long is None else {f"{role} long": is_long})


def epsilons_of_rows(request: AskRequest, rows: dict[str, Any], named: NamedColumns) -> NDArray[np.float64]:
    """Everybody's ε; negative or NaN where it is missing or invalid."""
    if request.epsilon.constant is not None:
        return np.full(len(rows["person"]), epsilon_at_most(str(request.epsilon.constant)))
    if request.epsilon.column is None:
        promised = {group: epsilon_at_most(str(epsilon)) for group, epsilon in request.epsilon.by_group}
        by = named["group" if request.level is None else "level"]
        return np.array([promised.get(name, -1.0) for name in by.names])[by.codes]
    return read_epsilons(rows, "epsilon")


def deciding_epsilons(request: AskRequest, rows: dict[str, Any], named: NamedColumns) -> Any:
    """The deciding ε of everybody, or one for all as written; None for the same as ε."""
    where = request.deciding
    if where is None or where.constant is not None:
        return None if where is None or where.constant is None else epsilon_for_document(where.constant)
    if where.column is not None:
        return read_epsilons(rows, "deciding")
    promised, role = dict(where.by_group), "group" if request.level is None else "level"
    by = named[role]
    require_known(promised, by.names, role)  # a misspelt one must not go unnoticed
    return np.array([epsilon_at_most(str(promised.get(name, np.inf))) for name in by.names])[by.codes]


def read_epsilons(rows: dict[str, Any], role: str) -> NDArray[np.float64]:
    """A column of ε as floats, never above the decimals in the table."""
    found = np.asarray(rows[role], dtype=np.float64)
    if f"{role} long" in rows and rows[f"{role} long"].any():
        found = np.where(rows[f"{role} long"] & np.isfinite(found), np.nextafter(found, 0.0), found)
    return found


def epsilon_at_most(written: str) -> float:
    """The ε of a numeral as a float that is never above it."""
    value = float(written)
    return float(np.nextafter(value, 0.0)) if len(written) > kinds.SURE_DIGITS and np.isfinite(value) else value


# The policy -----------------------------------------------------------------------------------------------------------


MOST_NAMES = 10_000  # of groups or areas; a column with more holds people
HASHED_PIECE = 1 << 18  # numbers that are hashed at a time
NAME_KINDS = (kinds.TEXT, kinds.WHOLE, kinds.TRUTH, kinds.MOMENT)

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Names:
    """A column of groups, levels or areas: the sorted names, and everybody's index among them."""

    names: tuple[str, ...]
    codes: Codes


NamedColumns = dict[str, Names]  # by role: group, level, area


@dataclass(frozen=True)
class Policy:
    """The public facts about the people of a table: one entry for each row, or for each kind of people who are alike.

    Attributes:
        size: how many people there are.
        epsilon: the ε of each entry.
        groups: the group of each entry, if there is a column of groups.
        areas: the area of each entry, if there is a column of areas.
        deciding: the deciding ε of each entry, or one for all as written; None for the same as ε.
        weights: how many people each kind has; None if each entry is one row.
        levels: the level of protection of each entry, if there is a column of levels.
    """

    size: int
    epsilon: NDArray[np.float64]
    groups: Names | None
    areas: Names | None
    deciding: Any = None
    weights: NDArray[np.int64] | None = None
    levels: Names | None = None

    @property
    def named(self) -> NamedColumns:
        """The columns of names that there are, by role."""
        columns = {"group": self.groups, "level": self.levels, "area": self.areas}
        return {role: names for role, names in columns.items() if names is not None}

    @property
    def reported(self) -> Names | None:
        """The names by which the promise is stated: groups, else levels."""
        return self.levels if self.groups is None else self.groups

    @property
    def classes(self) -> Names | None:
        """The names by which a ledger knows classes of people: levels, else groups."""
        return self.groups if self.levels is None else self.levels

    def parts(self) -> Iterator[tuple[str | None, Any]]:
        """Each area with the indices of its entries; without areas, one part with all entries."""
        return iter(self._rows.items())

    def levels_of(self, area: str | None) -> EpsilonLevels:
        """The ε of an area, sorted once for all uses."""
        if area not in self._levels:
            weights = None if self.weights is None else self.weights[self._rows[area]]
            self._levels[area] = EpsilonLevels(self.epsilon[self._rows[area]], weights)
        return self._levels[area]

    def by_group(self, area: str | None) -> list[tuple[str | None, EpsilonLevels]]:
        """The ε of an area for each reported name, also names without people; without names, one entry named None."""
        if self.reported is None:
            return [(None, self.levels_of(area))]
        if area not in self._by_group:
            parts = _rows_by_code(self.reported.codes[self._rows[area]], len(self.reported.names))
            epsilon, weights = self.levels_of(area).values, self.levels_of(area).weights
            self._by_group[area] = [
                (name, EpsilonLevels(epsilon[rows], None if weights is None else weights[rows]))
                for name, rows in zip(self.reported.names, parts, strict=True)
            ]
        return self._by_group[area]

    def digest(self) -> str:
        """SHA-256 of the policy, which does not depend on the order of the rows, nor on levels of protection."""
        return self.pending.result()

    def digest_without_groups(self) -> str:
        """The digest of the same people by ε and area alone; sorted arrays are reused."""
        if self.groups is None:
            return self.digest()
        found = replace(self, groups=None, levels=None)
        found.__dict__["_rows"], found.__dict__["_levels"] = self._rows, self._levels
        return found.digest()

    @cached_property
    def pending(self) -> Future[str]:
        """The digest, computed in a thread from the first access on."""
        pool = ThreadPoolExecutor(1)
        begun = pool.submit(self._digest)
        pool.shutdown(wait=False)
        return begun

    def _digest(self) -> str:
        found = hashlib.sha256(f"hetdp policy 1 {self.size}\n".encode())
        for area in self._rows:
            found.update(f"{area!r} {self.levels_of(area).people}\n".encode())
            for name, part in [(None, self.levels_of(area))] if self.groups is None else self.by_group(area):
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
    def _levels(self) -> dict[str | None, EpsilonLevels]:
        return {}

    @cached_property
    def _by_group(self) -> dict[str | None, list[tuple[str | None, EpsilonLevels]]]:
        return {}


def _add(digest: Any, numbers: NDArray[Any], form: str) -> None:
    """Adds numbers to a digest, a piece at a time."""
    for piece in slices(len(numbers), HASHED_PIECE):
        digest.update(np.ascontiguousarray(numbers[piece], dtype=form).data)


def _rows_by_code(codes: Codes, count: int) -> list[NDArray[np.int64]]:
    """The indices of each code, in increasing order."""
    order = np.argsort(codes.astype(np.uint16), kind="stable")  # there are at most MOST_NAMES
    return np.split(order, np.cumsum(np.bincount(codes, minlength=count))[:-1])


def add_deciding(digest: Any, policy: Policy) -> None:
    """Adds the deciding ε to a digest if it differs between people, independent of the order of rows."""
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
    """Reads the public columns; refuses a table with a missing ε or a duplicate id.

    Args:
        source: the table.
        request: names the columns.
        curator: whether messages may name rows and values.

    Raises:
        UsageError: a column does not exist.
        InputError: an ε is missing or invalid, an id is duplicate, or a group or area is missing.
    """
    progress.report_stage("reading the policy")
    require_known_columns(source, request)
    faults = RowFaults(source, request, curator)
    found = {role: _names(source, column, faults) for role, column in request.named.items()}
    wanted = {"person": id_cell(request.person, source.columns[request.person])}
    for role, column in request.named.items():
        source.define(role, found[role])
        wanted[role] = f"enum_code(CAST({kinds.text(column)} AS {quote_name(role)}))::INTEGER"
    for role, where in (("epsilon", request.epsilon), ("deciding", request.deciding)):
        if where is not None and where.column is not None:
            wanted |= epsilon_cells(source, where.column, role)
    rows = source.read(wanted, uses=request.public)
    faults.require_rows(len(rows["person"]))
    named = {role: Names(tuple(names), rows[role]) for role, names in found.items()}
    policy = policy_of(request, len(rows["person"]), rows, named)
    with ThreadPoolExecutor(1) as beside:
        hashes = rows.pop("person").view(np.uint64)
        again = beside.submit(find_repeated, hashes)
        if policy.areas is None:
            policy.levels_of(None).sort()  # while ids are compared
        faults.require_people(hashes, again.result())
    faults.require_all_epsilons(policy.epsilon, policy.deciding, policy.classes)
    if policy.areas is None and policy.groups is None:  # otherwise parts would be sorted twice
        policy.pending  # noqa: B018
    return policy


def policy_of(
    request: AskRequest, size: int, rows: dict[str, Any], named: NamedColumns, weights: NDArray[np.int64] | None = None
) -> Policy:
    """The policy from the columns of ε and of names that were read.

    Args:
        request: says where ε comes from.
        size: how many people there are.
        rows: the columns of ε.
        named: the columns of names, by role.
        weights: how many people each row stands for; one each by default.

    Raises:
        UsageError: a deciding ε is promised to a group or level that nobody has.
    """
    groups, levels, areas = map(named.get, NAMED_ROLES)
    epsilon, deciding = epsilons_of_rows(request, rows, named), deciding_epsilons(request, rows, named)
    epsilon = epsilon if weights is None else epsilon + 0.0  # without negative zeros
    return Policy(size, epsilon, groups, areas, deciding, weights, levels)


def require_known_columns(source: Columns, request: AskRequest) -> None:
    """Refuses columns that do not exist, or whose type cannot identify people, groups or areas.

    Raises:
        UsageError: a column does not exist.
        InputError: its type does not fit.
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
    for role, column in request.named.items():
        use = "a column of levels" if role == "level" else "a column of groups or areas"
        kinds.require_kind(source.name, column, kind(column), NAME_KINDS, use)


def _names(source: Source, column: str, faults: RowFaults) -> list[str]:
    found = source.distinct(column, MOST_NAMES)
    if found is None:
        faults.refuse_nameless(column)
    return require_names(found, f"{source.name}, {column}")


def require_names(found: list[str] | None, where: str) -> list[str]:
    """Checks the names of groups or areas.

    Raises:
        InputError: a name is missing (None), there are too many, or one contains a NUL.
    """
    if found is None:
        raise InputError(where, [Fault(NAMELESS, where, "", NAME_RULE, HINT)])
    if len(found) > MOST_NAMES:
        rule = f"there are at most {MOST_NAMES:,} different ones"
        raise InputError(where, [Fault("too many groups, levels or areas", where, "", rule)])
    if any("\0" in name for name in found):  # NumPy texts end at a NUL
        raise InputError(
            where, [Fault("a group, level or area with a NUL in its name", where, "", "a name is plain text")]
        )
    return found

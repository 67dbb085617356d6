"""What workers do with one file of a table: functions of file names that keep nothing, so that each may run twice.

A file is opened locked, as on one machine. Its people are told as counts of those who are alike, and their ids as 64
bits of a digest each, in order, in a file that is read by range. The counted columns are read by `tally` alone, and
there only if it is asked for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import ClusterError, UsageError
from hetdp.interrupts import import_uninterrupted
from hetdp.partitioned.partition import map_array, write_array
from hetdp.partitioned.shared_files import FileState
from hetdp.problem.answer_words import NO, YES
from hetdp.tables import conditions as condition
from hetdp.tables import kinds
from hetdp.tables.database import identifier
from hetdp.tables.formats import label_of_file
from hetdp.tables.people_table import hash_people, part_digests
from hetdp.tables.policy import Names, Policy, deciding_epsilons, epsilon_cells, epsilons_of_rows, require_names
from hetdp.tables.request import AskRequest
from hetdp.tables.sources import QueriedSource, Source, file_stamp, open_source

MOST_KINDS = 1 << 22  # of people, by ε, group and area, that are counted apart
NAMED = ("group", "area")
AGAIN = 1000  # digests that are there twice, and looked into at a time


class Tally(NamedTuple):
    """How many people of a file are alike.

    Attributes:
        stamp: by which a change of the file is noticed.
        columns: for each kind its ε (and whether it is long), deciding ε, and the number of its group and area.
        names: the names of these groups and areas.
        missing: how many rows have no id, group or area.
        people: how many people each kind has.
        said: how many of them have each value; None unless that was asked for.
    """

    stamp: Any
    columns: dict[str, NDArray[Any]]
    names: dict[str, list[str]]
    missing: dict[str, int]
    people: NDArray[np.int64]
    said: NDArray[np.int64] | None


def describe(path: FileState, curator: bool) -> dict[str, str]:
    """The columns of a file: name → type."""
    with _file(path, curator) as source:
        return source.columns


def tally_file(path: FileState, request: AskRequest, curator: bool, with_answers: bool) -> Tally:
    """Counts people who are alike in what is public; and what they say, if that is asked for, in the same pass."""
    before = stamp_across_machines(path.path)
    with _file(path, curator) as source:
        assert isinstance(source, QueriedSource)
        keys, flags, uses = _public(source, request)
        parameters: list[Any] = []
        if with_answers:
            said, values = condition.condition(request.counted, source.columns, request.exact_text)
            flags |= {YES: f"{said} = {condition.YES}", NO: f"{said} = {condition.NO}"}
            parameters, uses = [*values, *values], [*uses, *request.private]
        found = source.counted(keys, flags, parameters, uses, MOST_KINDS)
    names, columns = {}, {name: found[name] for name in keys}
    for role in NAMED:
        if role in columns:
            there, codes = np.unique(columns[role].astype(object), return_inverse=True)
            names[role], columns[role] = [str(name) for name in there], codes.astype(np.int32)
    people = found["people"].astype(np.int64)
    answers = None
    if with_answers:
        yes, no = (found[name].astype(np.int64) for name in (YES, NO))
        answers = np.zeros((len(people), len(request.values)), dtype=np.int64)
        for place, rows in zip(request.places, (yes, no, people - yes - no), strict=True):
            answers[:, place] += rows
    missing = {name: int(found[name].sum()) for name in flags if name not in (YES, NO)}
    return Tally(before, columns, names, missing, people, answers)


def _public(source: QueriedSource, request: AskRequest) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """What kinds of people are told apart by, what may be missing, and the columns that say so."""
    keys, flags = {"everybody": "0"}, {"no person": f"{identifier(request.person)} IS NULL"}
    for role, where in (("epsilon", request.epsilon), ("deciding", request.deciding)):
        if where is not None and where.column is not None:
            keys |= epsilon_cells(source, where.column, role)
    for role, column in (("group", request.group), ("area", request.area)):
        if column is not None:
            keys[role], flags[f"no {role}"] = f"coalesce({kinds.text(column)}, '')", f"{identifier(column)} IS NULL"
    return keys, flags, request.public


def write_digests(path: FileState, person: str, place: str, curator: bool) -> str:
    """Writes 64 bits of a digest of each id, in increasing order; returns whose digest it is."""
    with _file(path, curator) as source:
        found = source.read({"digest": f"hash({identifier(person)})"}, uses=[person])["digest"].astype(
            np.uint64, copy=False
        )
    found.sort()
    _write(place, found)
    return f"DuckDB {import_uninterrupted('duckdb').__version__}"


def write_people(path: FileState, request: AskRequest, place: str, curator: bool) -> None:
    """Writes 256 bits of a digest of everybody, and their ε, in increasing order."""
    with _file(path, curator) as source:
        _write(place, hash_people(source, request))


def people_digests(places: Sequence[str], parts: range) -> list[bytes]:
    """The digests of some parts of the people of all files."""
    with _shared_file_errors(places[0]):
        files = [map_array(Path(place).parent, Path(place)) for place in places]
        return part_digests(files, parts)


def find_repeated(places: Sequence[str], low: int, high: int) -> list[int]:
    """The digests within a range that are there twice, in one file or in several."""
    found = []
    for place in places:
        with _shared_file_errors(place):
            digests = map_array(Path(place).parent, Path(place))
        begin = int(np.searchsorted(digests, np.uint64(low)))
        end = int(np.searchsorted(digests, np.uint64(high), side="right"))
        found.append(np.array(digests[begin:end]))
    together = np.sort(np.concatenate(found))
    return [int(digest) for digest in np.unique(together[1:][together[1:] == together[:-1]])]


def find_ids(path: FileState, person: str, digests: Sequence[int], curator: bool) -> list[tuple[int, str]]:
    """The places and ids of the people whose ids have some digests."""
    with _file(path, curator) as source:
        assert isinstance(source, QueriedSource)
        wanted = f"list_contains(CAST(? AS UBIGINT[]), hash({identifier(person)}))"
        return source.listed(kinds.text(person), wanted, [list(digests)], [person])


def _file(file: FileState, curator: bool) -> AbstractContextManager[Source]:
    """A file of the folder, named in messages as on one machine.

    Raises:
        ClusterError: this machine sees another file than the one who asks.
    """
    file.require()
    return open_source(file.path, curator=curator, name=label_of_file(Path(file.path)))


def _write(place: str, found: NDArray[np.uint64]) -> None:
    with _shared_file_errors(place):
        write_array(Path(place).parent, Path(place), found)  # in a folder that only its owner can look into


@contextmanager
def _shared_file_errors(place: str) -> Iterator[None]:
    try:
        yield
    except OSError as refusal:
        rule = "all workers reach the work folder, and may write there, as the one who asks"
        raise ClusterError(f"a worker cannot use {place!r}: {refusal.strerror}", rule) from None


def stamp_across_machines(path: str) -> Any:
    """By which a change of a file is noticed, wherever it is looked at from: machines may number files differently."""
    return file_stamp(Path(path))[1:]


# What workers counted in each file, put together: the kinds of people of the whole table, in one order.


class MergedTallies(NamedTuple):
    """The people of a table by kind.

    Attributes:
        policy: what is public.
        said: how many people of each kind have each value, if that was counted.
    """

    policy: Policy
    said: NDArray[np.int64] | None

    def is_same(self, other: MergedTallies) -> bool:
        """Whether both have the same kinds, with as many people each."""
        mine: list[Any] = [*columns_of(self.policy), self.policy.weights]
        theirs: list[Any] = [*columns_of(other.policy), other.policy.weights]
        names = [[part and part.names for part in (one.policy.groups, one.policy.areas)] for one in (self, other)]
        return names[0] == names[1] and len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))


def merge_tallies(name: str, request: AskRequest, told: Sequence[Tally]) -> MergedTallies:
    """The kinds of people of all files together, each once, in increasing order of ε and of all else.

    Args:
        name: how messages name the table.
        request: which columns matter.
        told: what was counted in each file; somebody is there.

    Raises:
        UsageError: people are of too many kinds, or groups are named that nobody belongs to.
        InputError: somebody has no group or area, or there are too many of them.
    """
    found = {
        role: _names(told, role, f"{name}, {column}")
        for role, column in zip(NAMED, (request.group, request.area), strict=True)
        if column is not None
    }
    if sum(len(one.people) for one in told) > MOST_KINDS:
        rule = f"workers count people who have the same ε, group and area, up to {MOST_KINDS:,} counts in all files"
        hint = "leave workers= out: one machine keeps a few numbers for each person"
        raise UsageError("people of too many kinds", rule, hint)
    rows = {key: np.concatenate([one.columns[key] for one in told]) for key in told[0].columns if key not in NAMED}
    rows["person"] = rows["everybody"]  # one for each kind
    groups, areas = (found.get(role) for role in NAMED)
    people = np.concatenate([one.people for one in told])
    policy = Policy(
        int(people.sum()),
        epsilons_of_rows(request, rows, groups) + 0.0,
        groups,
        areas,
        deciding_epsilons(request, rows, groups),
        people,
    )  # in which no zero has a sign
    said = None if told[0].said is None else np.concatenate([one.said for one in told if one.said is not None])
    return _merge_kinds(policy, said)


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


def _merge_kinds(policy: Policy, said: NDArray[np.int64] | None) -> MergedTallies:
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
    return MergedTallies(Policy(policy.size, policy.epsilon[chosen], groups, areas, deciding, weights), answers)

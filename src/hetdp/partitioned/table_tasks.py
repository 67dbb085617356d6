"""Worker tasks on one file of a table, and merging of their counts.

Tasks are stateless functions of file names, so that each may run twice. A file is opened on a locked connection, as on
one machine. A task returns the number of people of each kind, or writes sorted 64-bit hashes of their ids to a file
that is read by range. Only `tally_all` reads the counted columns, and only if `with_answers` is set. `merge_tallies`
adds up the counts of all files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp import duck
from hetdp.duck import quote_name
from hetdp.errors import ClusterError, UsageError
from hetdp.partitioned.partition import map_array, write_array
from hetdp.partitioned.shared_files import FileState
from hetdp.problem.answer_words import NO, YES
from hetdp.tables import conditions as condition
from hetdp.tables import kinds
from hetdp.tables.dialect import FileOptions
from hetdp.tables.formats import label_of_file
from hetdp.tables.people_table import hash_people, part_digests
from hetdp.tables.policy import Names, Policy, epsilon_cells, policy_of, require_names
from hetdp.tables.request import NAMED_ROLES, AskRequest
from hetdp.tables.sources import QueriedSource, Source, file_stamp, open_source

MOST_KINDS = 1 << 22  # most kinds of people, by ε, group, level and area
DUPLICATES_AT_ONCE = 1000  # duplicate hashes examined at once


class Tally(NamedTuple):
    """The people of a file, counted by kind.

    Attributes:
        stamp: size and modification time of the file.
        columns: for each kind its ε (and whether it is long), deciding ε, and the number of its group and area.
        names: the names of these groups and areas.
        missing: the number of rows without an id, group or area.
        people: the number of people of each kind.
        answers: the number of them with each value; None if answers were not read.
    """

    stamp: Any
    columns: dict[str, NDArray[Any]]
    names: dict[str, list[str]]
    missing: dict[str, int]
    people: NDArray[np.int64]
    answers: NDArray[np.int64] | None


class Opening(NamedTuple):
    """How a file is opened.

    Attributes:
        options: its encoding and delimiter.
        curator: whether messages may name rows and values.
    """

    options: FileOptions
    curator: bool


def describe(path: FileState, opening: Opening) -> dict[str, str]:
    """The columns of a file: name → type."""
    with _file(path, opening) as source:
        return source.columns


def tally_all(path: FileState, requests: Sequence[AskRequest], opening: Opening, with_answers: bool) -> list[Tally]:
    """The tally of each request, from one pass; all of them list the same kinds of people, in the same order.

    People are alike here if they are alike in all requests, so that a tally may list one kind of its request twice.
    """
    before = stamp_across_machines(path.path)
    keys, flags, uses = dict[str, str](), dict[str, str](), list[str]()
    counted: list[Any] = []
    named = []
    with _file(path, opening) as source:
        assert isinstance(source, QueriedSource)
        for request in requests:
            own_keys, own_flags, own_uses = _public_columns(source, request)
            named.append((_add_expressions(keys, own_keys, "key"), _add_expressions(flags, own_flags, "flag")))
            uses += own_uses
        parameters: list[Any] = []
        if with_answers:
            for number, request in enumerate(requests):
                code, values = condition.condition(request.counted, source.columns, request.exact_text)
                flags |= {f"{YES} {number}": f"{code} = {condition.YES}", f"{NO} {number}": f"{code} = {condition.NO}"}
                parameters += [*values, *values]
                uses += request.private
        rows = source.count_rows(keys, flags, parameters, uses, MOST_KINDS)
    for number, (request, (own_keys, own_flags)) in enumerate(zip(requests, named, strict=True)):
        counts = (rows[f"{YES} {number}"], rows[f"{NO} {number}"]) if with_answers else None
        columns = {name: rows[where] for name, where in own_keys.items()}
        missing = {name: int(rows[where].sum()) for name, where in own_flags.items()}
        counted.append(_tally_of(before, request, columns, missing, rows["people"].astype(np.int64), counts))
    return counted


def _add_expressions(known: dict[str, str], own: dict[str, str], prefix: str) -> dict[str, str]:
    """Adds the expressions of a request to those of all, each once; returns the name of each."""
    names = {expression: name for name, expression in known.items()}
    for expression in own.values():
        if expression not in names:
            names[expression] = f"{prefix} {len(known)}"
            known[names[expression]] = expression
    return {name: names[expression] for name, expression in own.items()}


def _tally_of(
    before: Any,
    request: AskRequest,
    columns: dict[str, NDArray[Any]],
    missing: dict[str, int],
    people: NDArray[np.int64],
    counts: tuple[NDArray[Any], NDArray[Any]] | None,
) -> Tally:
    """The tally of one request, from the counted rows."""
    names = {}
    for role in request.named:
        if role in columns:
            there, codes = np.unique(columns[role].astype(object), return_inverse=True)
            names[role], columns[role] = [str(name) for name in there], codes.astype(np.int32)
    answers = None
    if counts is not None:
        yes, no = (number.astype(np.int64) for number in counts)
        answers = np.zeros((len(people), len(request.values)), dtype=np.int64)
        for place, rows in zip(request.places, (yes, no, people - yes - no), strict=True):
            answers[:, place] += rows
    return Tally(before, columns, names, missing, people, answers)


def _public_columns(source: QueriedSource, request: AskRequest) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """The keys of a kind, the tests for missing cells, and the public columns."""
    keys, flags = {"everybody": "0"}, {"no person": f"{quote_name(request.person)} IS NULL"}
    for role, where in (("epsilon", request.epsilon), ("deciding", request.deciding)):
        if where is not None and where.column is not None:
            keys |= epsilon_cells(source, where.column, role)
    for role, column in request.named.items():
        keys[role], flags[f"no {role}"] = f"coalesce({kinds.text(column)}, '')", f"{quote_name(column)} IS NULL"
    return keys, flags, request.public


def write_digests(path: FileState, person: str, place: str, opening: Opening) -> str:
    """Writes a sorted array of 64-bit hashes of the ids; returns the software that made them."""
    with _file(path, opening) as source:
        found = source.read({"digest": f"hash({quote_name(person)})"}, uses=[person])["digest"].astype(
            np.uint64, copy=False
        )
    found.sort()
    _write(place, found)
    return duck.version()


def write_people(path: FileState, request: AskRequest, place: str, opening: Opening) -> None:
    """Writes the sorted 256-bit hashes of the people, with their ε."""
    with _file(path, opening) as source:
        _write(place, hash_people(source, request))


def people_digests(places: Sequence[str], parts: range) -> list[bytes]:
    """The digests of some parts of the people of all files."""
    with _shared_file_errors(places[0]):
        files = [map_array(Path(place).parent, Path(place)) for place in places]
        return part_digests(files, parts)


def find_repeated(places: Sequence[str], low: int, high: int) -> list[int]:
    """The duplicate hashes within a range, in one file or in several."""
    found = []
    for place in places:
        with _shared_file_errors(place):
            digests = map_array(Path(place).parent, Path(place))
        begin = int(np.searchsorted(digests, np.uint64(low)))
        end = int(np.searchsorted(digests, np.uint64(high), side="right"))
        found.append(np.array(digests[begin:end]))
    together = np.sort(np.concatenate(found))
    return [int(digest) for digest in np.unique(together[1:][together[1:] == together[:-1]])]


def find_ids(path: FileState, person: str, digests: Sequence[int], opening: Opening) -> list[tuple[int, str]]:
    """The row numbers and ids of the people whose ids have some hashes."""
    with _file(path, opening) as source:
        assert isinstance(source, QueriedSource)
        wanted = f"list_contains(CAST(? AS UBIGINT[]), hash({quote_name(person)}))"
        return source.find_rows(kinds.text(person), wanted, [list(digests)], [person])


def _file(file: FileState, opening: Opening) -> AbstractContextManager[Source]:
    """A file of the folder, named in messages as on one machine.

    Raises:
        ClusterError: the file on this machine differs from the one that the driver sees.
    """
    file.require()
    return open_source(file.path, opening.options, opening.curator, label_of_file(Path(file.path)))


def _write(place: str, found: NDArray[np.uint64]) -> None:
    with _shared_file_errors(place):
        write_array(Path(place).parent, Path(place), found)  # the folder is readable by its owner only


@contextmanager
def _shared_file_errors(place: str) -> Iterator[None]:
    try:
        yield
    except OSError as refusal:
        rule = "all workers must be able to write to the work folder"
        raise ClusterError(f"a worker cannot use {place!r}: {refusal.strerror}", rule) from None


def stamp_across_machines(path: str) -> Any:
    """Size and modification time of a file, the same on all machines; inodes may differ."""
    return file_stamp(Path(path))[1:]


# Merged counts --------------------------------------------------------------------------------------------------------


class MergedTallies(NamedTuple):
    """The people of a table, counted by kind.

    Attributes:
        policy: the public policy.
        answers: the number of people of each kind with each value, if answers were read.
        entries: the index in the policy of each kind that was counted, file by file.
    """

    policy: Policy
    answers: NDArray[np.int64] | None
    entries: NDArray[np.int64]

    def is_same(self, other: MergedTallies) -> bool:
        """True if both have the same kinds with the same numbers of people."""
        own: list[Any] = [*columns_of(self.policy), self.policy.weights]
        others: list[Any] = [*columns_of(other.policy), other.policy.weights]
        names = [{role: part.names for role, part in one.policy.named.items()} for one in (self, other)]
        return names[0] == names[1] and len(own) == len(others) and all(map(np.array_equal, own, others))


def merge_tallies(name: str, request: AskRequest, tallies: Sequence[Tally]) -> MergedTallies:
    """Merges the kinds of people of all files, sorted by ε and the other columns.

    Args:
        name: name of the table in messages.
        request: names the columns.
        tallies: the counts of each file, with at least one person in total.

    Raises:
        UsageError: there are too many kinds of people, or a named group has no people.
        InputError: a group or area is missing, or there are too many of them.
    """
    found = {role: _names(tallies, role, f"{name}, {column}") for role, column in request.named.items()}
    if sum(len(one.people) for one in tallies) > MOST_KINDS:
        rule = (
            f"workers count people who have the same ε, group, level and area, up to {MOST_KINDS:,} counts in all files"
        )
        hint = "leave workers= out: one machine keeps a few numbers for each person"
        raise UsageError("too many kinds of people", rule, hint)
    rows = {
        key: np.concatenate([one.columns[key] for one in tallies]) for key in tallies[0].columns if key not in found
    }
    rows["person"] = rows["everybody"]  # one entry for each kind
    people = np.concatenate([one.people for one in tallies])
    policy = policy_of(request, int(people.sum()), rows, found, people)
    answers = (
        None
        if tallies[0].answers is None
        else np.concatenate([one.answers for one in tallies if one.answers is not None])
    )
    return _merge_kinds(policy, answers)


def _names(tallies: Sequence[Tally], role: str, where: str) -> Names:
    """All groups or areas, sorted, and the index of each kind's group or area."""
    all_names: list[str] | None = sorted({name for one in tallies for name in one.names[role]})
    if any(one.missing[f"no {role}"] for one in tallies):
        all_names = None
    names = require_names(all_names, where)
    place = {name: at for at, name in enumerate(names)}
    codes = [np.array([place[name] for name in one.names[role]], np.int32)[one.columns[role]] for one in tallies]
    return Names(tuple(names), np.concatenate(codes))


def columns_of(policy: Policy) -> list[NDArray[Any]]:
    """The columns by which kinds of people differ."""
    found = [policy.epsilon, *([policy.deciding] if isinstance(policy.deciding, np.ndarray) else [])]
    return found + [names.codes for names in policy.named.values()]


def _merge_kinds(policy: Policy, counts: NDArray[np.int64] | None) -> MergedTallies:
    """Adds up kinds that occur in several files."""
    columns = columns_of(policy)
    order = np.lexsort(columns[::-1])
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    first = np.flatnonzero(begins)
    chosen = order[first]
    named = {role: Names(names.names, names.codes[chosen]) for role, names in policy.named.items()}
    groups, levels, areas = map(named.get, NAMED_ROLES)
    deciding = policy.deciding[chosen] if isinstance(policy.deciding, np.ndarray) else policy.deciding
    assert policy.weights is not None
    weights = np.add.reduceat(policy.weights[order], first)
    answers = None if counts is None else np.add.reduceat(counts[order], first, axis=0)
    entries = np.empty(len(order), dtype=np.int64)
    entries[order] = np.cumsum(begins) - 1
    merged = Policy(policy.size, policy.epsilon[chosen], groups, areas, deciding, weights, levels)
    return MergedTallies(merged, answers, entries)

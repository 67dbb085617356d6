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

from hetdp.errors import ClusterError
from hetdp.interrupts import load_whole
from hetdp.problem.parts import mapped, written
from hetdp.problem.shared import Seen
from hetdp.spaces.table import condition, kinds
from hetdp.spaces.table.database import identifier
from hetdp.spaces.table.everybody import cells
from hetdp.spaces.table.folders import named
from hetdp.spaces.table.people import part_digests, rows_of
from hetdp.spaces.table.sources import Queried, Source, opened, stamp
from hetdp.spaces.table.wish import NO, YES, Wish

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


def describe(path: Seen, curator: bool) -> dict[str, str]:
    """The columns of a file: name → type."""
    with _file(path, curator) as source:
        return source.columns


def tally(path: Seen, wish: Wish, curator: bool, with_answers: bool) -> Tally:
    """Counts people who are alike in what is public; and what they say, if that is asked for, in the same pass."""
    before = sign(path.path)
    with _file(path, curator) as source:
        assert isinstance(source, Queried)
        keys, flags, uses = _public(source, wish)
        parameters: list[Any] = []
        if with_answers:
            said, values = condition.condition(wish.counted, source.columns, wish.exact_text)
            flags |= {YES: f"{said} = {condition.YES}", NO: f"{said} = {condition.NO}"}
            parameters, uses = [*values, *values], [*uses, *wish.private]
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
        answers = np.zeros((len(people), len(wish.values)), dtype=np.int64)
        for place, rows in zip(wish.places, (yes, no, people - yes - no), strict=True):
            answers[:, place] += rows
    missing = {name: int(found[name].sum()) for name in flags if name not in (YES, NO)}
    return Tally(before, columns, names, missing, people, answers)


def _public(source: Queried, wish: Wish) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """What kinds of people are told apart by, what may be missing, and the columns that say so."""
    keys, flags = {"everybody": "0"}, {"no person": f"{identifier(wish.person)} IS NULL"}
    for role, where in (("epsilon", wish.epsilon), ("deciding", wish.deciding)):
        if where is not None and where.column is not None:
            keys |= cells(source, where.column, role)
    for role, column in (("group", wish.group), ("area", wish.area)):
        if column is not None:
            keys[role], flags[f"no {role}"] = f"coalesce({kinds.text(column)}, '')", f"{identifier(column)} IS NULL"
    return keys, flags, wish.public


def write_digests(path: Seen, person: str, place: str, curator: bool) -> str:
    """Writes 64 bits of a digest of each id, in increasing order; returns whose digest it is."""
    with _file(path, curator) as source:
        found = source.read({"digest": f"hash({identifier(person)})"}, uses=[person])["digest"].astype(
            np.uint64, copy=False
        )
    found.sort()
    _write(place, found)
    return f"DuckDB {load_whole('duckdb').__version__}"


def write_people(path: Seen, wish: Wish, place: str, curator: bool) -> None:
    """Writes 256 bits of a digest of everybody, and their ε, in increasing order."""
    with _file(path, curator) as source:
        _write(place, rows_of(source, wish))


def people_digests(places: Sequence[str], parts: range) -> list[bytes]:
    """The digests of some parts of the people of all files."""
    with _reached(places[0]):
        files = [mapped(Path(place).parent, Path(place)) for place in places]
        return part_digests(files, parts)


def repeated(places: Sequence[str], low: int, high: int) -> list[int]:
    """The digests within a range that are there twice, in one file or in several."""
    found = []
    for place in places:
        with _reached(place):
            digests = mapped(Path(place).parent, Path(place))
        begin = int(np.searchsorted(digests, np.uint64(low)))
        end = int(np.searchsorted(digests, np.uint64(high), side="right"))
        found.append(np.array(digests[begin:end]))
    together = np.sort(np.concatenate(found))
    return [int(digest) for digest in np.unique(together[1:][together[1:] == together[:-1]])]


def having(path: Seen, person: str, digests: Sequence[int], curator: bool) -> list[tuple[int, str]]:
    """The places and ids of the people whose ids have some digests."""
    with _file(path, curator) as source:
        assert isinstance(source, Queried)
        wanted = f"list_contains(CAST(? AS UBIGINT[]), hash({identifier(person)}))"
        return source.listed(kinds.text(person), wanted, [list(digests)], [person])


def _file(file: Seen, curator: bool) -> AbstractContextManager[Source]:
    """A file of the folder, named in messages as on one machine.

    Raises:
        ClusterError: this machine sees another file than the one who asks.
    """
    file.require()
    return opened(file.path, curator=curator, name=named(Path(file.path)))


def _write(place: str, found: NDArray[np.uint64]) -> None:
    with _reached(place):
        written(Path(place).parent, Path(place), found)  # in a folder that only its owner can look into


@contextmanager
def _reached(place: str) -> Iterator[None]:
    try:
        yield
    except OSError as refusal:
        rule = "all workers reach the work folder, and may write there, as the one who asks"
        raise ClusterError(f"a worker cannot use {place!r}: {refusal.strerror}", rule) from None


def sign(path: str) -> Any:
    """By which a change of a file is noticed, wherever it is looked at from: machines may number files differently."""
    return stamp(Path(path))[1:]

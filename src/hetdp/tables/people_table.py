"""A table of people as a question needs it: the public policy, who they are, who pays, and what they answer.

`LocalTable` reads a table in this process, row by row. `hetdp.partitioned.tables.PartitionedTable` lets workers count
people who are alike. `TableReader` opens either: `LOCAL` here, or the `hetdp.Workers` that a caller passes.

`people_digest` is SHA-256 of all people with their ε, group, level and area, in any order of rows, so that a plan holds
for these people only. Each id with group, level and area is hashed to 256 bits; the hashes, and ε where it comes from a
column, are sorted and hashed in 256 parts by their first byte, which workers can share. Other people with the same
digest would be a collision of SHA-256. To test whether a person is in the digest, one must know all others.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hetdp import progress
from hetdp.tables import kinds
from hetdp.tables.conditions import NO, UNKNOWN, YES, condition
from hetdp.tables.dialect import FileOptions
from hetdp.tables.policy import Policy, epsilon_cells, read_epsilons, read_policy, require_known_columns
from hetdp.tables.request import AskRequest
from hetdp.tables.sources import Columns, Source, open_source

PARTS = 256  # by the first byte
WORDS = 4  # of 64 bits: an id, group and area
TITLE = b"hetdp people 1\n"

Rows = NDArray[np.uint64]


def people_digest(source: Source, request: AskRequest) -> str:
    """SHA-256 of the people of a table, from one pass over the public columns.

    Args:
        source: the table.
        request: names the public columns.
    """
    progress.report_stage("reading the people")
    return combine_digests(part_digests([hash_people(source, request)], range(PARTS)))


def hash_people(source: Source, request: AskRequest) -> Rows:
    """A 256-bit hash of each person in four rows, and the columns of ε in further rows, sorted by hash."""
    identifying = ", ".join(f"strlen({text}), ':', {text}" for text in map(_text, _identifying_columns(request)))
    roles = [
        (role, where.column)
        for role, where in (("epsilon", request.epsilon), ("deciding", request.deciding))
        if where is not None and where.column is not None
    ]
    wanted = {"who": f"unhex(sha256(concat({identifying})))"}
    for role, column in roles:
        wanted |= epsilon_cells(source, column, role)
    found = source.read(wanted, uses=request.public)
    rows = np.empty((WORDS + len(roles), len(found["who"])), dtype=np.uint64)
    rows[:WORDS] = np.frombuffer(b"".join(found.pop("who").tolist()), ">u8").reshape(-1, WORDS).T
    for at, (role, _) in enumerate(roles):
        rows[WORDS + at] = (read_epsilons(found, role) + 0.0).view(np.uint64)  # without negative zeros
    return _sort_people(rows)


def part_digests(files: Sequence[Rows], parts: Iterable[int]) -> list[bytes]:
    """The digests of some parts of all people, who are sorted in each file; the arrays may be memory-mapped."""
    found = []
    for part in parts:
        first, last = np.uint64(part << 56), np.uint64((part << 56) + (1 << 56) - 1)
        ends = [(np.searchsorted(rows[0], first), np.searchsorted(rows[0], last, side="right")) for rows in files]
        together = np.concatenate([rows[:, low:high] for rows, (low, high) in zip(files, ends, strict=True)], axis=1)
        ordered = together if len(files) == 1 else _sort_people(together)
        found.append(sha256(np.ascontiguousarray(ordered, dtype="<u8").tobytes()).digest())
    return found


def combine_digests(parts: Iterable[bytes]) -> str:
    """The digest of a table from the digests of all its parts, in order."""
    return sha256(TITLE + b"".join(parts)).hexdigest()


def _identifying_columns(request: AskRequest) -> list[str]:
    return [request.person, *request.named.values()]


def _text(column: str) -> str:
    return f"coalesce({kinds.text(column)}, '')"


def _sort_people(rows: Rows) -> Rows:
    """People sorted by their first word, which is faster, unless two of these are equal."""
    order = np.argsort(rows[0])
    begins = rows[0, order]
    if bool((begins[1:] == begins[:-1]).any()):
        order = np.lexsort(rows[WORDS - 1 :: -1])
    return rows[:, order]


# Tables and their readers ---------------------------------------------------------------------------------------------


class Payers(NamedTuple):
    """The people who pay.

    Attributes:
        ids: everybody's id, as text.
        entries: the index of everybody's entry in the policy; None if the policy has one entry for each, in this order.
    """

    ids: Sequence[str]
    entries: NDArray[np.int64] | None = None


class SharedEntries(NamedTuple):
    """The people of several policies of one table: each entry is one person, or a kind of people.

    Attributes:
        entries: for each policy the index in it of each of these entries; None if all policies have these entries.
        weights: how many people each entry has; None if it is one.
    """

    entries: list[NDArray[np.int64]] | None
    weights: NDArray[np.int64] | None


class PeopleTable(Columns):
    """A table of people. The policy is read first, the answers once the mechanism is fixed."""

    @abstractmethod
    def policy(self, request: AskRequest) -> Policy:
        """Reads the public policy.

        Raises:
            UsageError: a column does not exist.
            InputError: an ε is missing or invalid, an id is duplicate, or a group or area is missing.
        """

    @abstractmethod
    def policies(self, requests: Sequence[AskRequest]) -> list[Policy]:
        """Reads the public policy of each request; requests that promise the same to the same people share it."""

    @abstractmethod
    def shared_entries(self, requests: Sequence[AskRequest]) -> SharedEntries:
        """The people of the policies of these requests, which were read together."""

    @abstractmethod
    def people(self, request: AskRequest) -> str:
        """SHA-256 of the people; see `people_digest`."""

    @abstractmethod
    def read_payers(self, request: AskRequest) -> Payers:
        """Everybody's id and entry of the policy, from the public columns."""

    def read_answers(self, request: AskRequest) -> Any:
        """The answers of each entry of the policy, from one pass over all rows whose work does not depend on them."""
        (found,) = self.read_all_answers([request])
        return found

    @abstractmethod
    def read_all_answers(self, requests: Sequence[AskRequest]) -> list[Any]:
        """The answers to each request, from one pass over all rows for all of them."""


class LocalTable(PeopleTable):
    """A table that this process reads; an entry of its policy is a row.

    Args:
        source: the table, open.
        curator: whether messages may name rows and values.
    """

    def __init__(self, source: Source, curator: bool = False) -> None:
        self.name, self.columns, self.sheet = source.name, source.columns, source.sheet
        self.form, self.facts = source.form, source.facts
        self._source, self._curator = source, curator

    @property
    def stamp(self) -> Any:
        """The stamp of the source."""
        return self._source.stamp

    def policy(self, request: AskRequest) -> Policy:
        """The policy by row; see `read_policy`."""
        return read_policy(self._source, request, self._curator)

    def policies(self, requests: Sequence[AskRequest]) -> list[Policy]:
        """The policies by row; see `read_policy`."""
        found: dict[str, Policy] = {}
        for request in requests:
            require_known_columns(self._source, request)
            if request.policy_key not in found:
                found[request.policy_key] = self.policy(request)
        return [found[request.policy_key] for request in requests]

    def shared_entries(self, requests: Sequence[AskRequest]) -> SharedEntries:
        """Every policy has one entry for each row."""
        return SharedEntries(None, None)

    def people(self, request: AskRequest) -> str:
        """SHA-256 of the people; see `people_digest`."""
        return people_digest(self._source, request)

    def read_payers(self, request: AskRequest) -> Payers:
        """Everybody's id, in the order of the policy."""
        found = self._source.read({"person": kinds.text(request.person)}, uses=[request.person])
        return Payers(found["person"].tolist())

    def read_all_answers(self, requests: Sequence[AskRequest]) -> list[Any]:
        """For each request the value of each row, as its index in ``request.values``."""
        codes: dict[str, str] = {}
        parameters: list[Any] = []
        for number, request in enumerate(requests):
            only_yes = request.places[1] == request.places[2]  # no and blank are the same
            code, values = condition(request.counted, self.columns, request.exact_text, only_yes=only_yes)
            codes[f"code {number}"] = code
            parameters += values
        uses = list(dict.fromkeys(column for request in requests for column in request.private))
        found = self._source.read(codes, parameters, uses)
        return [_values_of(request, found[code]) for request, code in zip(requests, codes, strict=True)]


def _values_of(request: AskRequest, codes: Any) -> Any:
    """The values of rows, as their indices in ``request.values``."""
    places = np.zeros(4, dtype=np.uint8)
    places[[YES, NO, UNKNOWN]] = request.places
    return places[codes]


@runtime_checkable
class TableReader(Protocol):
    """Opens tables for `ask`: in this process, or on workers."""

    def require_table(self, table: Any, options: FileOptions) -> None:
        """Refuses a table that this reader cannot read, before anything is read.

        Raises:
            UsageError: it is not a table for this reader.
            InputError: the table does not exist.
        """

    def open_table(self, table: Any, options: FileOptions, curator: bool) -> AbstractContextManager[PeopleTable]:
        """Opens a table.

        Args:
            table: the table, as `ask` takes it.
            options: how its file is read.
            curator: whether messages may name rows and values.
        """


class LocalReader:
    """Reads tables in this process: the default TableReader."""

    def require_table(self, table: Any, options: FileOptions) -> None:
        """Accepts every table; opening one checks it."""

    @contextmanager
    def open_table(self, table: Any, options: FileOptions, curator: bool) -> Iterator[PeopleTable]:
        """Opens a table; see `TableReader`."""
        with open_source(table, options, curator) as source:
            yield LocalTable(source, curator)


LOCAL = LocalReader()

"""The people of a table, as a question needs them: the public policy, who they are, who pays, and what they answer.

`LocalTable` reads a table in this process, row by row. `hetdp.partitioned.tables.PartitionedTable` lets workers count
people who are alike. `TableReader` opens either: `LOCAL` here, or the `hetdp.Workers` that a caller passes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hetdp.tables import kinds
from hetdp.tables.conditions import NO, UNKNOWN, YES, condition
from hetdp.tables.people_digest import people_digest
from hetdp.tables.policy import Policy, read_policy
from hetdp.tables.request import AskRequest
from hetdp.tables.sources import Columns, Source, open_source


class Payers(NamedTuple):
    """Who pays.

    Attributes:
        ids: everybody's id, as text.
        entries: everybody's entry of the policy that was read, by number; None if it has one for each, in this order.
    """

    ids: Sequence[str]
    entries: NDArray[np.int64] | None = None


class PeopleTable(Columns):
    """What is read of a table, in this order; the policy first, and the answers once the mechanism is fixed."""

    @abstractmethod
    def policy(self, request: AskRequest) -> Policy:
        """What is public.

        Raises:
            UsageError: a column is not there.
            InputError: an ε is missing or invalid, a person is there twice, or somebody has no group or area.
        """

    @abstractmethod
    def people(self, request: AskRequest) -> str:
        """A digest of who is there; see `people_digest`."""

    @abstractmethod
    def read_payers(self, request: AskRequest) -> Payers:
        """Everybody's id, and where they stand in the policy that was read, from the public columns alone."""

    @abstractmethod
    def read_answers(self, request: AskRequest) -> Any:
        """What is said, for each entry of the policy: one pass over all rows, the same whatever they say."""


class LocalTable(PeopleTable):
    """A table that is read here; an entry of its policy is a row.

    Args:
        source: the table, open.
        curator: whether messages may name rows and values.
    """

    def __init__(self, source: Source, curator: bool = False) -> None:
        self.name, self.columns, self.sheet = source.name, source.columns, source.sheet
        self._source, self._curator = source, curator

    @property
    def unchanged(self) -> Any:
        """What the source says."""
        return self._source.unchanged

    def policy(self, request: AskRequest) -> Policy:
        """What is public, by row; see `read_policy`."""
        return read_policy(self._source, request, self._curator)

    def people(self, request: AskRequest) -> str:
        """A digest of who is there; see `people_digest`."""
        return people_digest(self._source, request)

    def read_payers(self, request: AskRequest) -> Payers:
        """Everybody's id, in the order of the policy."""
        found = self._source.read({"person": kinds.text(request.person)}, uses=[request.person])
        return Payers(found["person"].tolist())

    def read_answers(self, request: AskRequest) -> Any:
        """Everybody's value, as its number in ``request.values``, in the order of the rows; every row has one."""
        only_yes = request.places[1] == request.places[2]  # no and blank are the same
        code, parameters = condition(request.counted, self.columns, request.exact_text, only_yes=only_yes)
        places = np.zeros(4, dtype=np.uint8)
        places[[YES, NO, UNKNOWN]] = request.places
        return places[self._source.read({"code": code}, parameters, request.private)["code"]]


@runtime_checkable
class TableReader(Protocol):
    """Opens tables for `ask`: in this process, or on workers."""

    def require_table(self, table: Any, sheet: str | None) -> None:
        """Refuses a table that this reader cannot read, before anything is read.

        Raises:
            UsageError: it is not a table for this reader.
            InputError: the table does not exist.
        """

    def open_table(self, table: Any, sheet: str | None, curator: bool) -> AbstractContextManager[PeopleTable]:
        """Opens a table.

        Args:
            table: the table, as `ask` takes it.
            sheet: the table within an SQLite file.
            curator: whether messages may name rows and values.
        """


class LocalReader:
    """Reads tables in this process: the default TableReader."""

    def require_table(self, table: Any, sheet: str | None) -> None:
        """Accepts every table; opening one checks it."""

    @contextmanager
    def open_table(self, table: Any, sheet: str | None, curator: bool) -> Iterator[PeopleTable]:
        """Opens a table; see `TableReader`."""
        with open_source(table, sheet, curator) as source:
            yield LocalTable(source, curator)


LOCAL = LocalReader()

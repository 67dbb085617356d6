"""The people of a table, as a question needs them: what is public, who they are, what they say, and who pays.

A table is read in this process, row by row (`Whole`), or by workers who count what is alike (`Parted`, in `parted`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.tables import kinds
from hetdp.tables.conditions import NO, UNKNOWN, YES, condition
from hetdp.tables.people_digest import people_digest
from hetdp.tables.policy import Policy, read_policy
from hetdp.tables.request import Wish
from hetdp.tables.sources import Columns, Source


class Payers(NamedTuple):
    """Who pays.

    Attributes:
        ids: everybody's id, as text.
        entries: everybody's entry of the policy that was read, by number; None if it has one for each, in this order.
    """

    ids: Sequence[str]
    entries: NDArray[np.int64] | None = None


class Respondents(Columns):
    """What is read of a table, in this order; the policy first, and the answers once the mechanism is fixed."""

    @abstractmethod
    def policy(self, wish: Wish) -> Policy:
        """What is public.

        Raises:
            UsageError: a column is not there.
            InputError: an ε is missing or invalid, a person is there twice, or somebody has no group or area.
        """

    @abstractmethod
    def people(self, wish: Wish) -> str:
        """A digest of who is there; see `people_digest`."""

    @abstractmethod
    def payers(self, wish: Wish) -> Payers:
        """Everybody's id, and where they stand in the policy that was read, from the public columns alone."""

    @abstractmethod
    def said(self, wish: Wish) -> Any:
        """What is said, for each entry of the policy: one pass over all rows, the same whatever they say."""


class Whole(Respondents):
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

    def policy(self, wish: Wish) -> Policy:
        """What is public, by row; see `read_policy`."""
        return read_policy(self._source, wish, self._curator)

    def people(self, wish: Wish) -> str:
        """A digest of who is there; see `people_digest`."""
        return people_digest(self._source, wish)

    def payers(self, wish: Wish) -> Payers:
        """Everybody's id, in the order of the policy."""
        found = self._source.read({"person": kinds.text(wish.person)}, uses=[wish.person])
        return Payers(found["person"].tolist())

    def said(self, wish: Wish) -> Any:
        """Everybody's value, as its number in ``wish.values``, in the order of the rows; every row has one."""
        only_yes = wish.places[1] == wish.places[2]  # no and blank are the same
        code, parameters = condition(wish.counted, self.columns, wish.exact_text, only_yes=only_yes)
        places = np.zeros(4, dtype=np.uint8)
        places[[YES, NO, UNKNOWN]] = wish.places
        return places[self._source.read({"code": code}, parameters, wish.private)["code"]]

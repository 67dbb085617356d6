"""Several pages on one session: whether one of them has not seen yet what another has done."""

from __future__ import annotations

from typing import NamedTuple

STALE = (
    "Nothing was done: another page of this studio has changed what is on the table. This page shows it now; please"
    " look, and do it again."
)


class Visit(NamedTuple):
    """A page that asks for something, and how much it has seen.

    Attributes:
        page: its name; pages that were loaded twice have two.
        told: the last revision that it was shown.
        drawn: the opening that it shows.
    """

    page: str
    told: int
    drawn: int


class Visitors:
    """Which pages have acted last, and when."""

    def __init__(self) -> None:
        self._acts: dict[str, int] = {}

    def acted(self, page: str, revision: int) -> None:
        """Remembers that a page has done something; only the last two pages matter."""
        self._acts.pop(page, None)
        self._acts[page] = revision
        for older in list(self._acts)[:-2]:
            del self._acts[older]

    def is_stale(self, visit: Visit) -> bool:
        """Whether another page has done something that this one has not seen.

        >>> visitors = Visitors()
        >>> visitors.acted("one", 3)
        >>> visitors.is_stale(Visit("one", 2, 0)), visitors.is_stale(Visit("other", 2, 0))
        (False, True)
        """
        return any(page != visit.page and revision > visit.told for page, revision in self._acts.items())

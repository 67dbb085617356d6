"""What is known of a population's mechanism, and how: by a theorem, since its tables cannot be listed."""

from __future__ import annotations

from dataclasses import dataclass

METHOD = "theorem"


@dataclass(frozen=True)
class Theorem:
    """Why a population's mechanism is private. No edge was looked at; there are too many.

    Attributes:
        private: always true: the page proves it for every population.
        optimal: whether no private mechanism has a smaller worst error.
        gap: how far z of any table can be from that of the exact balanced mechanism, toward ½, rounding aside; infinite
            if it is another mechanism, or not known.
        method: ``"theorem"``.
        statement: what is proved, in words.
        page: where.
    """

    private: bool
    optimal: bool
    gap: float
    statement: str
    method: str = METHOD
    page: str = "docs/theory/population.md"

    def __str__(self) -> str:
        best = "no private mechanism has a smaller worst error" if self.optimal else "not shown to be the best"
        return f"private by {self.method} ({self.page}): {self.statement}; {best}."

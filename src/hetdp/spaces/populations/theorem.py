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
        caution: where a coin would do better, in words; empty if nowhere.
    """

    private: bool
    optimal: bool
    gap: float
    statement: str
    method: str = METHOD
    page: str = "docs/theory/population.md"
    caution: str = ""

    def __str__(self) -> str:
        best = "no private mechanism has a smaller worst error" if self.optimal else "not shown to be the best"
        caution = f" Caution: {self.caution}." if self.caution else ""
        return f"private by {self.method} ({self.page}): {self.statement}; {best}.{caution}"


def coin_caution(worse_up_to: int, even_up_to: int) -> str:
    """What must be said where a coin would do as well, or better; empty if it would not.

    >>> coin_caution(0, 0), coin_caution(0, 1)
    ('', 'where 1 person decides, the answer may be right only as often as a coin')
    >>> coin_caution(3, 3)
    'where it takes 3 people or fewer to change it, the answer may be wrong more often than right'
    """
    margin = worse_up_to or even_up_to
    if not margin:
        return ""
    where = "where 1 person decides" if margin == 1 else f"where it takes {margin:,} people or fewer to change it"
    what = "may be wrong more often than right" if worse_up_to else "may be right only as often as a coin"
    return f"{where}, the answer {what}"

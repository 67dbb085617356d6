"""Which rows are counted, as data: comparisons of a column with values, joined by AND, OR and NOT. Never code.

A comparison with a missing value is neither true nor false; so is what is joined from it, unless the rest decides.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

Literal = str | int | float | bool
OPPOSITES = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
OPERATORS = tuple(OPPOSITES)
EQUALITIES = ("=", "!=")
KEYWORDS = frozenset({"AND", "OR", "NOT", "IN", "IS", "NULL", "TRUE", "FALSE"})

_is_bare = re.compile(r"[^\W\d]\w*").fullmatch


class Predicate(ABC):
    """What a row must be like to be counted; ``str`` writes it so that `parsing.parsed` reads the same again."""

    @abstractmethod
    def columns(self) -> Iterator[str]:
        """The columns that are looked at, in the order of the text; one may come several times."""

    def leaves(self) -> Iterator[Comparison | Missing]:
        """The comparisons with one value each, and the tests for a missing one, that this is made of."""
        return iter(())

    @abstractmethod
    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Comparison(Predicate):
    """A column against one value."""

    column: str
    operator: str
    value: Literal

    def columns(self) -> Iterator[str]:
        """The one column."""
        yield self.column

    def leaves(self) -> Iterator[Comparison | Missing]:
        """This one."""
        yield self

    def __str__(self) -> str:
        return f"{written_name(self.column)} {self.operator} {written(self.value)}"


@dataclass(frozen=True)
class Among(Predicate):
    """A column that has one of several values."""

    column: str
    values: tuple[Literal, ...]

    def columns(self) -> Iterator[str]:
        """The one column."""
        yield self.column

    def leaves(self) -> Iterator[Comparison | Missing]:
        """An equality for each value."""
        return (Comparison(self.column, "=", value) for value in self.values)

    def written(self, word: str) -> str:
        """The text, with IN or NOT IN."""
        return f"{written_name(self.column)} {word} ({', '.join(map(written, self.values))})"

    def __str__(self) -> str:
        return self.written("IN")


@dataclass(frozen=True)
class Missing(Predicate):
    """A column that has no value; this alone is true or false for every row."""

    column: str

    def columns(self) -> Iterator[str]:
        """The one column."""
        yield self.column

    def leaves(self) -> Iterator[Comparison | Missing]:
        """This one."""
        yield self

    def __str__(self) -> str:
        return f"{written_name(self.column)} IS NULL"


@dataclass(frozen=True)
class Negation(Predicate):
    """The opposite."""

    part: Predicate

    def columns(self) -> Iterator[str]:
        """Those of the part."""
        return self.part.columns()

    def leaves(self) -> Iterator[Comparison | Missing]:
        """Those of the part."""
        return self.part.leaves()

    def __str__(self) -> str:
        if isinstance(self.part, Among):
            return self.part.written("NOT IN")
        if isinstance(self.part, Missing):
            return f"{written_name(self.part.column)} IS NOT NULL"
        return f"NOT ({self.part})"


@dataclass(frozen=True)
class Joined(Predicate):
    """Several, joined by AND or by OR."""

    word: str
    parts: tuple[Predicate, ...]

    def columns(self) -> Iterator[str]:
        """Those of all parts."""
        for part in self.parts:
            yield from part.columns()

    def leaves(self) -> Iterator[Comparison | Missing]:
        """Those of all parts."""
        for part in self.parts:
            yield from part.leaves()

    def __str__(self) -> str:
        return f" {self.word} ".join(f"({part})" if isinstance(part, Joined) else str(part) for part in self.parts)


def written(value: Literal) -> str:
    """A value as it is typed.

    >>> written("it's"), written(3), written(0.5), written(True)
    ("'it''s'", '3', '0.5', 'TRUE')
    """
    if isinstance(value, bool):
        return str(value).upper()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def written_name(column: str) -> str:
    """A column as it is typed: in double quotation marks unless it is a plain word.

    >>> written_name("vote"), written_name("my vote"), written_name("or")
    ('vote', '"my vote"', '"or"')
    """
    if _is_bare(column) and column.upper() not in KEYWORDS:
        return column
    return '"' + column.replace('"', '""') + '"'

"""Predicates, the conditions of `count`: comparisons of columns with values, joined by AND, OR and NOT.

A predicate is data, never code. A comparison with a missing value is unknown, as in SQL, and so is a combination unless
its other parts decide it. `parse_predicate` reads one from text; `canonical_predicate` brings all wordings to one form.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from hetdp.errors import UsageError
from hetdp.numbers import COMPARED
from hetdp.tables.comparison import MOMENT_RULE, fold_text, moment_of, require_moment
from hetdp.text import format_value

Literal = str | int | float | bool
OPPOSITES = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
OPERATORS = tuple(OPPOSITES)
EQUALITIES = ("=", "!=")
KEYWORDS = frozenset({"AND", "OR", "NOT", "IN", "IS", "NULL", "TRUE", "FALSE"})

_is_bare = re.compile(r"[^\W\d]\w*").fullmatch


class Predicate(ABC):
    """A condition on a row. ``str`` writes it so that `parse_predicate` reads the same again."""

    @abstractmethod
    def columns(self) -> Iterator[str]:
        """The columns it uses, in the order of the text, with repetitions."""

    def leaves(self) -> Iterator[Comparison | Missing]:
        """The comparisons with one value each, and the tests for NULL, that it consists of."""
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
        """This comparison alone."""
        yield self

    def __str__(self) -> str:
        return f"{format_column(self.column)} {self.operator} {format_literal(self.value)}"


@dataclass(frozen=True)
class Membership(Predicate):
    """A column is one of several values."""

    column: str
    values: tuple[Literal, ...]

    def columns(self) -> Iterator[str]:
        """The one column."""
        yield self.column

    def leaves(self) -> Iterator[Comparison | Missing]:
        """An equality for each value."""
        return (Comparison(self.column, "=", value) for value in self.values)

    def format_with(self, word: str) -> str:
        """The text, with IN or NOT IN."""
        return f"{format_column(self.column)} {word} ({', '.join(map(format_literal, self.values))})"

    def __str__(self) -> str:
        return self.format_with("IN")


@dataclass(frozen=True)
class Missing(Predicate):
    """A column is NULL; only this is true or false for every row."""

    column: str

    def columns(self) -> Iterator[str]:
        """The one column."""
        yield self.column

    def leaves(self) -> Iterator[Comparison | Missing]:
        """This comparison alone."""
        yield self

    def __str__(self) -> str:
        return f"{format_column(self.column)} IS NULL"


@dataclass(frozen=True)
class Negation(Predicate):
    """The opposite."""

    part: Predicate

    def columns(self) -> Iterator[str]:
        """The columns of the part."""
        return self.part.columns()

    def leaves(self) -> Iterator[Comparison | Missing]:
        """The leaves of the part."""
        return self.part.leaves()

    def __str__(self) -> str:
        if isinstance(self.part, Membership):
            return self.part.format_with("NOT IN")
        if isinstance(self.part, Missing):
            return f"{format_column(self.part.column)} IS NOT NULL"
        return f"NOT ({self.part})"


@dataclass(frozen=True)
class Combination(Predicate):
    """Several predicates, joined by AND or by OR."""

    word: str
    parts: tuple[Predicate, ...]

    def columns(self) -> Iterator[str]:
        """The columns of all parts."""
        for part in self.parts:
            yield from part.columns()

    def leaves(self) -> Iterator[Comparison | Missing]:
        """The leaves of all parts."""
        for part in self.parts:
            yield from part.leaves()

    def __str__(self) -> str:
        return f" {self.word} ".join(f"({part})" if isinstance(part, Combination) else str(part) for part in self.parts)


def format_literal(value: Literal) -> str:
    """A literal as it is typed.

    >>> format_literal("it's"), format_literal(3), format_literal(0.5), format_literal(True)
    ("'it''s'", '3', '0.5', 'TRUE')
    """
    if isinstance(value, bool):
        return str(value).upper()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def format_column(column: str) -> str:
    """A column name as it is typed: in double quotation marks unless it is a plain word.

    >>> format_column("vote"), format_column("my vote"), format_column("or")
    ('vote', '"my vote"', '"or"')
    """
    if _is_bare(column) and column.upper() not in KEYWORDS:
        return column
    return '"' + column.replace('"', '""') + '"'


# The parser -----------------------------------------------------------------------------------------------------------


LONGEST_TEXT = 10_000  # characters of one predicate
DEEPEST_NESTING = 50  # brackets within brackets
CANONICAL_FACTOR = 4  # how many times longer and deeper the text of a canonical predicate may be
LARGEST_EXACT = 10**15  # whole numbers below it are compared exactly, whatever type a column has
RULE = "what is counted is a column compared with a value, such as vote = 'yes', joined by AND, OR and NOT"
HINT = "put text in single quotation marks, and names of columns with spaces or signs in double ones"

_token = re.compile(
    rf"""\s*(?:
    (?P<text>'(?:[^']|'')*')
  | (?P<name>"(?:[^"]|"")+")
  | (?P<number>-?{COMPARED})(?![\w.])
  | (?P<word>[^\W\d]\w*)
  | (?P<sign><=|>=|!=|<>|==|[=<>(),])
    )""",
    re.VERBOSE,
)


def parse_predicate(given: Any, typed: bool = True) -> Predicate:
    """A predicate from its text.

    Args:
        given: comparisons (``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=``), ``IN (…)``, ``IS NULL``, ``IS NOT NULL``,
            joined by ``AND``, ``OR``, ``NOT`` and brackets.
        typed: whether a person typed it; in a plan it may be longer.

    Raises:
        UsageError: the text is not a predicate.

    >>> print(parse_predicate("vote in ('yes', 'aye') and not age < 18"))
    vote IN ('yes', 'aye') AND NOT (age < 18)
    """
    if not isinstance(given, str) or not given.strip():
        raise UsageError(f"what is counted is {format_value(given)}", RULE, HINT)
    if any("\ud800" <= sign <= "\udfff" for sign in given):  # surrogates stand for bytes that are not text
        raise UsageError("what is counted is not UTF-8 text", RULE)
    room = 1 if typed else CANONICAL_FACTOR
    if len(given) > LONGEST_TEXT * room:
        raise UsageError(f"what is counted has {len(given):,} characters", f"at most {LONGEST_TEXT:,} are read")
    return _Parser(given, DEEPEST_NESTING * room).parse()


class _Parser:
    """A recursive descent parser; NOT binds tighter than AND, and AND tighter than OR."""

    def __init__(self, text: str, deepest: int) -> None:
        self.tokens, self.deepest = _tokens(text), deepest
        self.at = self.depth = 0

    def parse(self) -> Predicate:
        found = self._parse_or()
        if self.at < len(self.tokens):
            raise self._refusal("the end, AND or OR")
        return found

    def _parse_or(self) -> Predicate:
        parts = [self._parse_and()]
        while self._accept("OR"):
            parts.append(self._parse_and())
        return parts[0] if len(parts) == 1 else Combination("OR", tuple(parts))

    def _parse_and(self) -> Predicate:
        parts = [self._parse_not()]
        while self._accept("AND"):
            parts.append(self._parse_not())
        return parts[0] if len(parts) == 1 else Combination("AND", tuple(parts))

    def _parse_not(self) -> Predicate:
        self.depth += 1
        if self.depth > self.deepest:
            raise UsageError("brackets and NOT within each other", f"at most {DEEPEST_NESTING} deep", HINT)
        if self._accept("NOT"):
            found: Predicate = Negation(self._parse_not())
        elif self._accept("("):
            found = self._parse_or()
            self._expect(")")
        else:
            found = self._parse_comparison()
        self.depth -= 1
        return found

    def _parse_comparison(self) -> Predicate:
        column = self._parse_column()
        if self._accept("IS"):
            negated = self._accept("NOT")
            self._expect("NULL")
            return Negation(Missing(column)) if negated else Missing(column)
        negated = self._accept("NOT")
        if negated or self._peek() == ("word", "IN"):
            self._expect("IN")
            among = Membership(column, self._parse_list())
            return Negation(among) if negated else among
        for sign in OPERATORS:
            if self._accept(sign):
                return Comparison(column, sign, self._parse_literal())
        raise self._refusal("a comparison (=, !=, <, <=, >, >=, IN or IS NULL)")

    def _parse_list(self) -> tuple[Literal, ...]:
        self._expect("(")
        values = [self._parse_literal()]
        while self._accept(","):
            values.append(self._parse_literal())
        self._expect(")")
        return tuple(values)

    def _parse_column(self) -> str:
        kind, text = self._peek()
        if kind == "name" or (kind == "word" and text.upper() not in KEYWORDS):
            self.at += 1
            return text[1:-1].replace('""', '"') if kind == "name" else text
        raise self._refusal("the name of a column")

    def _parse_literal(self) -> Literal:
        kind, text = self._peek()
        self.at += 1
        if kind == "text":
            return text[1:-1].replace("''", "'")
        if kind == "number":
            return _number(text)
        if kind == "word" and text in ("TRUE", "FALSE"):
            return text == "TRUE"
        self.at -= 1
        raise self._refusal("a value ('text', a number, TRUE or FALSE)")

    def _peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def _accept(self, word: str) -> bool:
        kind, text = self._peek()
        if kind in ("word", "sign") and text == word:
            self.at += 1
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise self._refusal(word)

    def _refusal(self, wanted: str) -> UsageError:
        _, text = self._peek()
        found = f"found {format_value(text)}" if text else "but the condition ends"
        return UsageError(f"expected {wanted}, {found}", RULE, HINT)


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _token.match(text, at)
        if match is None:
            raise UsageError(f"{format_value(text[at:].lstrip()[:10])} is not understood", RULE, HINT)
        kind = str(match.lastgroup)
        found.append((kind, _canonical_token(kind, match[kind])))
        at = match.end()
    return found


def _canonical_token(kind: str, text: str) -> str:
    """Keywords in capitals, and one operator for each comparison."""
    if kind == "word":
        return text.upper() if text.upper() in KEYWORDS else text
    return {"<>": "!=", "==": "="}.get(text, text) if kind == "sign" else text


def _number(text: str) -> int | float:
    value = float(text)
    if abs(value) >= LARGEST_EXACT:
        raise UsageError(f"the number {format_value(text)}", "numbers below 10¹⁵ are compared")
    return int(text) if re.fullmatch("-?[0-9]+", text) else value


# The canonical form ---------------------------------------------------------------------------------------------------


AND, OR = "AND", "OR"
DUAL = {AND: OR, OR: AND}


def canonical_predicate(predicate: Predicate, exact_text: bool = False) -> Predicate:
    """The canonical form of a predicate, the same for all wordings.

    NOT is pushed into the comparisons, nested AND and OR are flattened, parts are sorted without duplicates, equalities
    with several values become IN, and values are spelt in one way.

    Args:
        predicate: the condition.
        exact_text: whether text is compared exactly; otherwise it is casefolded, without surrounding spaces.

    Raises:
        UsageError: a comparison by order has a value that is not a number, ISO date or ISO timestamp; or a text of
            spaces alone is compared.

    >>> from hetdp.tables.predicates import parse_predicate
    >>> print(canonical_predicate(parse_predicate("NOT (vote != 'Yes ' AND NOT vote IN ('aye')) AND age >= 18.0")))
    age >= 18 AND vote IN ('aye', 'yes')
    """
    return _merge_equalities(_push_negation(predicate, False, exact_text))


def _push_negation(predicate: Predicate, negated: bool, exact: bool) -> Predicate:
    """The predicate, or its opposite, as ANDs and ORs of comparisons with one value each."""
    if isinstance(predicate, Negation):
        return _push_negation(predicate.part, not negated, exact)
    if isinstance(predicate, Combination):
        word = DUAL[predicate.word] if negated else predicate.word
        return _flatten(word, [_push_negation(part, negated, exact) for part in predicate.parts])
    if isinstance(predicate, Membership):
        parts = [Comparison(predicate.column, "=", value) for value in predicate.values]
        return _flatten(AND if negated else OR, [_push_negation(part, negated, exact) for part in parts])
    if isinstance(predicate, Comparison):
        return _canonical_comparison(predicate, negated, exact)
    return Negation(predicate) if negated else predicate


def _flatten(word: str, parts: list[Predicate]) -> Predicate:
    found: dict[str, Predicate] = {}
    for part in parts:
        inner = part.parts if isinstance(part, Combination) and part.word == word else (part,)
        found |= {str(_merge_equalities(one)): one for one in inner}
    return Combination(word, tuple(found.values())) if len(found) > 1 else next(iter(found.values()))


def _canonical_comparison(given: Comparison, negated: bool, exact: bool) -> Comparison:
    operator = OPPOSITES[given.operator] if negated else given.operator
    value: Literal = given.value
    if isinstance(value, bool):
        if operator not in EQUALITIES:
            hint = f"{format_column(given.column)} = TRUE, or = FALSE"
            raise UsageError(
                f"the column {format_value(given.column)} is compared by {operator} with {str(value).upper()}",
                MOMENT_RULE,
                hint,
            )
        value, operator = value == (operator == "="), "="  # not true is false, unless it is unknown
    elif isinstance(value, float):
        value = int(value) if value.is_integer() else value
    elif isinstance(value, str) and operator not in EQUALITIES:
        value = str(require_moment(given.column, given.operator, value))
    elif isinstance(value, str) and not exact:
        value = _canonical_text(given.column, fold_text(value))
    return Comparison(given.column, operator, value)


def _canonical_text(column: str, text: str) -> str:
    """A casefolded text; T and Z of a timestamp stay capitals."""
    if not text:
        rule = "a cell with nothing but spaces is a missing value"
        raise UsageError(
            f"the column {format_value(column)} is compared with an empty text",
            rule,
            f"{format_column(column)} IS NULL",
        )
    return text.upper() if moment_of(text) is not None else text


def _merge_equalities(predicate: Predicate) -> Predicate:
    """The parts in order, with equalities of one column and several values merged into one IN."""
    if not isinstance(predicate, Combination):
        return predicate
    sign = "=" if predicate.word == OR else "!="
    found: list[Predicate] = []
    equal, others = [], []
    for part in predicate.parts:
        if isinstance(part, Comparison) and part.operator == sign:
            equal.append(part)
        else:
            others.append(part)
    for column, parts in groupby(sorted(equal, key=_place), key=lambda part: part.column):
        several = list(parts)
        among = Membership(column, tuple(part.value for part in several))
        one: Predicate = among if sign == "=" else Negation(among)
        found.append(several[0] if len(several) == 1 else one)
    found += map(_merge_equalities, others)
    return found[0] if len(found) == 1 else Combination(predicate.word, tuple(sorted(found, key=str)))


def _place(part: Comparison) -> tuple[str, str]:
    return part.column, str(part)

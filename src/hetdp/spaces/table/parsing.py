"""The small grammar of what is counted: ``vote = 'yes' AND NOT age < 18``. What is not in it is refused."""

from __future__ import annotations

import re
from typing import Any

from hetdp.errors import UsageError, shown
from hetdp.spaces.table.predicate import (
    KEYWORDS,
    OPERATORS,
    Among,
    Comparison,
    Joined,
    Literal,
    Missing,
    Negation,
    Predicate,
)

LONGEST = 10_000  # characters of one predicate
DEEPEST = 50  # brackets within brackets
WRITTEN = 4  # how many times as long and deep the text may be that we write for a predicate that was typed
LARGEST = 10**15  # whole numbers below it are compared exactly, whatever type a column has
RULE = "what is counted is a column compared with a value, such as vote = 'yes', joined by AND, OR and NOT"
HINT = "put text in single quotation marks, and names of columns with spaces or signs in double ones"

_token = re.compile(
    r"""\s*(?:
    (?P<text>'(?:[^']|'')*')
  | (?P<name>"(?:[^"]|"")+")
  | (?P<number>-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?)(?![\w.])
  | (?P<word>[^\W\d]\w*)
  | (?P<sign><=|>=|!=|<>|==|[=<>(),])
    )""",
    re.VERBOSE,
)


def parsed(given: Any, typed: bool = True) -> Predicate:
    """A predicate from its text.

    Args:
        given: comparisons (``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=``), ``IN (…)``, ``IS NULL``, ``IS NOT NULL``,
            joined by ``AND``, ``OR``, ``NOT`` and brackets.
        typed: whether somebody typed it; else it stands in a plan, where it may be longer.

    Raises:
        UsageError: the text is anything else.

    >>> print(parsed("vote in ('yes', 'aye') and not age < 18"))
    vote IN ('yes', 'aye') AND NOT (age < 18)
    """
    if not isinstance(given, str) or not given.strip():
        raise UsageError(f"what is counted is {shown(given)}", RULE, HINT)
    if any("\ud800" <= sign <= "\udfff" for sign in given):  # what the system gives for bytes that are no text
        raise UsageError("what is counted is no UTF-8 text", RULE)
    room = 1 if typed else WRITTEN
    if len(given) > LONGEST * room:
        raise UsageError(f"what is counted has {len(given):,} characters", f"at most {LONGEST:,} are read")
    return _Parser(given, DEEPEST * room).whole()


class _Parser:
    """Reads from left to right; OR binds least, then AND, then NOT."""

    def __init__(self, text: str, deepest: int) -> None:
        self.tokens, self.deepest = _tokens(text), deepest
        self.at = self.depth = 0

    def whole(self) -> Predicate:
        found = self._either()
        if self.at < len(self.tokens):
            raise self._refusal("the end, AND or OR")
        return found

    def _either(self) -> Predicate:
        parts = [self._both()]
        while self._takes("OR"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Joined("OR", tuple(parts))

    def _both(self) -> Predicate:
        parts = [self._single()]
        while self._takes("AND"):
            parts.append(self._single())
        return parts[0] if len(parts) == 1 else Joined("AND", tuple(parts))

    def _single(self) -> Predicate:
        self.depth += 1
        if self.depth > self.deepest:
            raise UsageError("brackets and NOT within each other", f"at most {DEEPEST} deep", HINT)
        if self._takes("NOT"):
            found: Predicate = Negation(self._single())
        elif self._takes("("):
            found = self._either()
            self._needs(")")
        else:
            found = self._comparison()
        self.depth -= 1
        return found

    def _comparison(self) -> Predicate:
        column = self._column()
        if self._takes("IS"):
            negated = self._takes("NOT")
            self._needs("NULL")
            return Negation(Missing(column)) if negated else Missing(column)
        negated = self._takes("NOT")
        if negated or self._peek() == ("word", "IN"):
            self._needs("IN")
            among = Among(column, self._list())
            return Negation(among) if negated else among
        for sign in OPERATORS:
            if self._takes(sign):
                return Comparison(column, sign, self._literal())
        raise self._refusal("a comparison (=, !=, <, <=, >, >=, IN or IS NULL)")

    def _list(self) -> tuple[Literal, ...]:
        self._needs("(")
        values = [self._literal()]
        while self._takes(","):
            values.append(self._literal())
        self._needs(")")
        return tuple(values)

    def _column(self) -> str:
        kind, text = self._peek()
        if kind == "name" or (kind == "word" and text.upper() not in KEYWORDS):
            self.at += 1
            return text[1:-1].replace('""', '"') if kind == "name" else text
        raise self._refusal("the name of a column")

    def _literal(self) -> Literal:
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

    def _takes(self, word: str) -> bool:
        kind, text = self._peek()
        if kind in ("word", "sign") and text == word:
            self.at += 1
            return True
        return False

    def _needs(self, word: str) -> None:
        if not self._takes(word):
            raise self._refusal(word)

    def _refusal(self, wanted: str) -> UsageError:
        _, text = self._peek()
        found = f"found {shown(text)}" if text else "but the condition ends"
        return UsageError(f"expected {wanted}, {found}", RULE, HINT)


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _token.match(text, at)
        if match is None:
            raise UsageError(f"{shown(text[at:].lstrip()[:10])} is not understood", RULE, HINT)
        kind = str(match.lastgroup)
        found.append((kind, _plain(kind, match[kind])))
        at = match.end()
    return found


def _plain(kind: str, text: str) -> str:
    """Keywords in capitals, and one sign for each comparison."""
    if kind == "word":
        return text.upper() if text.upper() in KEYWORDS else text
    return {"<>": "!=", "==": "="}.get(text, text) if kind == "sign" else text


def _number(text: str) -> int | float:
    value = float(text)
    if abs(value) >= LARGEST:
        raise UsageError(f"the number {shown(text)}", "numbers below 10¹⁵ are compared")
    return int(text) if re.fullmatch("-?[0-9]+", text) else value

"""The true answer about a table, computed from the documentation alone, without any code of the package.

A condition is a tuple: ("=", column, value) and the other comparisons, ("in", column, values), ("not in", column,
values), ("null", column), ("not null", column), ("not", part), ("and", parts), ("or", parts). A question is the object
that stands in a document, with its key "asks".
"""

from __future__ import annotations

import operator
import re
import unicodedata
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

SIGNS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
Row = dict[str, Any]


def truth(condition: tuple[Any, ...], row: Row, exact: bool = False) -> bool | None:
    """Whether a condition holds for a row; None where that is unknown."""
    word, *rest = condition
    if word == "not":
        inner = truth(rest[0], row, exact)
        return None if inner is None else not inner
    if word in ("and", "or"):
        found = {truth(part, row, exact) for part in rest[0]}
        decides = word == "or"
        return decides if decides in found else None if None in found else not decides
    if word == "null":
        return is_missing(row[rest[0]], exact)
    if word == "not null":
        return not is_missing(row[rest[0]], exact)
    if word == "in":
        return truth(("or", [("=", rest[0], value) for value in rest[1]]), row, exact)
    if word == "not in":
        return truth(("not", ("in", *rest)), row, exact)
    cell, value = comparable(row[rest[0]], rest[1], word, exact)
    return None if cell is None else SIGNS[word](cell, value)


def is_missing(cell: Any, exact: bool) -> bool:
    """True for no value, NaN, and, unless texts are exact, white space."""
    if isinstance(cell, str):
        return not exact and cell.strip() == ""
    return cell is None or cell != cell


def comparable(cell: Any, value: Any, sign: str, exact: bool) -> tuple[Any, Any]:
    """Both sides converted to one type; the cell is None if it cannot be converted."""
    if cell is None:
        return None, value
    if isinstance(value, bool):
        return {"true": True, "false": False}.get(normal_text(cell)) if isinstance(cell, str) else cell, value
    if isinstance(value, int | float):
        return parse_number(cell), value
    if isinstance(cell, str) and sign in ("=", "!="):
        if exact:
            return cell, value
        return None if is_missing(cell, exact) else normal_text(cell), normal_text(value)
    when: Any = parse_iso(value)
    found: Any = parse_iso(cell) if isinstance(cell, str) else cell
    if type(when) is date:
        return found.date() if isinstance(found, datetime) else found, when
    fits = isinstance(found, datetime) and (found.tzinfo is None) == (when.tzinfo is None)
    return found if fits else None, when


def normal_text(text: str) -> str:
    """A text as it is compared: stripped, in normal form C, and case-folded."""
    return unicodedata.normalize("NFC", text.strip()).casefold()


def parse_number(cell: Any) -> float | int | None:
    """A cell that is a finite number; 32 bits and decimals as they print."""
    if isinstance(cell, str):
        if re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,5})?", cell.strip(), re.ASCII) is None:
            return None
        cell = float(cell.strip())  # float itself leaves some white space
    if isinstance(cell, Decimal):
        cell = float(cell)
    return None if isinstance(cell, float) and (cell != cell or abs(cell) == float("inf")) else cell


def parse_iso(text: str) -> date | datetime | None:
    """An ISO date or timestamp; the date of one with a time zone is the one that is written."""
    text = text.strip()
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
            return date.fromisoformat(text)
        if re.fullmatch(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[-+]\d\d:\d\d)?", text, re.ASCII):
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    return None


def condition_text(condition: tuple[Any, ...]) -> str:
    """The condition as a user types it."""
    word, *rest = condition
    if word == "not":
        return f"NOT ({condition_text(rest[0])})"
    if word in ("and", "or"):
        return f" {word.upper()} ".join(f"({condition_text(part)})" for part in rest[0])
    column = '"' + rest[0].replace('"', '""') + '"'
    if word.endswith("null"):
        return f"{column} IS {word.upper()}"
    if word.endswith("in"):
        return f"{column} {word.upper()} ({', '.join(map(literal_text, rest[1]))})"
    return f"{column} {word} {literal_text(rest[1])}"


def literal_text(value: Any) -> str:
    """A value as a user types it."""
    if isinstance(value, bool):
        return str(value).upper()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def true_answer(question: dict[str, Any], people: list[tuple[str, str]]) -> bool:
    """The true answer about people, each of whom has a group and says yes, no or blank."""
    asks = question["asks"]
    if asks == "not":
        return not true_answer(question["part"], people)
    if asks in ("and", "or"):
        return {"and": all, "or": any}[asks](true_answer(part, people) for part in question["parts"])
    group = question.get("group")
    groups = None if group is None else {group} if isinstance(group, str) else set(group)
    values = [value for whose, value in people if groups is None or whose in groups]
    value = question.get("value", "yes")
    if asks == "count":
        return values.count(value) >= question["at_least"]
    if asks == "majority":
        return true_answer(question | {"asks": "share", "at_least": "1/2", "strict": True}, people)
    if asks == "share":
        counted = respondent_values(values, question)
        count, needed = counted.count(value), Fraction(question["at_least"]) * len(counted)
        return count > needed if question.get("strict", False) else count >= needed
    if asks == "versus":
        a, b = values.count(question["a"]), values.count(question["b"])
        return a > b or (a == b and question.get("ties", "no") == "yes")
    if asks == "weighted_sum":
        scores = question.get("scores", {"yes": 1})
        each = [Fraction(question["weights"].get(whose, 0)) * Fraction(scores.get(one, 0)) for whose, one in people]
        return sum(each) >= Fraction(question["at_least"])
    if asks == "all_of":
        return all(one == value for one in values)
    assert asks == "ratio_of_shares"
    (a, all_a), (b, all_b) = (
        (counted.count(value), len(counted))
        for counted in (
            respondent_values([one for whose, one in people if whose == question[key]], question)
            for key in ("group_a", "group_b")
        )
    )
    strict, part = question.get("strict", False), Fraction(question.get("at_least", "4/5"))
    if all_a == 0 or all_b == 0:
        return not strict
    share, needed = Fraction(a, all_a), part * Fraction(b, all_b)
    return share > needed if strict else share >= needed


def respondent_values(values: list[str], question: dict[str, Any]) -> list[str]:
    """The answers of the people that a share counts."""
    if question.get("of", "all") == "all":
        return values
    blank = question.get("blank", "blank")
    return [one for one in values if one not in ([blank] if isinstance(blank, str) else blank)]

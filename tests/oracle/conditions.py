"""Random conditions, in the form of `asking`, the rows they are about, and other ways to write the same."""

from __future__ import annotations

import random
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from tests.oracle.asking import SIGNS

Condition = tuple[Any, ...]
INSTANTS = ["2024-01-31T23:00Z", "2024-02-01T01:00+02:00", "2024-01-31 12:00-00:30"]
TEXTS: list[str | None] = [
    *(
        "yes",
        " Yes\t",
        "NO",
        "",
        " ",
        "straße",
        "STRASSE",
        "Σίγμας",
        "ΣΊΓΜΑΣ",
        "İ",
        "i",
        "I",
        "ı",
        "é",
        "E\u0301",
        "18",
    ),
    *(" 18.0 ", "\u00a07", "1e1", "inf", "nan", "1e999", "1,5", "0x7", "١٨", "1_8", "true", "it's", "\x1cyes\x85"),
    *("2024-01-31", " 2024-01-31T12:00 ", "2024-02-30", "31.01.2024", "2024-01-31 12:00:00.5", *INSTANTS),
    *("0000-01-01", "9999-12-31", "2024-01-31T24:00", "2024-1-31", None),
]
CELLS: dict[str, list[Any]] = {
    "text": TEXTS,
    "whole": [None, 18, 0, -7, 2**40, 17, 18, 19, -(2**63), 2**63 - 1],
    "real": [None, 18.0, 0.1, -7.5, float("nan"), 1e300, 0.5, 17.999, float("inf"), float("-inf"), -0.0],
    "flag": [None, True, False, True],
    'odd "name", or': ["yes", "no", None],
}
TYPED: dict[str, list[Any]] = {
    "decimal": [None, Decimal("18.000"), Decimal("0.100"), Decimal("-7.500"), Decimal("99999999999999.999")],
    "day": [None, date(2024, 1, 31), date(2024, 2, 1), date(1, 1, 1), date(9999, 12, 31)],
    "time": [None, datetime(2024, 1, 31), datetime(2024, 1, 31, 12), datetime(2024, 1, 31, 23, 59, 59, 999999)],
    "fine": [None, datetime(2024, 1, 31), datetime(2024, 2, 1), datetime(1700, 1, 1), datetime(2262, 1, 1)],
}
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "whole": pa.int64(),
        "real": pa.float64(),
        "flag": pa.bool_(),
        'odd "name", or': pa.string(),
        "decimal": pa.decimal128(17, 3),
        "day": pa.date32(),
        "time": pa.timestamp("us"),
        "fine": pa.timestamp("ns"),
    }
)
DAYS = ["2024-01-31", " 2024-02-01", "2023-01-01", "0001-01-01", "9999-12-31"]
TIMES = ["2024-01-31T12:00", "2024-01-31 12:00:00.500", "2300-01-01T00:00:01", "1600-06-01 07:30"]
LITERALS: dict[str, list[Any]] = {
    "text": ["yes", " YES", "no", "strasse", "σίγμας", "i", "İ", "é", "18", "2024-01-31", "TRUE", "it's"],
    'odd "name", or': ["yes", "Yes"],
    "day": DAYS,
    "time": [*DAYS, *TIMES],
    "fine": [*DAYS, *TIMES],
}
NUMBERS = [18, 18.0, 7, 0.5, -7.5, 10, 0, 0.1]


def random_comparison(chance: random.Random, columns: list[str]) -> Condition:
    """A random comparison, or a test for NULL."""
    column = chance.choice(columns)
    if chance.random() < 0.1:
        return chance.choice(["null", "not null"]), column
    if column == "flag":
        return chance.choice(["=", "!="]), column, chance.random() < 0.5
    values, signs = LITERALS.get(column, NUMBERS), list(SIGNS)
    if column == "text":
        roll = chance.random()
        if roll < 0.25:
            return chance.choice(["<", "<=", ">", ">="]), column, chance.choice([*DAYS, *TIMES, *INSTANTS])
        if roll < 0.35:
            return chance.choice(["in", "not in"]), column, chance.choices(values + NUMBERS, k=3)
        values = NUMBERS if roll < 0.6 else values
    if chance.random() < 0.3:
        return chance.choice(["in", "not in"]), column, chance.choices(values, k=chance.randint(1, 4))
    if column in LITERALS and column not in TYPED and values is not NUMBERS:
        signs = ["=", "!="]
    return chance.choice(signs), column, chance.choice(values)


def random_condition(chance: random.Random, columns: list[str], depth: int = 3) -> Condition:
    """A random condition with nested NOT, AND and OR."""
    roll = chance.random()
    if depth == 0 or roll < 0.4:
        return random_comparison(chance, columns)
    if roll < 0.55:
        return "not", random_condition(chance, columns, depth - 1)
    parts = [random_condition(chance, columns, depth - 1) for _ in range(chance.randint(2, 3))]
    return chance.choice(["and", "or"]), parts


def random_rows(chance: random.Random, size: int, cells: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Random rows that contain every cell if there are enough rows."""
    return [
        {column: those[at] if at < len(those) else chance.choice(those) for column, those in cells.items()}
        for at in range(size)
    ]


def rewrite_condition(chance: random.Random, condition: Condition, exact: bool) -> Condition:  # noqa: C901
    """The same condition, written in another way."""
    word, *rest = condition
    again = lambda part: rewrite_condition(chance, part, exact)  # noqa: E731
    if chance.random() < 0.2:
        return "not", ("not", again(condition))
    if word == "not":
        inner, *parts = rest[0]
        if inner in ("and", "or") and chance.random() < 0.5:
            return {"and": "or", "or": "and"}[inner], [again(("not", part)) for part in parts[0]]
        return "not", again(rest[0])
    if word in ("and", "or"):
        parts = [again(part) for part in rest[0]]
        parts += chance.choices(parts, k=chance.randint(0, 2))
        chance.shuffle(parts)
        if len(parts) > 2 and chance.random() < 0.5:
            parts = [parts[0], (word, parts[1:])]
        return word, parts
    if word in ("null", "not null"):
        return condition if chance.random() < 0.5 else ("not", ({"null": "not null"}.get(word, "null"), rest[0]))
    if word in ("in", "not in"):
        values = [respell_value(chance, value, exact) for value in rest[1] + chance.choices(rest[1], k=1)]
        chance.shuffle(values)
        if chance.random() < 0.3:
            sign, joint = ("=", "or") if word == "in" else ("!=", "and")
            return joint, [(sign, rest[0], value) for value in values]
        return word, rest[0], values
    value = respell_value(chance, rest[1], exact or word not in ("=", "!="))
    if isinstance(value, bool) and chance.random() < 0.5:
        return {"=": "!=", "!=": "="}[word], rest[0], not value
    if chance.random() < 0.3:
        opposite = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}[word]
        return "not", (opposite, rest[0], value)
    if word in ("=", "!=") and chance.random() < 0.5:
        return {"=": "in", "!=": "not in"}[word], rest[0], [value, value]
    return word, rest[0], value


def respell_value(chance: random.Random, value: Any, exact: bool) -> Any:
    """The same value, spelt in another way."""
    if isinstance(value, bool) or (isinstance(value, str) and exact):
        return value
    if isinstance(value, str):
        return chance.choice(["", " ", "\t"]) + (value.upper() if value.upper().lower() == value else value) + " "
    return float(value) if chance.random() < 0.5 else int(value) if value == int(value) else value

"""Kinds of columns, by their public types, and SQL expressions that turn any cell into a number or a text."""

from __future__ import annotations

import re

from hetdp.duck import quote_name
from hetdp.errors import Fault, InputError
from hetdp.numbers import GRAMMAR, LONGEST_NUMERAL, NUMERAL
from hetdp.tables.comparison import BLANKS

TEXT, WHOLE, NUMBER, TRUTH, MOMENT, OTHER = "text", "whole numbers", "numbers", "true or false", "dates", "other things"
KINDS = {
    **dict.fromkeys(("VARCHAR", "UUID", "ENUM"), TEXT),
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), WHOLE
    ),
    **dict.fromkeys(("DOUBLE", "FLOAT", "DECIMAL"), NUMBER),
    "BOOLEAN": TRUTH,
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP_NS"), MOMENT),  # of other timestamps, not every cell can be read
}
SURE_DIGITS = 15  # digits of a decimal that a float always keeps


def kind_of(declared: str) -> str:
    """The kind of a DuckDB type.

    >>> kind_of("DECIMAL(18,3)"), kind_of("VARCHAR"), kind_of("VARCHAR[]"), kind_of("TIMESTAMP WITH TIME ZONE")
    ('numbers', 'text', 'other things', 'other things')
    """
    named = re.fullmatch(r"([A-Z_]+)(\(.*\))?", declared, re.DOTALL)
    return KINDS.get(named[1], OTHER) if named else OTHER


def require_kind(name: str, column: str, declared: str, allowed: tuple[str, ...], use: str) -> None:
    """Refuses a column by its type.

    Raises:
        InputError: the column is of another kind.
    """
    if kind_of(declared) not in allowed:
        where, rule = f"{name}, {column}", f"{use} holds {' or '.join(allowed)}"
        raise InputError(where, [Fault("a column of type", where, declared[:60], rule)])


def number(column: str, declared: str) -> str:
    """A cell as a 64-bit float, finite or not; null if it is not a number. Outer spaces are ignored.

    Decimals and 32-bit floats are read as they are printed, so that 0.1 is the same number in every format.
    """
    if kind_of(declared) == WHOLE:
        return f"CAST({quote_name(column)} AS DOUBLE)"
    if kind_of(declared) == TEXT:
        written = f"regexp_extract({text_or_empty(column)}, '\\A{BLANKS}({NUMERAL}){BLANKS}\\z', 1)"
        return f"try_cast({written} AS DOUBLE)"
    if declared.startswith("DECIMAL"):
        is_one, nearest = decimal_bounds(column, declared)
        one = f"CAST({is_one} AS DOUBLE)"
        return f"(try_cast(CAST({nearest} AS VARCHAR) AS DOUBLE) * ({one} / {one}))"  # 0 / 0 is NaN
    return quote_name(column) if declared == "DOUBLE" else f"try_cast({text(column)} AS DOUBLE)"


def is_missing_sql(column: str, declared: str, exact_text: bool) -> str:
    """The SQL test that a cell is missing; true or false for every row. NaN is missing, too."""
    cell = quote_name(column)
    if declared in ("DOUBLE", "FLOAT"):
        return f"isnan(coalesce({cell}, CAST('nan' AS {declared})))"
    if kind_of(declared) == TEXT and not exact_text:
        return f"regexp_full_match({text_or_empty(column)}, '{BLANKS}')"
    if declared.startswith("DECIMAL"):
        return f"({decimal_bounds(column, declared)[0]} = 0)"
    return f"({cell} IS NULL)"


def text(column: str) -> str:
    """A cell as a text."""
    return f"CAST({quote_name(column)} AS VARCHAR)"


def text_or_empty(column: str) -> str:
    """A cell as a text, empty if it is missing, so that the time does not depend on that."""
    return f"coalesce({text(column)}, '')"


def decimal_bounds(column: str, declared: str) -> tuple[str, str]:
    """1 if a cell is a decimal within the digits of its type, else 0; and the nearest decimal within them.

    A Parquet file can hold a cell with more digits, and DuckDB fails when it prints the smallest of them.
    """
    cell, (digits, places) = quote_name(column), map(int, re.findall(r"[0-9]+", declared))
    most = f"{'9' * (digits - places) or '0'}.{'9' * places}"
    low, high = (f"CAST('{sign}{most}' AS {declared})" for sign in ("-", ""))
    is_one = f"coalesce(CAST({cell} >= {low} AS UTINYINT) * CAST({cell} <= {high} AS UTINYINT), 0)"
    return is_one, f"least(greatest({cell}, {low}), {high})"


def epsilon(column: str, declared: str) -> tuple[str, str | None]:
    """A cell as an ε, −1 if it is none; and whether it has more digits than a float keeps, if cells may have more."""
    cell = quote_name(column)
    if kind_of(declared) == WHOLE or declared == "DOUBLE":
        return f"coalesce(CAST({cell} AS DOUBLE), -1)", None
    shown = text(column)
    if declared.startswith("DECIMAL"):
        is_one, nearest = decimal_bounds(column, declared)
        shown = f"CASE WHEN {is_one} = 1 THEN CAST({nearest} AS VARCHAR) END"
    numeral = f"regexp_extract(coalesce({shown}, ''), '\\A{BLANKS}({GRAMMAR}){BLANKS}\\z', 1)"  # empty if it is none
    cast = f"try_cast({numeral} AS DOUBLE)"
    is_meant = f"(NOT isinf({cast}) OR contains(lower({numeral}), 'n'))"  # 1e400 is not ∞, which has an n in it
    is_one = f"NOT starts_with({numeral}, '-') AND length({numeral}) <= {LONGEST_NUMERAL}"
    value = f"CASE WHEN {is_one} AND {is_meant} THEN {cast} END"
    return f"coalesce({value}, -1)", f"(length({numeral}) > {SURE_DIGITS})"

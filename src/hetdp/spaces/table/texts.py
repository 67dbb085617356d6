"""When two texts count as the same: case and outer spaces do not matter, unless exact text is asked for.

The rule is written once, in Python, and DuckDB calls it for every text that is not plain, so that a cell means the same
in every format and on every worker.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

BLANKS = r"[\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]*"
PLAIN = (  # letters for which lower and trim of DuckDB do all that `folded` does, and that combine with no other
    "[ -~À-ÖØ-Þà-öø-ÿĀ-įĲ-ňŊ-žΆΈ-ΊΌΎΏΑ-ΡΣ-Ωά-ία-ρσ-ωό-ώЀ-џא-תء-يぁ-ゖァ-ヺー一-鿿가-힣]*"
)
FOLDED = "hetdp_folded"  # how queries call the function below


def folded(text: str) -> str:
    r"""A text as it is compared: without outer white space, in Unicode normal form C, and casefolded.

    >>> folded(" Yes\t"), folded("STRASSE") == folded("straße"), folded("é") == folded("E\u0301")
    ('yes', True, True)
    """
    return unicodedata.normalize("NFC", text.strip()).casefold()


def folded_sql(cell: str) -> str:
    """The same for a cell in a query, given as VARCHAR; null where nothing but white space stands."""
    plain = f"regexp_full_match({cell}, '{PLAIN}')"
    return f"nullif(CASE WHEN {plain} THEN lower(trim({cell})) ELSE {FOLDED}({cell}) END, '')"


def alike(names: Iterable[str]) -> list[list[str]]:
    """Names that differ in case or outer spaces only, in order.

    >>> alike(["North", "South", "north "])
    [['North', 'north ']]
    """
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(folded(name), []).append(name)
    return [several for several in found.values() if len(several) > 1]


def add_functions(database: Any) -> None:
    """Makes the functions known that queries call."""
    from hetdp.spaces.table.moments import INSTANT, instant

    database.create_function(FOLDED, folded, ["VARCHAR"], "VARCHAR")
    database.create_function(INSTANT, instant, ["VARCHAR"], "BIGINT", null_handling="special")

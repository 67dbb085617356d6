"""When two texts count as the same: case and outer spaces do not matter, unless exact text is asked for.

The rule is written once, in Python, and DuckDB calls it for every text that is not plain, so that a cell means the same
in every format and on every worker.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

BLANKS = r"[\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]*"
PLAIN = (  # letters for which lower and trim of DuckDB do all that `folded` does, and that combine with no other
    "[ -~À-ÖØ-Þà-öø-ÿĀ-įĲ-ňŊ-žΆΈ-ΊΌΎΏΑ-ΡΣ-Ωά-ία-ρσ-ωό-ώЀ-џא-תء-يぁ-ゖァ-ヺー一-鿿가-힣]*"
)
SPELLINGS = {  # other letters that are compared as these; a test looks through all of Unicode
    "k": "\u212a",
    "s": "\u017f",
    ";": "\u037e",
    "`": "\u1fef",
    "ff": "\ufb00",
    "fi": "\ufb01",
    "fl": "\ufb02",
    "ffi": "\ufb03",
    "ffl": "\ufb04",
    "ss": "\xdf\u1e9e",
    "st": "\ufb05\ufb06",
}
LONGEST = 8  # run of letters that may be written together in several ways
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


def spelling(text: str) -> str | None:
    """A pattern of all the ways to write a folded text, but for outer spaces; None if it is not simple.

    A cell is looked at once, whatever letters stand there, and Python is not called.

    >>> spelling("yes"), spelling("é"), spelling("")
    ('[yY][eE][sS\u017f]', None, None)
    """
    if not text or not text.isascii():
        return None
    cuts = [at for at in range(1, len(text)) if text[at - 1 : at + 1] not in SPELLINGS]
    runs = [text[begin:end] for begin, end in pairwise([0, *cuts, len(text)])]
    return None if max(map(len, runs)) > LONGEST else "".join(map(_ways, runs))


def _ways(run: str) -> str:
    """A pattern of all the ways to write some letters, of which neighbours may be written as one."""
    if len(run) < 2:
        return "" if not run else _letters((run, run.upper(), *SPELLINGS.get(run, "")))
    found = [_ways(run[0]) + _ways(run[1:])]
    together = [run[:size] for size in (2, 3) if run[:size] in SPELLINGS and len(run) >= size]
    found += [_letters(SPELLINGS[one]) + _ways(run[len(one) :]) for one in together]
    return f"(?:{'|'.join(found)})"


def _letters(letters: Iterable[str]) -> str:
    written = [one if one.isalnum() else rf"\x{{{ord(one):x}}}" for one in dict.fromkeys(letters)]
    return f"[{''.join(written)}]"


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

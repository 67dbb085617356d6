"""Comparison of text without regard to case and surrounding spaces, and of ISO dates and times.

Each rule is written once, in Python. DuckDB calls it for every text that is not plain, so that a cell means the same in
every format and on every worker.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from hetdp.duck import locked_connection
from hetdp.errors import UsageError
from hetdp.numbers import COMPARED
from hetdp.text import format_value

BLANKS = r"[\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]*"
PLAIN = (  # letters for which lower and trim of DuckDB do the same as `fold_text`
    "[ -~À-ÖØ-Þà-öø-ÿĀ-įĲ-ňŊ-žΆΈ-ΊΌΎΏΑ-ΡΣ-Ωά-ία-ρσ-ωό-ώЀ-џא-תء-يぁ-ゖァ-ヺー一-鿿가-힣]*"
)
SPELLINGS = {  # other letters that fold to these; a test looks through all of Unicode
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
LONGEST = 8  # letters of a run that may be written in several ways
FOLD_FUNCTION = "hetdp_folded"  # the name of the function below in queries


def fold_text(text: str) -> str:
    r"""A text in the form in which it is compared: stripped, in Unicode normal form C, and casefolded.

    >>> fold_text(" Yes\t"), fold_text("STRASSE") == fold_text("straße"), fold_text("é") == fold_text("E\u0301")
    ('yes', True, True)
    """
    return unicodedata.normalize("NFC", text.strip()).casefold()


def fold_text_sql(cell: str) -> str:
    """The SQL expression that folds a VARCHAR cell like `fold_text`; null if it is white space only."""
    plain = f"regexp_full_match({cell}, '{PLAIN}')"
    return f"nullif(CASE WHEN {plain} THEN lower(trim({cell})) ELSE {FOLD_FUNCTION}({cell}) END, '')"


def spelling_pattern(text: str) -> str | None:
    """A regular expression for all spellings of a folded text, without outer spaces; None if it is not plain ASCII.

    With it a cell is read once, whatever its letters, and Python is not called.

    >>> spelling_pattern("yes"), spelling_pattern("é"), spelling_pattern("")
    ('[yY][eE][sS\u017f]', None, None)
    """
    if not text or not text.isascii():
        return None
    cuts = [at for at in range(1, len(text)) if text[at - 1 : at + 1] not in SPELLINGS]
    runs = [text[begin:end] for begin, end in pairwise([0, *cuts, len(text)])]
    return None if max(map(len, runs)) > LONGEST else "".join(map(_spelling_of_run, runs))


def _spelling_of_run(run: str) -> str:
    """A regular expression for all spellings of some letters, including ligatures of neighbouring letters."""
    if len(run) < 2:
        return "" if not run else _letters((run, run.upper(), *SPELLINGS.get(run, "")))
    found = [_spelling_of_run(run[0]) + _spelling_of_run(run[1:])]
    together = [run[:size] for size in (2, 3) if run[:size] in SPELLINGS and len(run) >= size]
    found += [_letters(SPELLINGS[one]) + _spelling_of_run(run[len(one) :]) for one in together]
    return f"(?:{'|'.join(found)})"


def _letters(letters: Iterable[str]) -> str:
    written = [one if one.isalnum() else rf"\x{{{ord(one):x}}}" for one in dict.fromkeys(letters)]
    return f"[{''.join(written)}]"


def group_similar_names(names: Iterable[str]) -> list[list[str]]:
    """Groups of names that differ in case or outer spaces only, in order.

    >>> group_similar_names(["North", "South", "north "])
    [['North', 'north ']]
    """
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(fold_text(name), []).append(name)
    return [several for several in found.values() if len(several) > 1]


@contextmanager
def open_locked(*paths: str | None) -> Iterator[Any]:
    """A locked connection (`hetdp.duck.locked_connection`) with the functions that conditions call."""
    with locked_connection(*paths, prepare=add_functions) as database:
        yield database


def add_functions(database: Any) -> None:
    """Registers the functions that queries call."""
    database.create_function(FOLD_FUNCTION, fold_text, ["VARCHAR"], "VARCHAR")
    database.create_function(INSTANT_FUNCTION, instant, ["VARCHAR"], "BIGINT", null_handling="special")


# Dates and times in ISO 8601: 2024-01-31, 2024-01-31T12:00, 2024-01-31 12:00:00.5+02:00 -------------------------------


DAY = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})-[0-9]{2}-[0-9]{2}"
TIME = "[Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?"
ZONE = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
INSTANT_FUNCTION = "hetdp_instant"  # the name of the function below in queries
MOMENT_RULE = "<, <=, > and >= compare numbers, ISO dates or ISO timestamps"
EPOCH = datetime(1970, 1, 1)
FIRST_MOMENT = datetime(
    1677, 9, 21, 0, 12, 43, 145_225
)  # the first and the last microsecond in a column of nanoseconds
LAST_MOMENT = datetime(2262, 4, 11, 23, 47, 16, 854_775)

_is_written = re.compile(f"({DAY})(?:({TIME})({ZONE})?)?").fullmatch
_is_numeral = re.compile(f"[-+]?{COMPARED}").fullmatch


class Moment(NamedTuple):
    """A date or a timestamp. ``str`` writes it in one canonical way.

    Attributes:
        day: the date as written.
        time: the time, in UTC if it has a time zone; None for a date.
        zoned: whether it has a time zone.
    """

    day: date
    time: datetime | None
    zoned: bool

    def __str__(self) -> str:
        if self.time is None:
            return self.day.isoformat()
        return self.time.isoformat() + ("Z" if self.zoned else "")

    @property
    def begin(self) -> datetime:
        """The timestamp, or the beginning of the day."""
        return datetime(self.day.year, self.day.month, self.day.day) if self.time is None else self.time

    @property
    def next_day(self) -> str:
        """The next day; DuckDB has years beyond 9999."""
        return "10000-01-01" if self.day == date.max else (self.day + timedelta(days=1)).isoformat()


def moment_of(text: str) -> Moment | None:
    """The moment of an ISO date or timestamp, or None. Outer spaces are ignored.

    >>> str(moment_of("2024-01-31")), str(moment_of("2024-01-31 12:00+02:00")), moment_of("31.01.2024")
    ('2024-01-31', '2024-01-31T10:00:00Z', None)
    """
    match = _is_written(text.strip())
    if match is None:
        return None
    day, time, zone = match.groups()
    try:
        if time is None:
            return Moment(date.fromisoformat(day), None, False)
        found = datetime.fromisoformat(f"{day}T{time[1:]}{(zone or '').upper()}")
        if zone is not None:
            found = found.astimezone(UTC).replace(tzinfo=None)
        return Moment(date.fromisoformat(day), found, zone is not None)
    except (ValueError, OverflowError):  # no such day, or beyond the range in UTC
        return None


def require_moment(column: str, operator: str, text: str) -> Moment:
    """The moment of a text that must be one.

    Raises:
        UsageError: it is not an ISO date or timestamp.
    """
    found = moment_of(text)
    if found is not None:
        return found
    if _is_numeral(text.strip()):
        hint = f"write {text.strip()} without quotation marks"
    else:
        hint = "a date is written '2024-01-31', a timestamp '2024-01-31T12:00'; text is compared by =, != and IN"
    raise UsageError(
        f"the column {format_value(column)} is compared by {operator} with the text {format_value(text)}",
        MOMENT_RULE,
        hint,
    )


def describe_moments(moments: Iterable[Moment]) -> list[str]:
    """Describes how cells that are compared with these moments are read. Plans contain these sentences."""
    found = {(moment.time is None, moment.zoned) for moment in moments}
    return [
        f"Cells that are compared with {what} must be {cells}; any other cell counts as missing."
        for kind, what, cells in (
            ((True, False), "a date", "ISO dates, or ISO timestamps, whose time is ignored"),
            ((False, False), "a time", "ISO timestamps without a time zone"),
            ((False, True), "a time with a time zone", "ISO timestamps with a time zone"),
        )
        if kind in found
    ]


def instant(text: str | None) -> int | None:
    """Microseconds since 1970 of a timestamp with a time zone; None for any other text."""
    found = None if text is None else moment_of(text)
    if found is None or found.time is None or not found.zoned:
        return None
    return (found.time - EPOCH) // timedelta(microseconds=1)


def day_sql(cell: str) -> str:
    """The SQL expression for the date of a text; null if it is not a date or timestamp."""
    return f"try_cast(regexp_extract({cell}, '\\A{BLANKS}({DAY})(?:{TIME}{ZONE}?)?{BLANKS}\\z', 1) AS DATE)"


def time_sql(cell: str) -> str:
    """The SQL expression for the timestamp of a text; null if it is none, or has a time zone."""
    written = f"regexp_extract({cell}, '\\A{BLANKS}({DAY}{TIME}){BLANKS}\\z', 1)"
    return f"try_cast(replace(replace({written}, 'T', ' '), 't', ' ') AS TIMESTAMP)"

"""Dates and times as ISO 8601 writes them: ``2024-01-31``, ``2024-01-31T12:00``, ``2024-01-31 12:00:00.5+02:00``.

A date is a whole day, and a time is compared with it by the date that is written. A time with a time zone is an
instant; it cannot be compared with a time that has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from hetdp.errors import UsageError, shown
from hetdp.spaces.table.texts import BLANKS

DAY = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})-[0-9]{2}-[0-9]{2}"
TIME = "[Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?"
ZONE = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
INSTANT = "hetdp_instant"  # how queries call the function below
RULE = "<, <=, > and >= compare numbers, ISO dates or ISO timestamps"
EPOCH = datetime(1970, 1, 1)
FIRST = datetime(1677, 9, 21, 0, 12, 43, 145_225)  # the first and the last microsecond in a column of nanoseconds
LAST = datetime(2262, 4, 11, 23, 47, 16, 854_775)

_is_written = re.compile(f"({DAY})(?:({TIME})({ZONE})?)?").fullmatch
_looks_like_a_number = re.compile(r"[-+]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][-+]?[0-9]{1,3})?").fullmatch


class Moment(NamedTuple):
    """A date, or a time of day on it; as text, always spelt in the same way.

    Attributes:
        day: the date that is written.
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
        """The time, or the first one of the day."""
        return datetime(self.day.year, self.day.month, self.day.day) if self.time is None else self.time

    @property
    def next_day(self) -> str:
        """The day after it; DuckDB knows years beyond 9999."""
        return "10000-01-01" if self.day == date.max else (self.day + timedelta(days=1)).isoformat()


def moment_of(text: str) -> Moment | None:
    """What a text says, if it is an ISO date or timestamp; outer spaces do not matter.

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
    except (ValueError, OverflowError):  # there is no such day, or none in UTC
        return None


def required_moment(column: str, operator: str, text: str) -> Moment:
    """The same, of a value that must be one.

    Raises:
        UsageError: it is none; the hint says how it is written.
    """
    found = moment_of(text)
    if found is not None:
        return found
    if _looks_like_a_number(text.strip()):
        hint = f"write {text.strip()} without quotation marks"
    else:
        hint = "a date is written '2024-01-31', a timestamp '2024-01-31T12:00'; text is compared by =, != and IN"
    raise UsageError(f"the column {shown(column)} is compared by {operator} with the text {shown(text)}", RULE, hint)


def meaning(moments: Iterable[Moment]) -> list[str]:
    """How cells are read that are compared with some dates and times, in words."""
    found = {(moment.time is None, moment.zoned) for moment in moments}
    return [
        f"Where {what} is compared, cells are {cells}; any other cell has no value."
        for kind, what, cells in (
            ((True, False), "a date", "ISO dates, or ISO timestamps, of which the date counts"),
            ((False, False), "a time", "ISO timestamps without a time zone"),
            ((False, True), "a time with a time zone", "ISO timestamps with one"),
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
    """The date of a cell that is a text, in a query; null where it is no date or timestamp."""
    return f"try_cast(regexp_extract({cell}, '\\A{BLANKS}({DAY})(?:{TIME}{ZONE}?)?{BLANKS}\\z', 1) AS DATE)"


def time_sql(cell: str) -> str:
    """The time of a cell that is a text, in a query; null where it is no timestamp, or has a time zone."""
    written = f"regexp_extract({cell}, '\\A{BLANKS}({DAY}{TIME}){BLANKS}\\z', 1)"
    return f"try_cast(replace(replace({written}, 'T', ' '), 't', ' ') AS TIMESTAMP)"

"""Names of groups and values: text, each with one meaning, and a hint where one was misspelt."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from hetdp.errors import SHOWN_LINES, UsageError
from hetdp.text import did_you_mean, format_value

_is_simple = re.compile(r"[\w.+-]+( [\w.+-]+)*").fullmatch


def require_name(given: Any, what: str) -> str:
    """Checks one name.

    Raises:
        UsageError: that is not text, or is empty.
    """
    if not isinstance(given, str) or not given.strip():
        raise UsageError(f"{what} is {format_value(given)}", "it must be non-empty text")
    return given


def require_names(given: Any, what: str) -> tuple[str, ...]:
    """Checks one name, or several different ones.

    >>> require_names("Pupils", "a group"), require_names(["Pupils", "Staff"], "a group")
    (('Pupils',), ('Pupils', 'Staff'))
    """
    if isinstance(given, str) or not isinstance(given, Sequence):
        return (require_name(given, what),)
    found = tuple(require_name(one, what) for one in given)
    if not found or len(set(found)) < len(found):
        verb = "are" if what in ("the people", "the groups", "the values") else "is"
        rule = "there must be at least one name, and each only once"
        raise UsageError(f"{what} {verb} {format_value(list(found))}", rule)
    return found


def require_values(given: Any) -> tuple[str, ...]:
    """Checks the values that a person may have: two different names or more.

    Raises:
        UsageError: they are not.
    """
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else given
    found = require_names(listed, "the values")
    if len(found) < 2:
        raise UsageError(f"the values are {format_value(given)}", "there must be at least two values")
    return found


def require_names_or_all(given: Any, what: str) -> tuple[str, ...] | None:
    """Checks some names; None stands for all there are."""
    return None if given is None else require_names(given, what)


def require_known(used: Iterable[str], known: Collection[str], what: str, plural: str = "") -> None:
    """Refuses names that the space does not have; messages call them `what`.

    Raises:
        UsageError: a name is not known.
    """
    for one in used:
        if one not in known:
            listed = ", ".join(list(known)[:SHOWN_LINES]) + (", …" if len(known) > SHOWN_LINES else "")
            raise UsageError(
                f"unknown {what} {format_value(one)}",
                f"the {plural or f'{what}s'} are {listed}",
                did_you_mean(one, known),
            )


def quote_if_needed(one: str) -> str:
    """A name in a sentence: in quotation marks if it could be taken for a part of the sentence.

    >>> quote_if_needed("in favour"), quote_if_needed("yes; no")
    ('in favour', "'yes; no'")
    """
    return one if _is_simple(one) else repr(one)


def join_names(several: Iterable[str], joint: str = "and") -> str:
    """Names in a sentence.

    >>> join_names(["Pupils"]), join_names(["Pupils", "Staff", "Guests"])
    ('Pupils', 'Pupils, Staff and Guests')
    """
    *first, last = map(quote_if_needed, several)
    return f"{', '.join(first)} {joint} {last}" if first else last


# Names with numbers, as people type them: pupil=0.3,staff=1.


def parse_pairs(option: str, given: Iterable[str], form: str, rule: str) -> dict[str, Any]:
    """Parses NAME=NUMBER pairs, separated by commas, or a JSON object.

    Args:
        option: by which they were given.
        given: what stood behind it, each time.
        form: what one of them looks like.
        rule: that each name has one number.

    Raises:
        UsageError: a number has no name, or a name two numbers.
    """
    from hetdp.documents import parse_json
    from hetdp.errors import UsageError
    from hetdp.text import format_value

    found: list[tuple[str, Any]] = []
    for words in given:
        if words.lstrip().startswith("{"):
            found += parse_json(words, option).items()
            continue
        for part in words.split(","):
            name, equals, number = part.rpartition("=")
            if not equals:
                hint = _decimal_comma_hint(found, part) if part != words else ""
                rule = f"it must be {form}, with commas between several"
                raise UsageError(f"{option} {format_value(part)}", rule, hint)
            found.append((name.strip(), number.strip()))
    if len(dict(found)) < len(found):
        raise UsageError(f"{option} has a name twice", rule)
    return dict(found)


def _decimal_comma_hint(found: list[tuple[str, Any]], part: str) -> str:
    """A hint for a decimal comma, which cuts a number in two; empty if the parts do not look like one number."""
    name, before = found[-1] if found else ("", "")
    whole = f"{before}.{part.strip()}"
    is_number = re.fullmatch(r"[0-9]+[.][0-9]+%?", whole)
    return f"a number is written with a decimal point: {name}={whole}" if is_number else ""

"""Words, counts and escaping for messages.

Every text that a person reads is put together with these functions: values are quoted as Python writes them, counts
agree with their nouns, and no character of an input can break a line or the terminal. The module imports nothing of
hetdp, so that every other module may use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SHOWN_LENGTH = 80
CLOSE = 0.5  # how much alike two names are, when one may be meant for the other


def format_value(value: object) -> str:
    """A value in a message: as Python would write it, without NumPy's wrapping, and not too long."""
    try:
        text = repr(value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value)
    except ValueError:  # a whole number of more digits than Python writes
        text = f"<{type(value).__name__} too long to write>"
    return text if len(text) <= SHOWN_LENGTH else f"{text[: SHOWN_LENGTH - 1]}…"


def escape_unprintable(text: str) -> str:
    r"""Text in which what would break a line, or the terminal, is written as Python would; any blank is a plain one.

    >>> print(escape_unprintable("«\xa0a\x1b[2Jb\xa0»"))
    « a\x1b[2Jb »
    """
    if text.isprintable():
        return text
    from unicodedata import category

    def seen(one: str) -> str:
        if one.isprintable():
            return one
        return " " if category(one) == "Zs" else one.encode("unicode_escape").decode()

    return "".join(map(seen, text))


def escape_json(text: str) -> str:
    r"""JSON in which every character that does not print is an escape, so that it means the same; line breaks stay.

    >>> print(escape_json('{"«\x9b2J»": "\u202e"}'))
    {"«\u009b2J»": "\u202e"}
    """
    if text.isprintable():
        return text

    def seen(one: str) -> str:
        from json import dumps

        return one if one.isprintable() or one == "\n" else dumps(one)[1:-1]

    return "".join(map(seen, text))


def pluralize(number: int, noun: str) -> str:
    """A number of things, in words.

    >>> pluralize(1, "edge"), pluralize(2000, "edge")
    ('1 edge', '2,000 edges')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def round_up(number: float, digits: int) -> float:
    """The smallest number of so many decimal digits that is not below; so a bound is never printed too small.

    >>> f"{round_up(1.21e-16, 2):.1e}", f"{round_up(2.0000000001, 9):.9g}", round_up(0.0, 2)
    ('1.3e-16', '2.00000001', 0.0)
    """
    from decimal import ROUND_CEILING, Context

    return float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(repr(float(number))))


def suggest_name(name: object, others: Iterable[str]) -> str:
    """A hint at a name that may be meant; empty if there is none.

    >>> suggest_name("epsilom", ["source", "target", "epsilon"])
    "'epsilon' looks like it"
    """
    from difflib import get_close_matches

    close = get_close_matches(name, list(others), 1, CLOSE) if isinstance(name, str) else []
    return f"{close[0]!r} looks like it" if close else ""

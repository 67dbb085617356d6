"""Numbers as people type them, and as they are shown."""

from __future__ import annotations

import re

from hetdp.errors import UsageError
from hetdp.text import format_value

PLAIN = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+", re.ASCII)
ENDLESS = ("∞", "inf", "infinity")
LARGEST = "numbers go up to 1e308; beyond them is only ∞"
RULE = "a number is written like 0.5, 0,5, 1e-3 or ∞"


def number_of(text: str) -> float:
    """The number that a person has typed.

    Raises:
        UsageError: it is none, could be two, or is so large that it would become ∞.

    >>> number_of("0,25"), number_of(" ∞ ")
    (0.25, inf)
    """
    word = text.strip()
    if word.lower().removeprefix("+") in ENDLESS:
        return float("inf")
    if THOUSANDS.fullmatch(word):
        one, other = word.replace(",", ""), word.replace(",", ".", 1).replace(",", "")
        raise UsageError(f"{format_value(word[:40])} can be read as two numbers", f"it is {one} or {other}")
    if not PLAIN.fullmatch(word):
        raise UsageError(f"{format_value(word[:40])} is no number", RULE)
    number = float(word.replace(",", "."))
    if abs(number) == float("inf"):
        raise UsageError(f"{format_value(word[:40])} is larger than any number that is counted with here", LARGEST)
    return number


def in_short(value: float) -> str:
    """A number as it is shown beside an edge.

    >>> in_short(0.5), in_short(float("inf"))
    ('0.5', '∞')
    """
    return "∞" if value == float("inf") else f"{value:g}"

"""Numbers as files write them: decimal numerals, and ``inf``. One grammar for every format that is text.

A numeral stands for the nearest float, except that one with more digits than a float has is never rounded up: an ε read
from a file is not above the decimal that stands there.
"""

from __future__ import annotations

import math
import re
import sys
from fractions import Fraction
from typing import Any

NUMERAL = r"[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]{1,5})?"
INFINITY = r"[-+]?[iI][nN][fF]([iI][nN][iI][tT][yY])?"
GRAMMAR = f"{NUMERAL}|{INFINITY}"
SHORT = 16  # characters; a numeral of no more has at most 15 digits, or is a whole number of 16
LONGEST = 400

_is_number = re.compile(GRAMMAR).fullmatch


def number(text: str) -> float | str:
    """The number a text stands for; a text that stands for none is returned as it is, for a message to show.

    >>> number("0.1"), number("1e3"), number("-inf"), number("1_000"), number("nan")
    (0.1, 1000.0, -inf, '1_000', 'nan')
    """
    if len(text) > LONGEST or not _is_number(text):
        return text
    nearest = float(text)
    return nearest if len(text) <= SHORT and math.isfinite(nearest) else not_above(text, nearest)


def not_above(text: str, nearest: float) -> float:
    """What a long or huge numeral stands for: what was printed from a float is that float, all else is rounded down.

    >>> number("0.29999999999999998"), number("0.30000000000000004"), number("1e400")
    (0.29999999999999993, 0.30000000000000004, 1.7976931348623157e+308)
    """
    if math.isinf(nearest):
        return math.copysign(sys.float_info.max, nearest) if text[-1].isdigit() or text[-1] == "." else nearest
    if nearest == 0.0:
        return 0.0
    exact = Fraction(text)
    if Fraction(repr(nearest)) == exact or Fraction(nearest) <= exact:
        return nearest
    return math.nextafter(nearest, -math.inf)


def numbers(texts: list[str | None]) -> list[float | str | None]:
    """A column of numerals; what is missing stays missing, what is no number stays text."""
    return [None if text is None else number(text) for text in texts]


def plain(value: Any) -> Any:
    """A float for a JSON document, where infinity is the text ``inf``."""
    return str(float(value)) if isinstance(value, float) and math.isinf(value) else value

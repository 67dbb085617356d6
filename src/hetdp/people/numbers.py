"""Numbers as people write them, kept exactly: 0.1 is one tenth, "50%" one half, "1/3" one third."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np

from hetdp.errors import UsageError
from hetdp.text import format_value

Number = int | float | str | Fraction | Decimal
LONGEST = 400  # characters: what is longer was not written by a person
MOST_BITS = 3 * LONGEST  # fewer than LONGEST decimal digits
NUMBER_RULE = 'it is a number such as 3, 0.5, "50%" or "4/5"'

_is_numeral = re.compile(r"[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]{1,3})?").fullmatch
_is_fraction = re.compile(r"([-+]?[0-9]+) */ *([0-9]*[1-9][0-9]*)").fullmatch
_is_percentage = re.compile(r"(.*[0-9.]) *%").fullmatch


def exact(number: Any, what: str) -> Fraction:
    """The number that was written, without any rounding; a float stands for its shortest decimal.

    Args:
        number: a whole number, a Fraction, a Decimal, a float, or a text.
        what: the name of the number, for the message.

    Raises:
        UsageError: that is no number.

    >>> [str(exact(number, "the share")) for number in (0.1, "50%", "4/5", 3, Decimal("0.25"))]
    ['1/10', '1/2', '4/5', '3', '1/4']
    """
    found = _exact(number)
    if found is None:
        raise UsageError(f"{what} is {format_value(number)}", NUMBER_RULE)
    return found


def _exact(number: Any) -> Fraction | None:
    found = number if isinstance(number, Fraction) else _from_text(numeral(number))
    if isinstance(number, np.longdouble) and found is not None:  # its decimal may lie above it
        found = min(found, Fraction(*number.as_integer_ratio()))
    is_short = found is not None and found.numerator.bit_length() + found.denominator.bit_length() <= MOST_BITS
    return found if is_short else None  # what is taken can also be written down, and read again


def numeral(number: Any) -> str:
    """A number as it was written: a float of any width by its shortest decimal; empty for what is no number.

    >>> numeral(0.1), numeral(np.float32(0.1)), numeral(Decimal("0.10")), numeral(True)
    ('0.1', '0.1', '0.10', '')
    """
    if isinstance(number, Integral) and not isinstance(number, bool):
        return str(int(number)) if abs(int(number)) < 10**LONGEST else ""
    if isinstance(number, float | np.floating | Decimal | str):
        return str(number).strip()
    return ""


def _from_text(text: str) -> Fraction | None:
    if len(text) > LONGEST:
        return None
    if percentage := _is_percentage(text):
        whole = _from_text(percentage[1])
        return None if whole is None else whole / 100
    if parts := _is_fraction(text):
        return Fraction(int(parts[1]), int(parts[2]))
    return Fraction(text) if _is_numeral(text) else None


def whole(number: Any, what: str, least: int | None = None) -> int:
    """A whole number.

    >>> whole(3.0, "the count", 0)
    3
    """
    found = _exact(number)
    rule = "it is a whole number" + ("" if least is None else f" ≥ {least}")
    if found is None or found.denominator != 1 or (least is not None and found < least):
        raise UsageError(f"{what} is {format_value(number)}", rule)
    return int(found)


def written(number: Fraction) -> int | str:
    """An exact number for a document: a whole number as it is, all else as a text.

    >>> written(Fraction(3)), written(Fraction(4, 5)), written(Fraction(1, 3))
    (3, '0.8', '1/3')
    """
    if number.denominator == 1:
        return int(number)
    return decimal(number) or str(number)


def decimal(number: Fraction) -> str | None:
    """The number as a decimal of at most 12 places; None if it has more."""
    scaled = number * 10**12
    if scaled.denominator != 1:
        return None
    digits = f"{abs(int(scaled)):013d}"
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[:-12]}.{digits[-12:]}".rstrip("0").removesuffix(".")


def percentage(share: Fraction) -> str:
    """A share in words.

    >>> percentage(Fraction(1, 2)), percentage(Fraction(1, 8)), percentage(Fraction(2, 3))
    ('half', '12.5%', '2/3')
    """
    if share == Fraction(1, 2):
        return "half"
    shown_share = decimal(share * 100)
    return str(share) if shown_share is None else f"{shown_share}%"

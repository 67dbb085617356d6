"""Numbers as people and files write them: one grammar of numerals, and what each reader makes of a numeral.

A numeral is ``3``, ``-0.5``, ``.5`` or ``1e-3``, in ASCII digits; ``inf`` and ``infinity`` in any case mean infinity.
Underscores, ``nan`` and digits of other alphabets are refused everywhere. Every module that reads a number from text
calls one of these:

- `parse_number`: a float that is never above the decimal, for files of problems, pins and mechanisms;
- `parse_decimal`: the exact Decimal, for ε of policies and amounts of the ledger;
- `parse_exact` and `parse_whole`: an exact Fraction or int, for questions, which also take ``"50%"`` and ``"4/5"``;
- `parse_typed`: a float, for fields of the studio, which also take a decimal comma and ``∞``.

The `format_*` functions write numbers for documents and sentences. Any module may import this one.
"""

from __future__ import annotations

import math
import re
import sys
from decimal import Context, Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np

from hetdp.errors import UsageError
from hetdp.text import format_value

Number = int | float | str | Fraction | Decimal

MANTISSA = r"(?:[0-9]+[.]?[0-9]*|[.][0-9]+)"
NUMERAL = rf"[-+]?{MANTISSA}(?:[eE][-+]?[0-9]{{1,5}})?"
COMPARED = rf"{MANTISSA}(?:[eE][-+]?[0-9]{{1,3}})?"  # in conditions on tables, without its sign
INFINITY = r"[-+]?[iI][nN][fF]([iI][nN][iI][tT][yY])?"
GRAMMAR = f"{NUMERAL}|{INFINITY}"  # the same in Python and in DuckDB
LONGEST_NUMERAL = 400  # characters; longer numerals are refused
SHORT_NUMERAL = 16  # characters; a numeral of no more has at most 15 digits, or is a whole number of 16
EXACT = Context(prec=500)  # a caller's decimal context may have few digits, and round in any direction
MOST_BITS = 3 * LONGEST_NUMERAL  # of an exact number, which has fewer than LONGEST_NUMERAL decimal digits
MOST_SHOWN = 40  # characters of a typed text in a message

NUMBER_RULE = 'it must be a number such as 3, 0.5, "50%" or "4/5"'
TYPED_RULE = "a number is written like 0.5, 0,5, 1e-3 or ∞"
LARGEST_RULE = "numbers go up to 1e308; beyond them is only ∞"

_is_numeral = re.compile(NUMERAL).fullmatch
_is_number = re.compile(GRAMMAR).fullmatch
_is_fraction = re.compile(r"([-+]?[0-9]+) */ *([0-9]*[1-9][0-9]*)").fullmatch
_is_percentage = re.compile(r"(.*[0-9.]) *%").fullmatch
_is_grouped = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+").fullmatch  # 1,000 may mean a thousand or one


# Floats from files ----------------------------------------------------------------------------------------------------


def parse_number(text: str) -> float | str:
    """The float that a numeral stands for; a text that is not a numeral is returned unchanged, for a message to show.

    A numeral with more digits than a float has is never rounded up, so an ε read from a file is not above the decimal
    in the file.

    >>> parse_number("0.1"), parse_number("1e3"), parse_number("-inf"), parse_number("1_000"), parse_number("nan")
    (0.1, 1000.0, -inf, '1_000', 'nan')
    """
    if len(text) > LONGEST_NUMERAL or not _is_number(text):
        return text
    nearest = float(text)
    return nearest if len(text) <= SHORT_NUMERAL and math.isfinite(nearest) else _round_down(text, nearest)


def parse_numbers(texts: list[str | None]) -> list[float | str | None]:
    """A column of numerals; missing values stay None, other texts stay text."""
    return [None if text is None else parse_number(text) for text in texts]


def _round_down(text: str, nearest: float) -> float:
    """The float of a long or huge numeral: a float that prints as the numeral is that float, others are rounded down.

    >>> parse_number("0.29999999999999998"), parse_number("0.30000000000000004"), parse_number("1e400")
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


def json_number(value: Any) -> Any:
    """A value for a JSON document, where infinity is the text ``inf``."""
    return str(float(value)) if isinstance(value, float) and math.isinf(value) else value


# Exact numbers from Python and from documents -------------------------------------------------------------------------


def numeral_of(number: Any) -> str:
    """The numeral of a Python number: a float of any width by its shortest decimal; empty for anything else.

    >>> numeral_of(0.1), numeral_of(np.float32(0.1)), numeral_of(Decimal("0.10")), numeral_of(True)
    ('0.1', '0.1', '0.10', '')
    """
    if isinstance(number, Integral) and not isinstance(number, bool):
        return str(int(number)) if abs(int(number)) < 10**LONGEST_NUMERAL else ""
    if isinstance(number, float | np.floating | Decimal | str):
        return str(number).strip()
    return ""


def parse_decimal(number: Any) -> Decimal | None:
    """The decimal of a number or numeral, exactly as written; None if it is not a number.

    >>> parse_decimal("0.30"), parse_decimal(0.1), parse_decimal("Inf"), parse_decimal("1_000")
    (Decimal('0.30'), Decimal('0.1'), Decimal('Infinity'), None)
    """
    text = numeral_of(number)
    return Decimal(text) if len(text) <= LONGEST_NUMERAL and _is_number(text) else None


def parse_exact(number: Any, what: str) -> Fraction:
    """The number that was written, without rounding; a float stands for its shortest decimal.

    Args:
        number: a whole number, a Fraction, a Decimal, a float, or a text.
        what: the name of the number, for the message.

    Raises:
        UsageError: it is not a number.

    >>> [str(parse_exact(number, "the share")) for number in (0.1, "50%", "4/5", 3, Decimal("0.25"))]
    ['1/10', '1/2', '4/5', '3', '1/4']
    """
    found = _exact(number)
    if found is None:
        raise UsageError(f"{what} is {format_value(number)}", NUMBER_RULE)
    return found


def comma_hint(number: Any) -> str:
    """A hint for a number with a decimal comma; empty for everything else.

    >>> comma_hint("60,5%"), comma_hint("many"), comma_hint(-1)
    ('a number is written with a decimal point, not with a comma', '', '')
    """
    found = isinstance(number, str) and re.fullmatch(r"\s*\d+,\d+\s*%?\s*", number)
    return "a number is written with a decimal point, not with a comma" if found else ""


def percentage_hint(number: Any) -> str:
    """A hint for a share that seems to be a percentage without its sign; empty for everything else.

    >>> percentage_hint("55"), percentage_hint(95.5), percentage_hint("0.55"), percentage_hint("many")
    ('a percentage has a percent sign: 55%', 'a percentage has a percent sign: 95.5%', '', '')
    """
    found = None if isinstance(number, str) and "%" in number else _exact(number)
    if found is None or not 1 < found <= 100:
        return ""
    return f"a percentage has a percent sign: {format_exact(found)}%"


def parse_whole(number: Any, what: str, least: int | None = None) -> int:
    """A whole number, as `parse_exact` reads it.

    Args:
        number: as for `parse_exact`.
        what: the name of the number, for the message.
        least: the smallest number that is accepted.

    Raises:
        UsageError: it is not a whole number, or is too small.

    >>> parse_whole(3.0, "the count", 0)
    3
    """
    found = _exact(number)
    rule = "it must be a whole number" + ("" if least is None else f" ≥ {least}")
    if found is None or found.denominator != 1 or (least is not None and found < least):
        raise UsageError(f"{what} is {format_value(number)}", rule)
    return int(found)


def _exact(number: Any) -> Fraction | None:
    found = number if isinstance(number, Fraction) else _fraction(numeral_of(number))
    if isinstance(number, np.longdouble) and found is not None:  # its decimal may lie above it
        found = min(found, Fraction(*number.as_integer_ratio()))
    is_short = found is not None and found.numerator.bit_length() + found.denominator.bit_length() <= MOST_BITS
    return found if is_short else None  # an accepted number can be written down and read again


def _fraction(text: str) -> Fraction | None:
    if len(text) > LONGEST_NUMERAL:
        return None
    if percentage := _is_percentage(text):
        share = _fraction(percentage[1])
        return None if share is None else share / 100
    if parts := _is_fraction(text):
        return Fraction(int(parts[1]), int(parts[2]))
    return Fraction(text) if _is_numeral(text) else None


def format_exact(number: Fraction) -> int | str:
    """An exact number for a document: a whole number as an int, others as text.

    >>> format_exact(Fraction(3)), format_exact(Fraction(4, 5)), format_exact(Fraction(1, 3))
    (3, '0.8', '1/3')
    """
    if number.denominator == 1:
        return int(number)
    return _short_decimal(number) or str(number)


def format_share(share: Fraction) -> str:
    """A share in a sentence.

    >>> format_share(Fraction(1, 2)), format_share(Fraction(1, 8)), format_share(Fraction(2, 3))
    ('half', '12.5%', '2/3')
    """
    if share == Fraction(1, 2):
        return "half"
    percentage = _short_decimal(share * 100)
    return str(share) if percentage is None else f"{percentage}%"


def _short_decimal(number: Fraction) -> str | None:
    """The number as a decimal of at most 12 places; None if it has more."""
    scaled = number * 10**12
    if scaled.denominator != 1:
        return None
    digits = f"{abs(int(scaled)):013d}"
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[:-12]}.{digits[-12:]}".rstrip("0").removesuffix(".")


# Numbers typed into the studio ----------------------------------------------------------------------------------------


def parse_typed(text: str) -> float:
    """The number that a person typed into a field.

    Raises:
        UsageError: it is not a number, can be read as two numbers, or is so large that it would become ∞.

    >>> parse_typed("0,25"), parse_typed(" ∞ ")
    (0.25, inf)
    """
    word = text.strip().replace("∞", "inf")
    shown = format_value(text.strip()[:MOST_SHOWN])
    if _is_grouped(word):
        one, other = word.replace(",", ""), word.replace(",", ".", 1).replace(",", "")
        raise UsageError(f"{shown} can be read as two numbers", f"it must be {one} or {other}")
    point = word.replace(",", ".", 1)
    if not _is_number(point) or point.lower().startswith("-inf"):
        raise UsageError(f"{shown} is not a number", TYPED_RULE)
    number = float(point)
    if math.isinf(number) and _is_numeral(point):
        raise UsageError(f"{shown} is larger than the largest float", LARGEST_RULE)
    return number


def format_short(value: float) -> str:
    """A number as it is shown beside an edge.

    >>> format_short(0.5), format_short(float("inf"))
    ('0.5', '∞')
    """
    return "∞" if value == float("inf") else f"{value:g}"

"""Formatting of probabilities: accuracies are rounded down, errors are rounded up, and 0 and 1 mean certainty.

All functions start from the error, because an accuracy close to 1 has lost its digits. The error is 0 only where z is
infinite.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np
from numpy.typing import ArrayLike

from hetdp.numbers import EXACT
from hetdp.problem.space import Floats

SMALL_ERROR = 1e-4  # a smaller error is shown instead of the accuracy
LEAST, MOST = math.ulp(0.0), math.nextafter(1.0, 0.0)  # the floats next to 0 and 1
SLACK = 1e-12  # relative rounding error to ignore, so that 0.30000000000000004 prints as 0.3
SUBNORMAL = Decimal("1e-300")
DECIMALS = 6  # of a promise
INVISIBLE_ERROR = 1e-5  # a smaller error is invisible in DECIMALS decimals


def format_probability(p: float, complement: float, digits: int = 6) -> str:
    """p rounded to the nearest digit, or as 1 minus its complement if it is close to 1.

    >>> format_probability(0.5, 0.5), format_probability(1.0, 2.124e-18)
    ('0.5', '1 − 2.124e-18')
    """
    return f"1 − {complement:.{digits}g}" if 0.0 < complement < SMALL_ERROR else f"{p:.{digits}g}"


def accuracy_of(error: float) -> float:
    """1 − error as a float, rounded down close to 1: only a mechanism that never errs has accuracy 1.

    >>> accuracy_of(0.25), accuracy_of(1e-300) < 1.0, accuracy_of(0.0)
    (0.75, True, 1.0)
    """
    return min(1.0 - error, MOST) if error > 0.0 else 1.0 - error


def format_exact(p: float, complement: float, z: float, digits: int = 6) -> str:
    """Like `format_probability`, but 0 and 1 are printed only if the coordinate is infinite.

    >>> format_exact(1.0, 0.0, math.inf), format_exact(1.0, 0.0, 800.0), format_exact(0.0, 1.0, -800.0)
    ('1', '1 − 4.94066e-324', '4.94066e-324')
    """
    if math.isinf(z):
        return format_probability(p, complement, digits)
    return format_probability(max(p, LEAST), max(complement, LEAST), digits)


def format_apart(one: tuple[float, float], other: tuple[float, float]) -> tuple[str, str]:
    """Formats two different p, each with its complement, with as many digits as needed to distinguish them.

    >>> format_apart((0.6224593, 0.3775407), (0.6224594, 0.3775406))
    ('0.6224593', '0.6224594')
    """
    texts = ("", "")
    for digits in range(6, 18):
        texts = format_probability(*one, digits), format_probability(*other, digits)
        if texts[0] != texts[1]:
            break
    return texts


def format_error(error: float, digits: int = 6) -> str:
    """The probability of a wrong answer, rounded up.

    >>> format_error(0.12345611), format_error(1e-30), format_error(0.1 + 0.2), format_error(0.0)
    ('0.123457', '1e-30', '0.3', '0')
    """
    return _round(error, digits, upward=True)


def format_accuracy(error: float, digits: int = 6, right: float | None = None) -> str:
    """The probability of the right answer, rounded down, or as 1 minus the error if it is close to 1.

    Args:
        error: the probability of the wrong answer.
        digits: the number of significant digits.
        right: the probability of the right answer, where it is too small to be computed as 1 − error.

    >>> format_accuracy(0.2689414213699951), format_accuracy(1.23456e-22, 3), format_accuracy(0.0)
    ('0.731058', '1 − 1.24e-22', '1')
    >>> format_accuracy(1.0, right=1e-20)
    '1e-20'
    """
    if 0.0 < error < SMALL_ERROR:
        return f"1 − {format_error(error, digits)}"
    return _round(1.0 - error if right is None else right, digits, upward=False)


def format_accuracy_limit(error: float, digits: int = 6) -> str:
    """An upper limit on the probability of the right answer, rounded up, or as 1 minus the error if close to 1.

    >>> format_accuracy_limit(0.37754117), format_accuracy_limit(1.239e-9, 3)
    ('0.622459', '1 − 1.23e-09')
    """
    if 0.0 < error < SMALL_ERROR:
        return f"1 − {_round(error, digits, upward=False)}"
    return _round(1.0 - error, digits, upward=True)


def format_promise(error: float) -> str:
    """The least probability of the right answer, as printed in promises, plans and records.

    >>> format_promise(0.42555748), format_promise(9.99e-6), format_promise(0.0), format_promise(1.0)
    ('0.574442', '1 − 1e-05', '1', '0.000000')
    """
    if error == 0.0:
        return "1"
    if error < INVISIBLE_ERROR:
        return f"1 − {format_error(error, 2)}"
    return f"{math.floor((1.0 - error) * 10**DECIMALS) / 10**DECIMALS:.{DECIMALS}f}"


def format_percentage(error: float, decimals: int = 1, right: float | None = None) -> str:
    """The probability of the right answer in per cent, rounded down; 100 and 0 only if it is certain.

    >>> format_percentage(0.26894142), format_percentage(1e-9), format_percentage(0.0), format_percentage(0.3, 2)
    ('73.1', 'more than 99.9', '100', '70.00')
    >>> format_percentage(1.0), format_percentage(1.0, right=1e-30)
    ('0', 'less than 0.1')
    """
    right = 1.0 - error if right is None else right
    if 0.0 in (error, right):
        return "100" if error == 0.0 else "0"
    unit = 10.0**-decimals
    if right < unit / 100.0:
        return f"less than {unit:.{decimals}f}"
    if error < unit / 100.0:
        return f"more than {100.0 - unit:.{decimals}f}"
    return f"{math.floor(right * (1.0 + SLACK) * 100.0 / unit) * unit:.{decimals}f}"


MOST_RUNS = 1_000_000


def format_runs(error: float) -> str:
    """How often the answer is right at least, rounded down; in as many runs as show that it may be wrong.

    >>> format_runs(0.025), format_runs(0.0004), format_runs(1e-30), format_runs(0.0)
    ('97 of 100', '9,996 of 10,000', 'more than 999,999 of 1,000,000', 'all')
    """
    if error == 0.0:
        return "all"
    runs = 100
    while error * runs < 1.0 and runs < MOST_RUNS:
        runs *= 10
    right = min(math.floor((1.0 - error) * runs * (1.0 + SLACK)), runs - 1)
    return f"{'more than ' if error * runs < 1.0 else ''}{right:,} of {runs:,}"


def promise_in_runs(promise: str) -> str:
    """A promise as `format_promise` writes it, as a number of runs; any other text stays as it is.

    >>> promise_in_runs("0.574442"), promise_in_runs("1 − 1.2e-22"), promise_in_runs("1"), promise_in_runs("often")
    ('57 of 100', 'more than 999,999 of 1,000,000', 'all', 'often')
    """
    found = re.fullmatch(r"1 − ([0-9.]{1,9}e-[0-9]{2,3})|([01]|0\.[0-9]{1,9})", promise)
    if found is None:
        return promise
    return format_runs(float(found[1]) if found[1] else float(EXACT.subtract(1, Decimal(promise))))


def clip_uncertain(p: ArrayLike, z: ArrayLike) -> Floats:
    """Clips probabilities so that only those with an infinite coordinate are 0 or 1.

    >>> clip_uncertain([1.0, 1.0, 0.0], [np.inf, 800.0, -800.0]) < 1.0
    array([False,  True,  True])
    """
    p = np.asarray(p, dtype=np.float64)
    return np.where(np.isfinite(np.asarray(z)), np.clip(p, LEAST, MOST), p)


def format_compact(p: float, digits: int = 3) -> str:
    """p in a few digits for a picture; 0 and 1 are printed only if exact (see `clip_uncertain`).

    >>> format_compact(0.57444), format_compact(0.99999), format_compact(1.0), format_compact(1e-9)
    ('0.574', '>0.999', '1', '1e-09')
    """
    text = f"{p:.{digits}g}"
    return f">{1.0 - 10.0**-digits:.{digits}g}" if text == "1" and p < 1.0 else text


def _round(value: float, digits: int, upward: bool) -> str:
    near = value * (1.0 - SLACK if upward else 1.0 + SLACK)
    rounding = Context(prec=digits, rounding=ROUND_CEILING if upward else ROUND_FLOOR)
    found = rounding.create_decimal(Decimal(near))
    if 0 < found < SUBNORMAL:  # a float would have fewer digits
        return f"{found.normalize(EXACT):.{digits}g}"
    return f"{float(found):.{digits}g}"

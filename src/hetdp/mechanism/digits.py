"""Probabilities as text. What is right is rounded down and what is wrong up, and only certainty is printed as such.

An error is the number to start from: next to 1, an accuracy has lost its digits. It is 0 only where z is infinite.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np
from numpy.typing import ArrayLike

from hetdp.problem.space import Floats

NEAR = 1e-4  # an error below it is shown instead of the accuracy
LEAST, MOST = math.ulp(0.0), math.nextafter(1.0, 0.0)  # the floats next to 0 and 1
SLACK = 1e-12  # of a number: what floats may have rounded, so that 0.30000000000000004 is 0.3
SUBNORMAL = Decimal("1e-300")
DECIMALS = 6  # of a promise
SHORT = 1e-5  # an error that so many decimals hardly show


def in_digits(p: float, complement: float, digits: int = 6) -> str:
    """p to the nearest digit; next to 1, what it lacks. Either way it may be right or wrong.

    >>> in_digits(0.5, 0.5), in_digits(1.0, 2.124e-18)
    ('0.5', '1 − 2.124e-18')
    """
    return f"1 − {complement:.{digits}g}" if 0.0 < complement < NEAR else f"{p:.{digits}g}"


def accuracy_of(error: float) -> float:
    """1 − error as a float; next to 1 it is rounded down, since only what never errs has the accuracy 1.

    >>> accuracy_of(0.25), accuracy_of(1e-300) < 1.0, accuracy_of(0.0)
    (0.75, True, 1.0)
    """
    return min(1.0 - error, MOST) if error > 0.0 else 1.0 - error


def value_digits(p: float, complement: float, z: float, digits: int = 6) -> str:
    """The same for a coordinate: 0 and 1 only where it is infinite.

    >>> value_digits(1.0, 0.0, math.inf), value_digits(1.0, 0.0, 800.0), value_digits(0.0, 1.0, -800.0)
    ('1', '1 − 4.94066e-324', '4.94066e-324')
    """
    if math.isinf(z):
        return in_digits(p, complement, digits)
    return in_digits(max(p, LEAST), max(complement, LEAST), digits)


def in_different_digits(one: tuple[float, float], other: tuple[float, float]) -> tuple[str, str]:
    """Two different p, each with its complement, in as many digits as it takes to tell them apart.

    >>> in_different_digits((0.6224593, 0.3775407), (0.6224594, 0.3775406))
    ('0.6224593', '0.6224594')
    """
    texts = ("", "")
    for digits in range(6, 18):
        texts = in_digits(*one, digits), in_digits(*other, digits)
        if texts[0] != texts[1]:
            break
    return texts


def error_digits(error: float, digits: int = 6) -> str:
    """The probability of a wrong answer, rounded up.

    >>> error_digits(0.12345611), error_digits(1e-30), error_digits(0.1 + 0.2), error_digits(0.0)
    ('0.123457', '1e-30', '0.3', '0')
    """
    return _rounded(error, digits, upward=True)


def right_digits(error: float, digits: int = 6, right: float | None = None) -> str:
    """The probability of the right answer, rounded down; next to 1, what it lacks.

    Args:
        error: that of the wrong one.
        digits: how many.
        right: what is to be shown where it is too small to be 1 − error.

    >>> right_digits(0.2689414213699951), right_digits(1.23456e-22, 3), right_digits(0.0)
    ('0.731058', '1 − 1.24e-22', '1')
    >>> right_digits(1.0, right=1e-20)
    '1e-20'
    """
    if 0.0 < error < NEAR:
        return f"1 − {error_digits(error, digits)}"
    return _rounded(1.0 - error if right is None else right, digits, upward=False)


def limit_digits(error: float, digits: int = 6) -> str:
    """A probability of the right answer that is not exceeded, and so rounded up; next to 1, what it lacks.

    >>> limit_digits(0.37754067), limit_digits(1.239e-9, 3)
    ('0.62246', '1 − 1.23e-09')
    """
    if 0.0 < error < NEAR:
        return f"1 − {_rounded(error, digits, upward=False)}"
    return _rounded(1.0 - error, digits, upward=True)


def promised(error: float) -> str:
    """The least probability of the right answer, as a promise, a plan or a record has it.

    >>> promised(0.42555748), promised(9.99e-6), promised(0.0), promised(1.0)
    ('0.574442', '1 − 1e-05', '1', '0.000000')
    """
    if error == 0.0:
        return "1"
    if error < SHORT:
        return f"1 − {error_digits(error, 2)}"
    return f"{math.floor((1.0 - error) * 10**DECIMALS) / 10**DECIMALS:.{DECIMALS}f}"


def percentage(error: float, decimals: int = 1, right: float | None = None) -> str:
    """The probability of the right answer in hundredths, rounded down; 100 and 0 only where it is certain.

    >>> percentage(0.26894142), percentage(1e-9), percentage(0.0), percentage(0.3, 2)
    ('73.1', 'more than 99.9', '100', '70.00')
    >>> percentage(1.0), percentage(1.0, right=1e-30)
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


def inside(p: ArrayLike, z: ArrayLike) -> Floats:
    """Probabilities of which only those are 0 or 1 whose coordinate is infinite.

    >>> inside([1.0, 1.0, 0.0], [np.inf, 800.0, -800.0]) < 1.0
    array([False,  True,  True])
    """
    p = np.asarray(p, dtype=np.float64)
    return np.where(np.isfinite(np.asarray(z)), np.clip(p, LEAST, MOST), p)


def short_digits(p: float, digits: int = 3) -> str:
    """p beside a dataset in a picture: a few digits, and no 0 or 1 where it is none; see `inside`.

    >>> short_digits(0.57444), short_digits(0.99999), short_digits(1.0), short_digits(1e-9)
    ('0.574', '>0.999', '1', '1e-09')
    """
    text = f"{p:.{digits}g}"
    return f">{1.0 - 10.0**-digits:.{digits}g}" if text == "1" and p < 1.0 else text


def _rounded(value: float, digits: int, upward: bool) -> str:
    near = value * (1.0 - SLACK if upward else 1.0 + SLACK)
    rounding = Context(prec=digits, rounding=ROUND_CEILING if upward else ROUND_FLOOR)
    found = rounding.create_decimal(Decimal(near))
    if 0 < found < SUBNORMAL:  # a float would have fewer digits
        return f"{found.normalize():.{digits}g}"
    return f"{float(found):.{digits}g}"

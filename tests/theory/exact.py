"""The bound of one edge in exact arithmetic: fractions where it is a sum, balls of growing precision elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from flint import arb, ctx


@contextmanager
def precision(bits: int):
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def crosses(z: float, epsilon: float) -> bool:
    """Whether the exact sum z + ε lies on the other side of ½."""
    return -math.inf < z < 0.0 and Fraction(z) + Fraction(epsilon) > 0


def crossing_bound(z: float, epsilon: float) -> Any:
    """min(−log(2 − e^t), ε − log(2 − e^z)), t = z + ε, as a ball at the current precision."""
    t = arb(z) + arb(epsilon)
    second = arb(epsilon) - (2 - arb(z).exp()).log()
    if t > 1:
        return second
    room = 2 - t.exp()
    return (-room.log()).min(second) if room > 0 else second


def is_at_most_bound(x: float, z: float, epsilon: float) -> bool:
    """Whether x ≤ the exact bound of the edge, decided for certain."""
    if math.isinf(z):
        return x <= z
    if not crosses(z, epsilon):
        return x < math.inf and (x == -math.inf or Fraction(x) <= Fraction(z) + Fraction(epsilon))
    return x < math.inf and decide_sign(lambda: crossing_bound(z, epsilon) - arb(x))


def decide_sign(difference: Callable[[], Any]) -> bool:
    """The sign of a number that is not zero, at whatever precision shows it."""
    for bits in (120, 480, 2400, 6000):
        with precision(bits):
            value = difference()
            if value > 0 or value < 0:
                return bool(value > 0)
    raise AssertionError("6,000 bits do not decide")


def ulps_below_bound(x: float, z: float, epsilon: float) -> float:
    """How many floats of x's size lie between x and the exact bound, at most."""
    with precision(2400):
        return float(((crossing_bound(z, epsilon) - arb(x)) / arb(math.ulp(x))).upper())

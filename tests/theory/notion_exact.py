"""The bound of one edge under every notion, from the definition and in exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from tests.theory.exact import is_at_most_bound, precision

Edge = tuple[float, ...]
BITS = (120, 480, 2400, 6000)


def is_at_most(notion: str, x: float, z: float, edge: Edge) -> bool:
    """Whether x ≤ the exact bound that z imposes over the edge."""
    if x <= z:
        return True  # no notion's bound is below its argument
    if notion == "pure":
        return is_at_most_bound(x, z, edge[0])
    if notion in ("gaussian", "bounded-range"):
        return math.isfinite(x) and math.isfinite(z) and Fraction(x) <= Fraction(z) + Fraction(edge[0])
    assert notion in ("directed", "approximate"), f"no exact bound is written for {notion}"
    epsilon, back, delta, delta_back = (*edge, 0.0, 0.0)[:4]
    rises = back == math.inf or rise_holds(x, z, back, delta_back)
    return rises and (epsilon == math.inf or rise_holds(-z, -x, epsilon, delta))


def rise_holds(x: float, z: float, epsilon: float, delta: float) -> bool:
    """Whether p(x) ≤ e^ε p(z) + δ, decided for certain: equal where 6,000 bits do not tell them apart."""
    if delta == 0.0 and x <= 0.0 and math.isfinite(x) and math.isfinite(z):
        return Fraction(x) <= Fraction(z) + Fraction(epsilon)
    return not_negative(lambda: arb(epsilon).exp() * p_of(z) + arb(delta) - p_of(x))


def not_negative(number: Callable[[], Any]) -> bool:
    for bits in BITS:
        with precision(bits):
            value = number()
            if value >= 0 or value < 0:
                return bool(value >= 0)
    return True


def p_of(z: float) -> Any:
    """p of a Laplace coordinate, as a ball."""
    if math.isinf(z):
        return arb(0 if z < 0.0 else 1)
    return arb(z).exp() / 2 if z <= 0.0 else 1 - arb(-z).exp() / 2


def bound_of(z: float, edge: Edge) -> Any:
    """The exact bound on p over a directed edge, as a ball."""
    epsilon, back, delta, delta_back = (*edge, 0.0, 0.0)[:4]
    least = arb(1)
    if back < math.inf:
        least = least.min(arb(back).exp() * p_of(z) + arb(delta_back))
    if epsilon < math.inf:
        least = least.min(1 - arb(-epsilon).exp() * (p_of(-z) - arb(delta)))
    return least


def shortfall(x: float, z: float, edge: Edge) -> float:
    """How far p at x lies below the exact bound of a directed edge: relative for p ≤ ½, absolute above; at most."""
    with precision(2400):
        exact = bound_of(z, edge)
        if x == -math.inf:
            return 0.0 if bool(exact == 0) else math.inf
        return float(((exact - p_of(x)) / (2 * p_of(min(x, 0.0)))).upper())

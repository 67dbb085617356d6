"""Rényi privacy of one edge from the definition, in exact arithmetic, and points where its formulas change."""

from __future__ import annotations

import math
import random
from typing import Any

from flint import arb

from tests.theory.exact import precision
from tests.theory.step_points import nudge

ORDERS = (1.0 + 2.0**-40, 1.0001, 1.05, 1.5, 2.0, 3.0, 10.0, 1e3, 1e6, 2.0**41)
EPSILONS = (5e-324, 1e-300, 1e-30, 1e-17, 1e-9, 1e-4, 0.1, math.log(2.0), 1.0, 3.0, 30.0, 700.0, 1e5, 2.0**41)
BITS = (200, 800, 3200)


def tails(z: Any) -> tuple[Any, Any]:
    """p and 1 − p of a finite Laplace coordinate, as balls."""
    tail = (-abs(arb(z))).exp() / 2
    return (tail, 1 - tail) if z <= 0 else (1 - tail, tail)


def moment(one: Any, other: Any, alpha: float) -> Any:
    """log of p^α q^(1−α) + (1−p)^α (1−q)^(1−α)."""
    order = arb(alpha)
    terms = [order * p.log() + (1 - order) * q.log() for p, q in zip(tails(one), tails(other), strict=True)]
    high = terms[0] if float(terms[0].mid()) >= float(terms[1].mid()) else terms[1]
    return high + sum((term - high).exp() for term in terms).log()


def is_private(x: float, y: float, epsilon: float, alpha: float) -> bool:
    """Whether both directions of an edge hold, decided for certain."""
    if x == y or epsilon == math.inf:
        return True
    if math.isinf(x) or math.isinf(y):
        return False
    for bits in BITS:
        with precision(bits):
            limit = (arb(alpha) - 1) * arb(epsilon)
            rooms = [limit - moment(x, y, alpha), limit - moment(y, x, alpha)]
            if all(room >= 0 for room in rooms):
                return True
            if any(room < 0 for room in rooms):
                return False
    raise AssertionError((x, y, epsilon, alpha))


def exact_bound(z: float, epsilon: float, alpha: float) -> float:
    """The largest float that is private next to z, by bisection."""
    low, width = z, 1.0
    while is_private(z, z + width, epsilon, alpha):
        low, width = z + width, 2.0 * width
    high = z + width
    while (middle := 0.5 * (low + high)) not in (low, high):
        low, high = (middle, high) if is_private(z, middle, epsilon, alpha) else (low, middle)
    return low


def labels(rng: random.Random, epsilon: float, meeting: float) -> list[float]:
    """Labels at both sides of where something happens, and random ones."""
    places = [0.0, meeting, -meeting, epsilon, -epsilon, -2.0 * meeting, -meeting - epsilon, -math.log(2.0)]
    places += [-1.0, 1.0, -40.0, 40.0, -745.0, 745.0, -1e6, 1e6, -(2.0**50), 2.0**50, -1e300, 1e300, 1e-9, -1e-9]
    places += [rng.uniform(-5, 5) for _ in range(4)] + [rng.uniform(-300, 300) for _ in range(2)]
    return sorted({nudge(place, by) for place in places for by in (-2, -1, 0, 1, 2)})

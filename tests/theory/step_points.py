"""Points at which the rounded step is tested: random ones, and many where its formula changes or cancels."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from hetdp.theory.rounding import LARGEST

Point = tuple[float, float]
TINY = 2.0**-1074
LEAST_NORMAL = 2.0**-1022
EPSILONS = [
    0.0,
    TINY,
    LEAST_NORMAL,
    1e-300,
    1e-30,
    1e-12,
    1e-3,
    0.35,
    math.log(2),
    1.0,
    40.0,
    1e3,
    1e16,
    1e308,
    LARGEST,
]


def nudge(x: float, floats: int) -> float:
    """The float so many places above x, or below."""
    for _ in range(abs(floats)):
        x = math.nextafter(x, math.copysign(math.inf, floats))
    return x


def legal_points(points: Iterator[Point]) -> list[Point]:
    return [(z, epsilon) for z, epsilon in points if 0.0 <= epsilon < math.inf]


def random_points(count: int = 6000) -> list[Point]:
    rng = random.Random(1)
    epsilons = [10 ** rng.uniform(-12, 3) for _ in range(count)]
    return [(rng.choice([-2, -1, 1]) * rng.uniform(0, 1) * epsilon, epsilon) for epsilon in epsilons]


def at_minus_epsilon(count: int = 700) -> list[Point]:
    rng = random.Random(2)
    epsilons = [10 ** rng.uniform(-12, 3) for _ in range(count)] + [1e-300, 1e308]
    return [(nudge(-epsilon, k), epsilon) for epsilon in epsilons for k in range(-3, 4)]


def with_sum_at(t: float, count: int = 500) -> list[Point]:
    """z + ε at the floats around t, for z of every size."""
    rng = random.Random(3)
    starts = [-(10 ** rng.uniform(-9, 3)) for _ in range(count)]
    return legal_points((z, nudge(t - z, k)) for z in starts for k in range(-4, 5))


def at_the_change_of_terms(count: int = 500) -> list[Point]:
    """Points at which the two bounds of an edge are equal: e^(z+ε) = 2 − e^z."""
    rng = random.Random(4)
    starts = [-(10 ** rng.uniform(-9, 2.8)) for _ in range(count)]
    changes = [(z, -z + math.log1p(-math.expm1(z))) for z in starts]
    return legal_points((z, nudge(epsilon, k)) for z, epsilon in changes for k in range(-3, 4))


def extreme() -> list[Point]:
    sizes = [0.0, TINY, LEAST_NORMAL, 1e-12, math.log(2), 1.0, 1e3, 1e308, LARGEST, math.inf]
    starts = [sign * size for size in sizes for sign in (1.0, -1.0)]
    around = [(sign * nudge(epsilon, k), epsilon) for epsilon in EPSILONS for k in (-1, 0, 1) for sign in (1.0, -1.0)]
    return [(z, epsilon) for z in starts for epsilon in EPSILONS] + around


def random_bits(count: int = 2000) -> list[Point]:
    """Any two floats at all."""
    rng = random.Random(5)
    sizes = [rng.uniform(1, 2) * 2.0 ** rng.randint(-1074, 1022) for _ in range(2 * count)]
    return [(rng.choice([-1, 1]) * z, epsilon) for z, epsilon in zip(sizes[:count], sizes[count:], strict=True)]


POINTS = {
    "anywhere": random_points(),
    "at minus epsilon": at_minus_epsilon(),
    "sum around 0": with_sum_at(0.0, 200),
    "sum around 0.35": with_sum_at(0.35),
    "sum around ln 2": with_sum_at(math.log(2)),
    "change of terms": at_the_change_of_terms(),
    "extreme": extreme(),
    "random bits": random_bits(),
}

"""Edges of every notion, and labels where their formulas change or cancel."""

from __future__ import annotations

import math
import random

from hetdp.theory.rounding import NEGLIGIBLE
from tests.theory.step_points import nudge

Edge = tuple[float, ...]
LN_2 = math.log(2.0)
SPECIAL_LABELS = [0.0, -0.0, math.inf, -math.inf]
COMMON_LABELS = [
    sign * size for size in (5e-324, 1e-300, 1e-20, 1e-9, 0.1, LN_2, 3.0, 40.0, 745.5, 800.0) for sign in (1, -1)
]


def epsilon(rng: random.Random) -> float:
    odd = [0.0, 5e-324, 1e-295, NEGLIGIBLE, 1e-250, 1e-17, LN_2, nudge(LN_2, 1), 50.0, 700.0, 1e4]
    inexact = rng.uniform(LN_2, 2 * LN_2)  # z + ε at ln 2 is rounded for these
    return rng.choice([rng.choice(odd), inexact, 10 ** rng.uniform(-12, 3), 10 ** rng.uniform(-3, 1), rng.random()])


def epsilon_or_none(rng: random.Random) -> float:
    """ε of one direction, infinite if nothing is promised."""
    return math.inf if rng.random() < 0.15 else epsilon(rng)


def delta(rng: random.Random) -> float:
    odd = [0.0, 5e-324, 1e-295, NEGLIGIBLE, 1e-250, 1e-17, 1e-9, 0.25, 0.5, nudge(1.0, -1), 1.0]
    return rng.choice([rng.choice(odd), 10 ** rng.uniform(-20, 0), rng.random()])


def edges(notion: str, count: int = 200) -> list[Edge]:
    """Random edges that promise something, many of them with extreme parameters."""
    rng = random.Random(notion)
    found: list[Edge] = []
    while len(found) < count:
        one, other = epsilon_or_none(rng), epsilon_or_none(rng)
        if notion not in ("directed", "approximate"):
            found.append((epsilon(rng),))
        elif min(one, other) < math.inf:
            back = rng.choice([other, one])
            found.append((one, back) if notion == "directed" else (one, back, delta(rng), delta(rng)))
    return [edge for edge in found if min(edge) < math.inf]


def turning_points(edge: Edge) -> list[float]:
    """Labels at which the formulas of an edge change: the sum is 0 or ln 2, or q is δ."""
    found: list[float] = []
    for size in edge[:2]:
        if 0.0 < size < math.inf:
            found += [-size, LN_2 - size, 0.5 - size, 1.0 - size, -math.log1p(math.expm1(min(size, 700.0)) / 2), size]
    for size in edge[2:]:
        if 0.0 < size < 1.0:
            found += [math.log(2 * size), -math.log(2 * size), math.log(2 - 2 * size), -math.log(2 - 2 * size)]
            found += [-math.log1p(-size), math.log1p(-size)]
    return found


def labels(edge: Edge, nudges: tuple[int, ...] = (-64, -2, -1, 0, 1, 2, 64)) -> list[float]:
    """All labels worth trying on an edge, in their order."""
    near = [nudge(z, k) for z in turning_points(edge) for k in nudges]
    rng = random.Random(str(edge))
    between = [rng.uniform(-5, 5) for _ in range(10)] + [
        rng.choice([-1, 1]) * 10 ** rng.uniform(-18, 2) for _ in range(20)
    ]
    return sorted([*SPECIAL_LABELS, *COMMON_LABELS, *near, *between])

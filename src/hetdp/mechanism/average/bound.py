"""A lower bound on the minimum of a linear program, from any prices of its rows.

For rows A·x ≤ limit, bounds lower ≤ x ≤ upper and prices y ≥ 0, every feasible x has

    cost·x  ≥  cost·x + y·(A·x − limit)  ≥  Σ min(d·lower, d·upper) − y·limit,   d = cost + Aᵀ·y,

whatever y is. A solver's prices are right up to a tolerance, and where d is a little below 0 and `upper` is large, as
for a tail, a little costs much. So the prices of rows that draw on such a column are lowered until it has enough, then
those of rows that drew on what these gave, and so on; each round gives a valid bound, and the best one counts.

All sums are in floats, and the bound is lowered by more than these can be wrong by.
"""

from __future__ import annotations

import math

import numpy as np

from hetdp.mechanism.average.rows import Rows
from hetdp.problem.space import Floats

ROUNDS = 300
LITTLE = 1e-13  # of the total cost; less than that is not worth another round
SAFE = 1.0 - 1e-15
ROUNDING = 2.0**-48  # relative; more than what coefficients, products and sums are rounded by


def lower_bound(cost: Floats, lower: Floats, upper: Floats, rows: Rows, prices: Floats) -> float:
    """The best bound found; −inf never, since with all prices 0 the bounds of x are a bound, too."""
    count, y = len(cost), prices
    worth_it = LITTLE * float(np.abs(cost).sum())
    best = _value(cost, np.abs(cost), lower, upper, 0.0)
    owed = np.maximum(-cost, 0.0)
    for _ in range(ROUNDS):
        given, taken = np.maximum(cost, 0.0), owed.copy()
        for end, coefficient in ((rows.first, rows.a), (rows.second, rows.b)):
            flow = coefficient * y
            given = given + np.bincount(end, np.maximum(flow, 0.0), count)
            taken = taken + np.bincount(end, np.maximum(-flow, 0.0), count)
        reduced = given - taken
        paid = (y * rows.limit)[y > 0.0]
        most_paid = math.fsum(paid) + ROUNDING * math.fsum(np.abs(paid))
        best = max(best, _value(reduced, given + taken, lower, upper, most_paid))
        short = (reduced < 0.0) & (taken > owed)
        if float(np.sum(-reduced[short] * upper[short])) <= worth_it:
            break
        share = np.ones(count)
        share[short] = SAFE * np.maximum(given[short] - owed[short], 0.0) / (taken[short] - owed[short])
        y = y * np.minimum(
            np.where(rows.a < 0.0, share[rows.first], 1.0), np.where(rows.b < 0.0, share[rows.second], 1.0)
        )
    return best


def _value(reduced: Floats, size: Floats, lower: Floats, upper: Floats, paid: float) -> float:
    """Σ min(d·lower, d·upper) − paid, where d may be smaller than `reduced` by a rounding of numbers of that size."""
    least = reduced - ROUNDING * size
    terms = (least * np.where(least < 0.0, upper, lower))[least != 0.0]
    return math.fsum(terms) - ROUNDING * math.fsum(np.abs(terms)) - paid

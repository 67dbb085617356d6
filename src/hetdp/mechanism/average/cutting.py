"""The linear program of a curved bound: solved, cut where it exceeds the curve, solved again."""

from __future__ import annotations

import numpy as np

from hetdp.mechanism.average.bound import lower_bound
from hetdp.mechanism.average.rows import joined
from hetdp.mechanism.average.solver import Solver
from hetdp.mechanism.average.tangents import Tangents
from hetdp.problem.space import Floats

ROUNDS = 60
LIKELY = 0.3  # tangents with less room than this, under the reference, are there from the start
NEAR = 1e-3  # tangents with more room than this, and without a price, are left behind


def solved_by_tangents(
    tangents: Tangents, reference: Floats, cost: Floats, lower: Floats, upper: Floats, gain: float
) -> tuple[Floats, float]:
    """The columns of a minimum, up to what a tolerance and the last round leave open, and a bound on that minimum.

    Args:
        tangents: of all arcs between the columns.
        reference: z of each column, where the first tangents touch.
        cost: of each column.
        lower: of each column.
        upper: of each column.
        gain: a round after which the minimum is larger by less than this is the last one.
    """
    if not len(cost):
        return cost, 0.0
    rows = tangents.touching(reference)
    rows = rows.take(np.flatnonzero(rows.excess(np.ones(len(cost))) >= -LIKELY))
    x, least, before = np.ones(len(cost)), -np.inf, -np.inf
    for _ in range(ROUNDS):
        solver = Solver(cost, lower, upper)
        solver.add(rows)
        found = solver.solve()
        if not found.solved:
            break
        x = np.clip(found.x, lower, upper)
        least = max(least, lower_bound(cost, lower, upper, rows, found.prices))
        fresh, value = tangents.exceeded(x), float(np.sum(cost * x))
        if not len(fresh.a) or value - before <= gain:
            break
        before = value
        rows = joined([rows.take(np.flatnonzero((found.prices > 0.0) | (rows.excess(x) > -NEAR))), fresh])
    return x, least

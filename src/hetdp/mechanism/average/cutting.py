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
NEAR_ENOUGH = 1e-8  # in z; so little is lost where values are made private afterwards
NEAR = 1e-3  # tangents with more room than this, and without a price, are left behind


def solved_by_tangents(
    tangents: Tangents,
    reference: Floats,
    cost: Floats,
    lower: Floats,
    upper: Floats,
    lowest: Floats,
    highest: Floats,
    gain: float,
) -> tuple[Floats, float]:
    """The columns of a minimum, up to what a tolerance and the last round leave open, and a bound on that minimum.

    Args:
        tangents: of all arcs between the columns.
        reference: z of each column, where the first tangents touch.
        cost: of each column.
        lower: of each column, in the solution.
        upper: of each column, in the solution.
        lowest: of each column, for the bound.
        highest: of each column, for the bound.
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
        least = max(least, lower_bound(cost, lowest, highest, rows, found.prices))
        fresh, value = tangents.exceeded(x), float(np.sum(cost * x))
        stalls = value - before <= gain
        if not len(fresh.a) or (stalls and tangents.excess(x) <= NEAR_ENOUGH):
            break
        before = value
        if not stalls:  # else what is left behind might come back for ever
            rows = rows.take(np.flatnonzero((found.prices > 0.0) | (rows.excess(x) > -NEAR)))
        rows = joined([rows, fresh])
    return x, least

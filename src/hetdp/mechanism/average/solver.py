"""Solves linear programs with HiGHS, and computes a proved lower bound on their minimum from any prices of the rows.

For rows A·x ≤ limit, bounds lower ≤ x ≤ upper and prices y ≥ 0, every feasible x has

    cost·x  ≥  cost·x + y·(A·x − limit)  ≥  Σ min(d·lower, d·upper) − y·limit,   d = cost + Aᵀ·y,

for every y. A solver's prices are right up to a tolerance. If d is slightly below 0 and `upper` is large, as for a
tail, the bound loses much. So the prices of rows that draw on such a column are lowered until d is no longer negative,
then those of rows that depend on these, and so on. Each round gives a valid bound, and the best one counts.

All sums are in floats, and the bound is lowered by more than their largest possible error.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hetdp.interrupts import delay_interrupts
from hetdp.problem.space import Floats, Indices

ROUNDS = 300
LEAST_GAIN = 1e-13  # of the total cost; a smaller gain is not worth another round
SAFETY_FACTOR = 1.0 - 1e-15
ROUNDING = 2.0**-48  # relative; larger than the rounding errors of coefficients, products and sums


class Rows(NamedTuple):
    """Rows  a·x[first] + b·x[second] ≤ limit, each divided by its largest coefficient."""

    first: Indices
    second: Indices
    a: Floats
    b: Floats
    limit: Floats

    def excess(self, x: Floats) -> Floats:
        """The amount by which each row is violated; negative where it has slack."""
        return np.asarray(self.a * x[self.first] + self.b * x[self.second] - self.limit)

    def take(self, which: Indices) -> Rows:
        """A selection of the rows."""
        return Rows(*(column[which] for column in self))


def concatenate_rows(parts: Iterable[Rows]) -> Rows:
    """Concatenates rows."""
    ends, numbers = np.zeros(0, dtype=np.int32), np.zeros(0)
    found = [Rows(ends, ends, numbers, numbers, numbers), *parts]
    return Rows(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def lower_bound(cost: Floats, lower: Floats, upper: Floats, rows: Rows, prices: Floats) -> float:
    """The best bound found; never −inf, since prices of 0 give the bound that follows from the bounds of x."""
    count, y = len(cost), prices
    worth_it = LEAST_GAIN * float(np.abs(cost).sum())
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
        share[short] = SAFETY_FACTOR * np.maximum(given[short] - owed[short], 0.0) / (taken[short] - owed[short])
        y = y * np.minimum(
            np.where(rows.a < 0.0, share[rows.first], 1.0), np.where(rows.b < 0.0, share[rows.second], 1.0)
        )
    return best


def _value(reduced: Floats, size: Floats, lower: Floats, upper: Floats, paid: float) -> float:
    """Σ min(d·lower, d·upper) − paid, where d may be below `reduced` by the rounding error of numbers of that size."""
    least = reduced - ROUNDING * size
    terms = (least * np.where(least < 0.0, upper, lower))[least != 0.0]
    return math.fsum(terms) - ROUNDING * math.fsum(np.abs(terms)) - paid


# HiGHS, with rows that are added as needed ----------------------------------------------------------------------------


TOLERANCE = 1e-9
MANY_ROWS = 4  # per column; with more, the interior point method is faster than the simplex method
LARGEST_VARIABLE = 1e8  # keeps a variable finite until the row that bounds it is added
FEW_COLUMNS = 500  # up to this many, the simplex method is fast and exact
OPTIONS: dict[str, str | float | bool] = {
    "output_flag": False,
    "threads": 1,
    "random_seed": 0,
    "run_crossover": "off",  # values are closed afterwards, and the bound is computed from any duals
    "primal_feasibility_tolerance": TOLERANCE,
    "dual_feasibility_tolerance": TOLERANCE,
    "ipm_optimality_tolerance": 1e-8,  # on the objective; far below what is asked of the gap
    "small_matrix_value": 1e-12,
}
INTERIOR: dict[str, str | int] = {"solver": "ipm", "presolve": "off"}  # presolve doubles the time
SIMPLEX: dict[str, str | int] = {  # Devex: twice as fast here
    "solver": "simplex",
    "presolve": "off",
    "simplex_dual_edge_weight_strategy": 1,
}
PRESOLVED_INTERIOR: dict[str, str | int] = {"solver": "ipm", "presolve": "on"}
PRESOLVED_SIMPLEX: dict[str, str | int] = {
    "solver": "simplex",
    "presolve": "on",
    "simplex_dual_edge_weight_strategy": 2,
}
INTERIOR_FIRST = (INTERIOR, PRESOLVED_INTERIOR, SIMPLEX, PRESOLVED_SIMPLEX)  # in turn, until one succeeds
SIMPLEX_FIRST = (SIMPLEX, PRESOLVED_SIMPLEX, PRESOLVED_INTERIOR)
ROUGH_TOLERANCE = 1e-2
CHECK_SECONDS = 0.1  # between checks whether Ctrl-C was pressed


def has_many_rows(rows: int, columns: int, many: int = MANY_ROWS) -> bool:
    """True if there are so many rows per column that the interior point method is the faster one."""
    return columns > FEW_COLUMNS and rows > many * columns


@dataclass(frozen=True)
class Solution:
    """The result of the solver.

    Attributes:
        x: the value of each column.
        prices: for each row, in order of addition, the decrease of the objective per unit of its limit; never negative.
        solved: True if the solver reports an optimum.
    """

    x: Floats
    prices: Floats
    solved: bool


class Solver:
    """Minimises cost·x between bounds, subject to rows that can be added."""

    def __init__(self, cost: Floats, lower: Floats, upper: Floats) -> None:
        with delay_interrupts():
            import highspy
        self._library: Any = highspy
        self._highs = self._library.Highs()
        self._highs.HandleUserInterrupt = True
        self._set(OPTIONS)
        count = len(cost)
        farthest = np.where(cost < 0.0, np.minimum(upper, np.maximum(LARGEST_VARIABLE, lower)), upper)
        self._highs.addVars(count, lower, farthest)
        self._highs.changeColsCost(count, np.arange(count, dtype=np.int32), cost)

    def add(self, rows: Rows) -> None:
        """Adds rows."""
        count = len(rows.a)
        ends = np.stack([rows.first, rows.second], axis=1).astype(np.int32).ravel()
        values = np.stack([rows.a, rows.b], axis=1).ravel()
        starts = np.arange(0, 2 * count, 2, dtype=np.int32)
        self._highs.addRows(count, np.full(count, -np.inf), rows.limit, 2 * count, starts, ends, values)

    def solve(self, interior: bool) -> Solution:
        """The optimum under the rows so far, by interior points or by the simplex method from its last optimum."""
        for method in INTERIOR_FIRST if interior else SIMPLEX_FIRST:
            self._set(method)
            self._run()
            if self._is_solved():
                break
            self._highs.clearSolver()  # so that the next method starts afresh
        found = self._highs.getSolution()
        prices = -np.asarray(found.row_dual, dtype=np.float64)
        return Solution(np.asarray(found.col_value, dtype=np.float64), np.maximum(prices, 0.0), self._is_solved())

    def solve_roughly(self) -> Floats:
        """Values near the optimum under the rows so far, by the first interior points. Nothing is proved by them."""
        self._set(INTERIOR | {name: ROUGH_TOLERANCE for name in OPTIONS if name.endswith("_tolerance")})
        self._run()
        return np.asarray(self._highs.getSolution().col_value, dtype=np.float64)

    def _set(self, options: Mapping[str, str | float | bool]) -> None:
        for name, value in options.items():
            self._highs.setOptionValue(name, value)

    def _is_solved(self) -> bool:
        return bool(self._highs.getModelStatus() == self._library.HighsModelStatus.kOptimal)

    def _run(self) -> None:
        """Runs the solver in a thread, so that Ctrl-C is handled meanwhile and stops it."""
        begun, ended = threading.Event(), threading.Event()  # an interrupted `join` treats the thread as ended

        def work() -> None:
            begun.set()
            try:
                self._highs.run()
            finally:
                ended.set()

        try:
            threading.Thread(target=work, daemon=True).start()
            while not ended.wait(CHECK_SECONDS):  # a signal that comes just before Python waits does not wake it
                pass
        except BaseException:
            self._highs.cancelSolve()
            if begun.wait(1.0):  # False if the interrupt came before the thread started
                ended.wait()
            raise

"""Linear programs by HiGHS: nothing but the four initial DP conditions, the pins, and what is to be maximised.

Many problems are stacked into one block-diagonal program, so that a thousand of them cost one call.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from tests.oracle.literal import IncompatibleError
from tests.oracle.random_problems import SmallProblem

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
Row = tuple[dict[int, float], float]


def number_columns(problems: Sequence[SmallProblem]) -> list[dict[Hashable, int]]:
    """Assigns a column to every dataset of every problem."""
    columns, first = [], 0
    for problem in problems:
        columns.append({v: first + i for i, v in enumerate(problem.answers)})
        first += len(problem.answers)
    return columns


def conditions(problem: SmallProblem, column: dict[Hashable, int]) -> list[Row]:
    """Each direction of an edge as two rows  coefficients · p ≤ right-hand side."""
    rows: list[Row] = []
    for a, b, epsilon, delta in problem.promises:
        w, u, v = math.exp(epsilon), column[a], column[b]
        rows.append(({u: 1.0, v: -w}, delta))  # p(u) ≤ w·p(v) + δ
        rows.append(({u: -1.0, v: w}, w - 1.0 + delta))  # 1 − p(u) ≤ w·(1 − p(v)) + δ
    return rows


def solve(cost: Sequence[float], rows: list[Row], bounds: list[tuple[float, float]]) -> np.ndarray:
    """A minimiser, or IncompatibleError if there is no feasible point."""
    if not cost:
        return np.zeros(0)
    entries = [(i, j, x) for i, (row, _) in enumerate(rows) for j, x in row.items()]
    matrix = right = None
    if rows:
        i, j, x = zip(*entries, strict=True)
        matrix = csr_array((x, (i, j)), shape=(len(rows), len(cost)))
        right = np.array([limit for _, limit in rows])
    found = linprog(cost, A_ub=matrix, b_ub=right, bounds=bounds, method="highs", options=TIGHT)
    if found.status == 2:
        raise IncompatibleError
    assert found.status == 0, found.message
    return found.x


def optima(problems: Sequence[SmallProblem]) -> list[dict[Hashable, float]]:
    """Maximise p where the answer is 1 and 1 − p where it is 2, in all problems at once."""
    columns = number_columns(problems)
    cost = [1.0 if answer == 2 else -1.0 for problem in problems for answer in problem.answers.values()]
    bounds = [
        (problem.pins[v], problem.pins[v]) if v in problem.pins else (0.0, 1.0)
        for problem in problems
        for v in problem.answers
    ]
    rows = [row for problem, column in zip(problems, columns, strict=True) for row in conditions(problem, column)]
    x = solve(cost, rows, bounds)
    return [{v: float(x[j]) for v, j in column.items()} for column in columns]


def optimum(problem: SmallProblem) -> dict[Hashable, float]:
    """The best private p with the given pins."""
    return optima([problem])[0]


def distances(problems: Sequence[SmallProblem]) -> list[float]:
    """How far the pins of each problem must move (largest move, in p) before a private mechanism exists."""
    columns = number_columns(problems)
    first = sum(len(column) for column in columns)
    rows: list[Row] = []
    for slack, (problem, column) in enumerate(zip(problems, columns, strict=True), start=first):
        rows += conditions(problem, column)
        for v, p in problem.pins.items():
            rows += [({column[v]: 1.0, slack: -1.0}, p), ({column[v]: -1.0, slack: -1.0}, -p)]
    x = solve([0.0] * first + [1.0] * len(problems), rows, [(0.0, 1.0)] * (first + len(problems)))
    return [float(move) for move in x[first:]]


def least_worst_errors(problems: Sequence[SmallProblem]) -> list[float]:
    """The smallest worst error over all datasets that a private mechanism with the given pins has, for each problem."""
    columns = number_columns(problems)
    first = sum(len(column) for column in columns)
    rows: list[Row] = []
    bounds = [(0.0, 1.0)] * (first + len(problems))
    for worst, (problem, column) in enumerate(zip(problems, columns, strict=True), start=first):
        rows += conditions(problem, column)
        for v, answer in problem.answers.items():
            sign = 1.0 if answer == 2 else -1.0
            rows.append(({column[v]: sign, worst: -1.0}, 0.0 if answer == 2 else -1.0))
            if v in problem.pins:
                bounds[column[v]] = (problem.pins[v], problem.pins[v])
    x = solve([0.0] * first + [1.0] * len(problems), rows, bounds)
    return [float(error) for error in x[first:]]

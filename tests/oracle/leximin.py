"""The fair mechanism by its definition: make the worst error as small as possible, fix whoever must have it, go on.

Each round is one linear program for all problems at once. A dataset whose condition "error ≤ worst" has a price in the
program has exactly that error in every optimum, and at least one has a price, so there are as many rounds as datasets.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from tests.oracle.linear import TIGHT, Row, conditions, number_columns
from tests.oracle.random_problems import SmallProblem, on_graph, random_edges, random_private

PRICE = 1e-7
TOLERANCE = 1e-13


def fair(problems: Sequence[SmallProblem]) -> list[dict[Hashable, float]]:
    """The errors of the fair mechanism with the given pins, for each problem."""
    fixed = [{v: p if problem.answers[v] == 2 else 1.0 - p for v, p in problem.pins.items()} for problem in problems]
    todo = [number for number, problem in enumerate(problems) if problem.free]
    while todo:
        worst, prices = one_round([problems[i] for i in todo], [fixed[i] for i in todo])
        for number, least, priced in zip(todo, worst, prices, strict=True):
            if least < TOLERANCE:
                priced = [v for v in problems[number].answers if v not in fixed[number]]
            fixed[number] |= dict.fromkeys(priced, max(least, 0.0))
        todo = [number for number in todo if len(fixed[number]) < len(problems[number].answers)]
    return fixed


def one_round(problems: Sequence[SmallProblem], fixed: Sequence[dict[Hashable, float]]) -> tuple[list[float], list]:
    """The least worst error of what is not fixed yet, and who must have it."""
    columns = number_columns(problems)
    first = sum(len(column) for column in columns)
    rows: list[Row] = []
    bounds = [(0.0, 1.0)] * first + [(0.0, 1.0)] * len(problems)
    owners: dict[int, tuple[int, Hashable]] = {}
    for number, (problem, column, known) in enumerate(zip(problems, columns, fixed, strict=True)):
        rows += conditions(problem, column)
        for v, answer in problem.answers.items():
            at, sign = column[v], 1.0 if answer == 2 else -1.0
            if v in problem.pins:
                bounds[at] = (problem.pins[v], problem.pins[v])
            elif v in known:
                bounds[at] = (0.0, known[v]) if answer == 2 else (1.0 - known[v], 1.0)
            else:
                owners[len(rows)] = number, v
                rows.append(({at: sign, first + number: -1.0}, 0.0 if answer == 2 else -1.0))
    i, j, x = zip(*((i, j, x) for i, (row, _) in enumerate(rows) for j, x in row.items()), strict=True)
    matrix = csr_array((x, (i, j)), shape=(len(rows), len(bounds)))
    cost = np.concatenate([np.zeros(first), np.ones(len(problems))])
    right = np.array([limit for _, limit in rows])
    found = linprog(cost, A_ub=matrix, b_ub=right, bounds=bounds, method="highs-ds", options=TIGHT)
    assert found.status == 0, found.message
    prices: list[list[Hashable]] = [[] for _ in problems]
    for row, (number, v) in owners.items():
        if found.ineqlin.marginals[row] < -PRICE:
            prices[number].append(v)
    return found.x[first:].tolist(), prices


def fair_problems(seed: int, count: int, max_size: int = 7) -> Iterator[SmallProblem]:
    """Random problems, half of them with a few pins that fit with room to spare, on either side of ½, anywhere."""
    rng = random.Random(seed)
    for number in range(count):
        size = rng.randint(1, max_size)
        problem = on_graph(rng, size, random_edges(rng, size, rng.choice([0.2, 0.45, 0.8])))
        if rng.random() < 0.7:  # answers that touch in many places
            problem = replace(problem, answers={v: rng.choice((1, 2)) for v in problem.answers})
        if number % 2:
            yield problem
            continue
        p = {v: x if x in (0.0, 1.0) else 0.05 + 0.9 * x for v, x in random_private(rng, problem).items()}
        share = rng.choice([0.15, 0.4])
        yield replace(problem, pins={v: p[v] for v in p if rng.random() < share})


def has_odd_epsilon(problem: SmallProblem) -> bool:
    """Whether some ε is 0 and some is infinite."""
    return {0.0, math.inf} <= {epsilon for *_, epsilon in problem.edges}

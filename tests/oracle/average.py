"""The best average by one plain linear program for many problems at once, and the problems to try it on."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from tests.oracle.leximin import fair, fair_problems
from tests.oracle.linear import Row, conditions, numbered, solve
from tests.oracle.random_problems import SmallProblem


@dataclass(frozen=True)
class Wish:
    """A problem, the weight of each dataset, and what the error of no free dataset may exceed."""

    problem: SmallProblem
    weights: dict[Hashable, float]
    max_error: float | None = None


def wishes(seed: int, count: int) -> Iterator[Wish]:
    """Random weights, many of them zero or tiny; and for some a largest error that can be had, often only just."""
    rng = random.Random(seed)
    problems = list(fair_problems(seed, count))
    for problem, errors in zip(problems, fair(problems), strict=True):
        weights = {v: rng.choice([0.0, 1e-9, 1.0, rng.random(), 50.0]) for v in problem.answers}
        if not any(weights.values()):
            weights[next(iter(weights))] = 2.0
        worst = max((errors[v] for v in problem.free), default=0.0)
        wish = rng.choice([None, min(1.0, worst + 1e-9), min(1.0, worst * 1.1 + 0.01)])
        yield Wish(problem, weights, wish)


def least_mean_errors(given: Sequence[Wish]) -> list[float]:
    """The smallest mean error of each, by nothing but the conditions."""
    problems = [wish.problem for wish in given]
    columns, cost, bounds = numbered(problems), [], []
    rows: list[Row] = []
    for wish, column in zip(given, columns, strict=True):
        rows += conditions(wish.problem, column)
        total = sum(wish.weights.values())
        for v, answer in wish.problem.answers.items():
            cost.append(wish.weights[v] / total * (1.0 if answer == 2 else -1.0))
            worst = 1.0 if wish.max_error is None else wish.max_error
            pin = wish.problem.pins.get(v)
            free = (0.0, worst) if answer == 2 else (1.0 - worst, 1.0)
            bounds.append(free if pin is None else (pin, pin))
    x = solve(cost, rows, bounds)
    found = []
    for wish, column in zip(given, columns, strict=True):
        error = {v: x[at] if wish.problem.answers[v] == 2 else 1.0 - x[at] for v, at in column.items()}
        found.append(sum(w * error[v] for v, w in wish.weights.items()) / sum(wish.weights.values()))
    return found

"""The best average by one plain linear program for many problems at once, and the problems to try it on."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from tests.oracle.leximin import fair, fair_problems
from tests.oracle.linear import Row, conditions, number_columns, solve
from tests.oracle.random_problems import SmallProblem


@dataclass(frozen=True)
class AverageRequest:
    """A problem, the weight of each dataset, and the largest error allowed at free datasets."""

    problem: SmallProblem
    weights: dict[Hashable, float]
    max_error: float | None = None


def average_requests(seed: int, count: int) -> Iterator[AverageRequest]:
    """Requests with random weights, many zero or tiny; some have a largest error that is only just reachable."""
    rng = random.Random(seed)
    problems = list(fair_problems(seed, count))
    for problem, errors in zip(problems, fair(problems), strict=True):
        weights = {v: rng.choice([0.0, 1e-9, 1.0, rng.random(), 50.0]) for v in problem.answers}
        if not any(weights.values()):
            weights[next(iter(weights))] = 2.0
        worst = max((errors[v] for v in problem.free), default=0.0)
        max_error = rng.choice([None, min(1.0, worst + 1e-9), min(1.0, worst * 1.1 + 0.01)])
        yield AverageRequest(problem, weights, max_error)


def least_mean_errors(requests: Sequence[AverageRequest]) -> list[float]:
    """The smallest mean error of each request, by a linear program of the conditions alone."""
    problems = [request.problem for request in requests]
    columns, cost, bounds = number_columns(problems), [], []
    rows: list[Row] = []
    for request, column in zip(requests, columns, strict=True):
        rows += conditions(request.problem, column)
        total = sum(request.weights.values())
        for v, answer in request.problem.answers.items():
            cost.append(request.weights[v] / total * (1.0 if answer == 2 else -1.0))
            worst = 1.0 if request.max_error is None else request.max_error
            pin = request.problem.pins.get(v)
            free = (0.0, worst) if answer == 2 else (1.0 - worst, 1.0)
            bounds.append(free if pin is None else (pin, pin))
    x = solve(cost, rows, bounds)
    found = []
    for request, column in zip(requests, columns, strict=True):
        error = {v: x[at] if request.problem.answers[v] == 2 else 1.0 - x[at] for v, at in column.items()}
        found.append(sum(w * error[v] for v, w in request.weights.items()) / sum(request.weights.values()))
    return found

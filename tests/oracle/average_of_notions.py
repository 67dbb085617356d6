"""The best average for other notions than pure, by plain linear programs, and the problems to try it on."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

import hetdp
from tests.oracle.linear import Row, solve

NORMAL = NormalDist()
ROUNDS = 12
Bound = Callable[[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Case:
    """A problem with weights, given values, and the largest error allowed at free datasets."""

    problem: hetdp.Problem
    pins: dict[int, float]
    max_error: float | None


def cases(seed: int, count: int, notion: Any) -> Iterator[Case]:
    """Random graphs with values of some private mechanism and a largest error that can often only just be reached."""
    rng = random.Random(f"{seed} {notion}")
    for _ in range(count):
        problem = random_problem(rng, notion)
        pins: dict[int, float] = {}
        if rng.random() < 0.4:
            other = hetdp.Problem(problem.graph, [rng.choice([1, 2]) for _ in problem.answers], notion)
            certain = 1e-3 if notion in CURVES else -1.0  # a curve starts so steeply that a solver sees nothing there
            given = dict(hetdp.design(other)).items()
            pins = {v: p for v, p in given if certain < p < 1.0 - certain and rng.random() < 0.3}
        fair = hetdp.design(problem, "fair", pins)
        worst = max((error for v, error in enumerate(fair.errors.tolist()) if v not in pins), default=0.0)
        limit = rng.choice([None, None, min(1.0, worst + 1e-9), min(1.0, worst * 1.1 + 0.01)])
        yield Case(problem, pins, limit)


def random_problem(rng: random.Random, notion: Any) -> hetdp.Problem:
    size = rng.randint(2, 8)
    density = rng.choice([0.3, 0.6, 0.9])
    pairs = [(u, v) for v in range(size) for u in range(v) if rng.random() < density] or [(0, 1)]
    largest = rng.choice([0.5, 2.0, 4.0])

    def epsilon() -> float:
        return rng.choice([0.0, math.inf, 1e-6, 6.0]) if rng.random() < 0.15 else rng.uniform(0.01, largest)

    def delta() -> float:
        return rng.choice([0.0, 1.0, 1e-10, 1e-5]) if rng.random() < 0.3 else rng.uniform(0.0, rng.choice([0.01, 0.3]))

    names = {"approximate": ("epsilon", "epsilon_back", "delta", "delta_back"), "directed": ("epsilon", "epsilon_back")}
    parameters: dict[str, Any] = {
        name: [delta() if "delta" in name else epsilon() for _ in pairs]
        for name in names.get(notion, ("mu",) if notion == "gaussian" else ("epsilon",))
    }
    source, target = zip(*pairs, strict=True)
    graph = hetdp.DatasetGraph.from_edges(source, target, datasets=range(size), **parameters)
    weights = [rng.choice([0.0, 1e-9, 1.0, rng.random(), 50.0]) for _ in range(size)]
    answers = [rng.choice([1, 2]) for _ in range(size)]
    return hetdp.Problem(graph, answers, notion, weights=weights if any(weights) else [1.0] * size)


def least_mean_errors(given: Sequence[Case]) -> list[float]:
    """A lower bound on the mean error of each; for linear notions the minimum, for curved ones close to it."""
    first = np.cumsum([0, *(case.problem.graph.size for case in given)]).tolist()
    cost, bounds, constants = [], [], []
    for case in given:
        weights = np.asarray(case.problem.weights)
        weights = weights / weights.sum()
        worst = 1.0 if case.max_error is None else case.max_error
        for v, answer in enumerate(case.problem.answers.tolist()):
            cost.append(float(weights[v]) * (1.0 if answer == 2 else -1.0))
            free = (0.0, worst) if answer == 2 else (1.0 - worst, 1.0)
            bounds.append((case.pins[v], case.pins[v]) if v in case.pins else free)
        constants.append(float(weights[case.problem.answers == 1].sum()))
    arcs = [
        (start + u, start + v, tuple(parameters), case.problem.notion.name)
        for start, case in zip(first[:-1], given, strict=True)
        for block in case.problem.graph.edge_blocks()
        for u, v, *parameters in zip(*(x.tolist() for x in (*block[:2], *block.parameters)), strict=True)
    ]
    rows = [row for arc in arcs for row in _rows(*arc)]
    x = solve(cost, rows, bounds)
    for _ in range(ROUNDS if any(name in CURVES for *_, name in arcs) else 0):
        rows += [row for u, v, shift, name in arcs if shift[0] < math.inf for row in _touching(u, v, shift[0], name, x)]
        x = solve(cost, rows, bounds)
    return [
        float(np.dot(cost[start:end], x[start:end])) + constant
        for start, end, constant in zip(first[:-1], first[1:], constants, strict=True)
    ]


def _rows(u: int, v: int, parameters: tuple[float, ...], notion: Any) -> list[Row]:
    epsilon, delta = parameters[0], parameters[2] if notion == "approximate" else 0.0
    if epsilon == math.inf or delta >= 1.0:
        return []
    if notion in CURVES:
        return [row for at in range(1, 20) for row in _tangent(u, v, at / 20, epsilon, CURVES[notion])]
    w = math.exp(epsilon)
    return [({u: 1.0, v: -w}, delta), ({u: -1.0, v: w}, w - 1.0 + delta)]


def _touching(u: int, v: int, shift: float, notion: Any, x: np.ndarray) -> list[Row]:
    """The tangents at the source and at the target, if the solution exceeds the curve."""
    curve = CURVES[notion]
    if x[v] <= curve(float(x[u]), shift)[0] + 1e-9:
        return []
    return [
        row for a in (float(x[u]), 1.0 - curve(1.0 - float(x[v]), shift)[0]) for row in _tangent(u, v, a, shift, curve)
    ]


def _tangent(u: int, v: int, a: float, shift: float, curve: Bound) -> list[Row]:
    """None where it is so steep, or so flat, that a solver takes a coefficient for zero."""
    value, slope = curve(a, shift)
    return [({v: 1.0, u: -slope}, value - slope * a)] if 1e-6 < slope < 1e6 else []


def _gaussian(p: float, mu: float) -> tuple[float, float]:
    if not 0.0 < p < 1.0:
        return p, 0.0
    moved = NORMAL.inv_cdf(p) + mu
    return NORMAL.cdf(moved), NORMAL.pdf(moved) / NORMAL.pdf(moved - mu)


def _bounded_range(p: float, epsilon: float) -> tuple[float, float]:
    w = math.exp(epsilon)
    return w * p / (1.0 + (w - 1.0) * p), w / (1.0 + (w - 1.0) * p) ** 2


CURVES: dict[str, Bound] = {"gaussian": _gaussian, "bounded-range": _bounded_range}

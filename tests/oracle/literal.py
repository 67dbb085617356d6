"""Algorithms 1 and 2 line by line, in plain p; `as_printed=True` keeps the paper's misprints.

Letters as in the paper: u ∈ S a pinned dataset, α = p(u), A_{u,α}(v) the strongest induced condition of u on v.
"""

from __future__ import annotations

import math
from collections.abc import Hashable

from tests.oracle.random_problems import SmallProblem

TOLERANCE = 1e-9


class IncompatibleError(Exception):
    """Algorithm 2, line 2: no ε(·)-DP extension of p exists."""


def one_edge(x: float, epsilon: float) -> float:
    """U over a single edge: the smaller of e^ε·x and (x − 1 + e^ε)/e^ε."""
    w = math.exp(epsilon)
    return min(w * x, 1 - (1 - x) / w)


def neighbourhoods(problem: SmallProblem) -> dict[Hashable, dict[Hashable, float]]:
    """N(v) with ε for each neighbour; edges with ε = ∞ are no edges."""
    near: dict[Hashable, dict[Hashable, float]] = {v: {} for v in problem.answers}
    for u, v, epsilon in problem.finite_edges:
        near[u][v] = near[v][u] = epsilon
    return near


def algorithm_1(problem: SmallProblem, u: Hashable, alpha: float, as_printed: bool = False) -> dict[Hashable, float]:
    """A_{u,α}, in the order of settling. Corrected: where nothing more can be reached, 1 is the only upper bound."""
    near = neighbourhoods(problem)
    settled = {u}
    bound = {u: alpha}
    while len(settled) < len(near):
        best: dict[Hashable, float] = {}
        for v in near:
            through = settled & near[v].keys()
            if v not in settled and through:
                best[v] = min(one_edge(bound[w], near[v][w]) for w in through)
        if not best and not as_printed:
            return bound | {v: 1.0 for v in near if v not in bound}
        chosen = min(best, key=lambda v: best[v])
        bound[chosen] = best[chosen]
        settled.add(chosen)
    return bound


def compatible(problem: SmallProblem, as_printed: bool = False, tolerance: float = TOLERANCE) -> bool:
    """Definition 10. As printed the bound is taken at u instead of v; the path then ends where it begins."""
    for u, alpha in problem.pins.items():
        bound = algorithm_1(problem, u, alpha)
        for v, given in problem.pins.items():
            if u != v and given > (bound[u] if as_printed else bound[v]) + tolerance:
                return False
    return True


def algorithm_2(problem: SmallProblem, as_printed: bool = False) -> dict[Hashable, float]:
    """The extension p̃, or IncompatibleError. As printed, datasets with answer 2 lack the "1 −"."""
    if not compatible(problem):
        raise IncompatibleError
    upper = [algorithm_1(problem, u, p) for u, p in problem.pins.items()]
    mirrored = [algorithm_1(problem, u, 1 - p) for u, p in problem.pins.items()]
    extended = dict(problem.pins)
    for v in problem.free:
        if problem.answers[v] == 1:
            extended[v] = min((bound[v] for bound in upper), default=1.0)
        else:
            least = min((bound[v] for bound in mirrored), default=1.0)
            extended[v] = least if as_printed else 1 - least
    return {v: extended[v] for v in problem.answers}


def worst_violation(problem: SmallProblem, p: dict[Hashable, float]) -> float:
    """By how much the worst of the four initial DP conditions of Definition 8 fails; ≤ 0 means private."""
    worst = -math.inf
    for u, v, epsilon in problem.finite_edges:
        w = math.exp(epsilon)
        for x, y in ((p[u], p[v]), (p[v], p[u])):
            worst = max(worst, x - w * y, (1 - x) - w * (1 - y))
    return worst


def path_as_printed(alpha: float, epsilons: list[float]) -> list[float]:
    """Theorem 3 as printed: τ is the least i in 1 … n that qualifies, ε_n never exists, nothing caps the result."""
    n = len(epsilons)
    qualifying = [i for i in range(1, n) if 1 / alpha <= math.exp(sum(epsilons[:i])) * (math.exp(epsilons[i]) + 1)]
    return path_with_turn(alpha, epsilons, min(qualifying, default=n))


def path_corrected(alpha: float, epsilons: list[float]) -> list[float]:
    """Theorem 3 with τ searched from 0, τ = n where no index qualifies, and 0 everywhere for α = 0."""
    n = len(epsilons)
    qualifying = [i for i in range(n) if alpha * math.exp(sum(epsilons[:i])) * (math.exp(epsilons[i]) + 1) >= 1]
    return path_with_turn(alpha, epsilons, min(qualifying, default=n))


def path_with_turn(alpha: float, epsilons: list[float], tau: int) -> list[float]:
    """The two regimes of Theorem 3 for a given τ."""
    rising = [math.exp(sum(epsilons[:i])) * alpha for i in range(tau + 1)]
    fall = [math.exp(-sum(epsilons[tau:i])) for i in range(tau + 1, len(epsilons) + 1)]
    return rising + [x * rising[-1] + 1 - x for x in fall]


def corollary(alpha: float, epsilon: float, n: int, as_printed: bool = False) -> list[float]:
    """The homogeneous path: one ε, n edges."""
    tau = math.ceil(math.log(1 / (alpha * (1 + math.exp(epsilon)))) / epsilon)
    tau = tau if as_printed else max(0, tau)
    sign = 1 if as_printed else -1
    rising = {i: math.exp(i * epsilon) * alpha for i in range(n + 1)}
    fall = {
        i: 1 - math.exp(sign * (i - tau) * epsilon) + math.exp((2 * tau - i) * epsilon) * alpha for i in range(n + 1)
    }
    return [rising[i] if i <= tau else fall[i] for i in range(n + 1)]

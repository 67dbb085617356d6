"""All simple paths, one after the other: feasible for up to seven datasets or so.

A path that visits a dataset twice binds no more than the one without the loop, since no bound shrinks on its way.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

from tests.oracle.literal import IncompatibleError, neighbourhoods, one_edge
from tests.oracle.random_problems import SmallProblem

Path = tuple[Hashable, ...]


def simple_paths(near: dict[Hashable, dict[Hashable, float]], path: Path) -> Iterator[Path]:
    """Every simple path that starts with the given one."""
    yield path
    for v in near[path[-1]]:
        if v not in path:
            yield from simple_paths(near, (*path, v))


def along(alpha: float, epsilons: Sequence[float]) -> float:
    """U_{ρ,α} at the end of a path with these ε, one edge at a time."""
    for epsilon in epsilons:
        alpha = one_edge(alpha, epsilon)
    return alpha


def induced_bounds(problem: SmallProblem, u: Hashable, alpha: float) -> dict[Hashable, float]:
    """min over all (u, v)-paths of U_{ρ,α}(v), for every v; 1 where there is none."""
    near = neighbourhoods(problem)
    least = dict.fromkeys(near, 1.0)
    for path in simple_paths(near, (u,)):
        end = along(alpha, [near[x][y] for x, y in pairwise(path)])
        least[path[-1]] = min(least[path[-1]], end)
    return least


def extension(problem: SmallProblem) -> dict[Hashable, float]:
    """Pins where given, else the least upper or greatest lower bound over all paths from S."""
    upper = dict.fromkeys(problem.answers, 1.0)
    mirrored = dict.fromkeys(problem.answers, 1.0)
    for u, p in problem.pins.items():
        for least, alpha in ((upper, p), (mirrored, 1 - p)):
            for v, bound in induced_bounds(problem, u, alpha).items():
                least[v] = min(least[v], bound)
    if any(p > upper[v] + 1e-9 for v, p in problem.pins.items()):
        raise IncompatibleError
    free = {v: upper[v] if problem.answers[v] == 1 else 1 - mirrored[v] for v in problem.free}
    return {v: problem.pins[v] if v in problem.pins else free[v] for v in problem.answers}

"""Small problems whose edges promise (ε, δ), another pair in each direction; their bounds in plain p."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace

from tests.oracle.random_problems import SmallProblem, random_answers, random_edges, random_epsilon


@dataclass(frozen=True)
class DirectedProblem(SmallProblem):
    """Edges are (u, v, ε(u→v)) as before; `more` has ε(v→u), δ(u→v), δ(v→u) of each."""

    more: tuple[tuple[float, float, float], ...] = ()

    @property
    def promises(self) -> list[tuple[Hashable, Hashable, float, float]]:
        both = [
            way
            for (u, v, epsilon), (back, delta, delta_back) in zip(self.edges, self.more, strict=True)
            for way in ((u, v, epsilon, delta), (v, u, back, delta_back))
        ]
        return [way for way in both if way[2] < math.inf and way[3] < 1.0]

    @property
    def boundary(self) -> set[Hashable]:
        across = [(u, v) for u, v, *_ in self.promises if self.answers[u] != self.answers[v]]
        return {u for edge in across for u in edge}

    def close_downward(self, p: dict[Hashable, float]) -> dict[Hashable, float]:
        """The greatest private p that is nowhere above the given one."""
        closed = dict(p)
        for _ in closed:
            for u, v, epsilon, delta in self.promises:  # p(u) ≤ w·p(v) + δ, and q(u) ≤ w·q(v) + δ
                w = math.exp(epsilon)
                closed[u] = min(closed[u], w * closed[v] + delta)
                closed[v] = min(closed[v], 1 - (1 - closed[u] - delta) / w)
        return closed


def random_delta(rng: random.Random) -> float:
    return rng.choice([0.0, 0.0, 1e-6, rng.uniform(0, 0.05), rng.uniform(0, 0.4), 1.0 if rng.random() < 0.3 else 0.0])


def no_delta(rng: random.Random) -> float:
    return 0.0


def directed_problems(seed: int, count: int, max_size: int = 7, boundary: bool = False) -> Iterator[DirectedProblem]:
    """Random problems; with pins on the boundary and some more, or with a few pins anywhere in every other one."""
    rng = random.Random(seed)
    for number in range(count):
        size = rng.randint(2, max_size)
        pairs = random_edges(rng, size, rng.choice([0.25, 0.45, 0.8]))
        edges = tuple((u, v, random_epsilon(rng)) for u, v in pairs)
        answers: dict[Hashable, int] = {v: rng.choice((1, 2)) for v in range(size)}
        if number % 3:
            answers = random_answers(rng, size)
        delta = random_delta if number % 4 else no_delta
        more = tuple((random_epsilon(rng), delta(rng), delta(rng)) for _ in edges)
        problem = DirectedProblem(edges, answers, {}, more)
        p = problem.close_downward({v: rng.uniform(0.02, 0.98) for v in answers})
        p = {v: 0.05 + 0.9 * x for v, x in p.items()}  # with room to spare
        share = 0.15 if boundary else rng.choice([0.15, 0.4]) * (number % 2)
        pinned = {v for v in p if rng.random() < share} | (problem.boundary if boundary else set())
        yield replace(problem, pins={v: p[v] for v in p if v in pinned})

"""Small problems with known answers, made from a seed: graphs, ε, true answers and pins."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace

Edge = tuple[Hashable, Hashable, float]


@dataclass(frozen=True)
class SmallProblem:
    """A graph as a list of (u, v, ε), the true answer (1 or 2) of every dataset, and p on the pinned ones."""

    edges: tuple[Edge, ...]
    answers: dict[Hashable, int]
    pins: dict[Hashable, float] = field(default_factory=dict)

    @property
    def datasets(self) -> list[Hashable]:
        return list(self.answers)

    @property
    def finite_edges(self) -> list[Edge]:
        """ε = ∞ is no constraint."""
        return [edge for edge in self.edges if edge[2] < math.inf]

    @property
    def promises(self) -> list[tuple[Hashable, Hashable, float, float]]:
        """(u, v, ε, δ): the probability of either answer at u is at most e^ε times that at v, plus δ."""
        return [(x, y, epsilon, 0.0) for u, v, epsilon in self.finite_edges for x, y in ((u, v), (v, u))]

    @property
    def boundary(self) -> set[Hashable]:
        """Definition 3, over edges that constrain anything."""
        across = [(u, v) for u, v, _ in self.finite_edges if self.answers[u] != self.answers[v]]
        return {u for edge in across for u in edge}

    @property
    def free(self) -> list[Hashable]:
        return [v for v in self.answers if v not in self.pins]

    def components(self) -> list[set[Hashable]]:
        neighbours: dict[Hashable, set[Hashable]] = {v: set() for v in self.answers}
        for u, v, _ in self.finite_edges:
            neighbours[u].add(v)
            neighbours[v].add(u)
        found: list[set[Hashable]] = []
        for start in self.answers:
            if not any(start in component for component in found):
                component, todo = {start}, [start]
                while todo:
                    new = neighbours[todo.pop()] - component
                    component |= new
                    todo += new
                found.append(component)
        return found


def upper(x: float, epsilon: float) -> float:
    """The larger of two neighbouring p, given the smaller: both upper bounds of Definition 8."""
    w = math.exp(epsilon)
    return min(w * x, 1 - (1 - x) / w)


def close_downward(edges: Iterable[Edge], p: dict[Hashable, float]) -> dict[Hashable, float]:
    """The greatest private p that is nowhere above the given one, by relaxing all edges |V| times."""
    closed, edges = dict(p), list(edges)
    for _ in closed:
        for u, v, epsilon in edges:
            closed[v] = min(closed[v], upper(closed[u], epsilon))
            closed[u] = min(closed[u], upper(closed[v], epsilon))
    return closed


def random_edges(rng: random.Random, size: int, density: float = 0.45) -> list[tuple[int, int]]:
    return [(u, v) for v in range(size) for u in range(v) if rng.random() < density]


def random_epsilon(rng: random.Random) -> float:
    """Mostly moderate; sometimes 0, ∞, tiny or large."""
    odd = [0.0, math.inf, 1e-6, 6.0]
    return rng.choice(odd) if rng.random() < 0.15 else rng.uniform(0.01, 2.0)


def random_answers(rng: random.Random, size: int) -> dict[Hashable, int]:
    share = rng.choice([0.0, 0.15, 0.5, 1.0])
    return {v: 2 if rng.random() < share else 1 for v in range(size)}


def random_private(rng: random.Random, problem: SmallProblem) -> dict[Hashable, float]:
    """Some private p on every dataset: in a few components 0 or 1 throughout, elsewhere strictly between."""
    p: dict[Hashable, float] = {}
    for component in problem.components():
        kind = rng.random()
        for v in sorted(component, key=str):
            p[v] = 0.0 if kind < 0.07 else 1.0 if kind < 0.14 else rng.uniform(0.02, 0.98)
    return close_downward(problem.finite_edges, p)


def random_pinned(rng: random.Random, problem: SmallProblem, extra: float = 0.15) -> set[Hashable]:
    """The boundary and a few more."""
    return problem.boundary | {v for v in problem.answers if rng.random() < extra}


def with_compatible_pins(rng: random.Random, problem: SmallProblem) -> SmallProblem:
    """Pins read off some private mechanism, so that an extension exists."""
    p = random_private(rng, problem)
    pinned = random_pinned(rng, problem)
    return replace(problem, pins={v: p[v] for v in problem.answers if v in pinned})


def with_incompatible_pins(rng: random.Random, problem: SmallProblem) -> SmallProblem | None:
    """Compatible pins with one of them pushed clearly out of its interval; None where no pin can be."""
    good = with_compatible_pins(rng, problem)
    mirrored = replace(good, pins={v: 1 - p for v, p in good.pins.items()})
    for v in rng.sample(sorted(good.pins, key=str), len(good.pins)):
        for side, sign in rng.sample([(good, 1), (mirrored, -1)], 2):
            ones = {w: side.pins.get(w, 1.0) if w != v else 1.0 for w in side.answers}
            bound = close_downward(side.finite_edges, ones)[v]
            if bound < 0.95:
                pushed = bound + (1 - bound) * rng.uniform(0.2, 1.0)
                return replace(good, pins={**good.pins, v: pushed if sign == 1 else 1 - pushed})
    return None


def on_graph(rng: random.Random, size: int, pairs: Iterable[tuple[int, int]]) -> SmallProblem:
    """Random ε and answers on a given graph with datasets 0 … size − 1; no pins yet."""
    edges = tuple((u, v, random_epsilon(rng)) for u, v in pairs)
    return SmallProblem(edges, random_answers(rng, size))


def compatible_problems(seed: int, count: int, max_size: int = 7) -> Iterator[SmallProblem]:
    """Random problems that have an extension; some of them disconnected, some without any pin."""
    rng = random.Random(seed)
    for _ in range(count):
        size = rng.randint(1, max_size)
        graph = random_edges(rng, size, rng.choice([0.2, 0.45, 0.8]))
        yield with_compatible_pins(rng, on_graph(rng, size, graph))


def incompatible_problems(seed: int, count: int, max_size: int = 7) -> Iterator[SmallProblem]:
    """Random problems that have no extension, by a clear margin."""
    rng = random.Random(seed)
    while count:
        size = rng.randint(2, max_size)
        problem = with_incompatible_pins(rng, on_graph(rng, size, random_edges(rng, size)))
        if problem is not None:
            count -= 1
            yield problem


def random_paths(seed: int, count: int, max_length: int = 12) -> Iterator[tuple[float, list[float]]]:
    """(α, ε₀ … ε₍ₙ₋₁₎) for the path theorem."""
    rng = random.Random(seed)
    for _ in range(count):
        alpha = rng.choice([rng.random(), 10 ** rng.uniform(-6, 0), 0.5])
        yield alpha, [rng.uniform(0.01, 2.0) for _ in range(rng.randint(1, max_length))]

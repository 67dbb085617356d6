"""The same bounds from plain shortest paths, run twice: no crossing formula, no search over bounds.

First  a(v) = least over u ∈ S of log p(u) + Σε   (only the bound e^ε·x along the way),
then   b(v) = least over all u of −log(1 − e^a(u)) + Σε   (from u on only the bound 1 − (1 − x)/e^ε);
then   p̃ = min(e^a, 1 − e^−b). See docs/theory/one-search.md.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable

from tests.oracle.literal import IncompatibleError, neighbourhoods
from tests.oracle.random_problems import SmallProblem

Labels = dict[Hashable, float]


def shortest(near: dict[Hashable, dict[Hashable, float]], starts: Labels) -> Labels:
    """Dijkstra from many starts, each with its own start value."""
    least = dict.fromkeys(near, math.inf) | starts
    queue = [(value, i, v) for i, (v, value) in enumerate(starts.items())]
    heapq.heapify(queue)
    count = len(queue)
    while queue:
        value, _, v = heapq.heappop(queue)
        if value == least[v]:
            for w, epsilon in near[v].items():
                if value + epsilon < least[w]:
                    least[w] = value + epsilon
                    count += 1
                    heapq.heappush(queue, (least[w], count, w))
    return least


def upper_bounds(problem: SmallProblem, pins: Labels) -> Labels:
    """The least upper bound on p at every dataset; 1 where no pin reaches."""
    near = neighbourhoods(problem)
    a = shortest(near, {v: math.log(p) if p > 0 else -math.inf for v, p in pins.items()})
    b = shortest(near, {v: -math.log(-math.expm1(x)) for v, x in a.items() if x < 0})
    return {v: min(math.exp(min(a[v], 0.0)), -math.expm1(-b[v])) for v in near}


def extension(problem: SmallProblem) -> Labels:
    """Pins where given, bounds elsewhere."""
    upper = upper_bounds(problem, problem.pins)
    mirrored = upper_bounds(problem, {v: 1 - p for v, p in problem.pins.items()})
    if any(p > upper[v] + 1e-9 for v, p in problem.pins.items()):
        raise IncompatibleError
    free = {v: upper[v] if problem.answers[v] == 1 else 1 - mirrored[v] for v in problem.free}
    return {v: problem.pins[v] if v in problem.pins else free[v] for v in problem.answers}

"""Problems for accuracy: tallies of votes, small graphs from a seed, and their distances counted one by one."""

from __future__ import annotations

import math
import random
from collections import deque

import hetdp
from tests.mechanism.problems import graph_of


def tallies(count: int, deciding: float, otherwise: float) -> hetdp.Problem:
    """The majority of `count` people by tally; a tally is weighted by the number of votes that lead to it."""
    answers = [1 if 2 * ones > count else 2 for ones in range(count + 1)]
    epsilon = [deciding if answers[ones] != answers[ones + 1] else otherwise for ones in range(count)]
    graph = hetdp.DatasetGraph.from_edges(list(range(count)), list(range(1, count + 1)), epsilon)
    return hetdp.Problem(graph, answers, weights=[math.comb(count, ones) for ones in range(count + 1)])


def random_problem(seed: int, size: int = 9) -> hetdp.Problem:
    rng = random.Random(seed)
    pairs = [(u, v) for v in range(size) for u in range(v) if rng.random() < 0.25]
    edges = [(u, v, rng.choice([0.0, math.inf, rng.uniform(0.01, 2.0), rng.uniform(0.01, 2.0)])) for u, v in pairs]
    answers = [rng.choice([1, 1, 2]) for _ in range(size)]
    weights = [rng.choice([0.0, rng.random()]) for _ in range(size - 1)] + [1.0]
    return hetdp.Problem(graph_of(edges, size), answers, weights=weights)


def steps_one_by_one(problem: hetdp.Problem) -> list[int | None]:
    """The steps to the other answer, by a breadth-first search from every dataset."""
    neighbours = [problem.graph.neighbours(at)[0].tolist() for at in range(problem.graph.size)]
    answers, found = problem.answers.tolist(), list[int | None]()
    for start in range(problem.graph.size):
        seen, waiting, steps = {start}, deque([(start, 0)]), None
        while waiting:
            at, far = waiting.popleft()
            if answers[at] != answers[start]:
                steps = far
                break
            waiting += [(new, far + 1) for new in neighbours[at] if new not in seen]
            seen |= set(neighbours[at])
        found.append(steps)
    return found

"""The measured problems: (a) a random graph with a ball of answer 2, (b) a grid cut in half, paths and cubes."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

import hetdp
from hetdp.problem.space import Space

SEED = 20261115


def random_ball(arcs: int) -> hetdp.Problem:
    """(a): ten arcs per dataset on average, ε uniform in [.05, 2], answer 2 on a breadth-first ball of 1 %."""
    rng = np.random.default_rng(SEED)
    size, edges = arcs // 10, arcs // 2
    source, target = rng.integers(0, size, edges), rng.integers(0, size, edges)
    graph = hetdp.DatasetGraph.from_edges(
        source, target, rng.uniform(0.05, 2.0, edges), datasets=range(size), duplicates="min"
    )
    answers = np.ones(size, dtype=np.int64)
    answers[breadth_first_order(matrix(graph), 0, return_predecessors=False)[: size // 100]] = 2
    return hetdp.Problem(graph, answers)


def grid(arcs: int) -> hetdp.Problem:
    """(b): a square grid with eight neighbours, ε uniform in [.05, 2], left half against right half."""
    rng = np.random.default_rng(SEED)
    side = round((arcs / 8) ** 0.5)
    cells = np.arange(side * side).reshape(side, side)
    ends = [
        (cells[:, :-1], cells[:, 1:]),
        (cells[:-1, :], cells[1:, :]),
        (cells[:-1, :-1], cells[1:, 1:]),
        (cells[:-1, 1:], cells[1:, :-1]),
    ]
    source = np.concatenate([one.ravel() for one, _ in ends])
    target = np.concatenate([other.ravel() for _, other in ends])
    graph = hetdp.DatasetGraph.from_edges(source, target, rng.uniform(0.05, 2.0, len(source)), datasets=range(side**2))
    return hetdp.Problem(graph, np.where(np.arange(side**2) % side < side // 2, 1, 2))


def path(arcs: int) -> hetdp.Problem:
    """A path, ε uniform in [.05, 2], answer 2 at its first dataset only."""
    rng = np.random.default_rng(SEED)
    size = arcs // 2 + 1
    steps = np.arange(size - 1)
    graph = hetdp.DatasetGraph.from_edges(steps, steps + 1, rng.uniform(0.05, 2.0, size - 1), datasets=range(size))
    return hetdp.Problem(graph, np.where(np.arange(size) == 0, 2, 1))


def cube(voters: int) -> hetdp.Problem:
    """The majority of all votes of this many voters, each with their own ε."""
    rng = np.random.default_rng(SEED)
    votes = np.array(list(product((0, 1), repeat=voters)), dtype=np.int64)
    numbers = np.arange(2**voters)
    epsilons = rng.uniform(0.2, 1.5, voters).round(2)
    pairs = [(numbers[votes[:, voters - 1 - person] == 0], 1 << person) for person in range(voters)]
    source = np.concatenate([low for low, _ in pairs])
    target = np.concatenate([low + bit for low, bit in pairs])
    epsilon = np.concatenate([np.full(len(low), epsilons[person]) for person, (low, _) in enumerate(pairs)])
    graph = hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=range(2**voters))
    return hetdp.Problem(graph, np.where(votes.sum(axis=1) > voters / 2, 1, 2))


def matrix(graph: Space) -> sparse.csr_array:
    """The graph as a sparse matrix for SciPy."""
    assert isinstance(graph, hetdp.DatasetGraph)
    return sparse.csr_array((graph.epsilon, graph.targets, graph.indptr), shape=(graph.size, graph.size))

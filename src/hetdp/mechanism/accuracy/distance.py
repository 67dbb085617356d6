"""How far datasets are from the other answer, counted in steps along edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hetdp.engines.registry import engine_for
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.theory.pure import PURE

Steps = NDArray[np.int64]
NOWHERE = 0  # the distance of a dataset from which no path leads to the other answer


def steps_to_the_other_answer(problem: Problem, engine: str = "auto") -> Steps:
    """For each dataset the least number of edges to one of the other answer: 1 on the boundary, 0 where no path leads.

    One search with ε = 1 on every edge, from the boundary: sums of ones are exact.
    """
    if not problem.boundary_mask.any():
        return np.full(problem.graph.size, NOWHERE, dtype=np.int64)
    graph = with_one_epsilon(problem.graph, 1.0)
    start = np.where(problem.boundary_mask, 1.0, np.inf)
    labels = engine_for(engine, graph, PURE, "grow").grow(graph, PURE, start).labels
    return np.where(np.isinf(labels), NOWHERE, labels).astype(np.int64)


def with_one_epsilon(graph: DatasetGraph | ProductSpace, epsilon: float) -> DatasetGraph:
    """The same datasets, numbered, and the same edges, with one ε for all of them."""
    nothing = np.zeros(0, dtype=np.int64)
    source, target = [nothing], [nothing]
    for block in graph.edge_blocks():
        once = block.source < block.target
        source.append(block.source[once])
        target.append(block.target[once])
    return DatasetGraph.from_edges(np.concatenate(source), np.concatenate(target), epsilon, datasets=range(graph.size))


def is_threshold(problem: Problem, steps: Steps) -> bool:
    """Whether every edge changes the signed number of steps to the other answer by exactly one, as it does a count.

    The query is then a threshold along the graph: each dataset lies on one level, and every edge joins two
    neighbouring levels. Parts of the graph that have no boundary are left aside.
    """
    level = np.where(problem.answers == 1, steps, 1 - steps)
    return all(
        bool(((np.abs(level[block.source] - level[block.target]) == 1) | (steps[block.source] == NOWHERE)).all())
        for block in problem.graph.edge_blocks()
    )

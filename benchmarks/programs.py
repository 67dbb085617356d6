"""Extension on the cube of some voters against HiGHS on the same linear program."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import hetdp
from benchmarks.graphs import cube
from benchmarks.measure import best_of
from benchmarks.speed import search
from hetdp.mechanism.balanced import balanced_pins


def linear_program(problem: hetdp.Problem, mechanism: hetdp.Mechanism) -> np.ndarray:
    """p by HiGHS: maximise Pr[correct] summed over all datasets, under all initial DP conditions and the pins."""
    graph = problem.graph
    source = np.repeat(np.arange(graph.size), np.diff(graph.indptr))
    rows, growth = np.arange(graph.arc_count), np.exp(graph.epsilon)
    ones = sparse.coo_array((np.ones(graph.arc_count), (rows, source)), (graph.arc_count, graph.size))
    others = sparse.coo_array((growth, (rows, graph.targets)), (graph.arc_count, graph.size))
    upper = sparse.vstack([ones - others, others - ones]).tocsr()
    right = np.concatenate([np.zeros(graph.arc_count), growth - 1.0])
    p = mechanism.probabilities
    bounds = np.where(mechanism.pinned[:, None], p[:, None], np.array([[0.0, 1.0]]))
    cost = np.where(problem.answers == 1, -1.0, 1.0)
    solved = linprog(cost, A_ub=upper, b_ub=right, bounds=bounds, method="highs")
    assert solved.status == 0, solved.message
    return np.asarray(solved.x)


def sections(voters: int) -> Iterator[str]:
    """The table, row by row."""
    yield (
        "| voters | datasets | HiGHS, seconds | search, ms | times faster | whole extend with its proof, ms |"
        " times faster | largest difference in p |"
    )
    yield "|---" * 8 + "|"
    problem = cube(voters)
    partial = balanced_pins(problem, engine="cpu")
    mechanism = hetdp.extend(problem, partial, engine="cpu")
    alone = best_of(search(problem, partial), 20)
    whole = best_of(lambda: hetdp.extend(problem, partial, engine="cpu"), 20)
    found: list[np.ndarray] = []
    program = best_of(lambda: found.append(linear_program(problem, mechanism)), 1)
    difference = float(np.max(np.abs(found[0] - mechanism.probabilities)))
    yield (
        f"| {voters} | {problem.graph.size:,} | {program:.1f} | {1000 * alone:.1f} | {program / alone:,.0f}"
        f" | {1000 * whole:.1f} | {program / whole:,.0f} | {difference:.1e} |"
    )

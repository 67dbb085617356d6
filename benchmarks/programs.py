"""Extension on the cube of some voters, compared with HiGHS on the same linear program."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import hetdp
from benchmarks.claims import AT_LEAST, Benchmark, Measured, Part, Table, Target
from benchmarks.graphs import cube
from benchmarks.measure import in_turn
from benchmarks.speed import search
from hetdp.mechanism.balanced import balanced_pins

FASTER = "extension: times faster than HiGHS"
REPEAT = 0.05  # seconds
HEADS = (
    *("voters", "datasets", "HiGHS, seconds", "search, ms", "times faster"),
    *("whole extend with its proof, ms", "times faster", "largest difference in p"),
)


def linear_program(problem: hetdp.Problem, mechanism: hetdp.Mechanism) -> np.ndarray:
    """p by HiGHS: maximises the sum of Pr[correct] over all datasets, given all privacy conditions and the pins."""
    graph = problem.graph
    assert isinstance(graph, hetdp.DatasetGraph)
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


def sections(voters: int, rounds: int) -> Iterator[Part]:
    """One cube."""
    problem = cube(voters)
    partial = balanced_pins(problem, engine="cpu")
    mechanism = hetdp.extend(problem, partial, engine="cpu")
    found: list[np.ndarray] = []
    calls = {"search": search(problem, partial), "whole": lambda: hetdp.extend(problem, partial, engine="cpu")}
    first, took = in_turn(calls, rounds), in_turn(calls, rounds, REPEAT)
    took |= in_turn({"HiGHS": lambda: found.append(linear_program(problem, mechanism))}, min(rounds, 3))
    times = {name: took["HiGHS"] / took[name] for name in calls}
    parts = [text for name in calls for text in (f"{1000 * took[name]:.1f}", f"{times[name]:,.0f}")]
    difference = float(np.max(np.abs(found[0] - mechanism.probabilities)))
    row = (str(voters), f"{problem.graph.size:,}", f"{took['HiGHS']:.1f}", *parts, f"{difference:.1e}")
    yield Measured(FASTER, "the search", times["search"])
    yield Measured(FASTER, "the whole call with its proof", times["whole"])
    yield Table(HEADS, [row])
    yield (
        f"The calls are repeated for {REPEAT} s, as timeit does. Directly after a garbage collection of the process, "
        f"which empties the caches, the fastest of {rounds} searches takes {1000 * first['search']:.1f} ms, and the "
        f"whole call {1000 * first['whole']:.1f} ms. HiGHS is the fastest of three runs."
    )


BENCHMARKS = (
    Benchmark(
        "programs",
        "Against a linear program",
        """
HiGHS with its defaults on the same linear program, with the pins as fixed variables. The whole call also proves every
edge and chain, which HiGHS does not.
""",
        sections,
        full=(15, 20),
        quick=(6, 1),
        targets=(Target(FASTER, AT_LEAST, 1000),),
    ),
)

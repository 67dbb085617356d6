"""Search, verification and the whole extend call against one SciPy shortest-path search from the same boundary."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse.csgraph import dijkstra

import hetdp
from benchmarks.graphs import grid, matrix, path, random_ball
from benchmarks.measure import in_turn
from hetdp.engines.contract import Growth
from hetdp.engines.registry import engine_for
from hetdp.mechanism.balanced import balanced_pins
from hetdp.mechanism.extension import search_from
from hetdp.problem.partial import pins_of

KINDS: dict[str, Callable[[int], hetdp.Problem]] = {"random, 1 % ball": random_ball, "grid, halves": grid, "path": path}


PARTS = [
    "search",
    "fair search",
    "verify",
    "extend",
    "extend, mapping",
    "extend, all pinned by a mapping",
    "build the graph",
]


def search(problem: hetdp.Problem, partial: hetdp.PartialMechanism) -> Callable[[], Growth]:
    """The search of `extend` alone, from arrays to labels and links."""
    start, roles = search_from(problem, pins_of(partial, problem))
    engine = engine_for("cpu", problem.graph, problem.notion, "grow")
    return lambda: engine.grow(problem.graph, problem.notion, start, roles)


def seconds(problem: hetdp.Problem, rounds: int, parts: list[str]) -> dict[str, float]:
    """Seconds of SciPy's search and of some parts of ours, measured in turn."""
    graph = problem.graph
    partial = balanced_pins(problem, engine="cpu")
    pins = pins_of(partial, problem)
    mapping = hetdp.PartialMechanism(z={at: float(pins[at]) for at in np.flatnonzero(~np.isnan(pins)).tolist()})
    everyone = hetdp.extend(problem, partial, engine="cpu")
    all_pinned = hetdp.PartialMechanism(z=dict(enumerate(everyone.coordinates.tolist())))
    other, boundary = matrix(graph), np.flatnonzero(problem.boundary_mask)
    source, target, epsilon = graph.edges()
    engine = engine_for("cpu", graph, problem.notion, "settle")
    calls = {
        "scipy": lambda: dijkstra(other, indices=boundary, min_only=True),
        "search": search(problem, partial),
        "fair search": lambda: engine.settle(graph, problem.notion, problem.answers),
        "verify": lambda: hetdp.verify(problem, everyone),
        "extend": lambda: hetdp.extend(problem, partial, engine="cpu"),
        "extend, mapping": lambda: hetdp.extend(problem, mapping, engine="cpu"),
        "extend, all pinned by a mapping": lambda: hetdp.extend(problem, all_pinned, engine="cpu"),
        "build the graph": lambda: hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=range(graph.size)),
    }
    return in_turn({name: calls[name] for name in ("scipy", *parts)}, rounds)


def sections(arcs: int, rounds: int) -> Iterator[str]:
    """The table of ratios, row by row."""
    yield "| graph | arcs | SciPy, seconds | " + " | ".join(PARTS) + " |"
    yield "|---" * (len(PARTS) + 3) + "|"
    for kind in ("random, 1 % ball", "grid, halves"):
        problem = KINDS[kind](arcs if kind.startswith("random") else 8 * 10**6 * arcs // 10**7)
        took = seconds(problem, rounds, PARTS)
        ratios = " | ".join(f"{took[name] / took['scipy']:.2f}" for name in PARTS)
        yield f"| {kind} | {problem.graph.arc_count:,} | {took['scipy']:.2f} | {ratios} |"


def growth(largest: int, rounds: int) -> Iterator[str]:
    """Seconds at growing sizes, search against SciPy: neither column should grow faster than SciPy's."""
    yield "| graph | arcs | SciPy, seconds | search, ratio | SciPy, growth | search, growth |"
    yield "|---|---|---|---|---|---|"
    for kind, make in KINDS.items():
        before: dict[str, float] = {}
        for arcs in (largest // 100, largest // 10, largest):
            took = seconds(make(arcs), rounds, ["search"])
            grew = {name: f"×{took[name] / before[name]:.1f}" if before else "" for name in ("scipy", "search")}
            yield (
                f"| {kind} | {arcs:,} | {took['scipy']:.3f} | {took['search'] / took['scipy']:.2f}"
                f" | {grew['scipy']} | {grew['search']} |"
            )
            before = took

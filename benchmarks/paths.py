"""Plain Dijkstra in other libraries, on the same graph from the same boundary, compared with hetdp's search."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import dijkstra

import hetdp
from benchmarks.claims import Benchmark, Chart, Part, Table
from benchmarks.graphs import grid, matrix, random_ball
from benchmarks.libraries import load_library
from benchmarks.measure import best_of, in_turn
from benchmarks.speed import search
from hetdp.mechanism.balanced import balanced_pins

OURS, SCIPY = "hetdp", "SciPy"
KINDS: dict[str, Callable[[int], hetdp.Problem]] = {"random, 1 % ball": random_ball, "grid, halves": grid}


class Edges(NamedTuple):
    """The graph with one more dataset, number `size`, which edges of length 0 connect to the boundary."""

    source: np.ndarray
    target: np.ndarray
    epsilon: np.ndarray
    size: int


class PreparedSearch(NamedTuple):
    """A search that can be run, and a function that reads the distances from its result."""

    run: Callable[[], Any]
    distances: Callable[[Any], Any]


def with_start(problem: hetdp.Problem) -> Edges:
    source, target, epsilon = problem.graph.edges()
    boundary, size = np.flatnonzero(problem.boundary_mask), problem.graph.size
    source, target = np.append(source, np.full(len(boundary), size)), np.append(target, boundary)
    return Edges(source, target, np.append(epsilon, np.zeros(len(boundary))), size)


def igraph(library: Any, edges: Edges) -> PreparedSearch:
    graph = library.Graph(edges.size + 1, edges=np.column_stack((edges.source, edges.target)), directed=False)
    graph.es["epsilon"] = edges.epsilon.tolist()
    return PreparedSearch(lambda: graph.distances(source=[edges.size], weights="epsilon"), lambda found: found[0])


def networkit(library: Any, edges: Edges) -> PreparedSearch:
    parts = (edges.epsilon, (edges.source, edges.target))
    graph = library.GraphFromCoo(parts, n=edges.size + 1, weighted=True, directed=False)

    def run() -> Any:
        return library.distance.Dijkstra(graph, edges.size, storePaths=False).run()

    return PreparedSearch(run, lambda found: found.getDistances())


def rustworkx(library: Any, edges: Edges) -> PreparedSearch:
    graph = library.PyGraph()
    graph.add_nodes_from(range(edges.size + 1))
    columns = (edges.source.tolist(), edges.target.tolist(), edges.epsilon.tolist())
    graph.add_edges_from(list(zip(*columns, strict=True)))

    def distances(found: Any) -> list[float]:
        known = dict(found.items())  # vertices that cannot be reached are left out
        return [known.get(at, math.inf) for at in range(edges.size)]

    return PreparedSearch(lambda: library.dijkstra_shortest_path_lengths(graph, edges.size, float), distances)


OTHERS: dict[str, Callable[[Any, Edges], PreparedSearch]] = {
    "igraph": igraph,
    "networkit": networkit,
    "rustworkx": rustworkx,
}


def compare_libraries(
    problem: hetdp.Problem, rounds: int, libraries: dict[str, Any]
) -> dict[str, tuple[float, float, float]]:
    """For each library: seconds of the search, seconds to build its graph, and the largest difference from SciPy."""
    graph, boundary, edges = matrix(problem.graph), np.flatnonzero(problem.boundary_mask), with_start(problem)
    ready, building = dict[str, PreparedSearch](), dict[str, float]()
    for name, library in libraries.items():

        def make(name: str = name, library: Any = library) -> None:
            ready[name] = OTHERS[name](library, edges)

        building[name] = best_of(make, 1)
    calls: dict[str, Callable[[], Any]] = {
        OURS: search(problem, balanced_pins(problem, engine="cpu")),
        SCIPY: lambda: dijkstra(graph, indices=boundary, min_only=True),
    }
    calls |= {name: one.run for name, one in ready.items()}
    took, right = in_turn(calls, rounds), calls[SCIPY]()
    differ = {name: difference(right, one.distances(one.run())) for name, one in ready.items()}
    return {name: (took[name], building.get(name, math.nan), differ.get(name, math.nan)) for name in calls}


def difference(right: np.ndarray, other: Any) -> float:
    """The largest difference over all datasets that a path reaches; infinite if the two disagree on which these are."""
    reached, found = np.isfinite(right), np.asarray(other, dtype=np.float64)[: len(right)]
    if not np.array_equal(reached, found < 1e300):  # networkit gives the largest float where there is no path
        return math.inf
    return float(np.max(np.abs(found[reached] - right[reached]), initial=0.0))


def sections(arcs: int, rounds: int) -> Iterator[Part]:
    """One row for each graph and library."""
    every = {name: load_library(name) for name in OTHERS}
    libraries = {name: library for name, library in every.items() if not isinstance(library, str)}
    rows, series = [], {}
    for kind, make in KINDS.items():
        problem = make(arcs)
        found = compare_libraries(problem, rounds, libraries)
        for name, (seconds, building, differ) in found.items():
            times = f"{seconds / found[OURS][0]:.1f}"
            size = f"{problem.graph.arc_count:,}"
            rows.append((kind, size, name, f"{seconds:.3f}", times, _text(building, ".2f"), _text(differ, ".0e")))
        series[kind] = [seconds for seconds, _, _ in found.values()]
    heads = ("search, seconds", "times hetdp's", "building its graph, seconds", "largest difference to SciPy")
    yield Table(("graph", "arcs", "library", *heads), rows)
    yield from (f"Not measured: {reason}." for reason in every.values() if isinstance(reason, str))
    yield Chart("paths", "One search from the boundary", "seconds", (OURS, SCIPY, *libraries), series)


def _text(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)


BENCHMARKS = (
    Benchmark(
        "paths",
        "Plain Dijkstra by other libraries",
        """
Distances from the boundary on the same graph, as each library is called from Python. SciPy starts from the whole
boundary (`dijkstra(min_only=True)`). The others start from one additional dataset, which edges of length 0 connect to
the boundary. networkit keeps the distances in its own memory, igraph makes a list of them, and rustworkx asks Python
for the length of each edge. hetdp's search is not plain Dijkstra: it starts from given values, rounds each step toward
privacy, keeps the link that binds each dataset, and uses one thread for each answer, while the others use one thread.
Building a graph is not part of the search.
""",
        sections,
        full=(2 * 10**6, 3),
        quick=(10**3, 1),
    ),
)

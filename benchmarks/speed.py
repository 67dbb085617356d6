"""Search, verification and whole extend calls, compared with one SciPy shortest-path search from the same boundary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from scipy.sparse.csgraph import dijkstra

import hetdp
from benchmarks.claims import AT_MOST, Benchmark, Chart, Measured, Part, Table, Target
from benchmarks.graphs import grid, matrix, path, random_ball
from benchmarks.measure import in_turn
from hetdp.engines.contract import Growth
from hetdp.engines.registry import engine_for
from hetdp.mechanism.balanced import balanced_pins
from hetdp.mechanism.local import search_from
from hetdp.problem.partial import pins_of

KINDS: dict[str, Callable[[int], hetdp.Problem]] = {"random, 1 % ball": random_ball, "grid, halves": grid, "path": path}
SEARCH, VERIFY, FAIR = "search / SciPy's search", "verify / SciPy's search", "fair search / search"
WHOLE, TIGHT = "extend / SciPy's search", "extend, tight pins / SciPy's search"
STEEPER = "growth of the search / growth of SciPy's"
PARTS = [
    "search",
    "fair search",
    "verify",
    "extend",
    "extend, tight pins",
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
    """Seconds of SciPy's search and of some parts of hetdp, measured in turn."""
    graph = problem.graph
    partial = balanced_pins(problem, engine="cpu")
    pins = pins_of(partial, problem)
    mapping = hetdp.PartialMechanism(z={at: float(pins[at]) for at in np.flatnonzero(~np.isnan(pins)).tolist()})
    everyone = hetdp.extend(problem, partial, engine="cpu")
    tight = np.where(problem.boundary_mask, everyone.probabilities, np.nan)
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
        "extend, tight pins": lambda: hetdp.extend(problem, tight, engine="cpu"),
        "extend, mapping": lambda: hetdp.extend(problem, mapping, engine="cpu"),
        "extend, all pinned by a mapping": lambda: hetdp.extend(problem, all_pinned, engine="cpu"),
        "build the graph": lambda: hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=range(graph.size)),
    }
    return in_turn({name: calls[name] for name in ("scipy", *parts)}, rounds)


def sections(arcs: int, rounds: int, runs: int) -> Iterator[Part]:
    """Ratios on both graphs. The fair search is measured in several runs, of which the slowest counts."""
    took: dict[str, Mapping[str, float]] = {}
    rows, spreads = [], []
    for kind, count in (("random, 1 % ball", arcs), ("grid, halves", 8 * arcs // 10)):
        problem = KINDS[kind](count)
        took[kind] = one = seconds(problem, rounds, PARTS)
        ratios = [f"{one[name] / one['scipy']:.2f}" for name in PARTS]
        rows.append((kind, f"{problem.graph.arc_count:,}", f"{one['scipy']:.2f}", *ratios))
        yield Measured(SEARCH, kind, one["search"] / one["scipy"])
        yield Measured(VERIFY, kind, one["verify"] / one["scipy"])
        yield Measured(WHOLE, kind, one["extend"] / one["scipy"])
        yield Measured(TIGHT, kind, one["extend, tight pins"] / one["scipy"])
        again = [seconds(problem, max(1, rounds // 3), ["search", "fair search"]) for _ in range(runs)]
        fair = [run["fair search"] / run["search"] for run in again]
        spreads.append(f"{kind}: {min(fair):.2f}–{max(fair):.2f}")
        yield Measured(FAIR, kind, max(fair))
    yield Table(("graph", "arcs", "SciPy, seconds", *PARTS), rows)
    yield f"Fair search / search, in {runs} more runs of {max(1, rounds // 3)} rounds: {'; '.join(spreads)}."
    shown = ("search", "fair search", "verify", "extend", "extend, tight pins", "build the graph")
    series = {kind: [one[name] / one["scipy"] for name in shown] for kind, one in took.items()}
    yield Chart("speed", "Time, SciPy's search = 1", "ratio", shown, series)


def growth(largest: int, rounds: int) -> Iterator[Part]:
    """Seconds of the search and of SciPy at growing sizes. The search should not grow faster than SciPy's."""
    sizes, names = (largest // 100, largest // 10, largest), ("scipy", "search")
    rows, series = [], {}
    for kind, make in KINDS.items():
        took = [seconds(make(arcs), rounds, ["search"]) for arcs in sizes]
        for at, (arcs, one) in enumerate(zip(sizes, took, strict=True)):
            grew = [f"×{one[name] / took[at - 1][name]:.1f}" if at else "" for name in names]
            rows.append((kind, f"{arcs:,}", f"{one['scipy']:.3f}", f"{one['search'] / one['scipy']:.2f}", *grew))
        series.update({f"{kind}: {name}": [one[name] for one in took] for name in names})
        yield Measured(STEEPER, kind, (took[-1]["search"] / took[0]["search"]) / (took[-1]["scipy"] / took[0]["scipy"]))
    yield Table(("graph", "arcs", "SciPy, seconds", "search, ratio", "SciPy, growth", "search, growth"), rows)
    yield Chart("growth", "Growth", "seconds", sizes, series, "lines", "arcs", log=True)


BENCHMARKS = (
    Benchmark(
        "speed",
        "Time of a search and its proof",
        """
The unit is SciPy's `dijkstra(min_only=True)` from the boundary on the same graph. The boundary is pinned at balanced
values. They are passed as an array of z (*extend*), as an array of p, whose rounding makes nearly every edge between
two pins miss by a bit (*tight pins*), as a mapping of the boundary, and as a mapping that pins every dataset. *search*
covers both answers, from arrays to labels and links. *fair search* also chooses the values at the boundary. *verify*
proves privacy and optimality. Beyond search and verify, *extend* spends its time on converting pins to arrays and back.
Building the graph sorts all arcs and floors each ε, and happens once.
""",
        sections,
        full=(10**7, 9, 5),
        quick=(10**4, 1, 1),
        targets=(
            Target(SEARCH, AT_MOST, 0.5),
            Target(VERIFY, AT_MOST, 0.2),
            Target(WHOLE, AT_MOST, 0.7),
            Target(TIGHT, AT_MOST, 0.75),
            Target(FAIR, AT_MOST, 1.25),
        ),
    ),
    Benchmark(
        "growth",
        "Growth",
        """
From 10⁵ to 10⁷ arcs, the time of the search must not grow faster than that of SciPy's. The target is the growth of the
search divided by the growth of SciPy's. At 10⁵ arcs, starting two threads and clearing the queue takes as long as the
search itself. On a path there is nothing to sort, and both only follow the path.
""",
        growth,
        full=(10**7, 3),
        quick=(10**4, 1),
        targets=(Target(STEEPER, AT_MOST, 1.0),),
    ),
)

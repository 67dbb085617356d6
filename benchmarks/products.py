"""Spaces of people: balanced on voters against copying the labels once for each of them, and on 10⁸ tallies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import hetdp
from benchmarks.bar import BAR
from benchmarks.claims import AT_MOST, Asked, Benchmark, Measured, Part, Table
from benchmarks.graphs import SEED
from benchmarks.measure import best_of, in_new_process, in_turn
from hetdp.engines.registry import engine_for
from hetdp.mechanism.balanced import start_labels
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace

COPIES, TIME = "growth / one copy for each voter", "10⁸ tallies, seconds of the whole design"
MEMORY, VOTERS = "10⁸ tallies, peak in GB", "24 voters, peak in GB"
SPACES = {"voters": "{} voters", "tallies": "three tallies", "deciding": "three tallies, deciding votes apart"}
CODE = """
from benchmarks.measure import memory, reset_peak
from benchmarks.products import {problem}, balanced
problem = {problem}({small})
balanced(problem)
del problem
own = memory("VmRSS")
problem = {problem}({size})
reset_peak()
print(*balanced(problem), problem.graph.size, problem.graph.edge_count, memory("VmHWM") - own)
"""


def voters(people: int) -> hetdp.Problem:
    """A majority of people with two values, each with an ε of their own."""
    rng = np.random.default_rng(SEED)
    space = ProductSpace(
        [Axis.person(at, ("yes", "no"), float(e)) for at, e in enumerate(rng.uniform(0.05, 1, people))]
    )
    no = np.zeros(space.size, dtype=np.uint8)
    for at in range(people):
        no.reshape(-1, 2, 1 << at)[:, 1] += 1
    return hetdp.Problem(space, np.where(2 * no < people, np.int8(1), np.int8(2)))


def tallies(size: int, states: int = 1) -> hetdp.Problem:
    """A majority of three groups of this size; with two states, deciding votes have an ε of their own."""
    counts = np.arange(size + 1, dtype=np.int16)
    answers = np.where(
        2 * (counts[:, None, None] + counts[:, None] + counts).ravel() > 3 * size, np.int8(1), np.int8(2)
    )
    tables = [np.array([[e, e / 2], [e / 2, e]])[:states, :states] for e in (0.1, 0.5, 1.0)]
    axes = [Axis.tally(at, size, np.broadcast_to(e, (2, 2, states, states))) for at, e in enumerate(tables)]
    return hetdp.Problem(ProductSpace(axes, (answers - 1).astype(np.uint8)), answers)


def deciding(size: int) -> hetdp.Problem:
    """The same with two states."""
    return tallies(size, 2)


def balanced(problem: hetdp.Problem) -> tuple[float, float]:
    """Seconds of the search alone, with its start labels, and of the whole design with its proof."""
    graph = problem.graph
    assert isinstance(graph, ProductSpace)
    engine = engine_for("product", graph, problem.notion, "grow")
    alone = best_of(lambda: engine.grow(graph, problem.notion, start_labels(problem, graph)), 1)
    return alone, best_of(lambda: hetdp.design(problem, "balanced"), 1)


def against_copies(people: int, rounds: int) -> Iterator[Part]:
    """What the parts of a search cost, as parts of copying the labels once for each voter."""
    problem = voters(people)
    graph = problem.graph
    assert isinstance(graph, ProductSpace)
    start, engine = start_labels(problem, graph), engine_for("product", graph, problem.notion, "grow")
    other = start.copy()
    took = in_turn(
        {
            "copies": lambda: [np.copyto(other, start) for _ in range(people)],
            "growth": lambda: engine.grow(graph, problem.notion, start),
            "start labels": lambda: start_labels(problem, graph),
            "growth and links": lambda: engine.grow(graph, problem.notion, start).links,
        },
        rounds,
    )
    parts = ("growth", "start labels", "growth and links")
    ratios = [f"{took[name] / took['copies']:.2f}" for name in parts]
    row = (str(people), f"{graph.size:,}", f"{graph.edge_count:,}", f"{took['copies']:.2f}", *ratios)
    yield Measured(COPIES, f"{people} voters", took["growth"] / took["copies"])
    yield Table(("voters", "datasets", "edges", f"{people} `np.copyto`, seconds", *parts), [row])


def sections(people: int, group: int, rounds: int, spaces: tuple[str, ...]) -> Iterator[Part]:
    """The parts of a search, then whole calls in new processes."""
    yield from against_copies(people, rounds)
    rows = []
    for name in spaces:
        title = SPACES[name].format(people)
        small, size = (min(people, 15), people) if name == "voters" else (min(group, 30), group)
        BAR.tell(title)
        found = in_new_process(CODE.format(problem=name, small=small, size=size)).split()
        (alone, whole, peak), (datasets, edges) = (float(found[at]) for at in (0, 1, 4)), map(int, found[2:4])
        rows.append((title, f"{datasets:,}", f"{edges:,}", f"{alone:.2f}", f"{whole:.1f}", f"{peak:,.0f}"))
        if name == "voters":
            yield Measured(VOTERS, f"{people} voters", peak * 2**20 / 1e9)
        else:
            yield Measured(TIME, title, whole)
            yield Measured(MEMORY, title, peak * 2**20 / 1e9)
    whole_call = ("search, seconds", "whole design with its proof, seconds", "peak, MiB")
    yield Table(("space", "datasets", "edges", *whole_call), rows)


BENCHMARKS = (
    Benchmark(
        "products",
        "Spaces of people",
        """
Balanced, without stored edges. First the time of the growth, of finding where it starts, and of its links, as parts of
the time that copying the labels once for each voter takes. Then whole calls, in new processes.
""",
        sections,
        full=(24, 463, 9, (*SPACES,)),
        quick=(8, 5, 1, ("voters", "tallies")),
        asked=(
            Asked(COPIES, AT_MOST, 0.5),
            Asked(VOTERS, AT_MOST, 1),
            Asked(TIME, AT_MOST, 60),
            Asked(MEMORY, AT_MOST, 4),
        ),
    ),
)

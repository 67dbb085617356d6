"""Spaces of people: balanced on voters against copying the labels once for each of them, and on 10⁸ tallies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import hetdp
from benchmarks.graphs import SEED
from benchmarks.measure import best_of, in_new_process, in_turn
from hetdp.engines.registry import engine_for
from hetdp.mechanism.products import start_labels
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace

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


def against_copies(people: int, rounds: int) -> Iterator[str]:
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
    yield f"| voters | datasets | edges | {people} `np.copyto`, seconds | " + " | ".join(parts) + " |"
    yield "|---" * (4 + len(parts)) + "|"
    ratios = " | ".join(f"{took[name] / took['copies']:.2f}" for name in parts)
    yield f"| {people} | {graph.size:,} | {graph.edge_count:,} | {took['copies']:.2f} | {ratios} |"


def sections(people: int, group: int, rounds: int) -> Iterator[str]:
    """Both tables, row by row."""
    yield from against_copies(people, rounds)
    yield ""
    yield "| space | datasets | edges | search, seconds | whole design with its proof, seconds | peak, MiB |"
    yield "|---|---|---|---|---|---|"
    for title, name, small, size in (
        (f"{people} voters", "voters", 15, people),
        ("three tallies", "tallies", 30, group),
        ("three tallies, deciding votes apart", "deciding", 30, group),
    ):
        code = CODE.format(problem=name, small=small, size=size)
        alone, whole, datasets, edges, peak = in_new_process(code).split()
        yield (
            f"| {title} | {int(datasets):,} | {int(edges):,} | {float(alone):.2f} | {float(whole):.1f}"
            f" | {float(peak):,.0f} |"
        )

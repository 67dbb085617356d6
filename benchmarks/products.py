"""Spaces of people: balanced on voters, compared with one copy of the labels for each voter, and on 10⁸ tallies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import hetdp
from benchmarks.bar import BAR
from benchmarks.claims import AT_MOST, Benchmark, Measured, Part, Table, Target
from benchmarks.graphs import SEED
from benchmarks.measure import best_of, in_new_process, in_turn
from hetdp.engines.product.engine import grow_balanced
from hetdp.engines.registry import engine_for
from hetdp.mechanism.balanced import start_labels
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace

COPIES, VOTERS = "growth / one copy for each voter", "24 voters, peak in GB"
MEMORY = "10⁸ tallies, peak in GB"
WHOLE = {  # time of whole designs with their proofs, divided by the time of copying the labels
    "voters": "24 voters, design / one copy for each voter",
    "tallies": "10⁸ tallies, design / one copy",
    "deciding": "10⁸ tallies, deciding votes apart, design / one copy",
}
SPACES = {"voters": "{} voters", "tallies": "three tallies", "deciding": "three tallies, deciding votes apart"}
CODE = """
from benchmarks.measure import memory, reset_peak
from benchmarks.products import {problem}, balanced, copy_seconds
problem = {problem}({small})
balanced(problem)
del problem
own = memory("VmRSS")
problem = {problem}({size})
reset_peak()
took, peak = balanced(problem), memory("VmHWM") - own
print(problem.graph.size, problem.graph.edge_count, copy_seconds(problem.graph.size), *took, peak)
"""


def voters(people: int) -> hetdp.Problem:
    """The majority of people with two values, each with their own ε."""
    rng = np.random.default_rng(SEED)
    space = ProductSpace(
        [Axis.person(at, ("yes", "no"), float(e)) for at, e in enumerate(rng.uniform(0.05, 1, people))]
    )
    no = np.zeros(1, dtype=np.uint8)
    for _ in range(people):
        no = np.concatenate([no, no + np.uint8(1)])
    return hetdp.Problem(space, np.where(2 * no < people, np.int8(1), np.int8(2)))


def tallies(size: int, states: int = 1) -> hetdp.Problem:
    """The majority of three groups of this size. With two states, deciding votes have a separate ε."""
    counts = np.arange(size + 1, dtype=np.int16)
    planes = np.empty((size + 1,) * 3, dtype=np.int8)
    for first, plane in enumerate(planes):  # all at once would need several times the memory
        plane[:] = np.where(2 * (first + counts[:, None] + counts) > 3 * size, np.int8(1), np.int8(2))
    answers = planes.ravel()
    tables = [np.array([[e, e / 2], [e / 2, e]])[:states, :states] for e in (0.1, 0.5, 1.0)]
    axes = [Axis.tally(at, size, np.broadcast_to(e, (2, 2, states, states))) for at, e in enumerate(tables)]
    return hetdp.Problem(ProductSpace(axes, (answers - 1).view(np.uint8) if states > 1 else None), answers)


def deciding(size: int) -> hetdp.Problem:
    """The tallies with two states."""
    return tallies(size, 2)


def balanced(problem: hetdp.Problem) -> tuple[float, float, float]:
    """Seconds of the first design, of the search alone (with its start labels and links), and of the whole design."""
    graph, boundary = problem.graph, problem.boundary_mask
    assert isinstance(graph, ProductSpace)
    first = best_of(lambda: hetdp.design(problem, "balanced"), 1)
    alone = best_of(lambda: grow_balanced(graph, problem.notion, problem.answers, boundary))
    return first, alone, best_of(lambda: hetdp.design(problem, "balanced"))


def copy_seconds(size: int) -> float:
    """Seconds that one copy of the labels takes."""
    source = np.ones(size)  # zeros would be one page of memory
    target = source + 1.0
    return best_of(lambda: np.copyto(target, source), 5)


def copy_times(target: np.ndarray, source: np.ndarray, times: int) -> None:
    """Copies the labels several times: the unit of the table."""
    for _ in range(times):
        np.copyto(target, source)


def against_copies(people: int, rounds: int) -> Iterator[Part]:
    """The time of each part of a search, divided by that of copying the labels once for each voter."""
    problem = voters(people)
    graph = problem.graph
    assert isinstance(graph, ProductSpace)
    start, engine = start_labels(problem, graph), engine_for("product", graph, problem.notion, "grow")
    other = start.copy()
    took = in_turn(
        {
            "copies": lambda: copy_times(other, start, people),
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
        (datasets, edges), (copy, first, alone, whole, peak) = map(int, found[:2]), map(float, found[2:])
        ratio = whole / (copy * (people if name == "voters" else 1))
        seconds = (f"{copy:.3f}", f"{alone:.2f}", f"{whole:.2f}", f"{ratio:.1f}", f"{first:.2f}")
        rows.append((title, f"{datasets:,}", f"{edges:,}", *seconds, f"{peak:,.0f}"))
        yield Measured(WHOLE[name], title, ratio)
        if name == "voters":
            yield Measured(VOTERS, f"{people} voters", peak * 2**20 / 1e9)
        else:
            yield Measured(MEMORY, title, peak * 2**20 / 1e9)
    whole_call = ("one copy, seconds", "search, seconds", "whole design with its proof, seconds", "ratio")
    yield Table(("space", "datasets", "edges", *whole_call, "the first design, seconds", "peak, MiB"), rows)


BENCHMARKS = (
    Benchmark(
        "products",
        "Spaces of people",
        """
The objective *balanced*, without stored edges. The first table gives the time of the growth, of finding its start
labels, and of the growth with its links; the unit is the time of copying the labels once for each voter. The second
table measures whole calls in new processes, each the best of three. Their *ratio* is the time divided by that of one
copy of the labels, or, for voters, by that of one copy for each voter. *The first design* of a process also takes new
memory from the system, for which a virtual machine may have to ask its host.
""",
        sections,
        full=(24, 463, 9, (*SPACES,)),
        quick=(8, 5, 1, ("voters", "tallies")),
        targets=(
            Target(COPIES, AT_MOST, 0.5),
            Target(VOTERS, AT_MOST, 1),
            Target(WHOLE["voters"], AT_MOST, 5),
            Target(WHOLE["tallies"], AT_MOST, 60),
            Target(WHOLE["deciding"], AT_MOST, 90),
            Target(MEMORY, AT_MOST, 2.5),
        ),
    ),
)

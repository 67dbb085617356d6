"""The best average against HiGHS on the whole linear program, and against libqif where it is installed."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import hetdp
from benchmarks.bar import BAR
from benchmarks.claims import AT_LEAST, Asked, Benchmark, Chart, Measured, Part, Table
from benchmarks.graphs import cube
from benchmarks.libraries import loaded
from benchmarks.measure import in_turn

PATIENCE = 120  # seconds that libqif is given

CUBE, TALLIES = "cube: times faster than HiGHS", "tallies: times faster than HiGHS"
SHORT = "mean accuracy, ours − HiGHS"
HEADS = ("problem", "datasets", "HiGHS, seconds", "ours, seconds", "times faster", "ours − HiGHS", "proved gap")


def tallies(people: int, epsilons: tuple[float, ...] = (0.1, 0.5, 1.0)) -> hetdp.Problem:
    """Groups of so many people each, who are only counted; majority; weights as if each voted by a coin."""
    shape = (people + 1,) * len(epsilons)
    numbers, counts = np.arange(math.prod(shape)).reshape(shape), np.indices(shape).reshape(len(shape), -1)
    steps = [(np.delete(numbers, -1, axis).ravel(), np.delete(numbers, 0, axis).ravel()) for axis in range(len(shape))]
    source, target = (np.concatenate(ends) for ends in zip(*steps, strict=True))
    graph = hetdp.DatasetGraph.from_edges(
        source, target, np.repeat(epsilons, len(source) // len(epsilons)), datasets=range(numbers.size)
    )
    weights = np.array([math.comb(people, k) / 2.0**people for k in range(people + 1)])[counts].prod(axis=0)
    return hetdp.Problem(graph, np.where(2 * counts.sum(axis=0) > people * len(shape), 1, 2), weights=weights)


def weights_of(problem: hetdp.Problem) -> np.ndarray:
    given = np.ones(problem.graph.size) if problem.weights is None else problem.weights
    return np.asarray(given / given.sum())


def accuracy(problem: hetdp.Problem, errors: np.ndarray) -> float:
    return float(1.0 - np.sum(weights_of(problem) * errors))


def whole_program(problem: hetdp.Problem) -> float:
    """The mean accuracy by HiGHS with its defaults, on all initial DP conditions at once."""
    source, target, epsilon = (
        np.concatenate(parts)
        for parts in zip(*((b.source, b.target, b.parameters[0]) for b in problem.graph.edge_blocks()), strict=True)
    )
    count, size = len(source), problem.graph.size
    rows, growth = np.arange(count), np.exp(epsilon)
    ones = sparse.coo_array((np.ones(count), (rows, source)), (count, size))
    others = sparse.coo_array((growth, (rows, target)), (count, size))
    upper = sparse.vstack([ones - others, others - ones]).tocsr()
    right = np.concatenate([np.zeros(count), growth - 1.0])
    sign = np.where(problem.answers == 1, -1.0, 1.0)
    solved = linprog(weights_of(problem) * sign, A_ub=upper, b_ub=right, bounds=(0.0, 1.0), method="highs")
    assert solved.status == 0, solved.message
    return accuracy(problem, np.where(problem.answers == 1, 1.0 - solved.x, solved.x))


def libqif(problem: hetdp.Problem, send: Any) -> None:
    """Sends the seconds that libqif takes on the same problem, and its mean accuracy."""
    qif = import_module("qif")
    between = {
        (u, v): epsilon
        for block in problem.graph.edge_blocks()
        for u, v, epsilon in zip(*(x.tolist() for x in (*block[:2], block.parameters[0])), strict=True)
    }
    answers, weights = problem.answers.tolist(), weights_of(problem)
    begin = time.perf_counter()
    found = qif.mechanism.d_privacy.min_loss_given_d(
        weights, 2, lambda u, v: between.get((u, v), math.inf), lambda u, answer: float(answers[u] != answer + 1)
    )
    seconds = time.perf_counter() - begin
    wrong = np.where(problem.answers == 1, 1, 0)
    send.send((seconds, accuracy(problem, np.asarray(found)[np.arange(len(answers)), wrong])))


def libqif_words(problem: hetdp.Problem, ours: float, reached: float) -> str:
    """How libqif did beside us, in a process of its own that is ended when it takes too long."""
    qif = loaded("qif")
    if isinstance(qif, str):
        return f"libqif was not measured: {qif}."
    BAR.tell("libqif")
    processes = get_context("fork")
    receive, send = processes.Pipe(False)
    process = processes.Process(target=libqif, args=(problem, send))
    process.start()
    send.close()
    try:
        if not receive.poll(PATIENCE):
            return f"libqif did not end within {PATIENCE} seconds on the cube: over {PATIENCE / ours:,.0f} times ours."
        seconds, found = receive.recv()
    except EOFError:
        return "libqif was not measured: it failed on the cube."
    finally:
        process.kill()
        process.join()
    times = f"libqif on the cube: {seconds:.1f} seconds, {seconds / ours:,.0f} times ours"
    return f"{times}; its mean accuracy is {found:.9f}, ours {reached:.9f}."


def sections(voters: int, people: int, rounds: int) -> Iterator[Part]:
    """One row for each problem, and a sentence about libqif."""
    problems = {f"cube of {voters} voters": cube(voters), f"tallies of 3 × {people} voters": tallies(people)}
    rows, series, last = [], dict[str, list[float]]({"HiGHS": [], "ours": []}), ""
    for what, (name, problem) in zip((CUBE, TALLIES), problems.items(), strict=True):
        mechanism = hetdp.design(problem, "average", engine="cpu")
        ours = in_turn({"ours": partial(hetdp.design, problem, "average", engine="cpu")}, rounds)["ours"]
        found: list[float] = []
        highs = in_turn({"HiGHS": lambda of=problem, into=found: into.append(whole_program(of))}, 1)["HiGHS"]  # type: ignore[misc]
        reached = accuracy(problem, mechanism.errors)
        more = reached - found[0]
        size, times = f"{problem.graph.size:,}", f"{highs / ours:,.0f}"
        rows.append(
            (name, size, f"{highs:.1f}", f"{ours:.2f}", times, f"{more:+.1e}", f"{mechanism.objective_gap:.1e}")
        )
        yield Measured(what, name, highs / ours)
        yield Measured(SHORT, name, more)
        series["HiGHS"].append(highs)
        series["ours"].append(ours)
        last = last or libqif_words(problem, ours, reached)
    yield Table(HEADS, rows)
    yield last
    yield Chart("average", "The best average", "seconds", [*problems], series, log=True)


BENCHMARKS = (
    Benchmark(
        "average",
        "The best average",
        """
HiGHS with its defaults on the whole program, against `design(problem, 'average')` from the problem to the proved
mechanism. The *proved gap* is how far the mean accuracy can be from the best, at most. libqif
(`mechanism.d_privacy.min_loss_given_d`) solves the same problem on the cube; its result is not proved here.
""",
        sections,
        full=(11, 27, 5),
        quick=(4, 3, 1),
        asked=(Asked(CUBE, AT_LEAST, 5), Asked(TALLIES, AT_LEAST, 20), Asked(SHORT, AT_LEAST, -1e-7)),
    ),
)

"""The best average, compared with HiGHS on the whole linear program, and with libqif if it is installed."""

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
from benchmarks.claims import AT_LEAST, AT_MOST, Benchmark, Chart, Measured, Part, Table, Target
from benchmarks.graphs import cube
from benchmarks.libraries import load_library
from benchmarks.measure import in_turn

TIMEOUT = 120  # seconds that libqif may take

CUBE, TALLIES = "cube: times faster than HiGHS", "tallies: times faster than HiGHS"
SHORT = "mean accuracy, ours − HiGHS"
HEADS = ("problem", "datasets", "HiGHS, seconds", "ours, seconds", "times faster", "ours − HiGHS", "proved gap")


def tallies(people: int, epsilons: tuple[float, ...] = (0.1, 0.5, 1.0)) -> hetdp.Problem:
    """The majority of groups of this many people, as tallies, weighted as if everyone tossed a coin."""
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
    """The mean accuracy found by HiGHS with its defaults, given all privacy conditions at once."""
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
    """Sends the seconds that libqif takes for the same problem, and its mean accuracy."""
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
    """A sentence that compares libqif with hetdp. libqif runs in a separate process, killed after `PATIENCE`."""
    qif = load_library("qif")
    if isinstance(qif, str):
        return f"libqif was not measured: {qif}."
    BAR.tell("libqif")
    processes = get_context("fork")
    receive, send = processes.Pipe(False)
    process = processes.Process(target=libqif, args=(problem, send))
    process.start()
    send.close()
    try:
        if not receive.poll(TIMEOUT):
            return f"libqif took more than {TIMEOUT} seconds on the cube, over {TIMEOUT / ours:,.0f} times ours."
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


UNIFORM, LEVELS = "ε uniform: seconds", "three levels of ε: seconds"
GAP = "proved gap"
RANDOM_HEADS = ("ε", "datasets", "edges", "seconds", "CPU seconds", "mean accuracy", "proved gap")


def random_graph(datasets: int, levels: tuple[float, ...]) -> hetdp.Problem:
    """A graph with five edges per dataset, uniform ε or ε from these levels, and random answers."""
    rng = np.random.default_rng(1)
    source, target = rng.integers(0, datasets, (2, 5 * datasets))
    epsilon = rng.choice(levels, 5 * datasets) if levels else rng.uniform(0.05, 1.0, 5 * datasets)
    ends = source != target
    graph = hetdp.DatasetGraph.from_edges(
        source[ends], target[ends], epsilon[ends], datasets=range(datasets), duplicates="min"
    )
    return hetdp.Problem(graph, rng.integers(1, 3, datasets))


def random_sections(datasets: int) -> Iterator[Part]:
    """One row for each kind of ε."""
    hetdp.design(random_graph(1000, ()), "average", engine="cpu")  # compiles
    rows = []
    for what, name, levels in ((UNIFORM, "uniform in 0.05–1", ()), (LEVELS, "0.1, 0.5 or 1", (0.1, 0.5, 1.0))):
        problem = random_graph(datasets, levels)
        begin, cpu = time.perf_counter(), time.process_time()
        mechanism = hetdp.design(problem, "average", engine="cpu")
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        gap = mechanism.objective_gap
        assert gap is not None
        reached = accuracy(problem, mechanism.errors)
        rows.append(
            (
                name,
                f"{datasets:,}",
                f"{problem.graph.arc_count // 2:,}",
                f"{seconds:.1f}",
                f"{cpu:.1f}",
                f"{reached:.9f}",
                f"{gap:.1e}",
            )
        )
        yield Measured(what, f"{datasets:,} datasets", seconds)
        yield Measured(GAP, name, gap)
    yield Table(RANDOM_HEADS, rows)


BENCHMARKS = (
    Benchmark(
        "average",
        "The best average",
        """
HiGHS with its defaults on the whole linear program, compared with `design(problem, 'average')` from the problem to the
proved mechanism. The *proved gap* is an upper bound on the distance of the mean accuracy from the best. libqif
(`mechanism.d_privacy.min_loss_given_d`) solves the same problem on the cube; its result is not proved here.
""",
        sections,
        full=(11, 27, 5),
        quick=(4, 3, 1),
        targets=(Target(CUBE, AT_LEAST, 5), Target(TALLIES, AT_LEAST, 20), Target(SHORT, AT_LEAST, -1e-7)),
    ),
    Benchmark(
        "average-random",
        "The best average on random graphs",
        """
`design(problem, 'average')` from the problem to the proved mechanism, on graphs with random edges and random answers,
where nearly every dataset is on the boundary. On these graphs no vote is close to the best mechanism, and nearly every
row of the linear program may bind.
""",
        random_sections,
        full=(50_000,),
        quick=(600,),
        targets=(Target(UNIFORM, AT_MOST, 25), Target(LEVELS, AT_MOST, 40), Target(GAP, AT_MOST, 1e-8)),
    ),
)

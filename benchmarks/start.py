"""Start-up times, compared with starting Python: importing, help, and a small problem from file to file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import hetdp
from benchmarks.bar import BAR
from benchmarks.claims import AT_MOST, Benchmark, Chart, Measured, Part, Table, Target
from benchmarks.graphs import cube
from benchmarks.measure import in_turn
from hetdp.mechanism.balanced import balanced_pins

COMMAND = Path(sys.executable).with_name("hetdp")
BARE = "bare Python"
LIMITS = {"import hetdp": 2, "hetdp --help": 7, "hetdp extend, JSON to JSON": 30}
FIRST = {300: 5, 388: 5, 708: 10}  # seconds, by the side of a grid: 179,400, 300,312 and 1,001,112 edges
FIRST_CODE = """
import time
begin = time.perf_counter()
import hetdp
import numpy as np
cells = np.arange({side} ** 2).reshape({side}, {side})
source = np.append(cells[:, :-1], cells[:-1])
target = np.append(cells[:, 1:], cells[1:])
epsilon = np.random.default_rng(1).uniform(0.05, 1.0, len(source))
graph = hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=range(cells.size))
problem = hetdp.Problem(graph, np.where(cells.ravel() % {side} < {side} // 2, 1, 2))
made = time.perf_counter()
mechanism = hetdp.design(problem)
end = time.perf_counter()
assert mechanism.certificate.private and mechanism.certificate.optimal
from hetdp.compilation import hold_lock
while hold_lock() is None:  # a process still compiles in the background
    time.sleep(0.1)
compiled = time.perf_counter()
hetdp.design(problem)
print(graph.edge_count, made - begin, end - made, compiled - end, time.perf_counter() - compiled)
"""


def sections(rounds: int) -> Iterator[Part]:
    """One row for each command."""
    with TemporaryDirectory() as folder:
        problem = cube(7)
        hetdp.save(problem, Path(folder, "problem.json"), balanced_pins(problem))
        took = in_turn(_calls(folder), rounds)
    yield f"The small problem has {problem.graph.size} datasets and {problem.graph.edge_count} edges."
    rows = [(name, f"{1000 * one:.0f}", f"{one / took[BARE]:.1f}") for name, one in took.items()]
    yield Table(("", "ms", "ratio"), rows)
    for name in LIMITS:
        yield Measured(name, "ratio", took[name] / took[BARE])
    yield Chart("start", "Start", "ms", [*took], {"best of several": [1000 * one for one in took.values()]})


def _calls(folder: str) -> dict[str, Callable[[], None]]:
    extend = [str(COMMAND), "extend", "problem.json", "-o", "mechanism.json"]
    return {
        BARE: partial(_run, [sys.executable, "-c", "pass"], folder),
        "import hetdp": partial(_run, [sys.executable, "-c", "import hetdp"], folder),
        "hetdp --help": partial(_run, [str(COMMAND), "--help"], folder),
        "hetdp extend, JSON to JSON": partial(_run, extend, folder),
    }


def _run(command: list[str], folder: str) -> None:
    """Runs a command as a user would, with bytecode caches allowed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run(command, check=True, cwd=folder, env=environment, capture_output=True)


def first_sections(sides: tuple[int, ...]) -> Iterator[Part]:
    """One row for each grid, in a new process with an empty folder for compiled functions."""
    rows = []
    for side in sides:
        BAR.tell(f"grid of {side} × {side}")
        with TemporaryDirectory() as folder:
            settings = {**os.environ, "NUMBA_CACHE_DIR": folder, "HETDP_COMPILE": ""}
            found = subprocess.run(
                [sys.executable, "-c", FIRST_CODE.format(side=side)],
                check=True,
                capture_output=True,
                text=True,
                env=settings,
            ).stdout.split()
        made, first, later, again = map(float, found[1:])
        edges = f"{int(found[0]):,}"
        rows.append((f"{side} × {side}", edges, *(f"{one:.2f}" for one in (made, first, made + first, later, again))))
        if side in FIRST:
            yield Measured(_first(side), f"{edges} edges", made + first)
    heads = ("import and problem", "first design", "together", "until all is compiled", "next design")
    yield Table(("grid", "edges", *(f"{head}, seconds" for head in heads)), rows)


def _first(side: int) -> str:
    return f"first design on {side} × {side} datasets, seconds"


BENCHMARKS = (
    Benchmark(
        "start",
        "Start",
        "New processes: importing, help, and a small problem from file to file. The unit is starting Python itself.",
        sections,
        full=(30,),
        quick=(1,),
        targets=tuple(Target(name, AT_MOST, limit) for name, limit in LIMITS.items()),
    ),
    Benchmark(
        "first",
        "The first design on a machine",
        """
A new process starts with an empty cache folder, so nothing has been compiled yet. The time is measured from `import
hetdp` to the proved mechanism of the objective *fair* on a square grid with four neighbours. The first design runs
uncompiled while another process compiles for the next ones.
""",
        first_sections,
        full=((*FIRST,),),
        quick=((12,),),
        targets=tuple(Target(_first(side), AT_MOST, limit) for side, limit in FIRST.items()),
    ),
)

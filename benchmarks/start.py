"""What starting costs, against starting Python at all: importing, help, and a small problem from file to file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import hetdp
from benchmarks.claims import AT_MOST, Asked, Benchmark, Chart, Measured, Part, Table
from benchmarks.graphs import cube
from benchmarks.measure import in_turn
from hetdp.mechanism.balanced import balanced_pins

COMMAND = Path(sys.executable).with_name("hetdp")
BARE = "bare Python"
LIMITS = {"import hetdp": 2, "hetdp --help": 7, "hetdp extend, JSON to JSON": 30}


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
    """Runs a command as a user would: what is compiled to bytecode may be kept."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run(command, check=True, cwd=folder, env=environment, capture_output=True)


BENCHMARKS = (
    Benchmark(
        "start",
        "Start",
        "Starting Python at all = 1; then importing, help, and a small problem from file to file, in new processes.",
        sections,
        full=(30,),
        quick=(1,),
        asked=tuple(Asked(name, AT_MOST, limit) for name, limit in LIMITS.items()),
    ),
)

"""The process of `hosts.Driver`: it runs commands that it reads, one after the other, and says how each ended."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
import time
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import dask

from hetdp.cli.main import main
from hetdp.partitioned import cluster as dask_cluster
from hetdp.partitioned.workspace import Mark, mark_folder
from tests.partitioned.processes import take_memory

GATE = ".gate-"  # begins the names of files that say that a worker is at a task, and that it may go on
ANSWERS = sys.stdout


def say(**facts: Any) -> None:
    """Tells the test."""
    print(json.dumps(facts), file=ANSWERS, flush=True)


def wait_within(gate: str, task: Any, *told: Any) -> Any:
    """A task that stops before it begins, until its gate is open: whoever runs it is in the middle of it."""
    Path(f"{gate}-{os.urandom(4).hex()}").touch()
    end = time.monotonic() + 300
    while not Path(gate).exists() and time.monotonic() < end:
        time.sleep(0.02)
    return task(*told)


def take_more(seconds: float, mebibytes: int, task: Any, *told: Any) -> Any:
    """A task that takes more time, or memory."""
    time.sleep(seconds)
    take_memory(mebibytes)
    return task(*told)


def burdened(seconds: float, mebibytes: int) -> Any:
    """Lets every task take more time, and the first of several more memory; returns what takes that back."""
    run = dask_cluster.Cluster.run

    def run_burdened(self: Any, task: Any, items: Any, words: str = "") -> Any:
        burdens = [(seconds, 0 if at else mebibytes, task, *item) for at, item in enumerate(items)]
        return run(self, take_more, burdens, words)

    dask_cluster.Cluster.run = run_burdened  # type: ignore[method-assign]
    return lambda: setattr(dask_cluster.Cluster, "run", run)


def stop_at(name: str) -> Any:
    """Lets workers wait within the first tasks of a name; returns what takes that back."""
    run, stopped = dask_cluster.Cluster.run, list[bool]()

    def run_and_stop(self: Any, task: Any, items: Any, words: str = "") -> Any:
        if task.__name__ != name or stopped:
            return run(self, task, items, words)
        stopped.append(True)
        folder = Path(self._mark.path).parent.parent
        gate = str(folder / f"{GATE}{os.urandom(4).hex()}")

        def watch() -> None:
            end = time.monotonic() + 300
            while not list(folder.glob(f"{Path(gate).name}-*")) and time.monotonic() < end:
                time.sleep(0.02)
            say(event="stopped", gate=gate)

        threading.Thread(target=watch, daemon=True).start()
        return run(self, wait_within, [(gate, task, *item) for item in items], words)

    dask_cluster.Cluster.run = run_and_stop  # type: ignore[method-assign]
    return lambda: setattr(dask_cluster.Cluster, "run", run)


def mark_as(software: str | None, work: str) -> Mark:
    """The mark of a run, as if by a driver with other software."""
    found = mark_folder(work)
    return found._replace(software=software or found.software)


def serve() -> None:
    """Runs commands until there are no more."""
    say(event="ready")
    for line in sys.stdin:
        told = json.loads(line)
        dask_cluster.PATIENCE = told.get("patience", 60.0)
        dask_cluster.STILL = told.get("still", 660.0)
        dask_cluster.START = told.get("start", 60.0)
        dask_cluster.ANSWER = told.get("answer", 10.0)
        dask_cluster.CONNECT = told.get("connect", 20.0)
        undo = lambda: None  # noqa: E731
        if told.get("stop_at"):
            undo = stop_at(told["stop_at"])
        elif told.get("slow") or told.get("hungry"):
            undo = burdened(told.get("slow", 0.0), told.get("hungry", 0))
        dask_cluster.mark_folder = partial(mark_as, told.get("software"))  # type: ignore[attr-defined]
        output, said = io.StringIO(), io.StringIO()
        with dask.config.set(told.get("config", {})), redirect_stdout(output), redirect_stderr(said):
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                code = main(told["arguments"])
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # one that comes after the command is for nobody
                undo()
        say(event="done", code=code, output=output.getvalue(), said=said.getvalue())


if __name__ == "__main__":
    serve()

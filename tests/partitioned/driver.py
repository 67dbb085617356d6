"""The process of `hosts.Driver`: it runs the commands that it reads and reports how each ended."""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import dask
import psutil  # type: ignore[import-untyped]

from hetdp.cli.main import main
from hetdp.partitioned import cluster as dask_cluster
from hetdp.partitioned.workspace import Mark, mark_folder
from tests.partitioned.processes import TIMEOUT, take_memory

GATE = ".gate-"  # prefix of files that show that a worker has reached a task, and that it may continue
ANSWERS = sys.stdout


def report(**facts: Any) -> None:
    """Sends an event to the test."""
    print(json.dumps(facts), file=ANSWERS, flush=True)


def wait_at_gate(gate: str, task: Any, *arguments: Any) -> Any:
    """Runs a task after its gate has been opened; until then the worker is held within the task."""
    Path(f"{gate}-{os.urandom(4).hex()}").touch()
    end = time.monotonic() + TIMEOUT
    while not Path(gate).exists() and time.monotonic() < end:
        time.sleep(0.02)
    return task(*arguments)


def run_slowly(seconds: float, mebibytes: int, task: Any, *arguments: Any) -> Any:
    """Runs a task that takes additional time and memory."""
    time.sleep(seconds)
    take_memory(mebibytes)
    return task(*arguments)


def run_starved(limit: int, task: Any, *arguments: Any) -> Any:
    """Runs a task that first asks the system for twice the memory, in MiB, that it may still give to its worker."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    if limit:
        resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + (limit << 20), before[1]))
    try:
        bytearray(limit << 21)
        return task(*arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def add_load(wrapper: Any, *amounts: float) -> Any:
    """Wraps all tasks, with the last amount zero but for the first of several; returns a function that undoes this."""
    run = dask_cluster.Cluster.run

    def run_with_load(self: Any, task: Any, items: Any, words: str = "") -> Any:
        loaded_items = [(*amounts[:-1], 0 if at else amounts[-1], task, *item) for at, item in enumerate(items)]
        return run(self, wrapper, loaded_items, words)

    dask_cluster.Cluster.run = run_with_load  # type: ignore[method-assign]
    return lambda: setattr(dask_cluster.Cluster, "run", run)


def stop_at(name: str, then: Callable[[], None]) -> Any:
    """Makes workers wait within the first tasks of a name, and calls `then`; returns a function that undoes this."""
    run, stopped = dask_cluster.Cluster.run, list[bool]()

    def run_and_stop(self: Any, task: Any, items: Any, words: str = "") -> Any:
        if task.__name__ != name or stopped:
            return run(self, task, items, words)
        stopped.append(True)
        folder = Path(self._mark.path).parent.parent
        gate = str(folder / f"{GATE}{os.urandom(4).hex()}")

        def watch() -> None:
            end = time.monotonic() + TIMEOUT
            while not list(folder.glob(f"{Path(gate).name}-*")) and time.monotonic() < end:
                time.sleep(0.02)
            then()
            report(event="stopped", gate=gate)

        threading.Thread(target=watch, daemon=True).start()
        return run(self, wait_at_gate, [(gate, task, *item) for item in items], words)

    dask_cluster.Cluster.run = run_and_stop  # type: ignore[method-assign]
    return lambda: setattr(dask_cluster.Cluster, "run", run)


LIMITS = {  # the waits of hetdp that a test may shorten, by the name of the test's option
    "patience": "LOST_TIMEOUT",
    "still": "HEARTBEAT_TIMEOUT",
    "start": "START_TIMEOUT",
    "answer": "ANSWER_TIMEOUT",
    "connect": "CONNECT_TIMEOUT",
}


def set_limits(**seconds: float) -> None:
    """Sets these waits; by default they are long enough for a busy machine."""
    for option, name in LIMITS.items():
        setattr(dask_cluster, name, seconds.get(option, TIMEOUT))


def mark_as(software: str | None, work: str) -> Mark:
    """The mark of a run, as a driver with other software would write it."""
    found = mark_folder(work)
    return found._replace(software=software or found.software)


def serve() -> None:
    """Runs commands until there are no more."""
    report(event="ready")
    for line in sys.stdin:
        request = json.loads(line)
        limits = {option: request[option] for option in LIMITS if option in request}
        undo = lambda: None  # noqa: E731
        if request.get("stop_at"):
            set_limits()
            undo = stop_at(request["stop_at"], partial(set_limits, **limits))  # until then, slow is not lost
        else:
            set_limits(**limits)
            if request.get("slow") or request.get("hungry"):
                undo = add_load(run_slowly, request.get("slow", 0.0), request.get("hungry", 0))
            elif request.get("starved"):
                undo = add_load(run_starved, request["starved"])
        dask_cluster.mark_folder = partial(mark_as, request.get("software"))  # type: ignore[attr-defined]
        output, errors = io.StringIO(), io.StringIO()
        with dask.config.set(request.get("config", {})), redirect_stdout(output), redirect_stderr(errors):
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                code = main(request["arguments"])
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # ignores an interrupt that arrives after the command
                undo()
        report(event="done", code=code, output=output.getvalue(), errors=errors.getvalue())


if __name__ == "__main__":
    serve()

"""Who runs the tasks: the workers of a Dask scheduler, or some that are started here.

Tasks keep nothing and may run twice: what they say lies in files that are written whole. So a worker that is lost
costs what it was doing, and no more. Results are small, since arrays stay in files.
"""

from __future__ import annotations

import atexit
import logging
import os
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Future, wait
from distributed.scheduler import KilledWorker
from distributed.security import Security

from hetdp import progress
from hetdp.engines.dask.processes import RETRIES, SETTINGS, certificate, end_all, scheduler_here, size_of, started
from hetdp.errors import ClusterError, UsageError
from hetdp.interrupts import held
from hetdp.problem.partitioned import Task
from hetdp.version import VERSION

PATIENCE = 30.0  # seconds without any worker, or without the scheduler, before the cluster is lost
CONNECT = 10.0  # seconds until a scheduler must have answered
START = 60.0  # seconds that workers may take to start
PACE = 0.5  # seconds between two looks at the cluster
LOGGERS = ("distributed", "distributed.client", "tornado")
HINT = "what was done is kept in the work folder, if one was named: the same command goes on from there"


class Cluster:
    """Runs tasks on the workers of a scheduler.

    Args:
        address: of a scheduler, such as tcp://node:8786; None: workers are started on this machine.
        workers: how many to start.
        memory: how much memory each of these may take, such as "2GB".
        work: a folder that all workers reach.
    """

    def __init__(self, address: str | None, workers: int, memory: str, work: str) -> None:
        size_of(memory)  # or a refusal
        self._settings = dask.config.set(SETTINGS)
        self._levels = {name: logging.getLogger(name).level for name in LOGGERS}
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is said in our words
        self._memory, self._processes = memory, list[subprocess.Popen[bytes]]()
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._local: Any = None
        self._client: Any = None
        self._is_closed = False
        try:
            with held():  # half a client could not be closed
                if address is None:
                    security = certificate()
                    self._home = tempfile.TemporaryDirectory(prefix="hetdp-workers-", ignore_cleanup_errors=True)
                    self._local = scheduler_here(self._home.name, security)
                    self._client = Client(self._local, set_as_default=False)
                    scheduler = self._client.scheduler.address
                    for _ in range(workers):
                        self._processes.append(started(scheduler, memory, work, self._home.name, security))
                else:
                    self._client = _client_at(address)
            self._require_workers(work)
        except BaseException:
            self.close()
            raise
        atexit.register(self.close)

    def _require_workers(self, work: str) -> None:
        """Waits for the first worker, and refuses workers that cannot do what tasks do."""
        progress.stage("reading (waiting for workers)")
        needed, end = max(1, len(self._processes)), time.monotonic() + START
        while self._count() < needed and time.monotonic() < end and self._client.status == "running":
            time.sleep(0.02)
        if not self._count():
            raise ClusterError("no worker started", f"a worker that may take {self._memory} is asked for")
        try:
            said = self._client.run(_probe, work)
        except Exception as refusal:  # such as that it cannot be imported there
            rule = f"all workers run hetdp {VERSION}, as this machine does"
            raise UsageError(f"a worker cannot run hetdp: {_first_line(refusal)}", rule) from None
        for worker, (version, seen) in said.items():
            if version != VERSION:
                rule = f"all workers run hetdp {VERSION}, as this machine does"
                raise UsageError(f"the worker {worker} runs hetdp {version}", rule)
            if not seen:
                raise UsageError(f"the worker {worker} does not see the folder {work}", "all workers reach it")

    def run(self, task: Task, items: Iterable[tuple[Any, ...]], words: str = "") -> list[Any]:
        """The results of a task for each item, in their order."""
        if self._is_closed:
            raise UsageError("a partitioned problem that was closed", "its workers have ended", "read it again")
        if words:
            progress.stage(words)
        try:
            futures = [
                self._client.submit(task, *item, pure=False, retries=0, key=f"{task.__name__}-{os.urandom(8).hex()}")
                for item in items
            ]
            self._wait(futures)
            failed = [future for future in futures if future.status == "error"]
            return [self._result(future) for future in failed or futures]
        except (KilledWorker, MemoryError) as ended:  # also of a worker that was lost with its result, over and over
            raise _out_of_memory(ended, self._memory if self._processes else "") from None
        except (OSError, TimeoutError) as lost:
            raise ClusterError("the scheduler was lost", HINT) from lost

    def _wait(self, futures: list[Future]) -> None:
        """Until all are done, or one failed, or the cluster is lost."""
        alone_since = None
        try:
            while True:
                try:
                    with self._client.as_current():
                        wait(futures, timeout=PACE)
                except TimeoutError:
                    pass
                except Exception as lost:  # cancelled, by a client that gave up
                    if self._client.status != "running":
                        raise ClusterError("the scheduler was lost", HINT) from lost
                    time.sleep(PACE)
                if all(future.done() for future in futures) or any(future.status == "error" for future in futures):
                    return
                if self._client.status == "running" and self._count():
                    alone_since = None
                elif alone_since is None:
                    alone_since = time.monotonic()
                elif time.monotonic() - alone_since > PATIENCE or not self._is_alive():
                    what = "all workers were lost" if self._client.status == "running" else "the scheduler was lost"
                    raise ClusterError(what, HINT)
        except BaseException:
            self._client.cancel(futures, force=True)
            raise

    def _is_alive(self) -> bool:
        """Whether a worker may still come back: those that were started here must run."""
        return not self._processes or any(process.poll() is None for process in self._processes)

    def _count(self) -> int:
        return len(self._client.scheduler_info(n_workers=-1)["workers"])

    def _result(self, future: Future) -> Any:
        if future.status not in ("error", "finished"):
            raise ClusterError("the scheduler was lost", HINT)
        return future.result()

    def close(self) -> None:
        """Leaves the scheduler, and Dask's settings as they were; ends the workers that were started here."""
        if self._is_closed:
            return
        self._is_closed = True
        for process in self._processes:
            process.terminate()
        if self._client is not None:
            self._client.close(timeout=2)
        end_all(self._processes)
        if self._local is not None:
            self._local.close(timeout=2)
        if self._home is not None:
            self._home.cleanup()
        self._processes = []
        atexit.unregister(self.close)
        self._settings.__exit__(None, None, None)
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)


def _client_at(address: str) -> Client:
    try:
        if not address.startswith("tls:") or Security().get_connection_args("client")["ssl_context"] is not None:
            return Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, TimeoutError) as refusal:
        hint = "is it running, and can this machine reach it? It says its address when it starts"
        raise ClusterError(f"no scheduler answers at {address}", _first_line(refusal), hint) from None
    except ValueError as refusal:
        rule = "it is the address of a scheduler, tcp://HOST:PORT"
        raise UsageError(f"the cluster {address!r}", rule) from refusal
    rule = "Dask's own settings name it: ca-file, client.cert and client.key of distributed.comm.tls"
    raise UsageError(f"the cluster {address!r}, but no certificate", rule)


def _out_of_memory(error: BaseException, memory: str) -> ClusterError:
    """A worker that was ended over and over, nearly always because its memory did not suffice."""
    share = f", more than the {memory} that it may take" if memory else ""
    if isinstance(error, MemoryError):
        return ClusterError("a worker ran out of memory", f"a partition needs more than it has{share}", MORE)
    what = f"{RETRIES + 1} workers were ended while they did the same task"
    return ClusterError(what, f"most likely it needs too much memory{share}", MORE)


MORE = "more partitions are smaller ones; or give each worker more memory"


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _probe(work: str) -> tuple[str, bool]:
    """What a worker says of itself."""
    return VERSION, Path(work).is_dir()

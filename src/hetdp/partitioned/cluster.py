"""Runs tasks on the workers of a Dask scheduler, or on workers that are started here.

Tasks are stateless and may run twice. Their output goes to files that are written atomically, so losing a worker
costs only the task that it was running. Return values are small, because arrays stay in files.

A scheduler runs whatever it is sent. Other accounts on this machine can reach its port, so a scheduler that is started
here accepts only peers with a certificate that is made for this run and kept in memory. Its HTTP pages, which would
need no certificate, are off. Dask adds its folder for temporary files to the module search path. So it gets a new
folder that only this user can access. The same folder is the working directory of the workers, so that they load no
module or setting from elsewhere.
"""

from __future__ import annotations

import atexit
import errno
import gc
import logging
import os
import re
import socket
import ssl
import subprocess
import tempfile
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import dask
from dask.utils import parse_bytes
from distributed import Client, Future, LocalCluster, wait
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker
from distributed.security import Security

from hetdp import progress
from hetdp.compilation import SWITCH_VARIABLE
from hetdp.errors import ClusterError, HetdpError, UsageError
from hetdp.interrupts import delay_interrupts
from hetdp.isolation import python_command, python_environment
from hetdp.partitioned.problem import Task
from hetdp.partitioned.shared_files import require_real
from hetdp.partitioned.workspace import SOFTWARE, Mark, mark_folder, run_guarded
from hetdp.text import first_line

LOST_TIMEOUT = 30.0  # seconds without any worker, or without the scheduler, before the cluster counts as lost
CONNECT_TIMEOUT = 10.0  # seconds to wait for a scheduler's first answer
START_TIMEOUT = 60.0  # seconds that workers may take to start
START_TRIES = 3  # times that an event loop of Dask is started, if its thread does not run within Dask's ten seconds
HEARTBEAT_TIMEOUT = (
    660.0  # seconds without a heartbeat before a worker counts as hung; schedulers drop it after 600 by default
)
ANSWER_TIMEOUT = 5.0  # seconds to wait for an answer of a scheduler that is connected
CHECK_INTERVAL = 0.5  # seconds between two checks of the cluster
LOGGERS = ("distributed", "distributed.client", "tornado", "asyncio")
HINT = "finished work is kept in the work folder, if one was named; run the same command again to continue"


Started = TypeVar("Started")


class Cluster:
    """Runs tasks on the workers of a scheduler.

    Args:
        address: address of a scheduler, such as tls://node:8786. None starts workers on this machine.
        workers: number of workers to start.
        memory: memory limit of each started worker, such as "2GB".
        work: a folder that all workers can access.
    """

    def __init__(self, address: str | None, workers: int, memory: str, work: str) -> None:
        parse_memory(memory)  # raises if the limit is invalid
        self._settings = dask.config.set(SETTINGS)
        self._levels = {name: logging.getLogger(name).level for name in LOGGERS}
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)  # failures are reported as ClusterError instead
        self._memory, self._processes = memory, list[subprocess.Popen[bytes]]()
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._local: Any = None
        self._client: Any = None
        self._is_closed = False
        self._mark = Mark("", "")
        try:
            self._mark = mark_folder(work)
            with delay_interrupts():  # a half-built client could not be closed
                if address is None:
                    security = make_certificate()
                    self._home = tempfile.TemporaryDirectory(prefix="hetdp-workers-", ignore_cleanup_errors=True)
                    self._local = start_scheduler(self._home.name, security)
                    self._client = start_retrying(lambda: ClusterClient(self._local, set_as_default=False))
                    scheduler = self._client.scheduler.address
                    for _ in range(workers):
                        self._processes.append(start_worker(scheduler, memory, work, self._home.name, security))
                else:
                    self._client = _client_at(address)
            self._require_workers(address)
        except BaseException:
            self.close()
            raise
        atexit.register(self.close)

    def _require_workers(self, address: str | None) -> None:
        """Waits for the first worker of a cluster, or for all workers that were started here."""
        progress.report_stage("reading (waiting for workers)")
        needed, end = max(1, len(self._processes)), time.monotonic() + START_TIMEOUT
        found = self.workers()
        while len(found or {}) < needed and time.monotonic() < end and self._client.status == "running":
            time.sleep(0.02)
            found = self.workers()
        if found is None:
            raise ClusterError("the scheduler was lost", "it no longer answers")
        if found:
            return
        if address is None:
            raise ClusterError("no worker started", f"a worker with {self._memory} of memory was requested")
        rule = f"none came to the scheduler at {address} within {START_TIMEOUT:.0f} seconds"
        hint = "start workers, with certificates of the same authority as the scheduler's; their output says more"
        raise ClusterError("the cluster has no workers", rule, hint)

    def run(self, task: Task, items: Iterable[tuple[Any, ...]], words: str = "") -> list[Any]:
        """Runs a task on each item and returns the results in the same order.

        Raises:
            ClusterError: the cluster was lost, or cannot run the task.
        """
        if self._is_closed:
            raise UsageError("a partitioned problem that was closed", "its workers have ended", "read it again")
        if words:
            progress.report_stage(words)
        sent = [(f"{task.__name__}-{os.urandom(8).hex()}", item) for item in items]
        futures: list[Future] = []
        watch = ClusterWatch(self)
        try:
            for key, item in sent:
                futures.append(
                    self._client.submit(run_guarded, self._mark, task, *item, pure=False, retries=0, key=key)
                )
            while not self._are_done(futures):
                watch.look()
            failed = [future for future in futures if future.status == "error"]
            return [self._result(future, watch) for future in failed or futures]
        except HetdpError:
            raise
        except (KilledWorker, MemoryError) as ended:  # also if workers are lost with their results again and again
            raise _out_of_memory(ended, self._memory if self._processes else "") from None
        except (CommClosedError, TimeoutError, CancelledError) as lost:
            raise ClusterError("the scheduler was lost", HINT) from lost
        except OSError as refusal:
            raise _system(refusal, self._memory if self._processes else "") from None
        except (ImportError, AttributeError, RuntimeError) as refusal:
            if not is_foreign(refusal):
                raise
            rule = f"all machines must run {SOFTWARE} and the same version of Dask"
            raise ClusterError(f"the cluster cannot run hetdp: {first_line(refusal)}", rule) from None
        finally:
            with suppress(Exception):  # the client may have lost its scheduler
                self._client.cancel(futures, force=True)

    def _are_done(self, futures: list[Future]) -> bool:
        """Waits briefly; returns True if all futures are done or one has failed."""
        try:
            with self._client.as_current():
                wait(futures, timeout=CHECK_INTERVAL)
        except TimeoutError:
            pass
        except Exception:  # cancelled because the client lost its scheduler
            time.sleep(CHECK_INTERVAL)
        return all(future.done() for future in futures) or any(future.status == "error" for future in futures)

    def _result(self, future: Future, watch: ClusterWatch) -> Any:
        """The return value of a task; if its worker was lost, another worker runs the task again."""
        while True:
            if future.status in ("cancelled", "lost"):
                raise ClusterError("the scheduler was lost", HINT)
            if future.status == "error":
                raise future.exception()  # already received
            try:
                return future.result(timeout=CHECK_INTERVAL)
            except TimeoutError:
                if future.status != "error":  # otherwise the task itself timed out
                    watch.look()

    def is_alive(self) -> bool:
        """True if a worker may still come back: one that was started here must still be running."""
        return not self._processes or any(process.poll() is None for process in self._processes)

    @property
    def is_connected(self) -> bool:
        """True if the client believes that it is connected to a scheduler."""
        return bool(self._client.status == "running")

    def workers(self) -> dict[str, float] | None:
        """Each worker's last heartbeat, by the scheduler's clock; None if the scheduler does not answer in time."""
        try:
            found = self._client.sync(self._client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER_TIMEOUT)
            return {address: float(facts["last_seen"]) for address, facts in found["workers"].items()}
        except Exception:  # a client without a scheduler may raise anything
            return None

    def close(self) -> None:
        """Disconnects, ends the workers that were started here, and restores Dask's settings."""
        if self._is_closed:
            return
        self._is_closed = True
        self._mark.remove()
        for process in self._processes:
            process.terminate()
        if self._client is not None:
            with suppress(Exception):  # the scheduler may not answer
                self._client.close(timeout=2)
        end_all(self._processes)
        if self._local is not None:
            self._local.close(timeout=2)
        if self._home is not None:
            self._home.cleanup()
        self._processes = []
        atexit.unregister(self.close)
        self._settings.__exit__(None, None, None)
        gc.collect()  # abandoned futures log when they are collected: let them do so while logging is off
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)


class ClusterClient(Client):  # type: ignore[misc]  # Dask has no types
    """A client that the garbage collector never closes.

    Dask closes a client that could not connect, or could not be closed, once it is collected. For that it acquires the
    lock of its event loops, which is not reentrant. If a thread that starts an event loop collects garbage, it holds
    this lock already and would wait for ever.
    """

    def start(self, **options: Any) -> None:
        """Connects; closes the client if that fails."""
        try:
            super().start(**options)
        except BaseException:
            with suppress(Exception):  # there may be nothing to close yet
                self.close(timeout=ANSWER_TIMEOUT)
            raise

    def __del__(self) -> None:
        """Does nothing: whoever made the client closes it."""


def start_retrying(start: Callable[[], Started]) -> Started:
    """Calls a function that starts an event loop; tries again if the thread of that loop did not start in time.

    Dask gives that thread ten seconds, which is too little on a machine that stalls, and reports it as a failed
    assertion.
    """
    for _ in range(START_TRIES - 1):
        with suppress(AssertionError):
            return start()
    return start()


class ClusterWatch:
    """Checks that a cluster is still alive while its results are awaited.

    Args:
        cluster: the cluster to check.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._alone_since: float | None = None
        self._heard: dict[str, tuple[float, float]] = {}  # last heartbeat: the scheduler's clock, and ours

    def look(self) -> None:
        """Checks the cluster once; returns if waiting still makes sense.

        Raises:
            ClusterError: the scheduler or all workers have been gone for too long, or a worker hangs.
        """
        now, found = time.monotonic(), self._cluster.workers() if self._cluster.is_connected else None
        if found:
            self._alone_since = None
            self._heard = {
                worker: self._heard[worker] if self._heard.get(worker, (0.0,))[0] == heartbeat else (heartbeat, now)
                for worker, heartbeat in found.items()
            }
            hung = [worker for worker, (_, since) in self._heard.items() if now - since > HEARTBEAT_TIMEOUT]
            if hung:
                raise ClusterError(f"the worker {hung[0]} no longer responds", HINT)
            return
        self._alone_since = self._alone_since or now
        if now - self._alone_since > LOST_TIMEOUT or not self._cluster.is_alive():
            raise ClusterError("the scheduler was lost" if found is None else "all workers were lost", HINT)


def _client_at(address: str) -> ClusterClient:
    try:
        if not address.startswith("tls:") or Security().get_connection_args("client")["ssl_context"] is not None:
            return start_retrying(lambda: ClusterClient(address, timeout=CONNECT_TIMEOUT, set_as_default=False))
    except ValueError as refusal:
        rule = "it is the address of a scheduler, tls://HOST:PORT or tcp://HOST:PORT"
        raise UsageError(f"invalid cluster address {address!r}", rule) from refusal
    except (OSError, TimeoutError, RuntimeError, TypeError) as refusal:
        reason, hint = reason_at(address) or (first_line(refusal), REACH_HINT)
        raise ClusterError(f"no scheduler answers at {address}", reason, hint) from None
    rule = "Dask's own settings name it: ca-file, client.cert and client.key of distributed.comm.tls"
    raise UsageError(f"no certificate is configured for the cluster {address!r}", rule)


REACH_HINT = "is it running, and can this machine reach it? It says its address when it starts"


def reason_at(address: str) -> tuple[str, str] | None:
    """The reason why connecting to an address failed and a hint, if one more connection attempt reveals them."""
    found = re.fullmatch(r"(tcp|tls)://(.+):([0-9]+)/?", address)
    if found is None:
        return None
    is_tls = found[1] == "tls"
    context = Security().get_connection_args("client")["ssl_context"] if is_tls else ssl._create_unverified_context()
    try:
        with socket.create_connection((found[2].strip("[]"), int(found[3])), ANSWER_TIMEOUT) as plain:
            plain.settimeout(ANSWER_TIMEOUT)
            with context.wrap_socket(plain) as secret:
                secret.recv(1)  # a refused certificate is reported only on the first read
    except ssl.SSLCertVerificationError as refusal:
        if is_tls:
            return f"its certificate is refused here: {refusal.verify_message}", "ca-file must name its authority"
    except ssl.SSLError as refusal:
        reason = (refusal.reason or "").lower().replace("_", " ")
        if is_tls and "alert" in reason:
            return f"it refuses the certificate of this machine ({reason})", "its authority must sign client.cert"
        if is_tls:
            return f"it does not speak TLS ({reason})", "its address then begins with tcp://"
        if "alert" in reason:  # it asks for a certificate, so it uses TLS
            return TLS_FAULT
    except OSError:
        return None
    return None if is_tls else TLS_FAULT


TLS_FAULT = "it speaks TLS, and the address says that it does not", "its address begins with tls://"


def is_foreign(error: BaseException) -> bool:
    """True if an error means that a machine of the cluster could not deserialize what it was sent."""
    text = str(error)
    return isinstance(error, ImportError) or "deserializ" in text.lower() or "Can't get attribute" in text


def _system(error: OSError, memory: str) -> ClusterError:
    """The error for an operating system failure on a worker."""
    if error.errno == errno.ENOMEM:
        return _out_of_memory(MemoryError(), memory)
    place = "" if error.filename is None else f" {error.filename!r}"
    what = f"a worker could not use{place or ' a file'}: {error.strerror or first_line(error)}"
    return ClusterError(
        what, "all workers must be able to read the same files, and to write to the work folder and the output"
    )


def _out_of_memory(error: BaseException, memory: str) -> ClusterError:
    """The error for workers that were killed repeatedly, nearly always for lack of memory."""
    share = f", more than the {memory} that it may take" if memory else ""
    if isinstance(error, MemoryError):
        return ClusterError("a worker ran out of memory", f"a partition needs more than it has{share}", MEMORY_HINT)
    times = error.allowed_failures + 1 if isinstance(error, KilledWorker) else RETRIES + 1
    what = f"{times} workers were ended while they did the same task"
    return ClusterError(what, f"most likely it needs too much memory{share}", MEMORY_HINT)


MEMORY_HINT = "more partitions are smaller ones; or give each worker more memory"


# Scheduler and workers on this machine --------------------------------------------------------------------------------


Process = subprocess.Popen[bytes]

WORKER_OVERHEAD = 400_000_000  # bytes that a worker needs for itself
RETRIES = 3  # times that a task is started again after its worker was lost
LOCAL_HOST = "127.0.0.1"
SETTINGS = {
    "distributed.comm.timeouts.connect": "10s",
    "distributed.comm.timeouts.tcp": "20s",
    "distributed.scheduler.allowed-failures": RETRIES,
    "distributed.admin.log-length": 0,
    "distributed.worker.memory.target": False,  # results are small: there is nothing to spill
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": 0.9,
    "distributed.worker.memory.terminate": 0.97,
}


def make_certificate() -> Security:
    """A new certificate, shared by scheduler, workers and client."""
    try:
        return Security.temporary()
    except ImportError:
        rule = "workers that are started here need the extra distributed, whose cryptography keeps others out"
        hint = "pip install '.[distributed]', in the folder of hetdp's sources"
        raise UsageError("cryptography is not installed", rule, hint) from None


def parse_memory(memory: str) -> int:
    """The memory limit of a worker in bytes; refuses a limit too small for the worker itself."""
    try:
        found = int(parse_bytes(memory))
    except ValueError:
        raise UsageError(f"invalid memory size {memory!r}", "it must be a size such as 2GB") from None
    if found < WORKER_OVERHEAD:
        raise UsageError(
            f"invalid memory size {memory!r}", "a worker needs at least 400MB, of which 250MB are used at start"
        )
    return found


def start_scheduler(home: str, security: Security) -> LocalCluster:
    """Starts a scheduler without HTTP pages, even if Bokeh is installed; other schedulers in this process keep theirs.

    Args:
        home: an empty folder for its temporary files.
        security: the certificate.
    """
    where = {"dashboard_address": f"{LOCAL_HOST}:0", "protocol": "tls", "host": LOCAL_HOST}
    with dask.config.set({**_no_pages(), "temporary-directory": home}):
        return start_retrying(
            lambda: LocalCluster(n_workers=0, security=security, scheduler_kwargs={"dashboard": False}, **where)
        )


def _no_pages() -> dict[str, Any]:
    """Settings that turn off HTTP pages; new lists on each call, because Dask appends to them."""
    return {name: [] for name in ("distributed.scheduler.http.routes", "distributed.worker.http.routes")}


def start_worker(scheduler: str, memory: str, work: str, home: str, security: Security) -> Process:
    """Starts a worker, which ends by itself after a minute without a scheduler.

    Args:
        scheduler: address of its scheduler.
        memory: its memory limit.
        work: a folder that it may write to.
        home: an empty folder: its working directory, also used for temporary files of Dask.
        security: the certificate.
    """
    folder = Path(work, "workers")
    require_real(work, folder, make=True)  # for data that does not fit into memory
    command = python_command("-m", "distributed.cli.dask_worker", scheduler, "--local-directory", home)
    command += ["--nthreads", "1", "--memory-limit", memory, "--death-timeout", "60"]
    command += ["--host", LOCAL_HOST, "--dashboard-address", f"{LOCAL_HOST}:0", "--no-dashboard"]
    sent = (SETTINGS | _no_pages()) | {  # in the environment: other users could read the command line
        "distributed.comm.require-encryption": True,
        "distributed.comm.tls.ca-file": security.tls_ca_file,
        "distributed.comm.tls.worker.cert": security.tls_worker_cert,
        "distributed.comm.tls.worker.key": security.tls_worker_key,
    }
    settings = {f"{name.replace('.', '__').replace('-', '_')}".upper(): str(x) for name, x in sent.items()}
    environment = python_environment() | {f"DASK_{name}": value for name, value in settings.items()}
    environment |= {SWITCH_VARIABLE: "now"}  # a worker starts no process to compile
    environment |= {"HETDP_TABLE_MEMORY": f"{parse_memory(memory) // 2}B", "HETDP_TABLE_SPILL": str(folder / "spill")}
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(
        command,
        env=environment,
        cwd=home,
        stdin=nowhere,
        stdout=nowhere,
        stderr=nowhere,
        start_new_session=True,  # Ctrl-C goes to the driver only, which then ends the workers
    )


def end_all(processes: Sequence[Process]) -> None:
    """Waits for processes to end, and kills those that do not."""
    for process in processes:
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

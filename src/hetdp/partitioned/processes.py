"""Starts a scheduler and workers on this machine, for this process only.

A scheduler runs whatever it is sent. Other accounts on this machine can reach its port, so it accepts only peers with a
certificate that is made for this run and kept in memory. Its HTTP pages, which would need no certificate, are off.

Dask adds its folder for temporary files to the module search path. So it gets a new folder that only this user can
access. The same folder is the working directory of the workers, so that they load no module or setting from elsewhere.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dask
from dask.utils import parse_bytes
from distributed import LocalCluster
from distributed.security import Security

from hetdp.errors import UsageError
from hetdp.isolation import python_command, python_environment
from hetdp.partitioned.shared_files import require_real

Process = subprocess.Popen[bytes]

LEAST = 400_000_000  # bytes that a worker needs for itself
RETRIES = 3  # times that a task is started again after its worker was lost
HERE = "127.0.0.1"
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
        raise UsageError(f"the memory {memory!r}", "it is a size such as 2GB") from None
    if found < LEAST:
        raise UsageError(
            f"the memory {memory!r}", "a worker takes 250 MB before it has read much, and gets 400MB or more"
        )
    return found


def start_scheduler(home: str, security: Security) -> LocalCluster:
    """Starts a scheduler without HTTP pages, even if Bokeh is installed; other schedulers in this process keep theirs.

    Args:
        home: an empty folder for its temporary files.
        security: the certificate.
    """
    where = {"dashboard_address": f"{HERE}:0", "protocol": "tls", "host": HERE}
    with dask.config.set({**_no_pages(), "temporary-directory": home}):
        return LocalCluster(n_workers=0, security=security, scheduler_kwargs={"dashboard": False}, **where)


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
    command += ["--host", HERE, "--dashboard-address", f"{HERE}:0", "--no-dashboard"]
    sent = (SETTINGS | _no_pages()) | {  # in the environment: other users could read the command line
        "distributed.comm.require-encryption": True,
        "distributed.comm.tls.ca-file": security.tls_ca_file,
        "distributed.comm.tls.worker.cert": security.tls_worker_cert,
        "distributed.comm.tls.worker.key": security.tls_worker_key,
    }
    settings = {f"{name.replace('.', '__').replace('-', '_')}".upper(): str(x) for name, x in sent.items()}
    environment = python_environment() | {f"DASK_{name}": value for name, value in settings.items()}
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

"""A real scheduler and real workers on this machine, each a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = float(os.environ.get("HETDP_TEST_LONG", "240"))  # seconds, on a busy machine
QUIET: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Processes:
    """A scheduler on loopback, and its workers."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder, self._file = folder, folder / "scheduler.json"
        self.workers: list[subprocess.Popen] = []
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        end = time.monotonic() + TIMEOUT
        while not self._file.exists() or not self._file.read_text().strip():
            assert time.monotonic() < end, "no scheduler"
            time.sleep(0.05)
        self.address = json.loads(self._file.read_text())["address"]
        for _ in range(workers):
            self.add()

    def add(self) -> subprocess.Popen:
        """Starts one more worker without a nanny, so that it is not restarted when it is killed."""
        options = (
            "--nthreads",
            "1",
            "--no-nanny",
            "--memory-limit",
            "0",
            "--no-dashboard",
            "--death-timeout",
            f"{TIMEOUT}",
        )
        self.workers.append(self._start("worker", *options, "--local-directory", str(self._folder)))
        return self.workers[-1]

    def _start(self, role: str, *options: str) -> subprocess.Popen:
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", "--scheduler-file", str(self._file), *options]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
        return subprocess.Popen(command, env=environment, cwd=self._folder, **QUIET)

    @staticmethod
    def kill(process: subprocess.Popen) -> None:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            if process.poll() is None:
                self.kill(process)


def fail_task(what: str) -> None:
    """A task that ends its worker, or runs out of memory."""
    if what == "memory":
        raise MemoryError
    os._exit(9)


def take_memory(mebibytes: int) -> int:
    """A task that takes more and more memory, slowly enough to be noticed."""
    taken = []
    for _ in range(mebibytes // 64):
        taken.append(bytearray(os.urandom(1024)) * (64 * 1024))
        time.sleep(0.1)
    return len(taken)

"""Time and memory of a call, and the machine they were measured on."""

from __future__ import annotations

import gc
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.bar import BAR


def best_of(call: Callable[[], Any], rounds: int = 3, repeat: float = 0.0) -> float:
    """Seconds of the fastest of several calls.

    Args:
        call: the call.
        rounds: how many rounds there are, each of which begins with a garbage collection.
        repeat: for how many seconds a round repeats a short call, as timeit does. A garbage collection looks at all
            objects of the process, so that the first call after it has to fill the processor's caches again.
    """
    least = float("inf")
    for _ in range(rounds):
        gc.collect()
        until = time.perf_counter() + repeat
        while True:
            begin = time.perf_counter()
            call()
            end = time.perf_counter()
            least = min(least, end - begin)
            if end >= until:
                break
    return least


def in_turn(calls: dict[str, Callable[[], Any]], rounds: int = 3, repeat: float = 0.0) -> dict[str, float]:
    """Seconds of the fastest run of each call. The calls take turns, so that a noisy minute affects all of them."""
    least = dict.fromkeys(calls, float("inf"))
    for turn in range(rounds):
        for name, call in calls.items():
            BAR.tell(f"{name}, {turn + 1} of {rounds}")
            least[name] = min(least[name], best_of(call, 1, repeat))
    return least


def memory(what: str) -> float:
    """Mebibytes from this process's status file, such as VmRSS or VmHWM."""
    match = re.search(rf"{what}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert match is not None
    return int(match[1]) / 1024


def reset_peak() -> None:
    """Resets VmHWM to the memory that is in use now."""
    Path("/proc/self/clear_refs").write_text("5")


def machine() -> str:
    """Processor, cores, memory and Python in one line."""
    names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    gibibytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    processor = names[0] if names else platform.processor()
    return f"{processor}, {os.cpu_count()} cores, {gibibytes:.0f} GiB; Python {platform.python_version()}"


def in_new_process(code: str) -> str:
    """Standard output of a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

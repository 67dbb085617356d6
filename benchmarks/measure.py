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


def best_of(call: Callable[[], Any], rounds: int = 3) -> float:
    """Seconds of the fastest of several calls."""
    least = float("inf")
    for _ in range(rounds):
        gc.collect()
        begin = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - begin)
    return least


def in_turn(calls: dict[str, Callable[[], Any]], rounds: int = 3) -> dict[str, float]:
    """Seconds of the fastest run of each call. The calls take turns, so that a noisy minute affects all of them."""
    least = dict.fromkeys(calls, float("inf"))
    for turn in range(rounds):
        for name, call in calls.items():
            BAR.tell(f"{name}, {turn + 1} of {rounds}")
            least[name] = min(least[name], best_of(call, 1))
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

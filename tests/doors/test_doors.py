"""Hundreds of broken files through every door, and a check that a crash would be counted."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.doors.doors import DOORS
from tests.doors.fuzz import OUTCOMES
from tests.stress import stress, times

CRASHES = """
import os, signal, sys, time
from tests.doors import doors, fuzz

class Bad(doors.Door):
    def attempt(self, rng):
        number = rng.randrange(6)
        if number == 0: os.kill(os.getpid(), signal.SIGSEGV)
        if number == 1: time.sleep(1000)
        if number == 2: raise KeyError("a bug")
        return "read"

doors.DOORS = {"bad": (Bad, 1)}
fuzz.FILE_TIMEOUT = 3
found, wrong = fuzz.fuzz(4, 13, str)
sys.stdout.write(fuzz.table(found))
"""


def counts_in(text: str) -> dict[str, dict[str, int]]:
    """The table of counts, by door and end."""
    lines = [
        line for line in text.splitlines() if re.search(r"[0-9]$", line) and not line.startswith(("number", "Error"))
    ]
    return {
        line[:28].strip(): dict(zip(OUTCOMES, (int(word.replace(",", "")) for word in line[28:].split()), strict=True))
        for line in lines
        if len(line) > 80
    }


@stress
def test_broken_files_through_every_door_are_read_or_refused_with_a_message():
    command = [sys.executable, "-m", "tests.doors.fuzz", str(times(300)), "16"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    counts = counts_in(result.stdout)
    assert {*counts} == {*DOORS, "all"}
    assert sum(counts["all"].values()) == times(300)
    assert counts["all"]["refused"] > 150
    assert counts["all"]["read"] > 25


def test_a_crash_a_hang_and_a_bug_are_counted_and_the_rest_goes_on():
    result = subprocess.run([sys.executable, "-c", CRASHES], capture_output=True, text=True, check=True)
    counts = counts_in(result.stdout)["all"]
    assert counts == {"read": 1, "refused": 0, "traceback": 1, "crash": 1, "hang": 1}

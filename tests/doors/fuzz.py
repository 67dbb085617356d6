"""Reads thousands of broken files through every door: ``python -m tests.doors.fuzz 100000 [SEED]``.

A child process reads them, so that a crash, a hang or too much memory ends only the child and is counted. A failure is
reported with its number: ``python -m tests.doors.fuzz --only NUMBER SEED`` repeats it in this process.
"""

from __future__ import annotations

import json
import os
import random
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

MEMORY = "/dev/shm"  # a RAM disk, if there is one, avoids waiting for the disk
ADDRESS_SPACE = 12 << 30  # bytes of address space that a child may have; the libraries alone take some of them
FILE_TIMEOUT = 60  # seconds for one file
START_TIMEOUT = 300  # seconds until a child reads its first file, on a very busy machine
OUTCOMES = ("read", "refused", "traceback", "crash", "hang")
Counts = dict[str, Counter[str]]


def choose_door(number: int, seed: int) -> tuple[str, random.Random]:
    """The door of an attempt, and the random generator that breaks its file."""
    from tests.doors.doors import DOORS

    rng = random.Random(f"{seed}/{number}")
    return rng.choices(list(DOORS), [often for _, often in DOORS.values()])[0], rng


def run_attempts(numbers: range, seed: int, report: Any) -> None:
    """Runs the attempts one after the other and reports before and after each."""
    from tests.doors.doors import DOORS, one_connection

    place = MEMORY if Path(MEMORY).is_dir() else None
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place)))
        here = Path.cwd()
        stack.callback(os.chdir, here)
        stack.enter_context(one_connection(folder))
        doors: dict[str, Any] = {}
        for number in numbers:
            name, rng = choose_door(number, seed)
            if name not in doors:
                (folder / str(len(doors))).mkdir()
                doors[name] = DOORS[name][0](folder / str(len(doors)))
            report({"number": number, "door": name})
            try:
                end, words = doors[name].attempt(rng), ""
            except Exception:
                end, words = "traceback", traceback.format_exc()
            report({"end": end, "words": words})


def start_child(numbers: range, seed: int) -> tuple[int, int]:
    """Starts a process that runs some attempts; returns its id and the pipe on which it reports."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    status = 1
    try:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 2)
        run_attempts(numbers, seed, lambda message: os.write(writer, json.dumps(message).encode() + b"\n"))
        status = 0
    finally:
        os._exit(status)


def fuzz(count: int, seed: int, log: Any) -> tuple[Counts, list[str]]:
    """Returns how often each door had each outcome, and what went wrong."""
    found: Counts = {}
    wrong: list[str] = []
    number, start = 0, time.monotonic()
    while number < count:
        pid, reader = start_child(range(number, count), seed)
        door, lines, is_hung = "starting", b"", False
        while True:
            ready, _, _ = select.select([reader], [], [], START_TIMEOUT if door == "starting" else FILE_TIMEOUT)
            if not ready:
                is_hung = True
                os.kill(pid, signal.SIGKILL)
                break
            data = os.read(reader, 1 << 16)
            if not data:
                break
            *whole, lines = (lines + data).split(b"\n")
            for line in whole:
                message = json.loads(line)
                if "door" in message:
                    door = message["door"]
                    continue
                found.setdefault(door, Counter())[message["end"]] += 1
                if message["end"] not in ("read", "refused"):
                    wrong.append(f"number {number}, seed {seed}, {door}: {message['words'] or message['end']}")
                    log(f"{wrong[-1]}\n")
                number += 1
                if number % 1000 == 0:
                    log(f"{number} files in {time.monotonic() - start:.0f} s; {len(wrong)} wrong\n")
        os.close(reader)
        _, status = os.waitpid(pid, 0)
        if number < count:
            end = "hang" if is_hung else "crash"
            found.setdefault(door, Counter())[end] += 1
            wrong.append(f"number {number}, seed {seed}, {door}: {end}, status {status}")
            log(f"{wrong[-1]}\n")
            number += 1
    return found, wrong


def table(found: Counts) -> str:
    """The counts, a line for each door."""
    lines = ["{:28}".format("door") + "".join(f"{end:>11}" for end in OUTCOMES)]
    total = Counter[str]()
    for door in sorted(found):
        total.update(found[door])
        lines.append(f"{door:28}" + "".join(f"{found[door][end]:>11,}" for end in OUTCOMES))
    lines.append("{:28}".format("all") + "".join(f"{total[end]:>11,}" for end in OUTCOMES))
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Runs the command."""
    if arguments[0] == "--only":
        number, seed = int(arguments[1]), int(arguments[2])
        run_attempts(
            range(number, number + 1),
            seed,
            lambda message: sys.stdout.write(f"{message.get('door') or message['end']}\n{message.get('words', '')}"),
        )
        return 0
    count = int(arguments[0])
    seed = int(arguments[1]) if len(arguments) > 1 else random.randrange(10**9)
    found, wrong = fuzz(count, seed, sys.stderr.write)
    sys.stdout.write(f"{count} files, seed {seed}\n{table(found)}" + "".join(f"\n{one}\n" for one in wrong[:50]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

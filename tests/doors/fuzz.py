"""Broken files through all doors, by the thousand: ``python -m tests.doors.fuzz 100000 [SEED]``.

They are handed in by a child process, so that a crash, a hang, or too much memory ends it alone, and is counted. A
failure is told with its number: ``python -m tests.doors.fuzz --only NUMBER SEED`` does it again in this process.
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

MEMORY = "/dev/shm"  # where there is one, nobody waits for the disk
ADDRESSES = 12 << 30  # bytes of address space that a child may have; the libraries alone take some of them
PATIENCE = 60  # seconds for one file
STARTING = 300  # seconds until a child hands in its first one, on a very busy machine
ENDS = ("read", "refused", "traceback", "crash", "hang")
Counts = dict[str, Counter[str]]


def chosen(number: int, seed: int) -> tuple[str, random.Random]:
    """The door of a number, and the chance by which its file is broken."""
    from tests.doors.doors import DOORS

    rng = random.Random(f"{seed}/{number}")
    return rng.choices(list(DOORS), [often for _, often in DOORS.values()])[0], rng


def hand_in(numbers: range, seed: int, tell: Any) -> None:
    """Tries numbers one after the other, telling before and after each."""
    from tests.doors.doors import DOORS, one_connection

    place = MEMORY if Path(MEMORY).is_dir() else None
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place)))
        here = Path.cwd()
        stack.callback(os.chdir, here)
        stack.enter_context(one_connection(folder))
        doors: dict[str, Any] = {}
        for number in numbers:
            name, rng = chosen(number, seed)
            if name not in doors:
                (folder / str(len(doors))).mkdir()
                doors[name] = DOORS[name][0](folder / str(len(doors)))
            tell({"number": number, "door": name})
            try:
                end, words = doors[name].attempt(rng), ""
            except Exception:
                end, words = "traceback", traceback.format_exc()
            tell({"end": end, "words": words})


def child(numbers: range, seed: int) -> tuple[int, int]:
    """Starts a process that tries some numbers; its id, and where it tells."""
    reader, writer = os.pipe()
    started = os.fork()
    if started:
        os.close(writer)
        return started, reader
    status = 1
    try:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 2)
        hand_in(numbers, seed, lambda told: os.write(writer, json.dumps(told).encode() + b"\n"))
        status = 0
    finally:
        os._exit(status)


def fuzz(count: int, seed: int, say: Any) -> tuple[Counts, list[str]]:
    """How often each door ended in each way; and what went wrong."""
    found: Counts = {}
    wrong: list[str] = []
    number, begun = 0, time.monotonic()
    while number < count:
        started, reader = child(range(number, count), seed)
        door, lines, hung = "starting", b"", False
        while True:
            ready, _, _ = select.select([reader], [], [], STARTING if door == "starting" else PATIENCE)
            if not ready:
                hung = True
                os.kill(started, signal.SIGKILL)
                break
            data = os.read(reader, 1 << 16)
            if not data:
                break
            *whole, lines = (lines + data).split(b"\n")
            for line in whole:
                told = json.loads(line)
                if "door" in told:
                    door = told["door"]
                    continue
                found.setdefault(door, Counter())[told["end"]] += 1
                if told["end"] not in ("read", "refused"):
                    wrong.append(f"number {number}, seed {seed}, {door}: {told['words'] or told['end']}")
                    say(f"{wrong[-1]}\n")
                number += 1
                if number % 1000 == 0:
                    say(f"{number} files in {time.monotonic() - begun:.0f} s; {len(wrong)} wrong\n")
        os.close(reader)
        _, status = os.waitpid(started, 0)
        if number < count:
            end = "hang" if hung else "crash"
            found.setdefault(door, Counter())[end] += 1
            wrong.append(f"number {number}, seed {seed}, {door}: {end}, status {status}")
            say(f"{wrong[-1]}\n")
            number += 1
    return found, wrong


def table(found: Counts) -> str:
    """The counts, a line for each door."""
    lines = ["{:28}".format("door") + "".join(f"{end:>11}" for end in ENDS)]
    total = Counter[str]()
    for door in sorted(found):
        total.update(found[door])
        lines.append(f"{door:28}" + "".join(f"{found[door][end]:>11,}" for end in ENDS))
    lines.append("{:28}".format("all") + "".join(f"{total[end]:>11,}" for end in ENDS))
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Runs the command."""
    if arguments[0] == "--only":
        number, seed = int(arguments[1]), int(arguments[2])
        hand_in(
            range(number, number + 1),
            seed,
            lambda told: sys.stdout.write(f"{told.get('door') or told['end']}\n{told.get('words', '')}"),
        )
        return 0
    count = int(arguments[0])
    seed = int(arguments[1]) if len(arguments) > 1 else random.randrange(10**9)
    found, wrong = fuzz(count, seed, sys.stderr.write)
    sys.stdout.write(f"{count} files, seed {seed}\n{table(found)}" + "".join(f"\n{one}\n" for one in wrong[:50]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

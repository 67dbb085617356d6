"""System calls that fail while `hetdp release` spends, one after the other, by strace.

    python -m tests.releases.ledger.faults [EVERY [START]]    every call on the ledger's files fails, once or for ever

START is `clean`, or what an earlier release has left that was killed: `before`, `half` or `after` its writes.

Each release is made by the command line's own `main`, in a process that is forked from this one. strace lets one call
on the ledger, its journal or its folder fail. Afterwards the words must be true, and asking again must give the same
answer, paid for once.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import hetdp
from hetdp.cli.main import main as hetdp_main
from hetdp.releases import proof
from tests.releases.worlds import SOURCE, make_ledger, poll_mechanism

ERRORS = {
    "pwrite64": ("EIO", "ENOSPC"),
    "write": ("EIO", "ENOSPC"),
    "pread64": ("EIO",),
    "read": ("EIO",),
    "fsync": ("EIO", "ENOSPC"),
    "fdatasync": ("EIO",),
    "unlink": ("EIO", "EROFS"),
    "ftruncate": ("EIO",),
    "openat": ("EIO", "EACCES", "EMFILE"),
    "rename": ("EIO",),
    "fcntl": ("EIO", "EAGAIN", "ENOLCK"),
    "newfstatat": ("EIO", "EACCES"),
    "access": ("EIO",),
    "close": ("EIO",),
    "lseek": ("EIO",),
}
EXPECTED = {"nothing was spent": (0,), "not known whether this was spent": (0, 1), "this was spent": (1,)}
LEDGER_FILES = ("a.ledger", "a.ledger-journal", "")
NO_KILL = "clean"
KILLS = {  # in which state the file is when a release is killed there: as before, half-written, or as afterwards
    "before": ("a.ledger", "pwrite64", 1),
    "half": ("a.ledger", "pwrite64", 3),
    "after": ("a.ledger-journal", "unlink", 1),
}
SHOWN = re.compile(r"released answer: (\w+)")


class Fault(NamedTuple):
    """A call that fails: the n-th of its kind, and with `for_ever` all later ones too."""

    call: str
    error: str
    number: int
    for_ever: bool

    def __str__(self) -> str:
        return f"{self.call}:error={self.error}:when={self.number}{'+' if self.for_ever else ''}"


def release(name: str = "a.ledger", version: str = "1") -> list[str]:
    """The arguments of a release on the command line."""
    given = {"--dataset": "two", "--ledger": name, "--version": version}
    return ["release", "poll.json", "mechanism.json", *(word for pair in given.items() for word in pair)]


def start_process(folder: Path, arguments: list[str]) -> tuple[int, int, int]:
    """Starts a process that waits to run a command; returns its id, the pipe that starts it, and its output."""
    (ready, go), (source, sink) = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        code = 99
        try:
            os.close(go)
            os.read(ready, 1)
            os.chdir(folder)
            code = _main(arguments, sink)
        finally:
            os._exit(code)
    os.close(ready)
    os.close(sink)
    return child, go, source


def wait_for_process(child: int, source: int) -> tuple[int, str]:
    """Waits for a process; returns its exit code and its output."""
    words = b""
    while part := os.read(source, 1 << 16):
        words += part
    os.close(source)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), words.decode(errors="replace")


def run(folder: Path, arguments: list[str], *options: str, files: Sequence[str] = LEDGER_FILES) -> tuple[int, str]:
    """Runs a command in a process of its own, with options under strace; returns its exit code and output.

    Args:
        folder: where it runs.
        arguments: the command, without `hetdp`.
        options: of strace.
        files: the files that strace watches.
    """
    child, go, source = start_process(folder, arguments)
    tracer = None
    if options:
        paths = [f"-P{folder / name}" for name in files]
        command = ["strace", "-f", "-p", str(child), "-o", "trace.txt", *paths, *options]
        tracer = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE)
        assert tracer.stderr is not None
        assert select.select([tracer.stderr], [], [], 60)[0], "strace does not begin"
        assert b"attached" in tracer.stderr.readline()
    os.write(go, b"g")
    os.close(go)
    found = wait_for_process(child, source)
    if tracer is not None:
        tracer.wait()
        tracer.stderr.close()  # type: ignore[union-attr]
    return found


def _main(arguments: list[str], out: int) -> int:
    """Runs the command line with its output redirected to a pipe."""
    for number in (1, 2):
        os.dup2(out, number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
    code = hetdp_main(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def make_files(folder: Path, cap: int = 10) -> None:
    """Creates a problem, its mechanism, and a ledger with one spend."""
    mechanism = poll_mechanism()
    assert isinstance(mechanism.problem, hetdp.Problem)
    hetdp.save(mechanism.problem, folder / "poll.json")
    hetdp.save(mechanism, folder / "mechanism.json")
    first = make_ledger(folder, cap, name="first.ledger")
    hetdp.release(mechanism, "one", ledger=first, version="0")
    proof.clear_cache()


def prepare_ledger(folder: Path, start: str = NO_KILL) -> None:
    """Creates the ledger with which each release begins; it stays the same file."""
    for name in ("a.ledger", "a.ledger-journal"):
        (folder / name).unlink(missing_ok=True)
    shutil.copyfile(folder / "first.ledger", folder / "a.ledger")
    nothing = hetdp.Charge.to_classes("epsilon", {"pupils": 0})
    hetdp.Ledger(folder / "a.ledger").record(SOURCE, nothing, "so that it is not taken for a copy")
    if start != NO_KILL:
        file, call, number = KILLS[start]
        inject = ("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}")
        code, words = run(folder, release(version="killed"), *inject, files=[file])
        assert (code, SHOWN.search(words)) == (-9, None), words
        assert (folder / "a.ledger-journal").stat().st_size > 0
        shutil.copyfile(folder / "a.ledger-journal", folder / "begin-journal")
    else:
        (folder / "begin-journal").unlink(missing_ok=True)
    shutil.copyfile(folder / "a.ledger", folder / "begin")


def reset_ledger(folder: Path) -> None:
    """Restores the ledger as it was at the beginning."""
    (folder / "a.ledger-journal").unlink(missing_ok=True)
    (folder / "a.ledger").write_bytes((folder / "begin").read_bytes())
    if (folder / "begin-journal").exists():
        shutil.copyfile(folder / "begin-journal", folder / "a.ledger-journal")


def count_calls(folder: Path) -> dict[str, int]:
    """The number of calls of each kind that a release makes on the ledger's files."""
    reset_ledger(folder)
    code, words = run(folder, release(), "-e", f"trace={','.join(ERRORS)}")
    assert code == 0, words
    calls = re.findall(r"^\d+ +(\w+)\(", (folder / "trace.txt").read_text(), re.MULTILINE)
    return {call: many for call, many in Counter(calls).items() if call in ERRORS}


def faults(calls: dict[str, int]) -> Iterator[Fault]:
    """All faults of these calls."""
    for call, many in sorted(calls.items()):
        for error in ERRORS[call]:
            for number in range(1, many + 1):
                yield Fault(call, error, number, False)
                if error not in ("EAGAIN", "ENOLCK"):  # a permanent lock would be waited for, half a minute
                    yield Fault(call, error, number, True)


def run_with_fault(folder: Path, fault: Fault) -> str:
    """Runs a release with this fault, asserts that its messages are true, and returns the result."""
    reset_ledger(folder)
    code, words = run(folder, release(), "-e", f"trace={fault.call}", "-e", f"inject={fault}")
    what = f"{fault}: exit code {code}: {words}"
    assert "Traceback" not in words, what
    assert "bug in hetdp" not in words, what
    used = hetdp.Ledger(folder / "a.ledger")
    spends = [entry for entry in used.history() if entry.version == "1"]
    shown = SHOWN.search(words)
    if code == 0:
        kind = "granted"
        assert shown, what
        assert len(spends) == 1, what
        assert shown[1] == ("aye" if spends[0].answers[0] else "nay"), what
    else:
        assert code == 7, what
        assert not shown, what
        kind = next((kind for kind in EXPECTED if kind in words), "")
        assert kind, what
        assert len(spends) in EXPECTED[kind], what
        kind += f" ({len(spends)})"
    code, again = run(folder, release())
    assert code == 0, f"{what}\nand then: {again}"
    after = [entry for entry in hetdp.Ledger(folder / "a.ledger").history() if entry.version == "1"]
    assert len(after) == 1, what
    assert not spends or after == spends, what
    assert SHOWN.search(again)[1] == ("aye" if after[0].answers[0] else "nay")  # type: ignore[index]
    hetdp.Ledger(folder / "a.ledger").verify()
    return kind


def run_all_faults(every: int = 1, start: str = NO_KILL) -> Counter[str]:
    """Runs every n-th fault and returns how often each result occurred; HETDP_VERBOSE shows each."""

    def run_and_report(fault: Fault) -> str:
        started, kind = time.perf_counter(), run_with_fault(folder, fault)
        if os.environ.get("HETDP_VERBOSE"):
            sys.stderr.write(f"{fault}: {kind}; {time.perf_counter() - started:.1f} s\n")
        return kind

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        os.chdir(folder)
        try:
            make_files(folder)
            prepare_ledger(folder, start)
            found = Counter(run_and_report(fault) for fault in list(faults(count_calls(folder)))[::every])
        finally:
            os.chdir(before)
    return found


if __name__ == "__main__":
    result = run_all_faults(int(sys.argv[1]) if len(sys.argv) > 1 else 1, *sys.argv[2:])
    sys.stdout.write(f"{result.total()} faults: {dict(result)}\n")

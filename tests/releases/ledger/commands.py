"""Kills real commands with SIGKILL at random moments, as often as requested.

    python -m tests.releases.ledger.commands N PLACE     N kills of `hetdp release` and `hetdp ask --ledger`

PLACE is a folder or a PostgreSQL server such as ``postgresql://USER@HOST:PORT/``; ledgers are created there. Each
command is a process of its own that runs the command line's `main` and prints its answer to a pipe. Most are forked
from this process, which has already loaded hetdp; every 25th is started as `python -m hetdp`. Half of the kills on
files wait for the journal, and so hit the commit. A command that has ended before is not counted as a kill.

After each kill the same command runs again, sometimes in three processes at once, and must give the answer that was
shown, if there was one. Between runs a file is also linked, moved with or without its journal, or reached by symbolic
links. At the end every ledger is verified and holds all answers that were shown, but no more than its cap allows.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import hetdp
from tests.releases.ledger.faults import make_files, release, run, start_process, wait_for_process
from tests.releases.ledger.stress import new_address
from tests.releases.worlds import SOURCE

ROUNDS = 40  # kills on one ledger
EXEC_EVERY = 25  # one of so many commands is started as a new interpreter
COMMIT_SECONDS = 0.01  # seconds from the first write to a journal to the end of a commit, about
ASK_EVERY = 4  # one of so many asks a table
ANSWER = re.compile(r"^released answer: (\w+)(?: \(as released .*\))?\n", re.MULTILINE)
PEOPLE = "people"
VARIANTS = ("plain", "plain", "together", "linked", "moved", "moved with its journal", "symbolic links")
SERVER_VARIANTS = (*["plain"] * 7, "together")


class LedgerRun:
    """One ledger, and what is known about it.

    Args:
        folder: where the problem and the table are.
        address: of the ledger.
        count: of everything that happened.
    """

    def __init__(self, folder: Path, address: str, count: Counter[str]) -> None:
        self.folder, self.address, self.count = folder, address, count
        self.allowed = random.randrange(10, 2 * ROUNDS)
        self.ledger = hetdp.Ledger.create(address, source=SOURCE, cap=self.allowed, timeout=60)
        self.ledger.declare(PEOPLE, cap=self.allowed)
        self.shown: dict[tuple[str, str], str] = {}
        self.is_file = "://" not in address

    def command(self, kind: str, version: str, address: str | None = None) -> list[str]:
        """The arguments of a command."""
        where = address or self.address
        if kind == PEOPLE:
            given = ["--count", "vote = 'yes'", "--at-least", "50%", "--epsilon", "1", "--person", "id"]
            return ["ask", "people.csv", *given, "--ledger", where, "--source", PEOPLE, "--version", version, "-q"]
        return [*release(where, version), "--source", SOURCE, "-q"]

    def record_answer(self, kind: str, version: str, words: str) -> None:
        """Records an answer that was shown and asserts that it never changes."""
        for answer in ANSWER.findall(words):
            assert self.shown.setdefault((kind, version), answer) == answer, "another answer was shown before"
            self.count["answers shown"] += 1

    def kill(self, kind: str, version: str, is_executed: bool, spread: float) -> None:
        """Starts a command and kills it at a random moment, unless it has ended before."""
        words = self.command(kind, version)
        if is_executed:
            command = [sys.executable, "-m", "hetdp", *words]
            process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            time.sleep(random.random() * spread)
            process.kill()
            output, code = process.communicate()[0].decode(errors="replace"), process.returncode
        else:
            child, go, source = start_process(self.folder, words)
            os.write(go, b"g")
            os.close(go)
            self.wait(spread)
            os.kill(child, signal.SIGKILL)
            code, output = wait_for_process(child, source)
        assert code in (-signal.SIGKILL, 0, 6), output
        self.count["kills" if code < 0 else "ended before they were killed"] += 1
        self.count["kills of commands that were started anew"] += is_executed and code < 0
        if self.is_file and Path(f"{self.address}-journal").exists():
            self.count["journals left by a kill"] += 1
        self.record_answer(kind, version, output)

    def wait(self, spread: float) -> None:
        """Waits until a random moment of the command; half of the time on a file, of its commit."""
        if not self.is_file or random.random() < 0.5:
            time.sleep(random.random() * spread)
            return
        until = time.perf_counter() + spread
        journal = Path(f"{self.address}-journal")
        while not journal.exists() and time.perf_counter() < until:
            os.sched_yield()
        time.sleep(random.random() * COMMIT_SECONDS)

    def ask_again(self, kind: str, version: str, address: str | None = None) -> int:
        """Runs the same command without a kill; returns the exit code."""
        code, output = run(self.folder, self.command(kind, version, address))
        assert "Traceback" not in output, output
        assert code in (0, 6, 7), output
        assert code == 0 or (kind, version) not in self.shown or code == 7, "an answer was lost"
        if code == 7:
            assert "nothing was spent" in output, output
        self.record_answer(kind, version, output)
        return code

    def vary(self, variant: str, kind: str, version: str) -> None:
        """Several processes ask at once, or the file temporarily gets another name."""
        self.count[variant] += 1
        if variant == "together":
            self.ask_concurrently(kind, version)
            return
        path = Path(self.address)
        other = path.with_name(f"other {path.name}")
        journal, other_journal = (each.with_name(f"{each.name}-journal") for each in (path, other))
        if variant == "linked":
            os.link(path, other)
            assert [self.ask_again(kind, version, str(each)) for each in (path, other)] == [7, 7]
            other.unlink()
        elif variant.startswith("moved"):
            is_left = journal.exists() and journal.stat().st_size > 0
            path.rename(other)
            if variant != "moved" and journal.exists():
                journal.rename(other_journal)
            code = self.ask_again(kind, version, str(other))
            assert code != 7 or (is_left and variant == "moved"), "refused without a reason"
            self.count["refused without their journal"] += code == 7
            other.rename(path)
        elif variant == "symbolic links":
            other.symlink_to(path)
            assert self.ask_again(kind, version, str(other)) != 7
            other.unlink()

    def ask_concurrently(self, kind: str, version: str) -> None:
        """Runs three processes at once after a kill."""
        running = [start_process(self.folder, self.command(kind, version)) for _ in range(3)]
        for _, go, _ in running:
            os.write(go, b"g")
            os.close(go)
        for child, _, source in running:
            code, output = wait_for_process(child, source)
            assert code in (0, 6), output
            self.record_answer(kind, version, output)

    def check_ledger(self) -> None:
        """Asserts that the ledger holds every answer that was shown and no more than allowed."""
        self.ledger = hetdp.Ledger(self.address, timeout=60)
        self.ledger.verify()
        spends = [entry for entry in self.ledger.history() if entry.kind == "spend"]
        made = {(entry.source, entry.version): entry.answers for entry in spends}
        assert len(made) == len(spends)
        for (kind, version), answer in self.shown.items():
            found = made.get((PEOPLE if kind == PEOPLE else SOURCE, version))
            assert found is not None, "what was shown was lost"
            assert answer == ({True: "yes", False: "no"} if kind == PEOPLE else {True: "aye", False: "nay"})[found[0]]
        for source, many in Counter(entry.source for entry in spends).items():
            assert many <= self.allowed, f"{many} spends of {source} under a cap of {self.allowed}"
        self.count["spends made"] += len(spends)
        self.count["of which were shown"] += len(self.shown)
        self.count["ledgers"] += 1
        self.count["ledgers that were used up"] += max(Counter(one.source for one in spends).values()) == self.allowed


def prepare(folder: Path) -> None:
    """Creates the files that commands need and loads all modules."""
    make_files(folder)
    votes = "\n".join(f"{number},{'yes' if number % 3 else 'no'}" for number in range(30))
    (folder / "people.csv").write_text(f"id,vote\n{votes}\n")
    run = LedgerRun(folder, str(folder / "first-of-all.ledger"), Counter())
    for kind in (SOURCE, PEOPLE):
        assert run.ask_again(kind, "0") == 0
    Path(run.address).unlink()  # a ledger beside the table that has answered the question would be the one to use
    import duckdb  # noqa: F401 - loaded once, and used by each process itself


def spread_of(run: LedgerRun, kind: str) -> float:
    """A little more than the duration of a command, in seconds."""
    begin = time.perf_counter()
    run.ask_again(kind, "at first")
    return 1.2 * (time.perf_counter() - begin)


def run_kills(place: str, target: int) -> Counter[str]:
    """Kills so many commands; returns counts of what happened."""
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        prepare(folder)
        number = 0
        while count["kills"] < target:
            run = LedgerRun(folder, new_address(place if "://" in place else tempfile.mkdtemp(dir=place)), count)
            spreads = {kind: spread_of(run, kind) for kind in (SOURCE, PEOPLE)}
            end = min(target, count["kills"] + ROUNDS)
            while count["kills"] < end:
                number += 1
                kind, version = PEOPLE if number % ASK_EVERY == 0 else SOURCE, str(number)
                is_executed = number % EXEC_EVERY == 0
                run.kill(kind, version, is_executed, 1.0 if is_executed else spreads[kind])
                variant = random.choice(VARIANTS if run.is_file else SERVER_VARIANTS)
                if variant != "plain":
                    run.vary(variant, kind, version)
                assert run.ask_again(kind, version) in (0, 6)
            run.check_ledger()
    return count


if __name__ == "__main__":
    started = time.perf_counter()
    result = run_kills(sys.argv[2], int(sys.argv[1]))
    summary = ", ".join(f"{many} {what}" for what, many in sorted(result.items()))
    sys.stdout.write(
        f"{summary}; none lost, none over the cap, no chain broken; {time.perf_counter() - started:.0f} s\n"
    )

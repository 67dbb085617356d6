"""Real commands that are killed with SIGKILL at random moments, for as long as you like.

    python -m tests.releases.ledger.commands N PLACE     N kills of `hetdp release` and `hetdp ask --ledger`

PLACE is a folder, or a PostgreSQL server as ``postgresql://USER@HOST:PORT/``; ledgers are made there. Each command is a
process of its own that runs the command line's `main` with the words that would be typed, and shows its answer through
a pipe. Most are forked from this process, which has loaded hetdp before; every 25th is started as `python -m hetdp`.
Half of the kills on files wait until the journal is there, and so hit the commit. A command that has ended before is
not counted as a kill.

After each kill the same is asked again, sometimes by three at once: the answer is the one that was shown, if one was. A
file is also linked, moved without its journal, moved with it, or reached by symbolic links meanwhile. In the end every
ledger is verified, holds all that was shown, and no more than its cap allows.
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
from tests.releases.ledger.faults import begun, ended, release, run, world
from tests.releases.ledger.stress import fresh
from tests.releases.worlds import SOURCE

ROUNDS = 40  # kills on one ledger
EXECUTED = 25  # one of so many commands is started anew
COMMITTING = 0.01  # seconds from the first write to a journal to the end of a commit, about
ASKED = 4  # one of so many asks a table
ANSWER = re.compile(r"^released answer: (\w+)(?: \(as released .*\))?\n", re.MULTILINE)
PEOPLE = "people"
VARIANTS = ("plain", "plain", "together", "linked", "moved", "moved with its journal", "symbolic links")
OF_A_SERVER = (*["plain"] * 7, "together")


class Life:
    """One ledger, and what is known of it.

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

    def words(self, kind: str, version: str, address: str | None = None) -> list[str]:
        """What is typed."""
        where = address or self.address
        if kind == PEOPLE:
            given = ["--count", "vote = 'yes'", "--at-least", "50%", "--epsilon", "1", "--person", "id"]
            return ["ask", "people.csv", *given, "--ledger", where, "--source", PEOPLE, "--version", version, "-q"]
        return [*release(where, version), "--source", SOURCE, "-q"]

    def note(self, kind: str, version: str, words: str) -> None:
        """An answer that was shown; it never changes."""
        for answer in ANSWER.findall(words):
            assert self.shown.setdefault((kind, version), answer) == answer, "another answer was shown before"
            self.count["answers shown"] += 1

    def kill(self, kind: str, version: str, is_executed: bool, spread: float) -> None:
        """A command that is killed at a random moment, if it has not ended before."""
        words = self.words(kind, version)
        if is_executed:
            command = [sys.executable, "-m", "hetdp", *words]
            process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            time.sleep(random.random() * spread)
            process.kill()
            said, code = process.communicate()[0].decode(errors="replace"), process.returncode
        else:
            child, go, source = begun(self.folder, words)
            os.write(go, b"g")
            os.close(go)
            self.wait(spread)
            os.kill(child, signal.SIGKILL)
            code, said = ended(child, source)
        assert code in (-signal.SIGKILL, 0, 6), said
        self.count["kills" if code < 0 else "ended before they were killed"] += 1
        self.count["kills of commands that were started anew"] += is_executed and code < 0
        if self.is_file and Path(f"{self.address}-journal").exists():
            self.count["journals left by a kill"] += 1
        self.note(kind, version, said)

    def wait(self, spread: float) -> None:
        """Until a random moment of the command; for every second one on a file, of its commit."""
        if not self.is_file or random.random() < 0.5:
            time.sleep(random.random() * spread)
            return
        until = time.perf_counter() + spread
        journal = Path(f"{self.address}-journal")
        while not journal.exists() and time.perf_counter() < until:
            os.sched_yield()
        time.sleep(random.random() * COMMITTING)

    def ask_again(self, kind: str, version: str, address: str | None = None) -> int:
        """The same, in peace; the exit code."""
        code, said = run(self.folder, self.words(kind, version, address))
        assert "Traceback" not in said, said
        assert code in (0, 6, 7), said
        assert code == 0 or (kind, version) not in self.shown or code == 7, "an answer was lost"
        if code == 7:
            assert "nothing was spent" in said, said
        self.note(kind, version, said)
        return code

    def vary(self, variant: str, kind: str, version: str) -> None:
        """Several ask at once; or the file gets another name, and loses it again."""
        self.count[variant] += 1
        if variant == "together":
            self.together(kind, version)
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

    def together(self, kind: str, version: str) -> None:
        """Three processes at once find what a killed one has left."""
        running = [begun(self.folder, self.words(kind, version)) for _ in range(3)]
        for _, go, _ in running:
            os.write(go, b"g")
            os.close(go)
        for child, _, source in running:
            code, said = ended(child, source)
            assert code in (0, 6), said
            self.note(kind, version, said)

    def require_kept(self) -> None:
        """Everything that was shown is in the ledger, and no more than is allowed."""
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


def prepared(folder: Path) -> None:
    """What commands need, and everything loaded that they load."""
    world(folder)
    votes = "\n".join(f"{number},{'yes' if number % 3 else 'no'}" for number in range(30))
    (folder / "people.csv").write_text(f"id,vote\n{votes}\n")
    life = Life(folder, str(folder / "first-of-all.ledger"), Counter())
    for kind in (SOURCE, PEOPLE):
        assert life.ask_again(kind, "0") == 0
    import duckdb  # noqa: F401 - loaded once, and used by each process itself


def spread_of(life: Life, kind: str) -> float:
    """A little longer than a command takes."""
    begin = time.perf_counter()
    life.ask_again(kind, "at first")
    return 1.2 * (time.perf_counter() - begin)


def kills(place: str, wanted: int) -> Counter[str]:
    """So many kills; what happened meanwhile."""
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        prepared(folder)
        number = 0
        while count["kills"] < wanted:
            life = Life(folder, fresh(place), count)
            spreads = {kind: spread_of(life, kind) for kind in (SOURCE, PEOPLE)}
            end = min(wanted, count["kills"] + ROUNDS)
            while count["kills"] < end:
                number += 1
                kind, version = PEOPLE if number % ASKED == 0 else SOURCE, str(number)
                is_executed = number % EXECUTED == 0
                life.kill(kind, version, is_executed, 1.0 if is_executed else spreads[kind])
                variant = random.choice(VARIANTS if life.is_file else OF_A_SERVER)
                if variant != "plain":
                    life.vary(variant, kind, version)
                assert life.ask_again(kind, version) in (0, 6)
            life.require_kept()
    return count


if __name__ == "__main__":
    started = time.perf_counter()
    result = kills(sys.argv[2], int(sys.argv[1]))
    told = ", ".join(f"{many} {what}" for what, many in sorted(result.items()))
    sys.stdout.write(f"{told}; none lost, none over the cap, no chain broken; {time.perf_counter() - started:.0f} s\n")

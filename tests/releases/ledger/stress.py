"""Many concurrent processes, and kill −9, as often as requested.

    python -m tests.releases.ledger.stress crowd N PLACE [LEVEL]    eight processes spend N times each; half are allowed
    python -m tests.releases.ledger.stress kill N PLACE             N times, a process is killed while it spends

PLACE is a folder, or a PostgreSQL server as ``postgresql://USER@HOST:PORT/``; ledgers are made there. LEVEL is the
server's default isolation, such as ``serializable``. Processes are forked from this one, which has opened the ledger
before; `commands.py` kills whole commands.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

from hetdp.errors import BudgetError
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.ledger import Ledger

PROCESSES, COST, PEOPLE = 8, "0.001", 300
CROWD = 9000  # more people than a row holds, so that a source's first charge to them writes several
ROUNDS = 50  # on one ledger: each of them verifies all of it
CLASSES = Charge.to_classes("epsilon", {"everybody": COST})
MANY, ALL = (
    Charge.to_people("epsilon", [f"person {number}" for number in range(size)], COST) for size in (PEOPLE, CROWD)
)


def new_address(place: str, level: str = "") -> str:
    """The address of a new ledger; on a server, its database is created with this default isolation level."""
    if "://" not in place:
        return str(Path(place) / f"{uuid4().hex}.ledger")
    import psycopg

    name = f"hetdp_{uuid4().hex}"
    with psycopg.connect(f"{place}postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        if level:
            connection.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = '{level}'")
    return f"{place}{name}"


def reset_database(address: str) -> bool:
    """Empties a database of a server and ends all its sessions; returns False if it was dropped."""
    import psycopg

    place, _, database = address.rpartition("/")
    with psycopg.connect(f"{place}/postgres") as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone() is None:
            return False
    with psycopg.connect(address, autocommit=True) as connection:
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        connection.execute(f"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE {others}")
        for (name,) in connection.execute("SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_)'"):
            connection.execute(f'DROP SCHEMA "{name}" CASCADE')
        connection.execute("CREATE SCHEMA public")
        connection.execute("GRANT USAGE ON SCHEMA public TO PUBLIC")
        connection.execute(f"ALTER DATABASE {database} RESET ALL")
    return True


def make_ledger(address: str, allowed: int, timeout: float) -> Ledger:
    """A ledger that allows so many spends to a class, and as many to people."""
    cap = f"{allowed * float(COST):.9f}"
    ledger = Ledger.create(address, source="survey", cap=cap, timeout=timeout)
    ledger.declare("people", cap=cap)
    return ledger


def fork_worker(work: Callable[[int], None]) -> tuple[int, int]:
    """Forks a process that does some work and reports on a pipe; returns its id and the pipe."""
    source, sink = os.pipe()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            os.close(source)
            work(sink)
            code = 0
        finally:
            os._exit(code)
    os.close(sink)
    return process, source


def spend_repeatedly(ledger: Ledger, name: str, times: int, firsts: bool = False) -> Callable[[int], None]:
    """Work that spends, reports the number and hash of each entry, and then the number of refusals.

    With `firsts`, every fourth spend is the first of a new source, which it then uses up, and of a crowd.
    """

    def work(sink: int) -> None:
        refused = 0
        for number in range(times):
            source, charge = ("people", MANY) if number % 2 else ("survey", CLASSES)
            if firsts and number % 4 == 0:
                source, charge = f"{name} {number}", ALL
                ledger.declare(source, cap=COST)
            try:
                entry = ledger.spend(source, charge, f"{name} {number}", "1", lambda: [True])
            except BudgetError:
                refused += 1
            else:
                os.write(sink, f"{entry.number} {entry.hash}\n".encode())
        os.write(sink, f"refused {refused}\n".encode())

    return work


def read_lines(source: int) -> Iterator[list[str]]:
    """The lines written to a pipe."""
    with os.fdopen(source) as lines:
        yield from (line.split() for line in lines)


def check_entries(ledger: Ledger, entries: list[list[str]]) -> None:
    """Asserts that the ledger is valid and holds all these entries."""
    ledger.verify([{"ledger": ledger.id, "entry": int(number), "hash": found} for number, found in entries])


def run_crowd(address: str, times: int) -> tuple[int, int]:
    """Runs eight processes at once, half of whose spends are allowed; returns the numbers granted and refused."""
    allowed = PROCESSES * times // 4 * 2
    ledger = make_ledger(address, allowed // 2, 600)
    running = [fork_worker(spend_repeatedly(ledger, f"process {at}", times)) for at in range(PROCESSES)]
    lines = [line for _, source in running for line in read_lines(source)]
    assert [os.waitpid(process, 0)[1] for process, _ in running] == [0] * PROCESSES
    granted = [line for line in lines if line[0] != "refused"]
    refused = sum(int(line[1]) for line in lines if line[0] == "refused")
    check_entries(ledger, granted)
    assert len({number for number, _ in granted}) == len(granted) == allowed, len(granted)
    assert len(ledger.history()) == 3 + allowed
    assert refused + allowed == PROCESSES * times
    return allowed, refused


def kill_once(ledger: Ledger, name: str, spread: float) -> int:
    """Kills one process while it spends; returns the number of spends it reported."""
    process, source = fork_worker(spend_repeatedly(ledger, name, 10**6, firsts=True))
    time.sleep(random.random() * spread)
    os.kill(process, signal.SIGKILL)
    entries = list(read_lines(source))
    os.waitpid(process, 0)
    check_entries(ledger, [line for line in entries if len(line) == 2 and len(line[1]) == 64])
    return len(entries)


def run_kills(place: str, rounds: int, spread: float = 0.3) -> tuple[int, int]:
    """Runs many rounds; returns the numbers of spends reported and made, of which the second may be larger."""
    shown, written = 0, 0
    for begin in range(0, rounds, ROUNDS):
        allowed = random.randrange(20, 200)  # some ledgers are used up on the way
        ledger = make_ledger(new_address(place), allowed, 60)
        for at in range(begin, min(begin + ROUNDS, rounds)):
            shown += kill_once(ledger, f"round {at}", spread)
        spent = [entry for entry in ledger.history() if entry.kind == "spend"]
        for source, many in Counter(entry.source for entry in spent).items():
            assert many <= (allowed if source in ("survey", "people") else 1)
        written += len(spent)
    assert shown <= written
    return shown, written


def main(what: str, number: str, place: str, level: str = "") -> None:
    """Runs one of the two and prints the result."""
    begin = time.perf_counter()
    if what == "crowd":
        granted, refused = run_crowd(new_address(place, level), int(number))
        words = f"{PROCESSES} × {number} spends: {granted} granted, {refused} refused"
    else:
        shown, written = run_kills(place, int(number))
        words = (
            f"{number} rounds: {written} spends made, {shown} of them shown, none lost, none too many, no chain broken"
        )
    sys.stdout.write(f"{words}; {time.perf_counter() - begin:.0f} s\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Broken ledgers, as many as requested: ``python -m tests.releases.ledger.fuzz N [SEED]``.

A ledger is damaged at random: bytes, pages, or values in its tables. Then it is opened, verified and spent from. Either
that is refused with a `LedgerError`, or everything the ledger says is what it said before; nothing else may be raised.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hetdp.errors import BudgetError, LedgerError, UsageError
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.ledger import Ledger
from hetdp.releases.ledger.schema import metadata

MEMORY = "/dev/shm"  # a RAM disk, if there is one, avoids waiting for the disk
VALUES: list[Any] = [None, 0, 1, -1, 2**62, 2**63 - 1, -(2**63), 0.5, float("inf"), "", "0", "{}", "[]", "null", "é\0"]
VALUES += [b"", b"\0" * 16, b"\xff" * 32, b'{"kind":"class"}', "[" * 5000, '{"previous":1}', "9" * 5000]


def make_ledger(place: Path) -> Ledger:
    """Creates a ledger with entries of every kind."""
    ledger = Ledger.create(place, source="survey", cap=1, caps={"staff": 0.5})
    ledger.declare("people", cap=1, caps={"staff": 0.5})
    ledger.declare("both", currency="epsilon-delta", cap=(1, 1))
    people = Charge.to_people("epsilon", range(40), "0.1", classes=["staff", "pupils"] * 20)
    classes = Charge.to_classes("epsilon", {"a": "0.1", "b": "0.2"})
    for number, (source, charge) in enumerate([("survey", classes), ("people", people), ("people", people)]):
        ledger.spend(source, charge, str(number), "1", lambda: [True], {"words": "ε"})
    ledger.record("both", Charge.to_classes("epsilon-delta", {"a": "0.1"}, {"a": "0.1"}), "elsewhere")
    return ledger


def flip_bits(whole: bytes, chance: random.Random) -> bytes:
    """Changes some bits."""
    found = bytearray(whole)
    for _ in range(chance.choice([1, 1, 1, 4, 64])):
        found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
    return bytes(found)


def change_part(whole: bytes, chance: random.Random) -> bytes:
    """Overwrites, removes or repeats a part."""
    begin, size = chance.randrange(len(whole)), chance.choice([1, 16, 100, 4096])
    filling = chance.choice([b"", bytes(size), chance.randbytes(size), whole[begin : begin + size] * 2])
    return whole[:begin] + filling + whole[begin + size :]


def swap_pages(whole: bytes, chance: random.Random) -> bytes:
    """Exchanges two pages."""
    pages = [whole[at : at + 4096] for at in range(0, len(whole), 4096)]
    one, other = chance.randrange(len(pages)), chance.randrange(len(pages))
    pages[one], pages[other] = pages[other], pages[one]
    return b"".join(pages)


def alter_table(place: Path, chance: random.Random) -> None:
    """Changes a value in a table, removes a row or adds one."""
    table = chance.choice(list(metadata.tables.values()))
    column = chance.choice(list(table.columns)).name
    connection = sqlite3.connect(place)
    with suppress(sqlite3.Error), connection:
        one = f"rowid = (SELECT rowid FROM {table.name} ORDER BY random() LIMIT 1)"
        value = chance.choice([*VALUES, chance.randrange(2**60), chance.randbytes(chance.randrange(99))])
        match chance.randrange(6):
            case 0:
                connection.execute(f"DELETE FROM {table.name} WHERE {one}")
            case 1:
                connection.execute(f"INSERT INTO {table.name} ({column}) VALUES (?)", [value])
            case _:
                connection.execute(f"UPDATE {table.name} SET {column} = ? WHERE {one}", [value])
    connection.close()


def try_to_spend(ledger: Ledger) -> None:
    """Repeats an earlier spend and makes a new one; both may be refused."""
    charge = Charge.to_people("epsilon", range(40), "0.1")
    for request in ("1", "new"):
        with suppress(LedgerError, BudgetError, UsageError):
            ledger.spend("people", charge, request, "1", lambda: [True])


def fuzz(rounds: int, seed: int) -> Counter[str]:
    """Returns how often damage was found on opening, on verifying, and not at all."""
    chance, found = random.Random(seed), Counter[str]()
    ways: list[Callable[[bytes, random.Random], bytes]] = [flip_bits, change_part, swap_pages]
    with tempfile.TemporaryDirectory(dir=MEMORY if Path(MEMORY).is_dir() else None) as folder:
        place = Path(folder) / "a.ledger"
        expected, whole = (
            make_ledger(place).verify(),
            place.read_bytes(),
        )  # the last hash depends on all earlier entries
        for _ in range(rounds):
            way = chance.choice([alter_table, *ways])
            place.write_bytes(whole if way is alter_table else way(whole, chance))  # type: ignore[operator]
            if way is alter_table:
                alter_table(place, chance)
            try:
                ledger = Ledger(place, timeout=0.1)
            except LedgerError:
                found["when opened"] += 1
                continue
            try:
                assert ledger.verify() == expected
                found["no harm done"] += 1
            except LedgerError:
                found["when verified"] += 1
            if chance.random() < 0.1:
                try_to_spend(ledger)
            Path(f"{place}-journal").unlink(missing_ok=True)
    return found


if __name__ == "__main__":
    sys.stdout.write(f"{dict(fuzz(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))}\n")

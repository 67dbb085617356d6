"""The ledger, compared with the database alone: a durable INSERT, and an UPDATE of a table with a row per person."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hetdp
from benchmarks.claims import AT_MOST, Benchmark, Measured, Part, Table, Target
from benchmarks.measure import in_turn
from examples import three_voters
from hetdp.releases import proof
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.ledger import Ledger

ONE, MANY = "a spend with one class account", "a spend of everybody's"
WHOLE = "a whole release with one class account"
PARTS = ("spend", "release", "release, first", "verify")
PEOPLE = """
    CREATE TABLE people (
        pseudonym BLOB PRIMARY KEY, cap INTEGER NOT NULL, spent INTEGER NOT NULL
    ) WITHOUT ROWID
"""


def bare(place: Path) -> sqlite3.Connection:
    """Opens a database that is as durable as the ledger."""
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("PRAGMA synchronous = EXTRA")
    return connection


def plain(connection: sqlite3.Connection, statement: str, values: tuple[Any, ...] = ()) -> None:
    """Runs one statement in a separate transaction."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(statement, values)
    connection.execute("COMMIT")


def one_class(folder: Path) -> dict[str, Callable[[], Any]]:
    """A spend with one class account, and an INSERT of the same number of bytes."""
    database, numbers = bare(folder / "bare.sqlite"), count()
    database.execute("CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT NOT NULL)")
    ledger = Ledger.create(folder / "one.ledger", source="survey", cap="inf")
    charge = Charge.to_classes("epsilon", {"everybody": 0.1})
    released = Ledger.create(folder / "released.ledger", source="survey", cap="inf")
    mechanism = hetdp.design(three_voters.problem(three_voters.WAYS[0]))

    def release() -> None:
        hetdp.release(mechanism, "112", ledger=released, version=str(next(numbers)), announce=lambda _: None)

    def release_first() -> None:
        proof.clear_cache()
        release()

    return {
        "unit": lambda: plain(database, "INSERT INTO entries VALUES (?, ?)", (next(numbers), "x" * 400)),
        "spend": lambda: ledger.spend("survey", charge, str(next(numbers)), "1", lambda: [True]),
        "release": release,
        "release, first": release_first,
    }


def many_people(folder: Path, people: int) -> dict[str, Callable[[], Any]]:
    """A spend that charges everyone, from their ids to the durable commit, and an UPDATE of everyone's row."""
    ledger, numbers = Ledger.create(folder / "many.ledger", source="survey", cap="inf"), count()
    charge = Charge.to_people("epsilon", [f"person {number}" for number in range(people)], 0.1)
    keys = charge.seal(bytes(32)).keys.tobytes()
    database = bare(folder / "people.sqlite")
    database.execute(PEOPLE)
    database.execute("BEGIN")
    rows = ((keys[at : at + 16], 10**9, 0) for at in range(0, len(keys), 16))
    database.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    database.execute("COMMIT")
    ledger.spend("survey", charge, "first", "1", lambda: [True])  # makes the accounts, as the INSERT above did
    return {
        "unit": lambda: plain(database, "UPDATE people SET spent = spent + 100000000"),
        "spend": lambda: ledger.spend("survey", charge, str(next(numbers)), "1", lambda: [True]),
        "verify": ledger.verify,
    }


def _ratios(times: dict[str, float]) -> list[str]:
    return [f"{times[part] / times['unit']:.2f}" if part in times else "" for part in PARTS]


def sections(people: int, spends: int, rounds: int) -> Iterator[Part]:
    """A table of times."""
    with TemporaryDirectory() as name:
        one = in_turn(one_class(Path(name)), spends)
        many = in_turn(many_people(Path(name), people), rounds)
    rows = [
        ("one class account", "durable INSERT", f"{one['unit'] * 1000:.2f}", *_ratios(one)),
        (f"{people:,} people", "UPDATE of all", f"{many['unit'] * 1000:.0f}", *_ratios(many)),
    ]
    yield Table(("SQLite", "unit", "milliseconds of it", *PARTS), rows)
    yield Measured(ONE, "SQLite", one["spend"] / one["unit"])
    yield Measured(WHOLE, "SQLite", one["release"] / one["unit"])
    yield Measured(MANY, "SQLite", many["spend"] / many["unit"])


BENCHMARKS = (
    Benchmark(
        "ledger",
        "What a spend costs",
        "The unit is SQLite alone, with the same durability: an INSERT of the same number of bytes, and an UPDATE of a"
        " table with a row for each person. A spend looks up the question, checks every cap, writes the entry and the"
        " balances, and commits; for people it starts from their ids. A release is the whole of `hetdp.release` for the"
        " majority of three voters, about new data. The first release of a process proves the mechanism, and later ones"
        " prove that it is still the same.",
        sections,
        full=(10**6, 200, 5),
        quick=(1000, 3, 1),
        targets=(Target(ONE, AT_MOST, 3), Target(WHOLE, AT_MOST, 3), Target(MANY, AT_MOST, 5)),
    ),
)

"""The doors: the valid files of each, and the functions that read them once they are broken.

A door must either read a broken file or refuse it with a `HetdpError`.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

import hetdp
from hetdp import duck
from hetdp.partitioned.datasets import open_tables
from hetdp.partitioned.reading import offsets_of, read_by
from hetdp.releases.ledger.ledger import Ledger
from hetdp.tables import sources
from hetdp.tables.comparison import add_functions
from hetdp.tables.people_table import LocalTable
from hetdp.tables.plan import read_plan
from tests.cli import fuzz as verbs
from tests.cli import fuzz_people as questions
from tests.doors.damage import damage_bytes
from tests.partitioned.inline import Inline
from tests.releases.fuzz import World, check_plan, check_record
from tests.releases.ledger import fuzz as ledgers
from tests.tables.extremes import arrow_columns
from tests.tables.test_loading import make_request

PEOPLE: dict[str, list[Any]] = {
    "id": ["1", "2", "3", "4", "5", "6", "7"],
    "role": ["pupil", "pupil", "staff", "staff", "pupil", "staff", "guest"],
    "eps": [0.3, 0.3, 1.0, 1.0, 0.3, 1.0, 2.0],
    "vote": ["yes", "no", "yes", None, "yes", "maybe" * 5, "é"],
}
FILES_PER_CONNECTION = (
    400  # files read by one connection to DuckDB, since opening a connection takes longer than reading a file
)


class Door(ABC):
    """One way in which input reaches hetdp.

    Args:
        folder: the folder of its valid files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def attempt(self, rng: random.Random) -> str:
        """Breaks a file and reads it; returns "read" or "refused".

        Raises:
            Exception: something else happened.
        """


class FileDoor(Door):
    """A door with valid files, one of which is broken, and a function that reads it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.whole = self.make_files(folder)
        self._number = 0
        for whole in self.whole:  # every file can be read before it is broken
            self.read_file(whole, random.Random(0))

    @abstractmethod
    def make_files(self, folder: Path) -> list[Path]:
        """Creates valid files or folders of files."""

    @abstractmethod
    def read_file(self, path: Path, rng: random.Random) -> None:
        """Reads a file that may be broken."""

    def attempt(self, rng: random.Random) -> str:
        """Breaks a file, or one file of a folder, in a copy."""
        self._number += 1
        whole = rng.choice(self.whole)
        copy = self.folder / "broken" / str(self._number) / whole.name
        copy.parent.mkdir(parents=True)
        try:
            if whole.is_dir():
                shutil.copytree(whole, copy)
                victim = rng.choice(sorted(path for path in copy.rglob("*") if path.is_file()))
                victim.write_bytes(damage_bytes(victim.read_bytes(), victim.name, rng))
            else:
                for beside in whole.parent.glob(f"{whole.name}*"):
                    shutil.copy(beside, copy.parent / beside.name)
                victim = rng.choice(sorted(copy.parent.iterdir()))
                victim.write_bytes(damage_bytes(victim.read_bytes(), victim.name, rng))
            before = names_in(copy.parent)
            try:
                self.read_file(copy, rng)
            except hetdp.HetdpError as refusal:
                return "refused" if str(refusal) else "refused without a word"
            finally:
                assert names_in(copy.parent) <= before | {f"{whole.name}-shm", f"{whole.name}-wal"}, "a file was left"
            return "read"
        finally:
            shutil.rmtree(copy.parent)


def names_in(folder: Path) -> set[str]:
    """The names of everything in a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


class Tables(FileDoor):
    """Tables of people: the public columns are read first, then the answers."""

    form = ""
    counted = ("vote = 'yes'", "vote IN ('no', 'é') OR vote IS NULL", "vote > 3", "vote < '2024-01-31'")

    def read_file(self, path: Path, rng: random.Random) -> None:
        """Reads the public columns and the answers."""
        group = rng.choice([None, None, "role"])
        request = make_request(counted=rng.choice(self.counted), group=group, of="respondents")
        with sources.open_source(path) as source:
            people = LocalTable(source)
            people.policy(request)
            people.read_answers(request)


class Csv(Tables):
    def make_files(self, folder: Path) -> list[Path]:
        rows = [list(PEOPLE), *zip(*PEOPLE.values(), strict=True)]
        text = "".join(
            ",".join("" if cell is None else f'"{cell}"' if cell == "é" else str(cell) for cell in row) + "\n"
            for row in rows
        )
        (folder / "people.csv").write_text(text)
        (folder / "both").mkdir()
        (folder / "both" / "1.csv").write_text(text)
        (folder / "both" / "2.csv").write_text(text.replace("\n", "\n1", 7))
        return [folder / "people.csv", folder / "both"]


def table_of_every_type() -> pa.Table:
    """The people with one more column for every type that conditions accept."""
    columns = {name: array[: len(PEOPLE["id"])] for name, (array, _) in arrow_columns().items() if " bad" not in name}
    return pa.table({**PEOPLE, **columns})


class Parquet(Tables):
    def make_files(self, folder: Path) -> list[Path]:
        people, found = pa.table(PEOPLE), []
        forms: dict[str, dict[str, Any]] = {
            "plain": {"compression": "NONE", "use_dictionary": False},
            "snappy": {"compression": "SNAPPY", "row_group_size": 3},
            "zstd": {"compression": "ZSTD", "data_page_version": "2.0"},
            "delta": {
                "use_dictionary": False,
                "column_encoding": {"vote": "DELTA_BYTE_ARRAY", "eps": "BYTE_STREAM_SPLIT"},
            },
        }
        for name, options in forms.items():
            pyarrow.parquet.write_table(people, folder / f"{name}.parquet", store_schema=name == "zstd", **options)
            found.append(folder / f"{name}.parquet")
        (folder / "both").mkdir()
        pyarrow.parquet.write_table(people.slice(0, 3), folder / "both" / "1.parquet", compression="NONE")
        pyarrow.parquet.write_table(people.slice(3), folder / "both" / "2.parquet", compression="NONE")
        return [*found, folder / "both"]


class Arrow(Tables):
    def make_files(self, folder: Path) -> list[Path]:
        found = []
        for name, table, compression in (
            ("plain", pa.table(PEOPLE), None),
            ("lz4", pa.table(PEOPLE), "lz4"),
            ("zstd", pa.table(PEOPLE), "zstd"),
            ("categories", pa.table({**PEOPLE, "vote": pa.array(PEOPLE["vote"]).dictionary_encode()}), None),
            ("views", pa.table({**PEOPLE, "vote": pa.array(PEOPLE["vote"], pa.string_view())}), None),
            ("typed", table_of_every_type(), None),
        ):
            path = folder / f"{name}.arrow"
            options = pa.ipc.IpcWriteOptions(compression=compression)
            with pa.ipc.new_file(str(path), table.schema, options=options) as file:
                file.write_table(table, max_chunksize=4)
            found.append(path)
        return found


class Sqlite(Tables):
    def make_files(self, folder: Path) -> list[Path]:
        found = []
        for name, mode in (("plain", "DELETE"), ("wal", "WAL")):
            path = folder / f"{name}.sqlite"
            file = sqlite3.connect(path)
            with file:
                file.execute("PRAGMA page_size = 512")
                file.execute(f"PRAGMA journal_mode = {mode}")
                file.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, role TEXT, eps REAL, vote)")
                file.execute("CREATE INDEX sideways ON people (vote)")
                rows = list(zip(*PEOPLE.values(), strict=True))
                file.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
                file.execute("INSERT INTO people VALUES (9, 'staff', 1.5, ?)", ["long " * 500])
            if mode == "WAL":
                for beside in folder.glob(f"{name}.sqlite*"):
                    shutil.copy(beside, folder / beside.name.replace(name, "copied", 1))
                path = folder / "copied.sqlite"
                (folder / "copied.sqlite-shm").unlink(missing_ok=True)
            file.close()
            found.append(path)
        return found


class Problems(FileDoor):
    """Problems, mechanisms and pins in every format, read by their functions."""

    def make_files(self, folder: Path) -> list[Path]:
        verbs.save_originals(folder)
        (folder / "parts").mkdir()
        for stem in ("edges", "datasets"):
            (folder / "parts" / stem).mkdir()
            whole = pyarrow.parquet.read_table(folder / "parquet" / f"{stem}.parquet")
            for at in range(2):
                part = whole.slice(at * 2, 2) if at == 0 else whole.slice(2)
                pyarrow.parquet.write_table(part, folder / "parts" / stem / f"part-{at}.parquet")
        shutil.copy(folder / "parquet" / "problem.json", folder / "parts" / "problem.json")
        (folder / "pins.json").write_text('{"schema_version": 1, "datasets": [{"dataset": "b", "p": 0.5}]}')
        pyarrow.parquet.write_table(
            pa.table({"dataset": ["b", "c"], "p": [0.5, None], "z": [None, -0.1]}), folder / "pins.parquet"
        )
        self._problem = hetdp.read_problem(folder / "problem.json").problem
        return [path for path in folder.iterdir() if not path.name.endswith(".meta.json")]

    def read_file(self, path: Path, rng: random.Random) -> None:
        """Reads a problem, a mechanism or pins, by the name of the file."""
        if path.name.startswith("pins"):
            hetdp.read_pins(path)
        elif path.name.startswith("mechanism"):
            hetdp.read_mechanism(path, self._problem if rng.random() < 0.7 else None)
        else:
            hetdp.read_problem(path)


class Partitions(FileDoor):
    """Partitioned problems and mechanisms, read by the tasks that workers run."""

    def make_files(self, folder: Path) -> list[Path]:
        verbs.save_originals(folder)
        work, kept = self._new_work(), []
        for notion in ("parquet", "directed"):
            read = read_by(Inline(False), open_tables(folder / notion), str(work), (0, 2, 4), "error", None, do_nothing)
            hetdp.save(hetdp.design(read.problem), folder / f"{notion}-mechanism")
            kept += [folder / notion, folder / f"{notion}-mechanism"]
            shutil.rmtree(work)
            work.mkdir()
        return kept

    def _new_work(self) -> Path:
        self._work = self.folder / "work"
        shutil.rmtree(self._work, ignore_errors=True)
        self._work.mkdir()
        return self._work

    def read_file(self, path: Path, rng: random.Random) -> None:
        """Partitions a problem, or reads a mechanism that was written by partitions."""
        if path.name.endswith("mechanism"):
            hetdp.read_mechanism(path)
            return
        tables = open_tables(path)
        read_by(Inline(False), tables, str(self._new_work()), offsets_of(tables, 2, 2), "error", None, do_nothing)


def do_nothing() -> None:
    """Stands for closing the cluster, since there is none."""


class Verbs(Door):
    """The same through the command line: fixed exit codes, messages, and complete files or none."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "pristine").mkdir()
        verbs.save_originals(folder / "pristine")
        shutil.copytree(folder / "pristine", folder / "here")

    def attempt(self, rng: random.Random) -> str:
        """Runs a verb."""
        os.chdir(self.folder / "here")
        command, victim, code, words = verbs.fuzz_once(rng, self.folder / "pristine", self.folder / "here")
        assert code in verbs.ALLOWED, (command, victim, code, words)
        assert "Traceback" not in words, (command, victim, words)
        return "refused" if code == 3 else "read"


class Questions(Door):
    """Questions and privacy rules."""

    def attempt(self, rng: random.Random) -> str:
        """Makes a problem from them."""
        os.chdir(self.folder)
        command, code, words = questions.fuzz_once(rng, self.folder)
        assert code in questions.ALLOWED, (command, code, words)
        assert "Traceback" not in words, (command, words)
        return "read" if code == 0 else "refused"


class Records(Door):
    """Records of releases, and plans."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._world = World(folder)

    def attempt(self, rng: random.Random) -> str:
        """Verifies a record, or reads a plan."""
        end = rng.choice([check_record, check_record, check_plan])(self._world, rng)
        return "read" if end in ("valid", "not valid") else "refused"


class Plans(FileDoor):
    """Plans, byte by byte."""

    def make_files(self, folder: Path) -> list[Path]:
        world = World(folder)
        return [world.folder / "plan.json"]

    def read_file(self, path: Path, rng: random.Random) -> None:
        """Reads a plan."""
        read_plan(path)


class Ledgers(Door):
    """Ledgers; a damaged one is refused or reports the same as before."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._place = folder / "a.ledger"
        self._expected = ledgers.make_ledger(self._place).verify()
        self._whole = self._place.read_bytes()

    def attempt(self, rng: random.Random) -> str:
        """Opens and verifies a ledger."""
        for beside in self.folder.glob("a.ledger*"):
            beside.unlink()
        if rng.random() < 0.3:
            self._place.write_bytes(self._whole)
            ledgers.alter_table(self._place, rng)
        else:
            self._place.write_bytes(damage_bytes(self._whole, "a.ledger", rng))
        try:
            assert Ledger(self._place, timeout=0.1).verify() == self._expected, "a ledger that says something else"
        except hetdp.HetdpError as refusal:
            return "refused" if str(refusal) else "refused without a word"
        return "read"


DOORS: dict[str, tuple[type[Door], int]] = {  # with its relative frequency
    "people: csv": (Csv, 10),
    "people: parquet": (Parquet, 22),
    "people: arrow": (Arrow, 22),
    "people: sqlite": (Sqlite, 8),
    "problems, mechanisms, pins": (Problems, 14),
    "partitions": (Partitions, 2),
    "the same by verbs": (Verbs, 6),
    "questions and rules": (Questions, 4),
    "records and plans": (Records, 6),
    "plans": (Plans, 4),
    "ledgers": (Ledgers, 4),
}


@contextmanager
def one_connection(folder: Path) -> Iterator[None]:
    """Reads tables of people through one cached connection, locked as usual but to a single folder."""
    cache: list[Any] = [None, 0]

    @contextmanager
    def open_cached(*_: Any) -> Iterator[Any]:
        cache[1] += 1
        if cache[0] is None or cache[1] % FILES_PER_CONNECTION == 0:
            cache[0] = duck.load().connect(":memory:", config=duck.LOCKED_SETTINGS | {"threads": "1"})
            cache[0].execute(f"SET allowed_directories = [{duck.quote_text(str(folder))}]")
            cache[0].execute("SET enable_external_access = false")
            cache[0].execute("SET lock_configuration = true")
            add_functions(cache[0])
        try:
            yield cache[0]
        except BaseException:
            try:
                cache[0].execute("SELECT 1").fetchall()
            except duck.load().Error:  # a fault within DuckDB ends its connection
                cache[0] = None
            raise

    with patch("hetdp.tables.sources.open_locked", open_cached), patch("hetdp.tables.formats.open_locked", open_cached):
        yield
    if cache[0] is not None:
        cache[0].close()

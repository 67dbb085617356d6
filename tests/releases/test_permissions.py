"""The permissions of the files that hetdp writes, as in the threat model: private files are private from the start."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.files.formats.writing import whole_file
from hetdp.partitioned.tables import PartitionedTable
from tests.documents.pages import ROOT
from tests.releases.worlds import make_ledger, poll_mechanism

PEOPLE = pandas.DataFrame({"id": range(9), "vote": ["yes", "no", "yes"] * 3})
QUESTION: dict[str, Any] = {"count": "vote = 'yes'", "at_least": "50%", "epsilon": 0.5, "person": "id"}


def ledger_address(folder: Path) -> str:
    make_ledger(folder)
    return str(folder / "a.ledger")


def shell(*words: str | Path) -> None:
    assert main([*map(str, words)]) == 0


def problem_of(mechanism: hetdp.Mechanism) -> hetdp.Problem:
    assert isinstance(mechanism.problem, hetdp.Problem)
    return mechanism.problem


def save_poll(folder: Path) -> tuple[str, str]:
    hetdp.save(problem_of(poll_mechanism()), folder / "poll.json")
    hetdp.save(poll_mechanism(), folder / "given.json")
    return str(folder / "poll.json"), str(folder / "given.json")


def write_record(folder: Path, where: Path) -> None:
    words = ["release", *save_poll(folder), "--dataset", "one", "--ledger", ledger_address(folder)]
    shell(*words, "-o", str(where), "--html", str(folder / "other.html"))


def write_page(folder: Path, where: Path) -> None:
    words = ["release", *save_poll(folder), "--dataset", "one", "--ledger", ledger_address(folder)]
    shell(*words, "-o", str(folder / "other.json"), "--html", str(where))


def write_ask_record(folder: Path, where: Path) -> None:
    PEOPLE.to_csv(folder / "people.csv", index=False)
    words = ["--count", "vote = 'yes'", "--at-least", "50%", "--epsilon", "0.5", "--person", "id"]
    shell("ask", folder / "people.csv", *words, "--ledger", ledger_address(folder), "-o", where)


PRIVATE: dict[str, tuple[str, Callable[[Path, Path], Any]]] = {
    "a ledger": ("new.ledger", lambda folder, where: hetdp.Ledger.create(where, source="people", cap=1)),
    "a ledger, in the shell": (
        "new.ledger",
        lambda _, where: shell("ledger", "init", where, "--source", "x", "--cap", "1"),
    ),
    "its export": ("a.jsonl", lambda folder, where: shell("ledger", "export", ledger_address(folder), "-o", where)),
    "a record": (
        "a.json",
        lambda folder, where: hetdp.release(poll_mechanism(), "one", ledger=make_ledger(folder), record=where),
    ),
    "a page": (
        "a.html",
        lambda folder, where: hetdp.release(poll_mechanism(), "one", ledger=make_ledger(folder), html=where),
    ),
    "a record, in the shell": ("a.json", write_record),
    "a page, in the shell": ("a.html", write_page),
    "a table's record": (
        "a.json",
        lambda folder, where: hetdp.ask(PEOPLE, **QUESTION, payment=hetdp.Payment(make_ledger(folder), record=where)),
    ),
    "a table's page": (
        "a.html",
        lambda folder, where: hetdp.ask(PEOPLE, **QUESTION, payment=hetdp.Payment(make_ledger(folder), html=where)),
    ),
    "a table's record, in the shell": ("a.json", write_ask_record),
    "a plan": ("plan.json", lambda _, where: hetdp.ask(PEOPLE, **QUESTION, dry_run=True, plan=where)),
}
PUBLIC: dict[str, tuple[str, Callable[[Path, Path], Any]]] = {
    "a problem": ("a.json", lambda _, where: hetdp.save(problem_of(poll_mechanism()), where)),
    "a mechanism": ("a.csv", lambda _, where: hetdp.save(poll_mechanism(), where)),
    "a mechanism, as Parquet": ("a.parquet", lambda _, where: hetdp.save(poll_mechanism(), where)),
    "an accuracy": ("a.tex", lambda folder, where: shell("accuracy", *save_poll(folder), "-o", where)),
    "a picture": ("a.svg", lambda folder, where: shell("plot", *save_poll(folder), "-o", where)),
}


def mode_of(place: Path) -> int:
    return stat.S_IMODE(place.stat().st_mode)


@pytest.fixture
def open_umask():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def openings(monkeypatch):
    """Records the permissions of each file just before it is opened for writing; −1 if it does not exist."""
    found: dict[str, int] = {}
    real = Path.open

    def record_mode(place: Path, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if "w" in mode:
            found[place.name] = mode_of(place) if place.exists() else -1
        return real(place, mode, *rest, **more)

    monkeypatch.setattr(Path, "open", record_mode)
    return found


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("what", PRIVATE)
def test_private_files_are_private_from_their_first_byte_on(what, tmp_path, openings, capsys):
    name, write = PRIVATE[what]
    (tmp_path / "out").mkdir()
    where = tmp_path / "out" / name
    write(tmp_path, where)
    assert mode_of(where) == 0o600
    drafts = {draft: found for draft, found in openings.items() if name in draft}
    assert set(drafts.values()) <= {0o600}, drafts
    assert drafts or where.suffix == ".ledger"  # which SQLite fills
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == [name]


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("what", PUBLIC)
def test_public_files_have_ordinary_permissions(what, tmp_path, capsys):
    name, write = PUBLIC[what]
    write(tmp_path, tmp_path / name)
    assert mode_of(tmp_path / name) == 0o666
    (tmp_path / name).unlink()
    os.umask(0o027)
    write(tmp_path, tmp_path / name)
    assert mode_of(tmp_path / name) == 0o640


@pytest.mark.usefixtures("open_umask")
def test_an_export_that_replaces_one_that_all_could_read_is_private(tmp_path, capsys):
    where = tmp_path / "a.jsonl"
    where.write_text("old")
    where.chmod(0o644)
    with where.open("rb") as reader:
        shell("ledger", "export", ledger_address(tmp_path), "-o", where)
        assert mode_of(where) == 0o600
        assert reader.read() == b"old"  # who had it open sees nothing of the new one
    with whole_file(where, private=True) as draft:
        assert mode_of(draft) == 0o600


@pytest.mark.usefixtures("open_umask")
def test_files_that_sqlite_creates_beside_a_ledger_are_private(tmp_path):
    address = ledger_address(tmp_path)
    with sqlite3.connect(address, isolation_level=None) as file:
        file.execute("BEGIN IMMEDIATE")
        file.execute("CREATE TABLE trial (x)")
        beside = [entry for entry in tmp_path.iterdir() if entry.name.startswith(f"{Path(address).name}-")]
        assert beside
        assert {mode_of(entry) for entry in beside} == {0o600}
        file.execute("ROLLBACK")
    file.close()


@pytest.mark.usefixtures("open_umask")
def test_files_of_workers_about_people_are_in_a_private_folder(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    PEOPLE.to_csv(folder / "1.csv", index=False)
    seen: list[int] = []

    class Here:
        def run(self, task: Any, items: Any, words: str = "") -> list[Any]:
            done = [task(*one) for one in items]
            seen.extend(mode_of(place) for place in tmp_path.iterdir() if place.name.startswith(("ids-", "people-")))
            return done

    from hetdp.tables.request import build_request

    request = build_request("vote = 'yes'", at_least="50%", epsilon="0.5", person="id")
    partitioned = PartitionedTable(folder, Here(), str(tmp_path), False)
    partitioned.policy(request)
    partitioned.people(request)
    assert set(seen) == {0o700}
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["people"]


def test_the_table_of_the_threat_model_says_the_same():
    text = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
    rows = [line for line in text.partition("## Files")[2].splitlines() if line.startswith("| ")]
    private = [row for row in rows if "0600" in row]
    for words in ("the ledger ", "export", "record and page", "plan"):
        assert any(words in row for row in private), words
    assert any(re.search(r"\| problem, mechanism.*permissions of any new file", row) for row in rows)

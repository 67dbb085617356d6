"""Transactions that fail, the files beside a ledger, and the reasons of a server: one by one, without any of them."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hetdp.errors import InterruptedSpend, LedgerError
from hetdp.releases.ledger import database, sqlite_file
from hetdp.releases.ledger.database import SPENDING, CollisionError, Database, MovedError, UnsureError
from hetdp.releases.ledger.sqlite_file import File, find_file
from tests.loops import for_each

# Transactions ---------------------------------------------------------------------------------------------------------


class Scripted(Database):
    """A database whose attempts end as planned."""

    def __init__(self, *ends: Any, found: Any = None, timeout: float = 5.0) -> None:
        super().__init__("here", timeout)
        self.ends, self.found, self.places = list(ends), found, 0

    def connect(self) -> Any:
        raise NotImplementedError

    def commit(self, connection: Any, doubt: Any) -> None:
        raise NotImplementedError

    def explain(self, error: Exception, driver: Any) -> Exception:
        return error

    def create(self, fill: Any, is_there: Any) -> None:
        raise NotImplementedError

    def _attempt(self, work: Any, attempts: Any, doubt: Any) -> None:
        attempts.results.append(work(None))
        end = self.ends.pop(0)
        attempts.is_done = end is None or isinstance(end, KeyboardInterrupt)
        if end is not None:
            raise end

    def _store_place(self) -> None:
        self.places += 1

    def find_result(self, result: Any, is_there: Any) -> Any:
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found


def write(given: Scripted) -> tuple[Any, int]:
    done: list[int] = []

    def work(_: Any) -> str:
        done.append(1)
        return "result"

    return given.write(work, lambda *_: True), len(done)


def test_a_collision_is_tried_again_until_the_time_is_over(monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr(database.time, "sleep", slept.append)
    assert write(Scripted(CollisionError("busy"), CollisionError("busy"), None)) == ("result", 3)
    assert len(slept) == 2
    assert 0.005 <= slept[0] <= 0.015
    assert 0.01 <= slept[1] <= 0.03
    with pytest.raises(LedgerError, match="here: busy; nothing was spent") as refusal:
        write(Scripted(CollisionError("busy"), timeout=0.0))
    assert refusal.value.spent is False


def test_pauses_grow_up_to_a_second(monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr(database.time, "sleep", slept.append)
    monkeypatch.setattr(database.secrets, "randbelow", lambda _: 500)
    write(Scripted(*[CollisionError("busy")] * 9, None, timeout=1000))
    assert slept == pytest.approx([0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0, 1.0])


def test_a_moved_ledger_stores_its_place_first():
    moved = Scripted(MovedError(), None)
    assert write(moved) == ("result", 2)
    assert moved.places == 1


@for_each(
    ("found", "durable", "final", "spent"),
    [
        (True, True, False, "result"),
        (True, False, False, True),
        (False, True, True, False),
        (False, True, False, None),
        (None, True, True, None),
        (LedgerError("a", "b", "c"), True, True, None),
    ],
)
def test_a_commit_that_failed_is_looked_for(found, durable, final, spent):
    given = Scripted(UnsureError("lost"), found=found)
    given.found_is_durable, given.missing_is_final = durable, final
    if spent == "result":
        assert write(given) == ("result", 1)
        return
    with pytest.raises(LedgerError, match="here: lost") as refusal:
        write(given)
    assert refusal.value.spent is spent
    words = {True: SPENDING.done, False: database.NOTHING_SPENT, None: SPENDING.unknown}
    assert refusal.value.rule == words[spent]


def test_an_interrupt_says_what_is_known_about_the_spend():
    with pytest.raises(InterruptedSpend, match="this was spent"):
        write(Scripted(KeyboardInterrupt()))
    with pytest.raises(InterruptedSpend, match="it is not known whether this was spent"):
        write(Scripted(UnsureError("lost"), found=KeyboardInterrupt()))
    given = Scripted(InterruptedSpend("own words"))
    with pytest.raises(InterruptedSpend, match="own words"):
        write(given)


def test_a_thread_that_waits_too_long_gets_an_error(monkeypatch):
    class Taken:
        under_way = 0

        def acquire(self, timeout: float) -> bool:
            return False

    monkeypatch.setattr(database, "TURN", Taken())
    with pytest.raises(LedgerError, match="another thread is writing to it"), Scripted()._turn():
        pass


# Files beside a ledger ------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> File:
    (tmp_path / "a.ledger").write_bytes(b"x" * 100)
    return find_file(tmp_path / "a.ledger")


def test_the_journal_of_a_file_counts_if_it_is_not_empty(file):
    assert file.journal.name == "a.ledger-journal"
    assert not sqlite_file.has_journal(file.journal)
    file.journal.write_bytes(b"")
    assert not sqlite_file.has_journal(file.journal)
    assert not sqlite_file.has_abandoned_journal(file)
    file.journal.write_bytes(b"x")
    assert sqlite_file.has_journal(file.journal)
    assert sqlite_file.has_abandoned_journal(file)
    assert not sqlite_file.has_journal(Path("a\0b"))
    assert sqlite_file.journal_fault(file) is None


def test_other_files_beside_a_ledger_are_faults(file):
    log = file.path.with_name("a.ledger-wal")
    log.write_bytes(b"")
    assert sqlite_file.journal_fault(file) is None
    log.write_bytes(b"x")
    assert "a kind of journal that hetdp never uses" in sqlite_file.journal_fault(file)[0]
    log.unlink()
    log.symlink_to(file.path)
    assert "a.ledger-wal, which is not a plain file" in sqlite_file.journal_fault(file)[0]
    log.unlink()
    file.journal.mkdir()
    assert "a.ledger-journal, which is not a plain file" in sqlite_file.journal_fault(file)[0]


def test_a_second_name_and_a_mount_are_faults(file, tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "MOUNTS", tmp_path / "mounts")
    assert sqlite_file.name_fault(file) is None
    (tmp_path / "mounts").write_bytes(b"1 2 0:1 / /other rw\n1 2 0:1 %b / rw\n" % os.fsencode(file.path))
    assert sqlite_file.name_fault(file) is None
    (tmp_path / "mounts").write_bytes(b"1 2 0:1 /x %b rw\n" % os.fsencode(file.path))
    assert "mounted as a single file" in sqlite_file.name_fault(file)[0]
    spaced = tmp_path / "a b\\c"
    (tmp_path / "mounts").write_bytes(b"1 2 0:1 /x %b/a\\040b\\134c rw\n" % os.fsencode(tmp_path))
    assert sqlite_file._is_mounted(spaced)
    os.link(file.path, tmp_path / "second")
    assert "it has 2 names" in sqlite_file.name_fault(find_file(file.path))[0]


def test_a_journal_at_the_former_place_belongs_to_a_moved_ledger(file, tmp_path):
    former = tmp_path / "former.ledger"
    journal = tmp_path / "former.ledger-journal"
    place = f"17 {former}"
    assert sqlite_file.journal_left_behind(file, place) is None
    journal.write_bytes(b"x")
    assert sqlite_file.journal_left_behind(file, place) == journal
    former.write_bytes(b"another ledger")
    assert sqlite_file.journal_left_behind(file, place) is None
    file.journal.write_bytes(b"x")
    assert sqlite_file.journal_left_behind(file, file.place) is None
    for odd in ("", "17", "17 ", "17 /"):
        assert sqlite_file.journal_left_behind(file, odd) is None


def test_only_the_draft_of_this_ledger_is_removed(file, tmp_path):
    draft = sqlite_file.draft_of(file.path, "0123456789abcdef")
    assert draft.name == ".a.ledger.0123456789abcdef"
    others = [".a.ledger.0123456789abcdeg", ".a.ledger.0123456789abcdef0", ".b.ledger.0123456789abcdef"]
    os.link(file.path, draft)
    for name in others:
        os.link(file.path, tmp_path / name)
    stranger = sqlite_file.draft_of(file.path, "f" * 16)
    stranger.write_bytes(b"")
    sqlite_file.finish_creation(file)
    assert not draft.exists()
    assert stranger.exists()
    assert all((tmp_path / name).exists() for name in others)


def test_the_present_state_is_none_once_the_file_was_replaced(file, tmp_path):
    assert file.now().path == file.path
    assert file.place == f"{file.state.st_ino} {file.path}"
    (tmp_path / "other").write_bytes(b"")
    (tmp_path / "other").replace(file.path)
    assert file.now() is None
    file.path.unlink()
    assert file.now() is None


# Journals that were left ----------------------------------------------------------------------------------------------


def refuse(*_: Any) -> None:
    raise LedgerError("a", "b", "c")


def test_a_journal_beside_a_whole_ledger_is_removed(file):
    file.journal.write_bytes(b"x")
    checked: list[Any] = []
    assert sqlite_file.resolve_journal(file, 1.0, lambda *given: checked.append(given)) is None
    assert checked == [(file.path, True)]
    assert not file.journal.exists()
    assert file.path.read_bytes() == b"x" * 100


def counter(value: int) -> bytes:
    return b"x" * 24 + value.to_bytes(4, "big") + b"x" * 72


@pytest.mark.parametrize(("after", "is_fine"), [(7, True), (6, True), (5, False), (8, False)])
def test_a_journal_may_undo_one_write_and_no_more(file, after, is_fine):
    file.path.write_bytes(counter(7))
    file.journal.write_bytes(b"x")

    def check(path: Path, as_it_is: bool) -> None:
        if as_it_is:
            refuse()
        assert path.parent.parent == file.path.parent
        path.write_bytes(counter(after))  # as if SQLite had rolled back

    words = sqlite_file.resolve_journal(file, 1.0, check)
    assert (words is None) is is_fine
    assert is_fine or "older than the ledger" in words
    assert file.journal.exists()
    assert file.path.read_bytes() == counter(7)
    assert sorted(one.name for one in file.path.parent.iterdir()) == ["a.ledger", "a.ledger-journal"]


def test_a_journal_that_gives_no_whole_ledger_is_kept_and_reported(file):
    file.journal.write_bytes(b"x")
    assert "does not give a whole ledger" in sqlite_file.resolve_journal(file, 1.0, refuse)
    assert file.journal.exists()


# The server -----------------------------------------------------------------------------------------------------------


def test_the_errors_of_a_server_are_said_in_our_words():
    psycopg = pytest.importorskip("psycopg")
    from hetdp.releases.ledger import postgres

    class Refusal(psycopg.Error):
        def __init__(self, state: str | None, severity: str = "ERROR") -> None:
            super().__init__("secret")
            self.sqlstate, self._severity = state, severity

        @property
        def diag(self) -> Any:
            return SimpleNamespace(severity_nonlocalized=self._severity)

    said = {"08006": postgres.CONNECTION_LOST, "42P01": "it is not a ledger", "53100": "the server has no room left"}
    said |= {
        "53300": "the server has too many connections",
        "57014": postgres.NO_ANSWER,
        "99999": "the server refused (99999)",
    }
    assert {state: postgres._reason_of(Refusal(state)) for state in said} == said
    assert postgres._reason_of(Refusal(None), object()) == postgres.CONNECTION_LOST
    assert "cannot be reached" in postgres._reason_of(Refusal(None))
    assert postgres._reason_of(ValueError("secret")).startswith("the server cannot be reached")
    assert postgres._is_undone(Refusal("40001"))
    for unsure in (Refusal("40003"), Refusal(None), Refusal("40001", "FATAL"), ValueError()):
        assert not postgres._is_undone(unsure)
    given = postgres.PostgresDatabase(postgres.sqlalchemy.make_url("postgresql://u:secret@h:5432/d"), 1.0)
    assert given.shown == "postgresql://h:5432/d"
    assert isinstance(given.explain(Refusal("40P01"), None), CollisionError)
    assert isinstance(given.explain(Refusal("42501"), None), LedgerError)
    assert "secret" not in str(given.explain(Refusal("42501"), None))


@pytest.mark.parametrize("writes", [True, False])
def test_nothing_on_a_server_waits_for_ever(writes, monkeypatch):
    pytest.importorskip("psycopg")
    from hetdp.releases.ledger import postgres

    sent: list[str] = []
    driver = SimpleNamespace(patience=0.0)
    options = {database.WRITES: writes, database.LIMIT: 2.0}
    connection: Any = SimpleNamespace(
        connection=SimpleNamespace(driver_connection=driver),
        get_execution_options=lambda: options,
        engine=SimpleNamespace(url=SimpleNamespace(query={"options": "-c statement_timeout=5"})),
        exec_driver_sql=sent.append,
    )
    monkeypatch.delenv("PGOPTIONS", raising=False)
    postgres._begin(connection)
    settings = sent[0].split("; ")
    level = "READ COMMITTED" if writes else "REPEATABLE READ READ ONLY"
    assert settings[0] == f"SET TRANSACTION ISOLATION LEVEL {level}"
    assert settings[1:3] == ["SET LOCAL lock_timeout = 2000", "SET LOCAL idle_in_transaction_session_timeout = 60000"]
    assert settings[3:] == ["SET LOCAL synchronous_commit = on"] * writes
    assert driver.patience == 2.0 + postgres.STATEMENT_SECONDS + postgres.GRACE_SECONDS

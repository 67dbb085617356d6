"""A ledger has one name and one journal: under another name, or away from its journal, it loses nothing and is refused.

A release is killed by strace at a chosen moment of its commit, with SIGKILL, and leaves a journal behind. Then the file
is linked, moved, copied or mounted, and spent from again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import hetdp
from hetdp.errors import LedgerError
from hetdp.releases.ledger.database import UnsureError
from hetdp.releases.ledger.ledger import Ledger, core_of
from hetdp.releases.ledger.sqlite_file import sync_folder
from tests.releases.ledger.faults import KILLS, SHOWN, make_files, release, run
from tests.releases.ledger.test_spending import TENTH, fail_if_drawn
from tests.releases.worlds import SOURCE, make_ledger, spent_by_class
from tests.stress import mostly_long


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A problem and its mechanism."""
    folder = tmp_path_factory.mktemp("made")
    make_files(folder)
    return folder


@pytest.fixture(params=KILLS)
def folder(request, files, tmp_path) -> Path:
    """A ledger with cap 2, without any answer shown, and the journal of a release that was killed."""
    file, call, number = KILLS[request.param]
    folder = tmp_path / request.param
    folder.mkdir()
    for name in ("poll.json", "mechanism.json"):
        shutil.copy(files / name, folder)
    make_ledger(folder, 2)
    before = (folder / "a.ledger").read_bytes()
    inject = ("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}")
    code, words = run(folder, release(), *inject, files=[file])
    assert (code, SHOWN.search(words)) == (-9, None), words
    assert (folder / "a.ledger-journal").stat().st_size > 0
    assert ((folder / "a.ledger").read_bytes() == before) == (request.param == "before")
    return folder


def count_granted(folder: Path, name: str, *versions: str) -> int:
    """Runs releases of new versions; returns how many are granted and shown."""
    found = [run(folder, release(name, version)) for version in versions]
    assert all(code in (0, 6, 7) for code, _ in found), found
    assert all("Traceback" not in words for _, words in found)
    assert all((code == 0) == bool(SHOWN.search(words)) for code, words in found)
    return sum(code == 0 for code, _ in found)


def check_at_most_two(folder: Path, name: str, shown: int) -> None:
    """Asserts that the ledger holds every spend that was shown and no more than the cap allows."""
    ledger = Ledger(folder / name)
    ledger.verify()
    entries = [entry for entry in ledger.history() if entry.kind == "spend"]
    assert shown <= len(entries) <= 2
    assert spent_by_class(ledger)["pupils"] == str(len(entries))


def test_a_second_name_is_refused_and_loses_nothing(folder):
    os.link(folder / "a.ledger", folder / "b.ledger")
    words = r"it has 2 names \(hard links\); .*nothing was spent.*Hint: keep one name"
    with pytest.raises(LedgerError, match=words) as found:
        Ledger(folder / "b.ledger")
    assert found.value.spent is False
    shown = count_granted(folder, "b.ledger", "2", "3") + count_granted(folder, "a.ledger", "4", "5")
    assert shown == 0
    (folder / "b.ledger").unlink()
    shown = count_granted(folder, "a.ledger", "6", "7", "8")
    assert shown >= 1
    check_at_most_two(folder, "a.ledger", shown)
    assert not (folder / "a.ledger-journal").exists()


def test_a_complete_ledger_is_unchanged(folder):
    ledger = Ledger(folder / "a.ledger")
    ledger.verify()
    spends = [entry.version for entry in ledger.history() if entry.kind == "spend"]
    assert spends == (["1"] if folder.name == "after" else [])
    assert sorted(path.name for path in folder.iterdir() if "ledger" in path.name) == ["a.ledger"]
    code, words = run(folder, release())
    assert (code, "it was released before" in words) == (0, folder.name == "after")


def test_a_ledger_that_was_moved_without_its_journal_is_refused(folder):
    (folder / "a.ledger").rename(folder / "b.ledger")
    words = r"moved away from the journal .*nothing was spent.* Hint: move .*a\.ledger-journal"
    with pytest.raises(LedgerError, match=words):
        Ledger(folder / "b.ledger")
    assert count_granted(folder, "b.ledger", "2", "3") == 0
    (folder / "a.ledger-journal").rename(folder / "b.ledger-journal")
    shown = count_granted(folder, "b.ledger", "4", "5", "6")
    assert shown >= 1
    check_at_most_two(folder, "b.ledger", shown)


def test_a_journal_that_is_restored_later_undoes_nothing(folder, tmp_path):
    journal, ledger = folder / "a.ledger-journal", folder / "a.ledger"
    journal.rename(tmp_path / "kept")
    ledger.rename(folder / "b.ledger")
    shown = count_granted(folder, "b.ledger", "2", "3", "4")
    assert (shown == 0) == (folder.name == "half")  # half of a spend is found, and refused
    (folder / "b.ledger").rename(ledger)
    (tmp_path / "kept").rename(journal)
    shown += count_granted(folder, "a.ledger", "5", "6", "7")
    check_at_most_two(folder, "a.ledger", shown)


@pytest.mark.parametrize("name", KILLS)
def test_a_kill_at_the_first_spend_after_a_move_is_not_forgotten_by_moving_back(files, tmp_path, name):
    (file, call, number), ledger = KILLS[name], tmp_path / "a.ledger"
    for each in ("poll.json", "mechanism.json"):
        shutil.copy(files / each, tmp_path)
    make_ledger(tmp_path, 2, name="b.ledger")
    (tmp_path / "b.ledger").rename(ledger)
    earlier = {"pwrite64": 2, "unlink": 1}[call]  # to note the place first
    inject = ("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number + earlier}")
    code, words = run(tmp_path, release(), *inject, files=[file])
    assert code == -9, words
    assert (tmp_path / "a.ledger-journal").stat().st_size > 0
    ledger.rename(tmp_path / "b.ledger")
    with pytest.raises(LedgerError, match="moved away from the journal"):
        Ledger(tmp_path / "b.ledger")
    assert count_granted(tmp_path, "b.ledger", "2", "3") == 0
    (tmp_path / "b.ledger").rename(ledger)
    check_at_most_two(tmp_path, "a.ledger", count_granted(tmp_path, "a.ledger", "4", "5", "6"))


def test_a_copy_without_its_journal_is_whole_or_refused(folder):
    shutil.copy(folder / "a.ledger", folder / "copy")
    if folder.name == "half":
        with pytest.raises(LedgerError, match="it was changed, or is damaged; nothing was spent"):
            Ledger(folder / "copy")
    else:
        check_at_most_two(folder, "copy", count_granted(folder, "copy", "2", "3", "4"))
    check_at_most_two(folder, "a.ledger", count_granted(folder, "a.ledger", "2", "3", "4"))


def test_a_journal_of_another_ledger_changes_nothing(folder, tmp_path):
    other = make_ledger(tmp_path, 1, name="other.ledger")
    other.spend(SOURCE, hetdp.Charge.to_classes("epsilon", {"pupils": 1}), "q", "1", lambda: [True])
    before = list(other.export())
    shutil.copy(folder / "a.ledger-journal", tmp_path / "other.ledger-journal")
    again = Ledger(tmp_path / "other.ledger")
    assert list(again.export()) == before
    again.verify()
    assert not (tmp_path / "other.ledger-journal").exists()


def test_symbolic_links_share_one_journal(folder):
    (folder / "links").mkdir()
    (folder / "links" / "b").symlink_to(folder / "a.ledger")
    (folder / "c").symlink_to("links/b")
    (folder / "d").symlink_to(folder, target_is_directory=True)
    shown = sum(
        count_granted(folder, name, version)
        for name, version in zip(["c", "links/b", "d/a.ledger"], "234", strict=True)
    )
    assert shown >= 1
    assert not (folder / "a.ledger-journal").exists()
    check_at_most_two(folder, "a.ledger", shown)


# Names that a ledger gets while it is used ----------------------------------------------------------------------------


def test_a_second_name_that_is_made_during_a_spend_is_refused(tmp_path):
    ledger = make_ledger(tmp_path)

    def draw() -> list[bool]:
        os.link(tmp_path / "a.ledger", tmp_path / "b.ledger")
        return [True]

    with pytest.raises(LedgerError, match=r"it has 2 names.*nothing was spent"):
        ledger.spend(SOURCE, TENTH, "q", "1", draw)
    (tmp_path / "b.ledger").unlink()
    assert [entry.kind for entry in ledger.history()] == ["create", "declare"]


def test_the_name_of_an_abandoned_draft_is_removed(tmp_path):
    make_ledger(tmp_path)
    os.link(tmp_path / "a.ledger", tmp_path / ".a.ledger.0123456789abcdef")
    Ledger(tmp_path / "a.ledger").verify()
    assert [path.name for path in tmp_path.iterdir()] == ["a.ledger"]


def test_the_temporary_name_of_a_new_ledger_is_removed_after_a_kill(tmp_path, monkeypatch):
    with monkeypatch.context() as killed, contextlib.suppress(LedgerError):
        killed.setattr(Path, "unlink", lambda *_, **__: None)
        Ledger.create(tmp_path / "a.ledger")
    assert len(list(tmp_path.iterdir())) == 2
    Ledger(tmp_path / "a.ledger").verify()
    assert [path.name for path in tmp_path.iterdir()] == ["a.ledger"]


@pytest.mark.parametrize("reason", [errno.EIO, errno.ENOSPC, errno.EINVAL])
def test_a_folder_that_is_not_made_durable_is_an_error_unless_its_file_system_cannot(reason, tmp_path, monkeypatch):
    def refuse(place: int) -> None:
        raise OSError(reason, "refused")

    monkeypatch.setattr(os, "fsync", refuse)
    with contextlib.nullcontext() if reason == errno.EINVAL else pytest.raises(OSError, match="refused"):
        sync_folder(tmp_path)


def test_a_moved_ledger_is_recomputed_once_and_then_accepted(tmp_path, monkeypatch):
    ledger = make_ledger(tmp_path)
    ledger.spend(SOURCE, TENTH, "q", "1", lambda: [True])
    (tmp_path / "a.ledger").rename(tmp_path / "b.ledger")
    with sqlite3.connect(tmp_path / "b.ledger") as connection:  # a balance that the chain does not give
        connection.execute("UPDATE hetdp_classes SET spent = 0")
    connection.close()
    with pytest.raises(LedgerError, match="it was changed, or is damaged"):
        Ledger(tmp_path / "b.ledger")
    with sqlite3.connect(tmp_path / "b.ledger") as connection:
        connection.execute("UPDATE hetdp_classes SET spent = 100000000")
    connection.close()
    moved = Ledger(tmp_path / "b.ledger")
    moved.spend(SOURCE, TENTH, "r", "1", lambda: [True])
    monkeypatch.setattr("hetdp.releases.ledger.verification.verify_chain", fail_if_drawn)
    Ledger(tmp_path / "b.ledger").spend(SOURCE, TENTH, "s", "1", lambda: [True])


def test_a_ledger_is_not_created_through_a_broken_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(hetdp.UsageError, match="something already exists there"):
        make_ledger(tmp_path, name="link")
    with pytest.raises(LedgerError, match="there is no ledger here"):
        Ledger(tmp_path / "link")
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(LedgerError, match="nothing was spent"):
        Ledger(tmp_path / "loop")


def test_another_kind_of_journal_is_refused(tmp_path):
    make_ledger(tmp_path)
    connection = sqlite3.connect(tmp_path / "a.ledger")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    with pytest.raises(LedgerError, match=r"its journal mode was changed; nothing was spent.*Hint:"):
        Ledger(tmp_path / "a.ledger")
    connection = sqlite3.connect(tmp_path / "a.ledger")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    Ledger(tmp_path / "a.ledger").verify()


@pytest.mark.parametrize(
    ("kind", "suffix"),
    mostly_long(
        [
            *((kind, "-journal") for kind in ("pipe", "folder", "link", "link that leads nowhere")),
            *((kind, "-wal") for kind in ("link", "pipe", "folder", "link that leads nowhere")),
        ],
        5,
    ),
)
def test_a_file_in_place_of_the_journal_is_refused(tmp_path, suffix, kind):
    make_ledger(tmp_path, 2)
    place, journal = tmp_path / "a.ledger", tmp_path / f"a.ledger{suffix}"
    (tmp_path / "notes").write_text("kept")
    make = {"pipe": os.mkfifo, "folder": os.mkdir}.get(kind)
    make(journal) if make else journal.symlink_to("nowhere" if "nowhere" in kind else "notes")
    if kind == "pipe":  # SQLite would wait for it for ever
        script = f"import hetdp; hetdp.Ledger({str(place)!r}).verify()"
        result = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=540, check=False
        )
        assert f"beside it is {journal.name}, which is not a plain file; nothing was spent" in result.stderr
    with pytest.raises(LedgerError, match=f"beside it is {journal.name}, which is not a plain file; nothing was spent"):
        Ledger(place)
    with pytest.raises(LedgerError, match=f"Hint: move {journal.name} elsewhere"):
        Ledger(place)
    assert (tmp_path / "notes").read_text() == "kept"
    journal.rename(tmp_path / "elsewhere")
    assert Ledger(place).spend(SOURCE, TENTH, "r", "1", lambda: [True]).answers == (True,)


def test_the_log_of_an_older_copy_undoes_nothing(tmp_path):
    make_ledger(tmp_path, 2)
    place, old, log = (tmp_path / name for name in ("a.ledger", "old.ledger", "a.ledger-wal"))
    shutil.copy(place, old)
    with contextlib.closing(sqlite3.connect(old, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            connection.execute(f"CREATE TABLE x AS SELECT * FROM {table}")
            connection.execute("DROP TABLE x")
        connection.execute("VACUUM")  # so that every page is in the log
        written = old.with_name("old.ledger-wal").read_bytes()
    Ledger(place).spend(SOURCE, TENTH, "r", "1", lambda: [True])
    before = place.read_bytes()
    log.write_bytes(written)
    for _ in range(2):
        with pytest.raises(LedgerError, match="a kind of journal that hetdp never uses; nothing was spent"):
            Ledger(place)
    assert (place.read_bytes(), log.read_bytes()) == (before, written)
    log.rename(tmp_path / "elsewhere")
    assert [one.version for one in Ledger(place).history() if one.kind == "spend"] == ["1"]


def test_a_replaced_file_does_not_show_whether_a_commit_succeeded(tmp_path):
    make_ledger(tmp_path, 2)
    make_ledger(tmp_path, 2, name="other.ledger")
    place, before, other = (tmp_path / name for name in ("a.ledger", "before", "other.ledger"))
    opened = Ledger(place)

    def fail(*_: object) -> None:
        place.rename(before)
        other.rename(place)
        raise UnsureError("the disk cannot be read or written")

    core_of(opened).database.commit = fail
    with pytest.raises(LedgerError, match="it is not known whether this was spent") as failed:
        opened.spend(SOURCE, TENTH, "r", "1", lambda: [True])
    assert failed.value.spent is None

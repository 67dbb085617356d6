"""A ledger has one name and one journal: under another name, or away from its journal, it loses nothing and is refused.

A release is killed by strace at a chosen moment of its commit, with SIGKILL, and leaves a journal behind. Then the file
is linked, moved, copied or mounted, and spent from again.
"""

from __future__ import annotations

import contextlib
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
from tests.releases.ledger.faults import KILLS, SHOWN, release, run, world
from tests.releases.ledger.test_spending import TENTH, never
from tests.releases.worlds import SOURCE, ledger, spent


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A problem and its mechanism."""
    folder = tmp_path_factory.mktemp("made")
    world(folder)
    return folder


@pytest.fixture(params=KILLS)
def folder(request, made, tmp_path) -> Path:
    """A ledger whose cap is 2, of which nothing was shown, and the journal of a release that was killed."""
    file, call, number = KILLS[request.param]
    folder = tmp_path / request.param
    folder.mkdir()
    for name in ("poll.json", "mechanism.json"):
        shutil.copy(made / name, folder)
    ledger(folder, 2)
    before = (folder / "a.ledger").read_bytes()
    inject = ("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}")
    code, words = run(folder, release(), *inject, watched=[file])
    assert (code, SHOWN.search(words)) == (-9, None), words
    assert (folder / "a.ledger-journal").stat().st_size > 0
    assert ((folder / "a.ledger").read_bytes() == before) == (request.param == "before")
    return folder


def granted(folder: Path, name: str, *versions: str) -> int:
    """How many releases of new versions are granted and shown, by real commands."""
    found = [run(folder, release(name, version)) for version in versions]
    assert all(code in (0, 6, 7) for code, _ in found), found
    assert all("Traceback" not in words for _, words in found)
    assert all((code == 0) == bool(SHOWN.search(words)) for code, words in found)
    return sum(code == 0 for code, _ in found)


def require_at_most_two(folder: Path, name: str, shown: int) -> None:
    """Whatever was shown is in the ledger, and it is not more than the cap allows."""
    kept = Ledger(folder / name)
    kept.verify()
    entries = [entry for entry in kept.history() if entry.kind == "spend"]
    assert shown <= len(entries) <= 2
    assert spent(kept)["pupils"] == str(len(entries))


def test_a_second_name_is_refused_and_loses_nothing(folder):
    os.link(folder / "a.ledger", folder / "b.ledger")
    words = r"it has 2 names \(hard links\); .*nothing was spent.*Hint: keep one name"
    with pytest.raises(LedgerError, match=words) as found:
        Ledger(folder / "b.ledger")
    assert found.value.spent is False
    shown = granted(folder, "b.ledger", "2", "3") + granted(folder, "a.ledger", "4", "5")
    assert shown == 0
    (folder / "b.ledger").unlink()
    shown = granted(folder, "a.ledger", "6", "7", "8")
    assert shown >= 1
    require_at_most_two(folder, "a.ledger", shown)
    assert not (folder / "a.ledger-journal").exists()


def test_a_ledger_that_is_whole_is_kept_as_it_stands(folder):
    kept = Ledger(folder / "a.ledger")
    kept.verify()
    spends = [entry.version for entry in kept.history() if entry.kind == "spend"]
    assert spends == (["1"] if folder.name == "after" else [])
    assert sorted(path.name for path in folder.iterdir() if "ledger" in path.name) == ["a.ledger"]
    code, words = run(folder, release())
    assert (code, "it was released before" in words) == (0, folder.name == "after")


def test_a_ledger_that_was_moved_without_its_journal_is_refused(folder):
    (folder / "a.ledger").rename(folder / "b.ledger")
    words = r"moved away from the journal .*nothing was spent.* Hint: move .*a\.ledger-journal"
    with pytest.raises(LedgerError, match=words):
        Ledger(folder / "b.ledger")
    assert granted(folder, "b.ledger", "2", "3") == 0
    (folder / "a.ledger-journal").rename(folder / "b.ledger-journal")
    shown = granted(folder, "b.ledger", "4", "5", "6")
    assert shown >= 1
    require_at_most_two(folder, "b.ledger", shown)


def test_a_journal_that_comes_back_later_undoes_nothing(folder, tmp_path):
    journal, ledger = folder / "a.ledger-journal", folder / "a.ledger"
    journal.rename(tmp_path / "kept")
    ledger.rename(folder / "b.ledger")
    shown = granted(folder, "b.ledger", "2", "3", "4")
    assert (shown == 0) == (folder.name == "half")  # half of a spend is found, and refused
    (folder / "b.ledger").rename(ledger)
    (tmp_path / "kept").rename(journal)
    shown += granted(folder, "a.ledger", "5", "6", "7")
    require_at_most_two(folder, "a.ledger", shown)


@pytest.mark.parametrize("name", KILLS)
def test_a_kill_at_the_first_spend_after_a_move_is_not_forgotten_by_moving_back(made, tmp_path, name):
    (file, call, number), kept = KILLS[name], tmp_path / "a.ledger"
    for each in ("poll.json", "mechanism.json"):
        shutil.copy(made / each, tmp_path)
    ledger(tmp_path, 2, name="b.ledger")
    (tmp_path / "b.ledger").rename(kept)
    earlier = {"pwrite64": 2, "unlink": 1}[call]  # to note the place first
    inject = ("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number + earlier}")
    code, words = run(tmp_path, release(), *inject, watched=[file])
    assert code == -9, words
    assert (tmp_path / "a.ledger-journal").stat().st_size > 0
    kept.rename(tmp_path / "b.ledger")
    with pytest.raises(LedgerError, match="moved away from the journal"):
        Ledger(tmp_path / "b.ledger")
    assert granted(tmp_path, "b.ledger", "2", "3") == 0
    (tmp_path / "b.ledger").rename(kept)
    require_at_most_two(tmp_path, "a.ledger", granted(tmp_path, "a.ledger", "4", "5", "6"))


def test_a_copy_without_its_journal_is_whole_or_refused(folder):
    shutil.copy(folder / "a.ledger", folder / "copy")
    if folder.name == "half":
        with pytest.raises(LedgerError, match="it was changed, or is damaged; nothing was spent"):
            Ledger(folder / "copy")
    else:
        require_at_most_two(folder, "copy", granted(folder, "copy", "2", "3", "4"))
    require_at_most_two(folder, "a.ledger", granted(folder, "a.ledger", "2", "3", "4"))


def test_a_journal_of_another_ledger_changes_nothing(folder, tmp_path):
    other = ledger(tmp_path, 1, name="other.ledger")
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
        granted(folder, name, version) for name, version in zip(["c", "links/b", "d/a.ledger"], "234", strict=True)
    )
    assert shown >= 1
    assert not (folder / "a.ledger-journal").exists()
    require_at_most_two(folder, "a.ledger", shown)


# Names that a ledger gets while it is used ----------------------------------------------------------------------------


def test_a_second_name_that_is_made_during_a_spend_is_refused(tmp_path):
    kept = ledger(tmp_path)

    def draw() -> list[bool]:
        os.link(tmp_path / "a.ledger", tmp_path / "b.ledger")
        return [True]

    with pytest.raises(LedgerError, match=r"it has 2 names.*nothing was spent"):
        kept.spend(SOURCE, TENTH, "q", "1", draw)
    (tmp_path / "b.ledger").unlink()
    assert [entry.kind for entry in kept.history()] == ["create", "declare"]


def test_the_name_of_a_draft_that_its_maker_left_is_removed(tmp_path):
    ledger(tmp_path)
    os.link(tmp_path / "a.ledger", tmp_path / ".a.ledger.0123456789abcdef")
    Ledger(tmp_path / "a.ledger").verify()
    assert [path.name for path in tmp_path.iterdir()] == ["a.ledger"]


def test_a_moved_ledger_is_computed_again_once_and_then_belongs_there(tmp_path, monkeypatch):
    kept = ledger(tmp_path)
    kept.spend(SOURCE, TENTH, "q", "1", lambda: [True])
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
    monkeypatch.setattr("hetdp.releases.ledger.verification.verify_chain", never)
    Ledger(tmp_path / "b.ledger").spend(SOURCE, TENTH, "s", "1", lambda: [True])


def test_a_ledger_is_not_made_through_a_link_that_leads_nowhere(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(hetdp.UsageError, match="there is something already"):
        ledger(tmp_path, name="link")
    with pytest.raises(LedgerError, match="there is no ledger here"):
        Ledger(tmp_path / "link")
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(LedgerError, match="nothing was spent"):
        Ledger(tmp_path / "loop")


def test_another_kind_of_journal_is_refused(tmp_path):
    ledger(tmp_path)
    connection = sqlite3.connect(tmp_path / "a.ledger")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    with pytest.raises(LedgerError, match=r"it was changed to keep another kind of journal; nothing was spent.*Hint:"):
        Ledger(tmp_path / "a.ledger")
    connection = sqlite3.connect(tmp_path / "a.ledger")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    Ledger(tmp_path / "a.ledger").verify()


@pytest.mark.parametrize("suffix", ["-journal", "-wal"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "link that leads nowhere"])
def test_what_stands_in_the_place_of_a_journal_is_refused(tmp_path, suffix, kind):
    ledger(tmp_path, 2)
    place, journal = tmp_path / "a.ledger", tmp_path / f"a.ledger{suffix}"
    (tmp_path / "notes").write_text("kept")
    make = {"pipe": os.mkfifo, "folder": os.mkdir}.get(kind)
    make(journal) if make else journal.symlink_to("nowhere" if "nowhere" in kind else "notes")
    script = f"import hetdp; hetdp.Ledger({str(place)!r}).verify()"  # SQLite would wait for a pipe for ever
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert f"beside it is {journal.name}, which is no plain file; nothing was spent" in ended.stderr
    with pytest.raises(LedgerError, match=f"Hint: move {journal.name} elsewhere"):
        Ledger(place)
    assert (tmp_path / "notes").read_text() == "kept"
    journal.rename(tmp_path / "elsewhere")
    assert Ledger(place).spend(SOURCE, TENTH, "r", "1", lambda: [True]).answers == (True,)


def test_the_log_of_an_older_copy_undoes_nothing(tmp_path):
    ledger(tmp_path, 2)
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
        with pytest.raises(LedgerError, match="a journal of a kind that hetdp never keeps; nothing was spent"):
            Ledger(place)
    assert (place.read_bytes(), log.read_bytes()) == (before, written)
    log.rename(tmp_path / "elsewhere")
    assert [one.version for one in Ledger(place).history() if one.kind == "spend"] == ["1"]


def test_another_file_that_took_the_place_does_not_tell_what_became_of_a_commit(tmp_path):
    ledger(tmp_path, 2)
    ledger(tmp_path, 2, name="other.ledger")
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

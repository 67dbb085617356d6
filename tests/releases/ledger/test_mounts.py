"""Bind mounts, overlays, read-only and full disks: nothing is lost, ledgers stay readable, and messages are true."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hetdp.errors import LedgerError
from hetdp.releases.ledger import sqlite_file as files
from hetdp.releases.ledger.ledger import Ledger
from tests.releases.ledger.test_damage import as_unprivileged_user
from tests.releases.ledger.test_spending import TENTH, fail_if_drawn
from tests.releases.worlds import SOURCE, make_ledger

ROOT = Path(__file__).parents[3]
WAYS = (["unshare", "-m"], ["unshare", "-rm"])
NAMESPACES = [words for words in WAYS if not subprocess.run([*words, "true"], check=False).returncode]
READ = ("status", "history", "verify", "export", "price")


@pytest.fixture(scope="module", params=[" ".join(words) for words in NAMESPACES[:1]])
def results(request, tmp_path_factory) -> dict[str, tuple[int, str]]:
    """The result of each command; these tests exist only where the user can create mount namespaces."""
    folder = tmp_path_factory.mktemp("mounts")
    command = [*request.param.split(), sys.executable, "-m", "tests.releases.ledger.mounts", str(folder)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    output = {name: (code, words) for name, (code, words) in json.loads(result.stdout).items()}
    assert not [words for _, words in output.values() if "Traceback" in words or "bug in hetdp" in words]
    return output


def test_a_file_that_is_mounted_by_itself_is_refused_and_its_folder_is_not(results):
    code, words = results["bind: file"]
    assert code == 7
    assert "it is mounted as a single file (bind mount)" in words
    assert "nothing was spent" in words
    assert "Hint: mount the folder" in words
    assert [results[f"bind: {name}"][0] for name in ("itself", "folder", "verify")] == [0, 0, 0]


def test_an_overlay_keeps_what_was_spent(results):
    assert [results[f"overlay: {name}"][0] for name in ("first", "again", *READ)] == [0] * 7
    assert "nothing was spent" in results["overlay: again"][1]
    assert "entries 1 … 3" in results["overlay: verify"][1]


def test_a_ledger_on_a_read_only_file_system_can_be_read_and_not_spent_from(results):
    assert [results[f"read-only: {name}"][0] for name in READ] == [0] * 5
    code, words = results["read-only: release"]
    assert (code, "it cannot be written to; nothing was spent" in words) == (7, True), words
    assert results["read-only: written again"][0] == 0


def test_a_journal_that_cannot_be_removed_is_not_ignored(results):
    for name in (*READ, "release"):
        code, words = results[f"killed: {name}"]
        assert code == 7, words
        assert "a process was stopped while it wrote to it, and left a journal" in words
    assert [results[f"killed: {name}"][0] for name in ("written again", "verify again")] == [0, 0]


def test_a_full_disk_is_reported_and_works_again_with_free_space(results):
    code, words = results["full: release"]
    assert (code, "the disk is full; nothing was spent" in words) == (7, True), words
    assert [results[f"full: {name}"][0] for name in (*READ, "with room", "verify")] == [0] * 7


def test_a_mounted_file_is_detected_in_the_list_of_mounts(tmp_path, monkeypatch):
    make_ledger(tmp_path, name="a b.ledger")
    listed = tmp_path / "mountinfo"
    monkeypatch.setattr(files, "MOUNTS", listed)
    line = "36 35 98:0 /x {} rw,noatime master:1 - ext3 /dev/root rw\n"
    listed.write_text(line.format(tmp_path))
    Ledger(tmp_path / "a b.ledger").verify()
    listed.write_text(line.format(str(tmp_path / "a b.ledger").replace(" ", "\\040")))
    with pytest.raises(LedgerError, match=r"it is mounted as a single file \(bind mount\)"):
        Ledger(tmp_path / "a b.ledger")


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    folder = Path(tempfile.mkdtemp())
    try:
        ledger = make_ledger(folder)
        folder.joinpath("a.ledger").chmod(0o666)
        folder.chmod(0o555)
        with as_unprivileged_user():
            ledger.verify()
            with pytest.raises(LedgerError, match="its folder cannot be written to; nothing was spent"):
                ledger.spend(SOURCE, TENTH, "q", "1", lambda: [True])
            with pytest.raises(LedgerError, match="a ledger cannot be made here: Permission denied"):
                make_ledger(folder, name="new")
        folder.chmod(0o777)
        (folder / "a.ledger-journal").write_bytes(b"left behind" * 100)
        folder.chmod(0o555)
        with as_unprivileged_user(), pytest.raises(LedgerError, match="left a journal, which cannot be removed"):
            ledger.spend(SOURCE, TENTH, "q", "1", fail_if_drawn)
        folder.joinpath("a.ledger").chmod(0o444)
        with (
            as_unprivileged_user(),
            pytest.raises(LedgerError, match="left a journal, which only a user with write access"),
        ):
            ledger.status()
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
    assert os.getuid() == os.geteuid()

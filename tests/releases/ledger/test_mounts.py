"""Bind mounts, overlays, read-only and full disks: nothing is lost, what can be read is, and the words are true."""

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
from tests.releases.ledger.test_damage import as_somebody_else
from tests.releases.ledger.test_spending import TENTH, never
from tests.releases.worlds import SOURCE, ledger

ROOT = Path(__file__).parents[3]
WAYS = (["unshare", "-m"], ["unshare", "-rm"])
NAMESPACES = [words for words in WAYS if not subprocess.run([*words, "true"], check=False).returncode]
READ = ("status", "history", "verify", "export", "price")


@pytest.fixture(scope="module", params=[" ".join(words) for words in NAMESPACES[:1]])
def found(request, tmp_path_factory) -> dict[str, tuple[int, str]]:
    """What each command came to; where this user can make no mount namespace, none of these tests is there."""
    folder = tmp_path_factory.mktemp("mounts")
    command = [*request.param.split(), sys.executable, "-m", "tests.releases.ledger.mounts", str(folder)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    said = {name: (code, words) for name, (code, words) in json.loads(ended.stdout).items()}
    assert not [words for _, words in said.values() if "Traceback" in words or "bug in hetdp" in words]
    return said


def test_a_file_that_is_mounted_by_itself_is_refused_and_its_folder_is_not(found):
    code, words = found["bind: file"]
    assert code == 7
    assert "it is mounted as a single file (bind mount)" in words
    assert "nothing was spent" in words
    assert "Hint: mount the folder" in words
    assert [found[f"bind: {name}"][0] for name in ("itself", "folder", "verify")] == [0, 0, 0]


def test_an_overlay_keeps_what_was_spent(found):
    assert [found[f"overlay: {name}"][0] for name in ("first", "again", *READ)] == [0] * 7
    assert "nothing was spent" in found["overlay: again"][1]
    assert "entries 1 … 3" in found["overlay: verify"][1]


def test_a_ledger_on_a_read_only_file_system_can_be_read_and_not_spent_from(found):
    assert [found[f"read-only: {name}"][0] for name in READ] == [0] * 5
    code, words = found["read-only: release"]
    assert (code, "it cannot be written to; nothing was spent" in words) == (7, True), words
    assert found["read-only: written again"][0] == 0


def test_a_journal_that_nobody_can_remove_is_not_read_around(found):
    for name in (*READ, "release"):
        code, words = found[f"killed: {name}"]
        assert code == 7, words
        assert "a process was stopped while it wrote to it, and left a journal" in words
    assert [found[f"killed: {name}"][0] for name in ("written again", "verify again")] == [0, 0]


def test_a_full_disk_says_so_and_is_asked_again(found):
    code, words = found["full: release"]
    assert (code, "the disk is full; nothing was spent" in words) == (7, True), words
    assert [found[f"full: {name}"][0] for name in (*READ, "with room", "verify")] == [0] * 7


def test_a_mounted_file_is_known_by_the_list_of_mounts(tmp_path, monkeypatch):
    ledger(tmp_path, name="a b.ledger")
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
        kept = ledger(folder)
        folder.joinpath("a.ledger").chmod(0o666)
        folder.chmod(0o555)
        with as_somebody_else():
            kept.verify()
            with pytest.raises(LedgerError, match="its folder cannot be written to; nothing was spent"):
                kept.spend(SOURCE, TENTH, "q", "1", lambda: [True])
            with pytest.raises(LedgerError, match="a ledger cannot be made here: Permission denied"):
                ledger(folder, name="new")
        folder.chmod(0o777)
        (folder / "a.ledger-journal").write_bytes(b"left behind" * 100)
        folder.chmod(0o555)
        with as_somebody_else(), pytest.raises(LedgerError, match="left a journal, which cannot be removed"):
            kept.spend(SOURCE, TENTH, "q", "1", never)
        folder.joinpath("a.ledger").chmod(0o444)
        with as_somebody_else(), pytest.raises(LedgerError, match="left a journal, which only somebody can remove who"):
            kept.status()
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
    assert os.getuid() == os.geteuid()

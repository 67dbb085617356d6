"""Failing system calls and interrupts while `hetdp release` spends; `faults.py` runs all of them by hand."""

from __future__ import annotations

import sqlite3

import pytest

import hetdp
from hetdp.errors import LedgerError
from tests.releases.ledger.faults import (
    EXPECTED,
    SHOWN,
    Fault,
    count_calls,
    faults,
    make_files,
    prepare_ledger,
    release,
    reset_ledger,
    run,
    run_with_fault,
)
from tests.releases.ledger.test_spending import TENTH
from tests.releases.worlds import SOURCE, make_ledger
from tests.stress import STRESS, stress

EVERY = max(37 // STRESS, 1)  # of all the faults, one in so many


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A problem, a mechanism and a ledger."""
    folder = tmp_path_factory.mktemp("faults").resolve()
    make_files(folder)
    prepare_ledger(folder)
    return folder


@stress
def test_messages_are_true_whatever_call_fails_and_asking_again_is_charged_once(folder):
    listed = list(faults(count_calls(folder)))
    assert len(listed) > 300
    assert {fault.call for fault in listed} >= {"pwrite64", "fdatasync", "unlink", "openat", "fcntl", "newfstatat"}
    found = [run_with_fault(folder, fault) for fault in listed[::EVERY]]
    assert len({kind.partition(" (")[0] for kind in found}) > 1


def test_a_reader_that_never_ends_times_out_and_nothing_is_spent(tmp_path):
    make_ledger(tmp_path)
    ledger = hetdp.Ledger(tmp_path / "a.ledger", timeout=0.1)
    reader = sqlite3.connect(tmp_path / "a.ledger", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM hetdp_ledger").fetchall()
    with pytest.raises(LedgerError, match="somebody else is using it, and did not finish in time; nothing was spent"):
        ledger.spend(SOURCE, TENTH, "q", "1", lambda: [True])
    reader.close()
    assert ledger.spend(SOURCE, TENTH, "q", "1", lambda: [True]).number == 3


COMMIT_FAULTS = {
    "the journal cannot be removed": (Fault("unlink", "EIO", 1, False), "nothing was spent", "this was spent"),
    "nor later": (Fault("unlink", "EIO", 1, True), "not known whether this was spent"),
    "the disk is full": (Fault("pwrite64", "ENOSPC", 1, True), "nothing was spent", "not known whether this was spent"),
}


@pytest.mark.parametrize("name", COMMIT_FAULTS)
def test_a_commit_that_fails_at_the_end_is_reported(folder, name):
    fault, *kinds = COMMIT_FAULTS[name]
    assert run_with_fault(folder, fault).partition(" (")[0] in kinds


@pytest.mark.parametrize(("call", "file"), [("unlink", "a.ledger-journal"), ("pwrite64", "a.ledger")])
def test_an_interrupt_during_a_commit_reports_what_is_known(folder, call, file):
    reset_ledger(folder)
    inject = ("-e", f"trace={call}", "-e", f"inject={call}:signal=INT:when=1")
    code, words = run(folder, release(), *inject, files=[file])
    assert code == 130, words
    assert not SHOWN.search(words)
    assert "hetdp: interrupted; this was spent, and no answer was given. Hint: ask the same again" in words
    assert EXPECTED["this was spent"] == (1,)
    spends = [entry for entry in hetdp.Ledger(folder / "a.ledger").history() if entry.version == "1"]
    assert len(spends) == 1
    code, again = run(folder, release())
    assert (code, "nothing was spent" in again) == (0, True)

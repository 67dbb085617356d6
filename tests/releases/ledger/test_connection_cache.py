"""The connection that is cached between transactions locks nothing, leaks nothing, and is compared with the file."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from hetdp.errors import BudgetError, LedgerError
from hetdp.releases.ledger import connection_cache
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.ledger import Ledger, core_of
from tests.releases.ledger.test_spending import TENTH

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted in /proc")


@pytest.fixture
def file(tmp_path):
    """A ledger whose accounts may spend 0.3."""
    Ledger.create(tmp_path / "a.ledger", source="survey", cap=0.3)
    return tmp_path / "a.ledger"


def open_files(file) -> int:
    return sum(os.path.realpath(place) == str(file) for place in Path("/proc/self/fd").iterdir())


def spend(ledger: Ledger, request: str) -> int:
    return ledger.spend("survey", TENTH, request, "1", lambda: [True]).number


def cache_of(ledger: Ledger) -> Any:
    database: Any = core_of(ledger).database
    return database._cache


def cached_connection(ledger: Ledger) -> Any:
    return cache_of(ledger)._idle[0][0]


def test_a_ledger_keeps_one_file_open_until_it_is_deleted(file):
    ledger = Ledger(file)
    for number in range(3):
        spend(ledger, str(number))
        ledger.status()
        assert open_files(file) == 1
    used = cached_connection(ledger)
    with pytest.raises(BudgetError):
        spend(ledger, "too much")
    assert used.closed  # a connection whose transaction failed is not used again
    assert open_files(file) == 1  # of the one that read what every account can still pay
    ledger.verify()
    others = [Ledger(file) for _ in range(3)]
    assert open_files(file) == 4
    gc.disable()
    try:
        del ledger, others
        count = open_files(file)
    finally:
        gc.enable()
    assert count == 0  # at once, without waiting for the collector


def test_nothing_is_locked_between_spends(file):
    ledger = Ledger(file)
    spend(ledger, "a")
    other = sqlite3.connect(file, timeout=0, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match="somebody else is writing to it"):
        Ledger(file, timeout=0)
    other.execute("ROLLBACK")
    other.close()
    assert spend(ledger, "b") == 4


def two_histories(file) -> tuple[Ledger, Path]:
    """A ledger, and a copy of it with another last entry that SQLite cannot tell by its counter of changes."""
    copy = file.with_name("copy")
    shutil.copy(file, copy)
    shutil.copy(file, file.with_name("again")).replace(file)  # a copy as well, so that both note their new places
    other, ledger = Ledger(copy), Ledger(file)
    spend(other, "theirs")
    spend(ledger, "ours")
    assert file.read_bytes()[24:40] == copy.read_bytes()[24:40]
    return ledger, copy


@pytest.mark.parametrize("is_blind", [False, True])
def test_a_file_that_was_written_over_is_read_again(file, monkeypatch, is_blind):
    if is_blind:  # even where its state tells nothing, as within one tick of the file system's clock
        monkeypatch.setattr(connection_cache, "_state", lambda found: (os.getpid(),))
    ledger, copy = two_histories(file)
    file.write_bytes(copy.read_bytes())
    assert [entry.request for entry in ledger.history()][2:] == ["theirs"]
    assert spend(ledger, "next") == 4
    assert ledger.verify().entry == 4


def test_a_file_that_was_replaced_between_spends_is_reopened(file):
    ledger, copy = two_histories(file)
    copy.replace(file)
    assert [entry.request for entry in ledger.history()][2:] == ["theirs"]
    file.unlink()
    with pytest.raises(LedgerError, match="there is no ledger here"):
        spend(ledger, "a")
    file.touch()
    with pytest.raises(LedgerError, match="it is damaged, or no ledger"):
        spend(ledger, "a")


def test_a_ledger_that_became_read_only_is_reopened(file):
    ledger = Ledger(file)
    spend(ledger, "a")
    before = cached_connection(ledger)
    file.chmod(0o400)
    ledger.status()
    assert cached_connection(ledger) is not before


def test_a_fork_does_not_inherit_the_connection(file):
    ledger = Ledger(file)
    spend(ledger, "parent")
    child = os.fork()
    if not child:
        code = 1
        try:
            code = 2 * open_files(file)
            spend(ledger, "child")
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert spend(ledger, "parent again") == 5
    ledger.verify()


def test_the_connection_of_another_process_is_neither_used_nor_closed(file, monkeypatch):
    ledger = Ledger(file)
    spend(ledger, "a")
    left: list[object] = []
    monkeypatch.setattr(connection_cache, "_of_parents", left)
    before = cached_connection(ledger)
    pid = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: pid + 1)  # as after a fork that Python knows nothing of
    spend(ledger, "b")
    assert left == [before]
    assert not before.closed
    before.close()
    cache_of(ledger).close()


def test_threads_take_turns_with_one_connection(file):
    ledger, done = Ledger(file), []
    nothing = Charge.to_classes("epsilon", {"pupils": 0})

    def work(name: str) -> None:
        requests = [f"{name} {number}" for number in range(5)]
        done.extend(ledger.spend("survey", nothing, each, "1", lambda: [True]).number for each in requests)

    threads = [threading.Thread(target=work, args=(str(name),)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == list(range(3, 23))
    assert open_files(file) == 1


def test_a_ledger_can_be_read_while_it_is_drawn_from(file):
    ledger = Ledger(file)
    spend(ledger, "a")
    seen = []

    def draw() -> list[bool]:
        seen.append(ledger.status()[0].classes[0].spent)
        return [True]

    ledger.spend("survey", TENTH, "b", "1", draw)
    assert seen == ["0.1"]
    assert open_files(file) == 1
    ledger.verify()

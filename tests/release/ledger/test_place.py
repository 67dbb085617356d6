"""Where a ledger is: a file that stays the same file, under an address that is understood or not shown."""

from __future__ import annotations

import shutil

import pytest

from hetdp.errors import LedgerError
from hetdp.release.ledger.ledger import Ledger
from tests.release.ledger.test_spending import TENTH, never


@pytest.fixture
def file(tmp_path):
    """A ledger in a file, with a copy of it beside it."""
    Ledger.create(tmp_path / "kept", source="survey", cap=0.3)
    shutil.copy(tmp_path / "kept", tmp_path / "copy")
    return tmp_path / "kept"


HAPPENINGS = {
    "replaced": lambda file: file.with_name("copy").replace(file),
    "removed": lambda file: file.unlink(),
    "moved away": lambda file: file.rename(file.with_name("away")),
    "a folder instead": lambda file: [file.unlink(), file.mkdir()],
}


@pytest.mark.parametrize("happen", HAPPENINGS.values(), ids=HAPPENINGS)
def test_no_answer_is_given_if_the_file_is_another_after_the_spend(file, happen):
    ledger = Ledger(file)

    def draw() -> list[bool]:
        happen(file)
        return [True]

    with pytest.raises(LedgerError, match="it was replaced or removed while it was written to; no answer was given"):
        ledger.spend("survey", TENTH, "q", "1", draw)


def test_an_earlier_answer_is_not_given_either(file):
    ledger = Ledger(file)
    receipt = ledger.spend("survey", TENTH, "q", "1", lambda: [True]).receipt()

    def receipts():  # they are read inside the transaction
        file.unlink()
        yield receipt

    with pytest.raises(LedgerError, match="it was replaced or removed"):
        ledger.spend("survey", TENTH, "q", "1", never, receipts=receipts())


def test_a_link_may_lead_to_a_ledger_but_not_to_another_one_meanwhile(file):
    link = file.with_name("link")
    link.symlink_to(file)
    ledger = Ledger(link)
    assert ledger.spend("survey", TENTH, "q", "1", lambda: [True]).number == 3

    def draw() -> list[bool]:
        link.unlink()
        link.symlink_to(file.with_name("copy"))
        return [True]

    with pytest.raises(LedgerError, match="it was replaced"):
        ledger.spend("survey", TENTH, "r", "1", draw)


def test_a_relative_path_means_the_same_file_wherever_the_process_goes(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("kept")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    assert ledger.spend("survey", TENTH, "q", "1", lambda: [True]).number == 3
    assert ledger.place == "kept"
    Ledger(file).verify()

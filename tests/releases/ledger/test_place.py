"""The location of a ledger: a file that must stay the same, and an address that is never shown if it is invalid."""

from __future__ import annotations

import shutil

import pytest

from hetdp.errors import LedgerError, UsageError
from hetdp.releases.ledger.ledger import Ledger
from tests.releases.ledger.test_spending import TENTH, fail_if_drawn


@pytest.fixture
def file(tmp_path):
    """A ledger in a file, with a copy of it beside it."""
    Ledger.create(tmp_path / "kept", source="survey", cap=0.3)
    shutil.copy(tmp_path / "kept", tmp_path / "copy")
    return tmp_path / "kept"


CHANGES = {
    "replaced": lambda file: file.with_name("copy").replace(file),
    "removed": lambda file: file.unlink(),
    "moved away": lambda file: file.rename(file.with_name("away")),
    "a folder instead": lambda file: [file.unlink(), file.mkdir()],
}


@pytest.mark.parametrize("happen", CHANGES.values(), ids=CHANGES)
def test_no_answer_is_given_if_the_file_was_replaced_during_the_spend(file, happen):
    ledger = Ledger(file)

    def draw() -> list[bool]:
        happen(file)
        return [True]

    with pytest.raises(
        LedgerError, match="it was replaced, moved or removed while it was written to; nothing was spent"
    ):
        ledger.spend("survey", TENTH, "q", "1", draw)


def test_an_earlier_answer_is_not_repeated_if_the_file_disappears_during_the_spend(file):
    ledger = Ledger(file)
    receipt = ledger.spend("survey", TENTH, "q", "1", lambda: [True]).receipt()

    def receipts():  # they are read inside the transaction
        file.unlink()
        yield receipt

    with pytest.raises(LedgerError, match="it was replaced, moved or removed"):
        ledger.spend("survey", TENTH, "q", "1", fail_if_drawn, receipts=receipts())


def test_a_link_to_a_ledger_may_not_change_during_a_spend(file):
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


def test_a_relative_path_means_the_same_file_after_a_change_of_folder(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("kept")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    assert ledger.spend("survey", TENTH, "q", "1", lambda: [True]).number == 3
    assert ledger.place == "kept"
    Ledger(file).verify()


NOT_UNDERSTOOD = [
    "postgresql:/steward:hidden@db/x",
    "postgresql:steward:hidden@db/x",
    "postgres//steward:hidden@db/x",
    "PostgreSQL+psycopg:/steward:hidden@db/x",
    "postgre:/steward:hidden@db/x",
    "postgresql://steward:hidden@db/x?port=y",
    "sqlite:/hidden",
    "sqlite:///hidden?z.ledger",
    "sqlite:///hidden?",
    "sqlite://hidden/z.ledger",
    "hidden\0",
    "hidden\ud800",
    b"hidden",
    None,
    7,
]


@pytest.mark.parametrize("make", [Ledger, Ledger.create], ids=["open", "create"])
@pytest.mark.parametrize("address", NOT_UNDERSTOOD, ids=repr)
def test_an_invalid_address_is_not_shown(make, address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="this is not the address of a ledger; an address is a path") as refusal:
        make(address)
    assert "hidden" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["postgres", "my:postgresql", "./postgres:x", "c:x", "a?b"])
def test_a_path_may_look_a_little_like_a_url(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Ledger.create(name).verify()
    assert (tmp_path / name).is_file()


@pytest.mark.parametrize("cap", [10**5000, -(10**5000), "9" * 5000], ids=["large", "negative", "text"])
def test_a_cap_of_too_many_digits_is_refused(tmp_path, cap):
    with pytest.raises(UsageError, match="is not an amount; an amount of privacy is a number"):
        Ledger.create(tmp_path / "new", source="survey", cap=cap)
    assert list(tmp_path.iterdir()) == []

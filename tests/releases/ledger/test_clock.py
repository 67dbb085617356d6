"""The clock may be wrong and may change between spends: times are recorded, but nothing depends on them."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.errors import BudgetError
from hetdp.releases.ledger import chain
from hetdp.releases.ledger.ledger import Ledger
from tests.releases.ledger.test_spending import TENTH, fail_if_drawn
from tests.releases.worlds import make_ledger, poll_mechanism

CLOCKS = {
    "set back": [(2026, 7, 1), (2020, 1, 1), (1970, 1, 1)],
    "set forward": [(2026, 7, 1), (2036, 1, 1), (9999, 12, 31)],
    "back and forth": [(2030, 1, 1), (1990, 1, 1), (2031, 1, 1)],
    "standing still": [(2026, 3, 29), (2026, 3, 29), (2026, 3, 29)],
}


@pytest.fixture
def clock(monkeypatch):
    """Sets the time that the ledger reads."""

    def set_to(*date: int) -> None:
        class Clock(datetime):
            @classmethod
            def now(cls, tz=None):
                return datetime(*date, 1, 30, tzinfo=UTC)

        monkeypatch.setattr(chain, "datetime", Clock)

    return set_to


@pytest.mark.parametrize("name", CLOCKS)
def test_a_clock_that_changes_between_spends_changes_nothing(address, clock, name):
    ledger = Ledger.create(address, source="survey", cap=0.3)
    receipts = []
    for number, date in enumerate(CLOCKS[name]):
        clock(*date)
        again = Ledger(address)
        entry = again.spend("survey", TENTH, f"question {number}", "1", lambda: [True], receipts=receipts)
        assert entry.number == 3 + number
        assert entry.time == f"{date[0]:04}-{date[1]:02}-{date[2]:02}T01:30:00Z"
        assert again.spend("survey", TENTH, f"question {number}", "1", fail_if_drawn) == entry
        receipts.append(entry.receipt())
    with pytest.raises(BudgetError):
        ledger.spend("survey", TENTH, "one more", "1", fail_if_drawn)
    assert [entry.number for entry in ledger.history()] == [1, 2, 3, 4, 5]
    assert ledger.verify(receipts).entry == 5
    exported = [json.loads(line) for line in ledger.export()]
    assert [line["number"] for line in exported if "number" in line] == [1, 2, 3, 4, 5]
    assert ledger.status()[0].classes[0].spent == "0.3"


def test_records_of_a_clock_that_was_set_back_are_verified_and_shown(tmp_path, clock, capsys):
    ledger = make_ledger(tmp_path)
    for version, date in (("1", (2036, 2, 1)), ("2", (2001, 2, 1))):
        clock(*date)
        hetdp.release(poll_mechanism(), "two", ledger=ledger, version=version, record=tmp_path / f"{version}.json")
    clock(1999, 1, 1)
    for version in "12":
        again = hetdp.release(poll_mechanism(), "two", ledger=ledger, version=version, after=[tmp_path / "1.json"])
        assert again.repeated
        assert hetdp.verify_record(tmp_path / f"{version}.json", ledger=ledger).valid
    place = str(tmp_path / "a.ledger")
    for words in (["history"], ["status"], ["export"]):
        assert main(["ledger", words[0], place]) == 0
    assert main(["ledger", "verify", place, str(tmp_path / "1.json"), str(tmp_path / "2.json")]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "released" in line or "version" in line]
    assert lines


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Pacific/Kiritimati"])
def test_times_are_those_of_utc_in_every_zone(tmp_path, monkeypatch, zone):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        before = datetime.now(UTC).replace(microsecond=0)
        ledger = make_ledger(tmp_path)
        after = datetime.now(UTC)
        times = [datetime.fromisoformat(entry.time) for entry in ledger.history()]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert all(before <= one <= after for one in times)
    ledger.verify()

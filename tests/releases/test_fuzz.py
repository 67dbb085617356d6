"""Broken records and plans are either read or refused with a message."""

from __future__ import annotations

from tests.releases.fuzz import fuzz
from tests.stress import stress, times


@stress
def test_a_broken_record_or_plan_is_refused_with_a_message():
    ends = fuzz(times(2500), 0)
    assert sum(ends.values()) == times(2500)
    assert ends["check_record: InputError"] > 300
    assert ends["check_record: not valid"] > 100
    assert ends["check_record: valid"] > 20  # with a new digest; only the ledger tells
    assert ends["check_plan: InputError"] > 300

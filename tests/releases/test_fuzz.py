"""Five thousand broken records and plans: read, or refused in words; never anything else."""

from __future__ import annotations

import pytest

from tests.releases.fuzz import fuzz


@pytest.mark.parametrize("seed", range(2))
def test_a_broken_record_or_plan_is_refused_in_words(seed):
    ends = fuzz(2500, seed)
    assert sum(ends.values()) == 2500
    assert ends["check_record: InputError"] > 300
    assert ends["check_record: not valid"] > 100
    assert ends["check_record: valid"] > 20  # with a new digest; only the ledger tells
    assert ends["check_plan: InputError"] > 300

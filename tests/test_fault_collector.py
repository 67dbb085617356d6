"""All faults of an input: listed, and past a thousand counted by kind."""

from __future__ import annotations

import numpy as np
import pytest

from hetdp.errors import MOST_LISTED, SHOWN_ALIKE, Fault, FaultCollector, InputError


def fault(what: str, at: int = 0) -> Fault:
    return Fault(what, f"row {at}", "", "rule")


def error_of(collector: FaultCollector) -> InputError:
    with pytest.raises(InputError) as refused:
        collector.raise_if_any()
    return refused.value


def test_without_faults_nothing_is_raised():
    collector = FaultCollector("edges")
    collector.raise_if_any()
    assert collector.total == 0


def test_past_a_thousand_faults_of_a_kind_are_counted_and_the_first_of_others_listed():
    collector = FaultCollector("edges")
    collector.add_where(np.ones(5_000, dtype=bool), lambda at: fault("negative", at))
    collector.add_at(np.arange(100), lambda at: fault("missing", at))
    for at in range(50):
        collector.add(fault("late", at))
    error = error_of(collector)
    assert error.total == 5_150
    assert error.more == {("negative", "rule"): 5_000 - MOST_LISTED, ("missing", "rule"): 97, ("late", "rule"): 47}
    assert str(error).splitlines() == [
        "edges: 5,150 faults",
        *(
            f"  {line}"
            for line in ["negative, 5,000 times; rule.", "  row 0", "  row 1", "  row 2", "  and 4,997 more"]
        ),
        *(f"  {line}" for line in ["missing, 100 times; rule.", "  row 0", "  row 1", "  row 2", "  and 97 more"]),
        *(f"  {line}" for line in ["late, 50 times; rule.", "  row 0", "  row 1", "  row 2", "  and 47 more"]),
    ]


def test_faults_of_another_error_are_taken_over_with_their_counts():
    inner, outer = FaultCollector("edges"), FaultCollector("file")
    inner.add_at(np.arange(3_000), lambda at: fault("negative", at))
    outer.add(fault("no version"))
    with outer.collect():
        inner.raise_if_any()
    error = error_of(outer)
    assert (error.subject, error.total) == ("file", 3_001)
    assert str(error).splitlines()[1:3] == ["  row 0: no version; rule.", "  negative, 3,000 times; rule."]


def test_a_thousand_faults_are_listed_and_of_new_kinds_a_few_more(monkeypatch):
    monkeypatch.setattr("hetdp.errors.MOST_LISTED", most := 30)
    collector = FaultCollector("edges")
    for at in range(most + 1):
        collector.add(Fault("one", str(at), "", "rule"))
    assert (len(collector.faults), collector.total) == (most, most + 1)
    assert dict(collector.more) == {collector.faults[0].kind: 1}
    for at in range(SHOWN_ALIKE + 2):
        collector.add(Fault("two", str(at), "", "rule"))
    assert len(collector.faults) == most + SHOWN_ALIKE
    assert collector.more[collector.faults[-1].kind] == 2
    collector.add_at(np.arange(SHOWN_ALIKE + 3), lambda at: Fault("three", str(at), "", "rule"))
    assert len(collector.faults) == most + 2 * SHOWN_ALIKE
    assert collector.more[collector.faults[-1].kind] == 3
    for at in range(most):
        collector.add(Fault(f"kind {at}", "", "", "rule"))
    assert len(collector.faults) == 2 * most
    assert collector.total == 2 * most + 1 + 2 * SHOWN_ALIKE + 5

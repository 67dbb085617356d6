"""The columns of a file: which are missing, and which would be ignored."""

from __future__ import annotations

from hetdp.errors import FaultCollector
from hetdp.files import schema


def faults_of(
    found: list[str], needed: tuple[str, ...], known: tuple[str, ...], notion: str = ""
) -> list[tuple[str, str]]:
    findings = FaultCollector("t")
    schema.require_columns(found, needed, known, "t", findings, notion)
    return [(fault.what, fault.hint) for fault in findings.faults]


def test_columns_that_are_missing_or_would_be_ignored_are_named():
    assert faults_of(["a"], ("a",), ("a", "b")) == []
    assert faults_of(["sorce"], ("source",), ("source",)) == [("missing column", "rename 'sorce' to source")]
    assert faults_of(["xyz"], ("source",), ("source",))[0] == ("missing column", "")
    assert faults_of(["Unnamed: 0"], (), ("a",)) == [("unknown column", schema.PANDAS_HINT)]
    assert faults_of([""], (), ("a",)) == [("unknown column", schema.PANDAS_HINT)]
    assert faults_of(["epsiln"], (), ("epsilon",)) == [("unknown column", "did you mean 'epsilon'?")]
    assert faults_of(["mu"], (), ("epsilon",), "pure") == [("a column that would be ignored:", "")]
    assert len(faults_of([f"c{at}" for at in range(50)], (), ("a",))) == 20

"""Tests of many cases in one: every case that failed is named, and none hides another."""

from __future__ import annotations

import inspect

import pytest

from tests.loops import for_each


def test_every_case_runs_and_every_failure_is_named():
    seen = []

    @for_each("case", range(4))
    def check(case, shared):
        seen.append((case, shared))
        assert case % 2 == 0

    assert [*inspect.signature(check).parameters] == ["shared"]
    with pytest.raises(ExceptionGroup, match="2 of 4 cases failed") as found:
        check(shared="fixture")
    assert seen == [(case, "fixture") for case in range(4)]
    assert [fault.__notes__[-1] for fault in found.value.exceptions] == ["with case=1", "with case=3"]

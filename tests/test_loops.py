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


def test_a_case_may_have_several_arguments_and_may_fail_because_nothing_was_raised():
    @for_each(("number", "word"), [(1, "one"), (2, "two")])
    @for_each("sign", "+-")
    def check(number, word, sign):
        with pytest.raises(ValueError, match="invalid"):
            int("1" if (number, sign) == (2, "-") else word)

    assert not inspect.signature(check).parameters
    with pytest.raises(BaseExceptionGroup, match="1 of 2 cases failed") as found:
        check()
    (outer,) = found.value.exceptions
    assert outer.__notes__ == ["with number=2, word='two'"]
    assert [fault.__notes__[-1] for fault in outer.exceptions] == ["with sign='-'"]


def test_a_method_is_a_test_of_many_cases_too():
    seen = []

    class TestOfNumbers:
        @for_each("number", range(3))
        def test_number(self, number):
            seen.append((self, number))

    one = TestOfNumbers()
    one.test_number()
    assert seen == [(one, number) for number in range(3)]

"""Words, counts and escaping for messages."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hetdp import text
from tests.loops import for_each


@for_each(
    ("name", "known", "found"),
    [
        ("epsilom", ["source", "epsilon"], ["epsilon"]),
        ("YES", ["yes", "no"], ["yes"]),
        ("1", [0, 1, 2], [1]),
        (1, ["0", "1"], ["1"]),
        (5, [0, 1, 50], []),
        (("yes", "nö"), [("yes", "no"), ("no", "yes")], [("yes", "no")]),
        ("yes,no", [("yes", "no"), ("a", "b")], [("yes", "no")]),
        ("xyz", ["abc"], []),
        (None, ["none"], ["none"]),
        ([], ["a"], []),
    ],
)
def test_the_closest_name_is_found(name, known, found):
    assert text.closest(name, known) == found


def test_a_misspelt_name_is_found_quickly_among_very_many():
    asked = itertools.count()
    known = (f"person {next(asked)}" for _ in range(10**9))
    assert text.closest("persn 54321", known) == ["person 54321"]
    assert next(asked) < 10**6  # then the others are not looked at


def test_long_names_are_compared_by_their_beginnings():
    assert text.closest("a" * 10**6, ["a" * 10**6 + "b"]) == ["a" * 10**6 + "b"]


def test_several_names_may_be_suggested():
    assert text.did_you_mean("abc", ["abd", "abe", "xyz"], most=3) == "did you mean 'abe' or 'abd'?"
    assert text.did_you_mean("abc", ["xyz"]) == ""


@pytest.mark.parametrize(
    ("value", "shown"),
    [(np.float64(0.5), "0.5"), ("a\n", r"'a\n'"), ("x" * 99, "'" + "x" * 78 + "…")],
)
def test_a_value_is_short_and_on_one_line(value, shown):
    assert text.format_value(value).startswith(shown)


def test_an_integer_of_too_many_digits_is_not_written():
    assert text.format_value(10**5000) == "<int too long to write>"


@pytest.mark.parametrize(("value", "shown"), [(1, "an int"), ({}, "a dict"), (None, "None"), ([], "a list")])
def test_a_type_has_its_article(value, shown):
    assert text.format_type(value) == shown


def test_the_first_line_of_an_error_is_its_name_if_it_says_nothing():
    assert text.first_line(ValueError("a\nb")) == "a"
    assert text.first_line(ValueError()) == "ValueError"

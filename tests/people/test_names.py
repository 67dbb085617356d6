"""Names of groups and values, and names with numbers as people type them."""

from __future__ import annotations

import pytest

import hetdp
from hetdp.errors import SHOWN_LINES
from hetdp.people.names import (
    join_names,
    parse_pairs,
    quote_if_needed,
    require_known,
    require_name,
    require_names,
    require_names_or_all,
    require_values,
)
from tests.loops import for_each


@for_each("wrong", ["", "  ", 3, None, ["a"], b"a"])
def test_a_name_is_text_that_is_not_empty(wrong):
    with pytest.raises(hetdp.UsageError, match="it must be non-empty text"):
        require_name(wrong, "the group")
    assert require_name(" a", "the group") == " a"


def test_several_names_are_different_and_at_least_one():
    assert require_names(("a", "b"), "a group") == ("a", "b")
    assert require_names_or_all(None, "a group") is None
    assert require_names_or_all("a", "a group") == ("a",)
    for wrong in ([], ["a", "a"]):
        with pytest.raises(hetdp.UsageError, match="at least one name, and each only once"):
            require_names(wrong, "a group")
    with pytest.raises(hetdp.UsageError, match="non-empty text"):
        require_names({"a", "b"}, "a group")  # a set has no order


def test_there_are_at_least_two_values():
    assert require_values(iter(["a", "b"])) == ("a", "b")
    for wrong in (["a"], "ab"):
        with pytest.raises(hetdp.UsageError, match="at least two values"):
            require_values(wrong)
    with pytest.raises(hetdp.UsageError, match="non-empty text"):
        require_values(3)


def test_an_unknown_name_is_refused_with_the_first_known_ones():
    many = [f"g{at}" for at in range(SHOWN_LINES + 1)]
    require_known(["g0"], many, "group")
    require_known([], [], "group")
    with pytest.raises(hetdp.UsageError) as refused:
        require_known(["g0", "G1"], many, "group")
    listed = ", ".join(many[:SHOWN_LINES])
    assert str(refused.value).startswith(f"unknown group 'G1'; the groups are {listed}, ….")
    with pytest.raises(hetdp.UsageError) as refused:
        require_known(["x"], many[:SHOWN_LINES], "group")
    assert str(refused.value) == f"unknown group 'x'; the groups are {listed}."


def test_names_in_sentences_are_quoted_only_if_they_could_be_taken_for_more():
    assert [quote_if_needed(name) for name in ("a b", "a-b.c+d", "a, b", " a", "a  b")] == [
        "a b", "a-b.c+d", "'a, b'", "' a'", "'a  b'"
    ]  # fmt: skip
    assert join_names(["a", "b"], "or") == "a or b"


def test_names_with_numbers_are_read_from_pairs_and_from_json():
    def read(*given):
        return parse_pairs("--epsilon", given, "NAME=NUMBER", "each name has one")

    assert read("a=1, b=0.5", "c = 2") == {"a": "1", "b": "0.5", "c": "2"}
    assert read("x=y=3") == {"x=y": "3"}
    assert {name: str(number) for name, number in read(' {"a": 1, "b=c": 0.30}', "d=4").items()} == {
        "a": "1", "b=c": "0.30", "d": "4"
    }  # fmt: skip
    with pytest.raises(hetdp.UsageError, match="it must be NAME=NUMBER, with commas between several"):
        read("a=1,2")
    for given, hint in (
        ("a=0,5", r"a number is written with a decimal point: a=0\.5"),
        ("b=1,a=12,50%,c=2", r"a number is written with a decimal point: a=12\.50%"),
    ):
        with pytest.raises(hetdp.UsageError, match=hint):
            read(given)
    for given in ("0,5", "a=1,b", "a=0.5,5"):
        with pytest.raises(hetdp.UsageError) as refusal:
            read(given)
        assert refusal.value.hint == "", "this is no number with a decimal comma"
    with pytest.raises(hetdp.UsageError, match="--epsilon has a name twice; each name has one"):
        read("a=1", "a=2")

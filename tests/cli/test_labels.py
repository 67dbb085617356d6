"""Labels as people type and read them."""

from __future__ import annotations

import pytest

from hetdp.cli.labels import find, meant, text_of
from hetdp.errors import InputError
from hetdp.problem.findings import Findings
from hetdp.problem.labels import labels_of


def known(*names):
    return labels_of(list(names), Findings("datasets"))


@pytest.mark.parametrize("label", ["a b", "01", 7, -1, 0.5, (0, 1), ("x", (1, 2)), "two\nlines", "", "é"])
def test_what_is_printed_can_be_typed(label):
    text = text_of(label)
    assert "\n" not in text
    assert find(known(label, "another"), [text]) == [label]


def test_text_comes_first():
    assert find(known("3", 3), ["3"]) == ["3"]
    assert find(known(3, 4), ["3"]) == [3]


@pytest.mark.parametrize("text", ["true", "1.0", "[1]", "{}", '{"a": 1}', "null", "1 ", "[" * 100_000, "9" * 5000])
def test_a_number_is_found_only_as_it_is_written(text):
    labels = known(1, 5)
    if text == "1 ":
        assert meant(labels, text) == 1  # JSON does not mind blanks
    else:
        assert meant(labels, text) is None


def test_of_close_names_three_are_suggested():
    with pytest.raises(InputError, match=r"did you mean abc[def] or abc[def] or abc[def]\?"):
        find(known("abcd", "abce", "abcf", "xyz"), ["abc"])

"""Labels as they are typed on the command line, and suggestions for unknown ones."""

from __future__ import annotations

import pytest

from hetdp.cli.reading import find_labels
from hetdp.errors import FaultCollector, InputError
from hetdp.problem.labels import labels_of


def label_index(*names):
    return labels_of(list(names), FaultCollector("datasets"))


def test_labels_are_found_by_their_spelling():
    assert find_labels(label_index((0, 1), "x", 7), ["0,1", "[0,1]", "x", "7"]) == [(0, 1), (0, 1), "x", 7]


def test_three_close_names_are_suggested():
    with pytest.raises(InputError, match=r"did you mean abc[def] or abc[def] or abc[def]\?"):
        find_labels(label_index("abcd", "abce", "abcf", "xyz"), ["abc"])

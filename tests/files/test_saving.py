"""How labels are saved: the kind of their column, and whether they can be read again."""

from __future__ import annotations

import math
from typing import Any

from hetdp.files import saving
from hetdp.files.formats.table import DEEPEST_NESTING
from tests.loops import for_each


@for_each(
    ("names", "kind"),
    [
        ([2**63 - 1, -(2**63)], "integer"),
        ([2**63, 0], "json"),
        ([-(2**63) - 1], "json"),
        ([1, None], "integer"),
        (["a", ""], "json"),
        ([True], "json"),
        ([0.5], "json"),
        (range(3), "integer"),
        ([], "text"),
    ],
)
def test_a_column_of_labels_is_text_integers_or_json(names, kind):
    assert saving.column_kind(names) == kind
    assert saving.kind_words("labels", names, True) == ({} if kind == "text" else {"labels": kind})
    assert saving.kind_words("labels", names, False) == ({"labels": kind} if kind == "json" else {})


def nested(depth: int) -> Any:
    label: Any = "a"
    for _ in range(depth):
        label = (label,)
    return label


@for_each(
    ("label", "is_readable"),
    [
        ((), False),
        (("a", ()), False),
        (math.inf, False),
        (math.nan, False),
        (True, False),
        (None, False),
        ("\ud7ff", True),
        ("\ud800", False),
        ("a\udfff", False),
        ("\ue000", True),
        (nested(DEEPEST_NESTING), True),
        (nested(DEEPEST_NESTING + 1), False),
    ],
)
def test_a_label_that_is_saved_can_be_read_again(label, is_readable):
    assert saving._is_readable(label) is is_readable

"""Texts of pictures: percentages and long names."""

from __future__ import annotations

import pytest

from hetdp.plots.canvas import drawable_text, import_refusal, two_digits


@pytest.mark.parametrize(
    ("p", "words"),
    [(0.995, ".99"), (0.9951, ">.99"), (0.005, ".01"), (0.0049, "<.01"), (0.5, ".50"), (0.0, "0"), (1.0, "1")],
)
def test_two_digits_are_never_certain(p, words):
    assert two_digits(p) == words


def test_long_texts_are_cut_in_the_middle():
    assert drawable_text("a" * 24) == "a" * 24
    assert drawable_text("a" * 25) == "a" * 11 + "…" + "a" * 11
    assert drawable_text("") == '""'
    assert "not installed" in str(import_refusal(ImportError("x", name="matplotlib")))
    assert "does not load: x" in str(import_refusal(ImportError("x", name="numpy")))

"""The query column of a file, where numbers and truth may be written as text."""

from __future__ import annotations

from typing import Any

import numpy as np

DIGITS = frozenset("0123456789")
WORDS = {"true": True, "false": False}


def answer_column(values: Any) -> Any:
    """The answers as they are meant: digits and ``true`` and ``false`` may be written as text."""
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return values
    different = set(filter(_is_text, values))
    meant = {text: answer(text) for text in different}
    if not different or not all(meant[text] is not text for text in different):
        return values
    return [meant[value] if _is_text(value) else value for value in values]


def answer(text: str) -> Any:
    """A whole number of one digit, or a truth value, if the text is one."""
    if text.removesuffix(".0") in DIGITS:  # data frames turn a column with a gap into floats
        return int(text.removesuffix(".0"))
    return WORDS.get(text.lower(), text)


def positive_of(positive: Any, values: Any) -> Any:
    """The answer that counts as 1, which may be given as text too."""
    if not _is_text(positive):
        return positive
    different = set(values.tolist() if isinstance(values, np.ndarray) else filter(_is_plain, values))
    return positive if positive in different else answer(positive)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float))

"""Labels as text: the form in which labels are printed, drawn and written can be typed again for the same dataset.

A text is spelled as it is, an integer by its digits, and a tuple by its entries with commas between them, such as
``yes,no`` or ``3,1/2``. If that would mean another dataset of the same problem, or could not be read back, a label is
spelled in JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from hetdp.problem.labels import Labels, is_same
from hetdp.text import escape_json

LONGEST = 80  # characters of a label in a message
INTEGER = re.compile("0|-?[1-9][0-9]{0,40}", re.ASCII)
JSON_BEGINS = frozenset('"[{-0123456789tfnIN')  # as any text does that is JSON


def spell_label(label: Any, labels: Labels | None = None) -> str:
    r"""Spells a label on one line, so that `find_label` reads it.

    Args:
        label: the label of a dataset, or the name of a class.
        labels: all labels of the problem; without them, the label is spelled as if it were the only one.

    >>> [spell_label(label) for label in ("01", "", " a", 3, ("yes", 3), (3, (1, 2)), ("a,b", "1"), "a\nb")]
    ['01', '""', '" a"', '3', 'yes,3', '3,1/2', '["a,b", "1"]', '"a\\nb"']
    """
    if type(label) is int:
        return str(label)
    if isinstance(label, str):
        plain = label if label and label.isprintable() and label.strip() == label else None
        if plain and plain[0] not in JSON_BEGINS:
            return plain
    else:
        plain = _with_commas(label)
    if plain is not None:
        found = _first(plain, labels) if labels is not None else label
        if found is not None and is_same(found, label) and any(is_same(each, label) for each in possible_labels(plain)):
            return plain
    try:
        return label_to_json(label)
    except (TypeError, ValueError, RecursionError):
        return repr(label)  # no text, number or tuple of these: nobody can type it


def shorten_label(label: Any, labels: Labels | None = None) -> str:
    """Spells a label for a message; a very long one is cut."""
    text = spell_label(label, labels)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def find_label(text: Any, labels: Labels) -> Any:
    """Finds the label that a text means among those of a problem; None if it means none.

    The JSON value of the text is tried first, then the text itself, then the tuple of its parts between commas.

    >>> from hetdp.problem.labels import NamedLabels
    >>> labels = NamedLabels(["3", 3, ("yes", 1)])
    >>> find_label("3", labels), find_label('"3"', labels), find_label("yes,1", labels), find_label("no,1", labels)
    (3, '3', ('yes', 1), None)
    """
    if not isinstance(text, str):
        return text if _is_there(text, labels) else None
    return _first(text, labels)


def label_to_json(label: Any) -> str:
    r"""The JSON of a label, on one line of characters that print.

    Raises:
        TypeError: it is not a text, a number or a tuple of these.
        ValueError: it contains NaN, infinity or half of a surrogate pair.

    >>> label_to_json(("\u202e", 1)), label_to_json("«")
    ('["\\u202e", 1]', '"«"')
    """
    text = json.dumps(label, ensure_ascii=False, allow_nan=False)
    text.encode()
    return escape_json(text)


def label_from_json(text: str) -> Any:
    """The label that a JSON text stands for.

    Raises:
        ValueError: it is not JSON.

    >>> label_from_json('["yes", [1, 2]]')
    ('yes', (1, 2))
    """
    return _hashable(json.loads(text))


def _first(text: str, labels: Labels) -> Any:
    return next((reading for reading in possible_labels(text) if _is_there(reading, labels)), None)


def possible_labels(text: str) -> Iterator[Any]:
    """The labels that a text may mean, the most likely first."""
    if text[:1] in JSON_BEGINS or text != text.strip():
        yield from _json_values(text)
    yield text
    parts = text.split(",")
    yield tuple(parts)
    yield tuple(map(_entry, parts))


def _json_values(text: str) -> list[Any]:
    try:
        return [label_from_json(text)]
    except (ValueError, RecursionError):
        return []


def _entry(part: str) -> Any:
    """An integer, the counts of several values, or a text."""
    counts = part.split("/")
    if len(counts) > 1 and all(map(INTEGER.fullmatch, counts)):
        return tuple(map(int, counts))
    return int(part) if INTEGER.fullmatch(part) else part


def _with_commas(label: Any) -> str | None:
    """The entries of a tuple with commas between them; None if that would be hard to read."""
    if not isinstance(label, tuple) or not label:
        return None
    entries = ["/".join(map(str, entry)) if isinstance(entry, tuple) else str(entry) for entry in label]
    text = ",".join(entries)
    return text if text.isprintable() and all(entry and entry.strip() == entry for entry in entries) else None


def _is_there(label: Any, labels: Labels) -> bool:
    try:
        hash(label)
    except TypeError:  # which cannot be a label
        return False
    at = int(labels.indices([label])[0])
    return at >= 0 and is_same(labels.names[at], label)


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value

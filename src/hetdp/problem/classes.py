"""Classes of edges: the person, or the kind of change, that an edge is about. Ledgers and odds count by class."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, FaultCollector
from hetdp.problem.columns import as_column, as_list
from hetdp.text import format_value

NONE = -1  # the number of an edge without a class


class Classes(NamedTuple):
    """The class of each edge, as a number.

    Attributes:
        names: the distinct classes.
        numbers: for each edge or arc the position of its class in `names`, −1 where it has none.
    """

    names: tuple[Any, ...]
    numbers: NDArray[np.int32]

    def take(self, chosen: Any) -> Classes:
        """The classes of some edges."""
        return Classes(self.names, self.numbers[chosen])

    def ranks(self) -> NDArray[np.int64]:
        """The rank of the class of each edge, ordered by text; edges without a class come first.

        Unlike `numbers`, it does not depend on the order in which edges are listed.
        """
        order = sorted(range(len(self.names)), key=lambda at: (str(self.names[at]), type(self.names[at]).__name__))
        places = np.empty(len(order) + 1, dtype=np.int64)
        places[order], places[NONE] = np.arange(1, len(order) + 1), 0
        return np.asarray(places[self.numbers])

    def by_name(self) -> list[Any]:
        """The class of each edge, None where it has none."""
        return list(map((*self.names, None).__getitem__, self.numbers.tolist()))


def classes_of(values: Any, collector: FaultCollector) -> Classes | None:
    """Converts a column of classes, with None where an edge has none; returns None if no edge has a class."""
    if values is None:
        return None
    listed: Sequence[Any] = as_list(as_column("class", values, collector))
    if any(issubclass(kind, np.generic) for kind in set(map(type, listed))):
        listed = [name.item() if isinstance(name, np.generic) else name for name in listed]
    try:
        known = dict.fromkeys(listed)
    except TypeError:  # a list, or a tuple with one in it, has no hash
        wrong = next(name for name in listed if not _has_hash(name))
        rule = "a class is text, a number, or a tuple of these"
        collector.add(Fault("not a class:", "class", format_value(wrong), rule))
        collector.raise_if_any()
        raise
    names = tuple(name for name in known if not _is_missing(name))
    if not names and len(listed):
        return None
    numbers = dict.fromkeys(known, NONE) | dict(zip(names, range(len(names)), strict=True))
    return Classes(names, np.fromiter(map(numbers.__getitem__, listed), np.int32, len(listed)))


def _has_hash(name: Any) -> bool:
    try:
        return hash(name) is not None
    except TypeError:
        return False


def _is_missing(name: Any) -> bool:
    """True for None, NaN and NA, and for the empty text, which tables cannot tell from None."""
    try:
        return name is None or bool(name != name) or name == ""
    except TypeError:  # what pandas has as NA is neither equal to itself nor different
        return True


def join_classes(parts: Sequence[Classes]) -> Classes | None:
    """Joins the classes of several lists of edges; returns None if no edge has a class."""
    known: dict[Any, int] = {}
    numbers = [np.empty(0, dtype=np.int32)]
    for part in parts:
        renamed = np.array([*(known.setdefault(name, len(known)) for name in part.names), NONE], dtype=np.int32)
        numbers.append(renamed[part.numbers])
    return Classes(tuple(known), np.concatenate(numbers)) if known else None


def names_to_bytes(names: Sequence[Any]) -> NDArray[np.uint8]:
    """Encodes names of classes, which are texts, numbers and tuples of these, for a binary file."""
    return np.frombuffer(json.dumps(list(names)).encode(), dtype=np.uint8)


def names_from_bytes(stored: NDArray[np.uint8]) -> tuple[Any, ...]:
    """Decodes what `names_to_bytes` has encoded."""
    return tuple(map(_as_name, json.loads(stored.tobytes())))


def _as_name(value: Any) -> Any:
    return tuple(map(_as_name, value)) if isinstance(value, list) else value

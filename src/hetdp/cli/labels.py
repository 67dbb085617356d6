"""Labels as people type and read them: text as it is, everything else as JSON."""

from __future__ import annotations

import json
from difflib import get_close_matches
from itertools import islice

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from hetdp.problem.labels import Labels
    from hetdp.problem.partitioned import PartitionedProblem

LOOKED_AT = 20_000  # labels that are compared with a misspelt one


def text_of(label: Any) -> str:
    """A label in one line, in a form that `find` takes.

    >>> text_of("01"), text_of(3), text_of((0, 1)), text_of("")
    ('01', '3', '[0, 1]', '""')
    """
    if isinstance(label, str) and label.isprintable() and label:
        return label
    if type(label) is int:  # most labels are one of these two
        return str(label)
    return json.dumps(label, ensure_ascii=False)


def meant(labels: Labels, label: Any) -> Any:
    """The label that was meant: the given one if there is such, else the JSON value of the text; None if neither is."""
    return next((reading for reading in _readings(label) if _is_there(labels, reading)), None)


def find(labels: Labels, texts: Iterable[str]) -> list[Any]:
    """The labels that were meant by words on the command line.

    Raises:
        InputError: naming every text that means no dataset.
    """
    from hetdp.errors import Fault, InputError, shown

    found = {text: meant(labels, text) for text in texts}
    rule = "only datasets of the problem can be asked about"
    faults = [
        Fault("there is no such dataset", f"dataset {shown(text)}", "", rule, _close(labels, text))
        for text, label in found.items()
        if label is None
    ]
    if faults:
        raise InputError("command line", faults)
    return list(found.values())


def _readings(label: Any) -> list[Any]:
    if not isinstance(label, str):
        return [label]
    try:
        return [label, _hashable(json.loads(label))]
    except (ValueError, RecursionError):
        return [label]


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _is_there(labels: Labels, label: Any) -> bool:
    """Whether it is one of the labels, as written: to Python, 1 and 1.0 and True are the same."""
    try:
        hash(label)
    except TypeError:  # which can be no label
        return False
    at = int(labels.indices([label])[0])
    return at >= 0 and json.dumps(labels.names[at]) == json.dumps(label)


def _close(labels: Labels, text: str) -> str:
    known = [text_of(label) for label in islice(labels.names, LOOKED_AT)]
    close = get_close_matches(text, known, 3)
    return f"did you mean {' or '.join(close)}?" if close else ""


def meant_together(problem: PartitionedProblem, labels: Iterable[Any]) -> dict[Any, Any]:
    """The same as `meant`, for labels of a partitioned problem, all at once; what names no dataset stays as it is."""
    given = list(labels)
    known = problem.names.indices(given)
    unknown = [label for label, number in zip(given, known, strict=True) if number < 0]
    readings = {label: _readings(label)[-1] for label in unknown if type(_readings(label)[-1]) is int}
    numbers = problem.names.indices(list(readings.values()))
    found = {label: value for (label, value), number in zip(readings.items(), numbers, strict=True) if number >= 0}
    return {label: found.get(label, label) for label in given}


class KnownLabels:
    """Labels of a partitioned problem, as those of another are asked for."""

    def __init__(self, problem: PartitionedProblem) -> None:
        self._names = problem.names
        self.names: Any = _Some(problem)

    def index(self, label: Any) -> int:
        """The number of a dataset."""
        return self._names.index(label)

    def indices(self, labels: Any) -> Any:
        """The numbers of some, −1 where a label names none."""
        return self._names.indices(list(labels))


class _Some:
    """Labels by number; only the first few are ever looked at one after the other."""

    def __init__(self, problem: PartitionedProblem) -> None:
        self._problem = problem

    def __len__(self) -> int:
        return self._problem.graph.size

    def __getitem__(self, at: Any) -> Any:
        return self._problem.label(int(at))

    def __iter__(self) -> Any:
        return iter(self._problem.names.labels(list(range(min(len(self), 1000)))))

"""Labels as people type them, looked up in the problem."""

from __future__ import annotations

from difflib import get_close_matches
from itertools import islice

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from hetdp.problem.labels import Labels
    from hetdp.problem.partitioned import PartitionedProblem

LOOKED_AT = 20_000  # labels that are compared with a misspelt one


def find(labels: Labels, texts: Iterable[str]) -> list[Any]:
    """The labels that were meant by words on the command line.

    Raises:
        InputError: naming every text that means no dataset.
    """
    from hetdp.errors import Fault, InputError, shown
    from hetdp.problem.spelling import meant

    found = {text: meant(text, labels) for text in texts}
    rule = "only datasets of the problem can be asked about"
    faults = [
        Fault("there is no such dataset", f"dataset {shown(text)}", "", rule, _close(labels, text))
        for text, label in found.items()
        if label is None
    ]
    if faults:
        raise InputError("command line", faults)
    return list(found.values())


def _close(labels: Labels, text: str) -> str:
    from hetdp.problem.spelling import readings, spelled

    known = [spelled(label) for label in islice(labels.names, LOOKED_AT)]
    close = get_close_matches(text, known, 3) or get_close_matches(spelled(next(readings(text))), known, 3)
    return f"did you mean {' or '.join(close)}?" if close else ""


def meant_together(problem: PartitionedProblem, labels: Iterable[Any]) -> dict[Any, Any]:
    """What labels of a partitioned problem mean, all at once; what names no dataset stays as it is."""
    from hetdp.problem.spelling import readings

    given = list(labels)
    choices = {label: list(readings(label)) if isinstance(label, str) else [label] for label in given}
    flat = [choice for each in choices.values() for choice in each]
    known = iter(problem.names.indices(flat).tolist())
    there = {label: [choice for choice in each if next(known) >= 0] for label, each in choices.items()}
    return {label: next(iter(there[label]), label) for label in given}

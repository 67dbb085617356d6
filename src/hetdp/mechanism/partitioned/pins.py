"""Given values on partitions: those of the problem's own tables, or others by label, brought to their owners."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetdp.errors import UsageError, shown
from hetdp.problem.columns import by_label
from hetdp.problem.findings import Findings
from hetdp.problem.ordered import PIN, in_order
from hetdp.problem.outline import Outline
from hetdp.problem.partial import PartialMechanism, pins_on
from hetdp.problem.partitioned import PartitionedPins, PartitionedProblem
from hetdp.problem.parts import Part
from hetdp.theory.catalogue import NOTIONS

OWN = "pins"  # the array of a problem's own values
KEYS = ("p", "z", "error")


class Listed:
    """Labels that values are given for, by their place in the list; what names no dataset is not among them."""

    def __init__(self, labels: list[Any], numbers: Any) -> None:
        self.names: Any = labels
        self._places = {label: at for at, label in enumerate(labels) if numbers[at] >= 0}

    def index(self, label: Any) -> int:
        """The place of one label."""
        return self._places[label]

    def indices(self, labels: Any) -> Any:
        """The places of some."""
        return np.array([self._places.get(label, -1) for label in labels], dtype=np.int64)


def pins_named(problem: PartitionedProblem, partial: Any, name: str) -> str:
    """The name of the pins that are meant; values by label are written under a name of their own."""
    if isinstance(partial, PartitionedPins):
        if partial.work != problem.work:
            rule = "values from the tables of a partitioned problem are for that problem"
            raise UsageError("the values of another problem", rule, "give values by label, or those that came with it")
        return OWN
    if not isinstance(partial, PartialMechanism):
        partial = PartialMechanism(p=partial)
    given = {key: getattr(partial, key) for key in KEYS if getattr(partial, key) is not None}
    columns: dict[str, Any] = {key: by_label(values) for key, values in given.items()}
    for key, values in columns.items():
        if values is None:
            rule = "values for a partitioned problem are in its own tables, or a mapping from labels"
            raise UsageError(f"{key}={shown(given[key])}", rule)
    labels = list(dict.fromkeys(label for values in columns.values() for label in values))
    numbers = np.asarray(problem.names.indices(labels), dtype=np.int64)
    listed = Listed(labels, numbers)
    pins_on(Outline(listed, np.ones(len(labels), dtype=np.int8), problem.notion, ""), partial)  # or a refusal
    findings = Findings("partial mechanism")
    order = np.argsort(numbers, kind="stable")
    numbered = {key: in_order(key, values, listed, PIN, findings)[order] for key, values in columns.items()}
    problem.run(write_pins, numbers[order], numbered, name, problem.notion.name)
    return name


def write_pins(part: Part, numbers: Any, numbered: dict[str, Any], name: str, notion: str) -> None:
    """Writes the values that are given on a partition's own datasets."""
    low, high = np.searchsorted(numbers, [part.first, part.first + part.size])
    own = numbers[low:high] - part.first
    coordinate, answers, pins = NOTIONS[notion].coordinate, part.load("answers")[own], np.full(part.size, np.nan)
    for key, values in numbered.items():
        column = values[low:high]
        given = ~np.isnan(column)
        z = column if key == "z" else coordinate.from_probability(column)
        z = coordinate.from_error(column, answers) if key == "error" else z
        pins[own[given]] = z[given] + 0.0
    part.save(name, pins)


def boundary_counts(part: Part, name: str) -> tuple[int, int]:
    """How many datasets of a partition's boundary have no value, and how many datasets the boundary has."""
    boundary = part.load("boundary")
    return int(np.count_nonzero(boundary & np.isnan(part.load(name)))), int(np.count_nonzero(boundary))

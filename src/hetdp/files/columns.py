"""The columns of problems and mechanisms as arrays, ready for any format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hetdp.errors import UsageError, shown
from hetdp.files.formats.tables import DEEPEST
from hetdp.files.schema import CLASS_RULE, INTEGER, JSON, LABEL_RULE, TEXT
from hetdp.mechanism.mechanism import Mechanism
from hetdp.problem.findings import Findings
from hetdp.problem.labels import Labels
from hetdp.problem.ordered import PIN, in_order
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.positions import Tuples
from hetdp.problem.problem import Problem
from hetdp.problem.space import Indices
from hetdp.problem.spelling import in_json


def mechanism_columns(mechanism: Mechanism) -> dict[str, Any]:
    """The table of a mechanism."""
    names = label_array(mechanism.problem.labels.names)
    return {
        "dataset": names,
        "query": mechanism.problem.answers,
        "p": mechanism.probabilities,
        "z": mechanism.coordinates,
        "error": mechanism.errors,
        "pinned": mechanism.pinned,
        "binding": _bound_by(names, mechanism.links),
    } | mechanism.given_column()


def dataset_columns(problem: Problem, partial: PartialMechanism) -> dict[str, Any]:
    """The table of a problem's datasets, with what is given on some of them."""
    columns = {"dataset": label_array(problem.labels.names), "query": problem.answers}
    columns |= pin_columns(partial, problem.labels)
    return columns if problem.weights is None else columns | {"weight": problem.weights}


def edge_columns(problem: Problem) -> dict[str, Any]:
    """The table of a problem's edges, each once, with what it promises as written."""
    names, graph = label_array(problem.labels.names), problem.graph
    source, target, *parameters = graph.edges()
    columns = {"source": names[source], "target": names[target]}
    columns |= dict(zip(graph.parameter_names, parameters, strict=True))
    classes = graph.edge_classes()
    return columns if classes is None else columns | {"class": label_array(classes)}


def pin_columns(partial: PartialMechanism, labels: Labels) -> dict[str, Any]:
    """The columns p, z and error, those that are given, with NaN where a dataset has no such value."""
    findings = Findings("partial mechanism")
    given = {name: getattr(partial, name) for name in ("p", "z", "error")}
    columns = {name: in_order(name, x, labels, PIN, findings) for name, x in given.items() if x is not None}
    findings.raise_if_any()
    return {name: column for name, column in columns.items() if not np.isnan(column).all()}


def label_array(names: Sequence[Any]) -> Any:
    """Labels as an array of integers or of texts, as `kind_of` says."""
    if isinstance(names, range):
        return np.arange(len(names))
    kind = kind_of(names)
    if kind == JSON:
        return np.array([None if name is None else in_json(name) for name in names], dtype=object)
    if kind == TEXT:
        return np.array(names, dtype=object)
    missing = np.fromiter((name is None for name in names), np.bool_, len(names))
    integers = np.array([0 if name is None else name for name in names], dtype=np.int64)
    return np.ma.MaskedArray(integers, missing) if missing.any() else integers


def kind_of(names: Sequence[Any]) -> str:
    """What a column of labels or classes holds: texts, integers of 64 bits, or the JSON of anything else.

    >>> kind_of(["a", None]), kind_of([1, 2]), kind_of([1, "a"]), kind_of([("yes", 3)]), kind_of([""])
    ('text', 'integer', 'json', 'json', 'json')
    """
    if isinstance(names, range):
        return INTEGER
    kinds = set(map(type, names)) - {type(None)}
    if kinds <= {str} and "" not in names:  # an empty field is a missing one
        return TEXT
    known = [name for name in names if name is not None]
    if kinds == {int} and all(-(2**63) <= name < 2**63 for name in (min(known), max(known))):
        return INTEGER
    return JSON


def require_readable(names: Sequence[Any]) -> None:
    """Refuses labels that a file could not be read with again.

    Raises:
        UsageError: one is no text, no finite number and no tuple of these.
    """
    if isinstance(names, (range, Tuples)) or set(map(type, names)) <= {str, int}:
        return
    for name in names:
        if not _is_readable(name):
            raise UsageError(f"the label {shown(name)} cannot be written down", LABEL_RULE)


def require_readable_classes(classes: Sequence[Any]) -> None:
    """The same for classes of edges, whose accounts would otherwise be lost."""
    for name in dict.fromkeys(classes):
        if name is not None and not _is_readable(name):
            raise UsageError(f"the class {shown(name)} cannot be written down", CLASS_RULE)


def _is_readable(label: Any, depth: int = 0) -> bool:
    if isinstance(label, tuple):
        return bool(label) and depth < DEEPEST and all(_is_readable(entry, depth + 1) for entry in label)
    if isinstance(label, float):
        return math.isfinite(label)
    if isinstance(label, str):
        return not any("\ud800" <= character <= "\udfff" for character in label)
    return isinstance(label, int) and not isinstance(label, bool)


def _bound_by(names: Any, links: Indices) -> Any:
    """The label of each dataset's link, missing where there is none."""
    free = links < 0
    bound = names[np.where(free, 0, links)] if len(names) else names
    if bound.dtype == object:
        bound[free] = None
        return bound
    return np.ma.MaskedArray(bound, free)

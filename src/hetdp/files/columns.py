"""The columns of problems and mechanisms as arrays, ready for any format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hetdp.errors import UsageError, shown
from hetdp.mechanism.mechanism import Mechanism
from hetdp.problem.findings import Findings
from hetdp.problem.labels import Labels
from hetdp.problem.ordered import PIN, in_order
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.space import Indices

TABLE_RULE = "tables hold labels that are all text or all integers of 64 bits"


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
    }


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
    return columns if classes is None else columns | {"class": _texts_or_integers(classes)}


def pin_columns(partial: PartialMechanism, labels: Labels) -> dict[str, Any]:
    """The columns p, z and error, those that are given, with NaN where a dataset has no such value."""
    findings = Findings("partial mechanism")
    given = {name: getattr(partial, name) for name in ("p", "z", "error")}
    columns = {name: in_order(name, x, labels, PIN, findings) for name, x in given.items() if x is not None}
    findings.raise_if_any()
    return {name: column for name, column in columns.items() if not np.isnan(column).all()}


def label_array(names: Sequence[Any]) -> Any:
    """Labels as an array of integers or of texts; anything else fits in JSON only."""
    if isinstance(names, range):
        return np.arange(len(names))
    return _texts_or_integers(names)


def _texts_or_integers(values: Sequence[Any]) -> Any:
    kinds = set(map(type, values)) - {type(None)}
    known = [value for value in values if value is not None]
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in (min(known), max(known))):
        missing = np.fromiter((value is None for value in values), np.bool_, len(values))
        integers = np.array([0 if value is None else value for value in values], dtype=np.int64)
        return np.ma.MaskedArray(integers, missing) if missing.any() else integers
    if kinds <= {str}:
        return np.array(values, dtype=object)
    odd = _odd(known)
    raise UsageError(f"the label {shown(odd)} fits in no column", TABLE_RULE, "a .json file holds any labels")


def _odd(known: Sequence[Any]) -> Any:
    """The value that is to blame: too long an integer, neither text nor integer, or of another kind than the first."""
    if all(type(value) is int for value in known):
        return max(known, key=abs)
    strange = (value for value in known if type(value) not in (int, str))
    return next(strange, next((value for value in known if type(value) is not type(known[0])), known[0]))


def _bound_by(names: Any, links: Indices) -> Any:
    """The label of each dataset's link, missing where there is none."""
    free = links < 0
    bound = names[np.where(free, 0, links)] if len(names) else names
    if bound.dtype == object:
        bound[free] = None
        return bound
    return np.ma.MaskedArray(bound, free)

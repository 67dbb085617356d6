"""What a graph's edges must satisfy, in one place; `columns.py` has what all columns must."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, shown
from hetdp.problem.arcs import Arcs
from hetdp.problem.columns import column, numbers
from hetdp.problem.findings import Findings
from hetdp.problem.labels import require_names
from hetdp.problem.space import Floats, Mask

EPSILON_RULE = "ε is a number ≥ 0"
PROBABILITY_RULE = "a probability lies in [0, 1]"


def edge_columns(source: Any, target: Any, epsilon: Any, findings: Findings) -> tuple[Any, Any, Floats]:
    """The three columns in usable form; columns of different lengths end the checks at once."""
    source, target = column("source", source, findings), column("target", target, findings)
    if not isinstance(epsilon, Iterable):
        epsilon = [epsilon] * len(source)
    epsilon = column("epsilon", epsilon, findings)
    lengths = f"{len(source)}, {len(target)}, {len(epsilon)}"
    if not len(source) == len(target) == len(epsilon):
        findings.add(Fault("columns of different lengths", "source, target, epsilon", lengths, "one entry per edge"))
        findings.raise_if_any()
    for name, ends in (("source", source), ("target", target)):
        require_names(name, ends, findings)
    findings.raise_if_any()
    return source, target, numbers(epsilon, lambda at: f"edge {at}", "non-numeric ε", EPSILON_RULE, findings)


def usable_edges(
    source: Any, target: Any, ends: tuple[NDArray[Any], NDArray[Any]], epsilon: Floats, findings: Findings
) -> NDArray[np.int64]:
    """Positions of the edges that have no fault of their own."""

    def place(at: int) -> str:
        return f"edge {at} ({shown(source[at])}, {shown(target[at])})"

    negative, missing = epsilon < 0.0, np.isnan(epsilon)
    findings.add_where(missing, lambda at: Fault("missing ε", place(at), "nan", EPSILON_RULE))
    findings.add_where(negative, lambda at: Fault("negative ε", place(at), repr(float(epsilon[at])), EPSILON_RULE))
    unknown = (ends[0] < 0) | (ends[1] < 0)
    findings.add_where(unknown, lambda at: _unknown_end(place(at), source[at], target[at], int(ends[0][at])))
    return np.flatnonzero(~(negative | missing | unknown))


def contradictions(
    arcs: Arcs, repeated: Mask, usable: NDArray[np.int64], source: Any, target: Any, findings: Findings
) -> None:
    """Edges listed twice, in either direction, with different ε."""
    differs = np.zeros(len(repeated), dtype=np.bool_)
    differs[1:] = repeated[1:] & (arcs.epsilon[1:] != arcs.epsilon[:-1]) & (arcs.source[1:] < arcs.target[1:])

    def fault_at(at: int) -> Fault:
        this, other = int(usable[arcs.edge[at]]), int(usable[arcs.edge[at - 1]])
        value = f"{float(arcs.epsilon[at])!r} here, {float(arcs.epsilon[at - 1])!r} at edge {other}"
        place = f"edge {this} ({shown(source[this])}, {shown(target[this])})"
        hint = "duplicates='min' keeps the smallest ε of each pair"
        return Fault("contradictory duplicate edge, ε", place, value, "a pair of neighbours has one ε", hint)

    findings.add_where(differs, fault_at)


def _unknown_end(place: str, source: Any, target: Any, source_index: int) -> Fault:
    label = source if source_index < 0 else target
    rule = "both ends of an edge are among datasets"
    return Fault(
        "unknown dataset", place, shown(label), rule, "labels are compared exactly, so '1' and 1 are different"
    )

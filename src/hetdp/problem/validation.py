"""What a graph's edges must satisfy, in one place; `columns.py` has what all columns must."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import Fault, shown
from hetdp.problem.building.arcs import Arcs
from hetdp.problem.classes import Classes, classes_of
from hetdp.problem.columns import column, numbers
from hetdp.problem.findings import Findings
from hetdp.problem.labels import require_names
from hetdp.problem.space import Floats, Indices, Mask

EPSILON_RULE = "ε is a number ≥ 0"
PROBABILITY_RULE = "a probability lies in [0, 1]"


class Edges(NamedTuple):
    """Edges as they were handed in.

    Attributes:
        source: label of one end of each; only read where a message needs it.
        target: label of the other end.
        epsilon: ε as written.
        classes: the class of each, if classes were given.
        row: how messages name an edge, such as ``edge 4`` or ``edges.csv row 6``.
        unread: positions where ε is no number, which has been reported.
    """

    source: Any
    target: Any
    epsilon: Floats
    classes: Classes | None = None
    row: Callable[[int], str] = "edge {}".format
    unread: Sequence[int] = ()

    def place(self, at: int) -> str:
        """One edge in a message."""
        return f"{self.row(at)} ({shown(self.source[at])}, {shown(self.target[at])})"


def edge_columns(source: Any, target: Any, epsilon: Any, classes: Any, findings: Findings) -> Edges:
    """The columns in usable form; columns of different lengths end the checks at once."""
    source, target = column("source", source, findings), column("target", target, findings)
    if not isinstance(epsilon, Iterable):
        epsilon = [epsilon] * len(source)
    epsilon = column("epsilon", epsilon, findings)
    known = classes_of(classes, findings)
    lengths = [len(source), len(target), len(epsilon), *([] if known is None else [len(known.numbers)])]
    if len(set(lengths)) > 1:
        names = ", ".join(("source", "target", "epsilon", "classes")[: len(lengths)])
        value = ", ".join(map(str, lengths))
        findings.add(Fault("columns of different lengths", names, value, "one entry per edge"))
        findings.raise_if_any()
    for name, ends in (("source", source), ("target", target)):
        require_names(name, ends, findings)
    findings.raise_if_any()
    unread: list[int] = []
    return Edges(source, target, epsilons(epsilon, "edge {}".format, findings, unread), known, unread=unread)


def epsilons(values: Any, row: Callable[[int], str], findings: Findings, unread: list[int] | None = None) -> Floats:
    """A column of ε as floats; where one is no number, its position is appended to `unread`."""
    return numbers(values, row, "non-numeric ε", EPSILON_RULE, findings, unread)


def usable_edges(edges: Edges, ends: tuple[Indices, Indices], findings: Findings) -> Mask | None:
    """The edges that have no fault of their own; None if that is all of them."""
    epsilon, place = edges.epsilon, edges.place
    if not len(epsilon) or (not edges.unread and min(ends[0].min(), ends[1].min()) >= 0 and epsilon.min() >= 0.0):
        return None  # where an ε is NaN, so is the least of them
    negative, missing = epsilon < 0.0, np.isnan(epsilon)
    findings.add_where(missing, lambda at: Fault("missing ε", place(at), "", EPSILON_RULE))
    findings.add_where(negative, lambda at: Fault("negative ε", place(at), repr(float(epsilon[at])), EPSILON_RULE))
    unknown = (ends[0] < 0) | (ends[1] < 0)
    findings.add_where(unknown, lambda at: _unknown_end(edges, at, source_is_known=bool(ends[0][at] >= 0)))
    faulty = negative | missing | unknown
    faulty[list(edges.unread)] = True
    return np.asarray(~faulty)


def contradictions(arcs: Arcs, repeated: Mask, edges: Edges, findings: Findings) -> None:
    """Edges listed twice, in either direction, with different ε or of different classes."""
    again = np.flatnonzero(repeated & (arcs.source < arcs.target))
    this, other = arcs.edge[again], arcs.edge[again - 1]

    def report(differs: Mask, kind: str, values: Callable[[int], str]) -> None:
        rule, hint = f"a pair of neighbours has one {kind}", "duplicates='min' keeps the smallest ε of each pair"

        def fault_at(at: int) -> Fault:
            value = f"{values(int(this[at]))} here, {values(int(other[at]))} at {edges.row(int(other[at]))}"
            return Fault(f"contradictory duplicate edge, {kind}", edges.place(int(this[at])), value, rule, hint)

        findings.add_where(differs, fault_at)

    report(edges.epsilon[this] != edges.epsilon[other], "ε", lambda at: repr(float(edges.epsilon[at])))
    if edges.classes is not None:
        names, numbers = (*edges.classes.names, None), edges.classes.numbers
        report(numbers[this] != numbers[other], "class", lambda at: shown(names[numbers[at]]))


def _unknown_end(edges: Edges, at: int, source_is_known: bool) -> Fault:
    label = edges.target[at] if source_is_known else edges.source[at]
    rule = "both ends of an edge are among datasets"
    like_a_number = isinstance(label, (int, float)) or (isinstance(label, str) and label.lstrip("-").isdigit())
    hint = "labels are compared exactly, so '1' and 1 are different" if like_a_number else ""
    return Fault("unknown dataset", edges.place(at), shown(label), rule, hint)

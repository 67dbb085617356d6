"""What a graph's edges must satisfy, in one place; `columns.py` has what all columns must."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import Fault, UsageError
from hetdp.problem.building import Arcs
from hetdp.problem.classes import Classes, classes_of
from hetdp.problem.columns import as_column
from hetdp.problem.faults import FaultCollector
from hetdp.problem.labels import LabelHints, Labels, require_names
from hetdp.problem.parameters import LETTERS, Parameters, given_parameters, parameters_of, report_faulty_parameters
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.text import did_you_mean, format_value
from hetdp.theory.notion import BACK

PROBABILITY_RULE = "a probability lies in [0, 1]"


class Edges(NamedTuple):
    """Edges as they were handed in.

    Attributes:
        source: label of one end of each; only read where a message needs it.
        target: label of the other end.
        parameters: what each promises, as written.
        classes: the class of each, if classes were given.
        row: how messages name an edge, such as ``edge 4`` or ``edges.csv row 6``.
        unread: positions where a parameter is no number, which has been reported.
    """

    source: Any
    target: Any
    parameters: Parameters
    classes: Classes | None = None
    row: Callable[[int], str] = "edge {}".format
    unread: Sequence[int] = ()

    def place(self, at: int) -> str:
        """One edge in a message."""
        return f"{self.row(at)} ({format_value(self.source[at])}, {format_value(self.target[at])})"


def edge_columns(source: Any, target: Any, given: Mapping[str, Any], classes: Any, findings: FaultCollector) -> Edges:
    """The columns in usable form; columns of different lengths end the checks at once."""
    source, target = as_column("source", source, findings), as_column("target", target, findings)
    known = given_parameters(given, len(source), findings)
    named = classes_of(classes, findings)
    columns = {"source": source, "target": target, **known}
    lengths = {name: len(values) for name, values in columns.items()}
    lengths |= {} if named is None else {"classes": len(named.numbers)}
    if len(set(lengths.values())) > 1:
        value = ", ".join(map(str, lengths.values()))
        findings.add(Fault("columns of different lengths", ", ".join(lengths), value, "one entry per edge"))
        findings.raise_if_any()
    for name, ends in (("source", source), ("target", target)):
        require_names(name, ends, findings)
    findings.raise_if_any()
    unread: list[int] = []
    parameters = parameters_of(known, "edge {}".format, findings, unread)
    return Edges(source, target, parameters, named, unread=unread)


def usable_edges(
    edges: Edges, ends: tuple[Indices, Indices], findings: FaultCollector, labels: Labels | None = None
) -> Mask | None:
    """The edges that have no fault of their own; None if that is all of them. Hints suggest known labels."""
    faulty = report_faulty_parameters(edges.parameters, edges.place, findings)
    if faulty is None and not edges.unread and (not len(ends[0]) or min(ends[0].min(), ends[1].min()) >= 0):
        return None
    unknown = (ends[0] < 0) | (ends[1] < 0)
    suggest = None if labels is None else LabelHints(labels)

    def fault_at(at: int) -> Fault:
        label = edges.target[at] if ends[0][at] >= 0 else edges.source[at]
        hint = ("" if suggest is None else suggest(label)) or _exactness_hint(label)
        return Fault(
            "unknown dataset", edges.place(at), format_value(label), "both ends of an edge are among datasets", hint
        )

    findings.add_where(unknown, fault_at)
    faulty = unknown if faulty is None else faulty | unknown
    faulty[list(edges.unread)] = True
    return np.asarray(~faulty)


def require_duplicates(duplicates: Any) -> None:
    """Refuses any other way to treat edges that are listed twice."""
    if duplicates not in ("error", "min"):
        rule = "it is 'error' or 'min'"
        raise UsageError(f"unknown duplicates={duplicates!r}", rule, did_you_mean(duplicates, ("error", "min")))


def report_contradictions(
    arcs: Arcs, repeated: Mask, edges: Edges, datasets: Sequence[Any], findings: FaultCollector
) -> None:
    """Edges of one class listed twice, in either direction, with different parameters."""
    again = np.flatnonzero(repeated & (arcs.source < arcs.target))
    this, other = arcs.edge[again], arcs.edge[again - 1]

    def report(letter: str, way: Callable[[int], str], here: Floats, there: Floats) -> None:
        def fault_at(at: int) -> Fault:
            what, place = f"contradictory duplicate edge, {letter}{way(at)}", edges.place(int(this[at]))
            value = f"{float(here[at])!r} here, {float(there[at])!r} at {edges.row(int(other[at]))}"
            rule = f"a pair of neighbours has one {letter}{way(at)} for each class"
            return Fault(what, place, value, rule, duplicates_hint(letter))

        findings.add_where(here != there, fault_at)

    def forth(at: int, back: bool = False) -> str:
        """From where to where; the two rows may have the ends in different order."""
        ends = [format_value(datasets[side[again[at]]]) for side in (arcs.source, arcs.target)]
        return " from {} to {}".format(*ends[:: -1 if back else 1])

    def both_ways(_: int) -> str:
        return ""

    has_directions = len(edges.parameters.names) > 1
    for name, values in zip(edges.parameters.names, arcs.columns, strict=True):
        way = partial(forth, back=name.endswith(BACK)) if has_directions else both_ways
        report(LETTERS[name.removesuffix(BACK)], way, values[again], values[again - 1])


def duplicates_hint(letter: str) -> str:
    """What can be done about an edge of one class that is listed twice; nobody loses an account by it."""
    return (
        f"edges about different people have different classes; duplicates='min' keeps the smallest {letter} of a class"
    )


def _exactness_hint(label: Any) -> str:
    like_a_number = isinstance(label, (int, float)) or (isinstance(label, str) and label.lstrip("-").isdigit())
    return "labels are compared exactly, so '1' and 1 are different" if like_a_number else ""

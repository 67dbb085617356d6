"""What an input must satisfy: all rules of design.md, "What bad input gets", in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault
from hetdp.problem.arcs import Arcs
from hetdp.problem.findings import Findings
from hetdp.problem.labels import as_list, require_hashable
from hetdp.problem.space import Floats, Mask

EPSILON_RULE = "ε is a number ≥ 0; inf means no constraint"
PROBABILITY_RULE = "a probability lies in [0, 1]"


def edge_columns(source: Any, target: Any, epsilon: Any, findings: Findings) -> tuple[Any, Any, Floats]:
    """The three columns in usable form; columns of different lengths end the checks at once."""
    source, target = _column(source), _column(target)
    if np.ndim(epsilon) == 0 and not isinstance(epsilon, str):
        epsilon = [epsilon] * len(source)
    epsilon = _column(epsilon)
    for name, column in (("source", source), ("target", target), ("epsilon", epsilon)):
        require_one_dimension(name, column, findings)
    lengths = f"{len(source)}, {len(target)}, {len(epsilon)}"
    if not len(source) == len(target) == len(epsilon):
        findings.add(Fault("columns of different lengths", "source, target, epsilon", lengths, "one entry per edge"))
        findings.raise_if_any()
    for name, column in (("source", source), ("target", target)):
        require_hashable(name, column, findings)
    findings.raise_if_any()
    return source, target, numbers(epsilon, lambda at: f"edge {at}", "non-numeric ε", EPSILON_RULE, findings)


def usable_edges(
    source: Any, target: Any, ends: tuple[NDArray[Any], NDArray[Any]], epsilon: Floats, findings: Findings
) -> NDArray[np.int64]:
    """Positions of the edges that have no fault of their own."""

    def place(at: int) -> str:
        return f"edge {at} ({source[at]!r}, {target[at]!r})"

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
        place = f"edge {this} ({source[this]!r}, {target[this]!r})"
        hint = "duplicates='min' keeps the smallest ε of each pair"
        return Fault("contradictory duplicate edge, ε", place, value, "a pair of neighbours has one ε", hint)

    findings.add_where(differs, fault_at)


def numbers(values: Any, place: Callable[[int], str], what: str, rule: str, findings: Findings) -> Floats:
    """The values as floats; what is no number is a fault, and stands as 0 so that the other checks can go on."""
    try:
        plain = isinstance(values, np.ndarray) and values.dtype.kind in "fiu"
        if not plain and any(issubclass(kind, (str, bytes)) for kind in set(map(type, values))):
            raise ValueError  # NumPy would read numbers from text
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 1:
            raise ValueError  # a list of lists
        return array
    except (TypeError, ValueError):
        return np.array([_number(value, at, place, what, rule, findings) for at, value in enumerate(values)])


def _number(value: Any, at: int, place: Callable[[int], str], what: str, rule: str, findings: Findings) -> float:
    try:
        if not isinstance(value, (str, bytes)):
            return float("nan") if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    findings.add(Fault(what, place(at), repr(value), rule))
    return 0.0


def require_one_dimension(name: str, column: Any, findings: Findings) -> None:
    """A table where a column belongs ends the checks at once."""
    shape = np.shape(column) if isinstance(column, np.ndarray) else ()
    if len(shape) > 1:
        findings.add(Fault("a table where a column belongs, of shape", name, str(shape), "a column has one dimension"))
        findings.raise_if_any()


def _column(values: Any) -> Any:
    """A sequence that can be measured and indexed."""
    return values if isinstance(values, np.ndarray) else as_list(values)


def _unknown_end(place: str, source: Any, target: Any, source_index: int) -> Fault:
    label = source if source_index < 0 else target
    rule = "both ends of an edge are among datasets"
    return Fault("unknown dataset", place, repr(label), rule, "labels are compared exactly, so '1' and 1 are different")

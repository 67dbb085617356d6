"""Parameters of edges: ε for both directions or for each, δ, or μ. The set of columns determines the notion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import Fault, FaultCollector, UsageError
from hetdp.problem.columns import as_column, as_floats
from hetdp.problem.space import Floats, Mask
from hetdp.theory.catalogue import NOTIONS, PARAMETERS
from hetdp.theory.notion import BACK, reversed_places
from hetdp.theory.pure import EPSILON

EPSILON_RULE = EPSILON.rule
LETTERS = {name: parameter.letter for name, parameter in PARAMETERS.items()}
KINDS = tuple(
    dict.fromkeys(notion.parameters for notion in NOTIONS.values())
)  # the sets of columns that edges may have
COLUMNS = tuple(PARAMETERS)
COLUMNS_RULE = "edges have epsilon, with epsilon_back, delta and delta_back as needed; or mu"


class Parameters(NamedTuple):
    """The parameters of some edges, each seen from its source.

    Attributes:
        names: the names of the columns, one of KINDS.
        columns: the numbers as written.
    """

    names: tuple[str, ...]
    columns: tuple[Floats, ...]

    def take(self, chosen: Any) -> Parameters:
        """The parameters of some edges."""
        return Parameters(self.names, tuple(values[chosen] for values in self.columns))

    def reverse_where(self, is_turned: Mask) -> tuple[Floats, ...]:
        """The columns, seen from the target of the marked edges."""
        if len(self.columns) == 1:
            return self.columns
        others = (self.columns[place] for place in reversed_places(self.names))
        return tuple(np.where(is_turned, other, own) for own, other in zip(self.columns, others, strict=True))


def rule_of(name: str) -> str:
    """The rule that the numbers of a column must satisfy."""
    return PARAMETERS[name].rule


def require_notion_columns(given: Iterable[str]) -> None:
    """Refuses sets of columns that belong to no notion of privacy."""
    names = set(given)
    if ("mu" in names) == ("epsilon" in names) or ("mu" in names and len(names) > 1):
        raise UsageError(f"edges with {' and '.join(sorted(names)) or 'no parameter'}", COLUMNS_RULE)
    if "delta_back" in names and "delta" not in names:
        raise UsageError("delta_back without delta", COLUMNS_RULE)


def given_parameters(given: Mapping[str, Any], length: int, collector: FaultCollector) -> dict[str, Any]:
    """The given columns as sequences; one number stands for all edges."""
    known = {name: values for name, values in given.items() if values is not None}
    require_notion_columns(known)
    known |= {name: values[()] for name, values in known.items() if isinstance(values, np.ndarray) and not values.ndim}
    known |= {name: [value] * length for name, value in known.items() if not isinstance(value, Iterable)}
    return {name: as_column(name, values, collector) for name, values in known.items()}


def parameters_of(
    given: Mapping[str, Any],
    row: Callable[[int], str],
    collector: FaultCollector,
    unread: list[int] | None = None,
    kind: tuple[str, ...] | None = None,
) -> Parameters:
    """Converts columns to floats and completes them: a missing backward number is the same as the forward one.

    The position of an entry that is not a number is appended to `unread`.
    """
    read = {}
    for name, values in given.items():
        what = f"non-numeric {LETTERS[name]}"
        read[name] = as_floats(values, row, what, rule_of(name), collector, unread)
    names = kind or next(known for known in KINDS if read.keys() <= {*known})
    for name in [name for name in names if name.endswith(BACK)]:
        own, forward = read.get(name), read[name.removesuffix(BACK)]
        read[name] = forward if own is None else np.where(np.isnan(own), forward, own)
    return Parameters(names, tuple(read[name] for name in names))


def report_faulty_parameters(
    parameters: Parameters, place: Callable[[int], str], collector: FaultCollector
) -> Mask | None:
    """Reports numbers that are missing or out of range, and marks them; returns None if there are none."""
    columns = parameters.columns
    limits = [PARAMETERS[name].most for name in parameters.names]
    if not len(columns[0]) or all(
        values.min() >= 0.0 and values.max() <= limit for values, limit in zip(columns, limits, strict=True)
    ):
        return None  # the minimum is NaN if any number is
    faulty, known = np.zeros(len(columns[0]), dtype=np.bool_), dict(zip(parameters.names, columns, strict=True))
    for (name, values), limit in zip(known.items(), limits, strict=True):
        missing, negative, large = np.isnan(values), values < 0.0, values > limit
        own, letter = _is_own(name, known), LETTERS[name]
        for mask, what in (
            (missing, f"missing {letter}"),
            (negative, f"negative {letter}"),
            (large, f"{letter} above {limit:g}:"),
        ):
            _report(mask & own, what, place, values, rule_of(name), collector)
        faulty |= missing | negative | large
    return faulty


def _is_own(name: str, known: Mapping[str, Floats]) -> Mask | np.bool_:
    """Marks backward numbers that differ from the forward ones; faults of the others are reported there."""
    if not name.endswith(BACK):
        return np.True_
    forward, values = known[name.removesuffix(BACK)], known[name]
    return np.asarray((values != forward) & ~(np.isnan(values) & np.isnan(forward)))


def _report(
    mask: Mask, what: str, place: Callable[[int], str], values: Floats, rule: str, collector: FaultCollector
) -> None:
    def fault_at(at: int) -> Fault:
        value = "" if np.isnan(values[at]) else repr(float(values[at]))
        return Fault(what, place(at), value, rule)

    collector.add_where(mask, fault_at)


def describe_parameters(names: tuple[str, ...], values: Iterable[float]) -> str:
    """The parameters of one edge in words; those of the other direction only if they differ.

    >>> describe_parameters(("epsilon",), [0.5]), describe_parameters(("epsilon", "epsilon_back"), [0.5, 1.0])
    ('ε = 0.5', 'ε = 0.5, ε back = 1')
    """
    known = dict(zip(names, values, strict=True))
    shown = [name for name in names if not name.endswith(BACK) or known[name] != known[name.removesuffix(BACK)]]
    return ", ".join(f"{LETTERS[name]} = {known[name]:g}" for name in sorted(shown, key=names.index))

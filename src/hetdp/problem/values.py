"""Numbers for datasets, such as pins and weights, from a mapping or a column into graph order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import Fault, FaultCollector
from hetdp.problem.columns import as_column, as_floats, as_mapping
from hetdp.problem.labels import LabelHints, Labels
from hetdp.problem.space import Floats
from hetdp.problem.spelling import shorten_label
from hetdp.text import format_value


class MessageWords(NamedTuple):
    """The words of messages about the numbers."""

    noun: str
    length: str
    known: str
    missing: str


PIN = MessageWords(
    "pin",
    "an array has one entry for each dataset, in graph order, NaN where not given",
    "only datasets of the graph can be pinned",
    "a pin is a number; leave free datasets out of the mapping",
)
VALUE = MessageWords(
    "value",
    "a sequence has one value for each dataset, in graph order",
    "only datasets of the graph have a value",
    "every dataset has a value",
)
WEIGHT = MessageWords(
    "weight",
    "a sequence has one entry for each dataset, in graph order",
    "only datasets of the graph have a weight",
    "every dataset has a weight",
)


def order_values(name: str, given: Any, labels: Labels, words: MessageWords, collector: FaultCollector) -> Floats:
    """Puts numbers into graph order, with NaN for datasets that have none."""
    labelled = as_mapping(given)
    if labelled is not None:
        return _from_mapping(name, labelled, labels, words, collector)
    values = as_column(name, given, collector)
    if len(values) != len(labels.names):
        value = f"{len(values)} for {len(labels.names)} datasets"
        collector.add(Fault(f"wrong number of {words.noun}s", name, value, words.length))
        collector.raise_if_any()
    return _numbers(name, values, labels.names, words, collector)


def _from_mapping(
    name: str, given: Mapping[Any, Any], labels: Labels, words: MessageWords, collector: FaultCollector
) -> Floats:
    listed = list(given)

    def place(at: int) -> str:
        return f"{name}[{format_value(listed[at])}]"

    where = labels.indices(listed)
    hint = LabelHints(labels)
    collector.add_where(where < 0, lambda at: Fault("unknown dataset", place(at), "", words.known, hint(listed[at])))
    values = _numbers(name, list(given.values()), listed, words, collector)
    collector.add_where(np.isnan(values), lambda at: Fault("missing value", place(at), "nan", words.missing))
    ordered = np.full(len(labels.names), np.nan)
    ordered[where[where >= 0]] = values[where >= 0]
    return ordered


def _numbers(name: str, values: Any, labels: Any, words: MessageWords, collector: FaultCollector) -> Floats:
    rule = f"a {words.noun} is a number"
    return as_floats(
        values, lambda at: f"{name}[{format_value(labels[at])}]", f"non-numeric {words.noun}", rule, collector
    )


# Weights of datasets in averages.


RULE = "a weight is a finite number ≥ 0"


class Factors(NamedTuple):
    """Weights of the datasets of a product that are products of factors, one for each position of each axis.

    Attributes:
        factors: for each axis, the factor of each of its positions, ≥ 0 and finite.
    """

    factors: tuple[Floats, ...]

    def product(self) -> Floats:
        """Computes the weight of each dataset, in order.

        >>> Factors((np.array([0.5, 0.5]), np.array([0.25, 0.75]))).product()
        array([0.125, 0.375, 0.125, 0.375])
        """
        weights = np.ones(1)
        for one in self.factors:
            weights = np.multiply.outer(weights, one).ravel()
        weights.flags.writeable = False
        return weights


def weights_of(given: Any, labels: Labels, name: str = "weights") -> Floats:
    """The weights in graph order, one for each dataset; they need not add up to 1. `name` is for messages."""
    collector = FaultCollector(name)
    values = order_values(name, given, labels, WEIGHT, collector)

    def place(at: int) -> str:
        return f"dataset {shorten_label(labels.names[at])}"

    missing = np.isnan(values)
    collector.add_where(missing, lambda at: Fault("no weight", place(at), "", WEIGHT.missing))
    wrong = ~missing & ~((values >= 0.0) & np.isfinite(values))
    collector.add_where(wrong, lambda at: Fault("weight out of range:", place(at), repr(float(values[at])), RULE))
    collector.raise_if_any()
    values = values.copy()
    values.flags.writeable = False
    return values

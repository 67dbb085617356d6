"""The partial mechanism: pins, which are values of p on some datasets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from hetdp.errors import Fault, FaultCollector
from hetdp.problem.edges import PROBABILITY_RULE, percentage_hint
from hetdp.problem.problem import EdgelessProblem, Problem, require_problem
from hetdp.problem.space import Floats
from hetdp.problem.spelling import shorten_label
from hetdp.problem.values import PIN, VALUE, MessageWords, order_values
from hetdp.text import format_value


@dataclass(frozen=True, repr=False)
class PartialMechanism:
    """Pins, each given as p, as z or as error; a mapping label → number, or an array with NaN where not given.

    Attributes:
        p: Pr[answer 1].
        z: the coordinate of p that belongs to the notion (Laplace, probit or logit); it loses no precision.
        error: the probability of the wrong answer, for pins so accurate that p would round to 1.

    Paper: the partial function p: S → [0, 1] of Section IV.

    >>> PartialMechanism(p={"a": 0.5}, error={"b": 1e-30})
    PartialMechanism(p={'a': 0.5}, z=None, error={'b': 1e-30})
    """

    p: Any = None
    z: Any = None
    error: Any = None

    def __repr__(self) -> str:
        values = (" ".join(format_value(value).split()) for value in (self.p, self.z, self.error))
        return "PartialMechanism(p={}, z={}, error={})".format(*values)


@dataclass(frozen=True, eq=False)
class Pins:
    """Pins that were converted for one problem. Verbs accept them as a partial mechanism and do not convert them again.

    Attributes:
        problem: the problem.
        z: the coordinates in graph order, NaN where a dataset is free.
    """

    problem: Problem
    z: Floats

    @property
    def count(self) -> int:
        """The number of pinned datasets."""
        return int(np.count_nonzero(~np.isnan(self.z)))


@runtime_checkable
class HasCoordinates(Protocol):
    """An object with a coordinate z for each dataset, such as a mechanism."""

    @property
    def coordinates(self) -> Floats:
        """The coordinates in graph order."""


def convert_pins(problem: Problem, partial: Any) -> Pins:
    """The pins of a partial mechanism, converted once for all verbs.

    Raises:
        InputError: listing every fault of the values.
    """
    return Pins(problem, pins_of(partial, problem))


def pins_of(partial: Any, problem: Problem) -> Floats:
    """The pins as coordinates in graph order, NaN where a dataset is free."""
    require_problem(problem)
    return pins_on(problem, partial)


def values_on(problem: Problem, values: Any) -> Floats:
    """The values of a whole mechanism as coordinates in graph order, NaN where there is none."""
    require_problem(problem)
    return pins_on(problem, values, "values", VALUE)


def pins_on(
    outline: EdgelessProblem | Problem, partial: Any, subject: str = "partial mechanism", words: MessageWords = PIN
) -> Floats:
    """Does the same as `pins_of` for a problem whose edges do not matter or are not known yet.

    Args:
        outline: the problem.
        partial: the pins.
        subject: what they are called in messages.
        words: the words of messages about them.
    """
    if isinstance(partial, Pins):
        if partial.problem is outline:
            return partial.z
        partial = PartialMechanism(z=partial.z)
    if not isinstance(partial, PartialMechanism):
        is_mechanism = isinstance(partial, HasCoordinates)  # which pins every dataset
        partial = PartialMechanism(z=partial.coordinates) if is_mechanism else PartialMechanism(p=partial)
    collector = FaultCollector(subject)
    columns = {name: given for name in ("p", "z", "error") if (given := getattr(partial, name)) is not None}
    pins = np.full(len(outline.answers), np.nan)
    for name, given in columns.items():
        values = order_values(name, given, outline.labels, words, collector)
        if list(columns) == ["z"]:
            pins = values + 0.0  # nothing to convert, and nothing that is given twice
        else:
            _enter(name, values, pins, outline, collector)
    collector.raise_if_any()
    return pins


def _enter(
    name: str, values: Floats, pins: Floats, outline: EdgelessProblem | Problem, collector: FaultCollector
) -> None:
    given = ~np.isnan(values)

    def place(at: int) -> str:
        return f"dataset {shorten_label(outline.labels.names[at])}"

    rule = "a dataset is pinned once, as p, as z or as error"
    collector.add_where(given & ~np.isnan(pins), lambda at: Fault("pinned twice", place(at), "", rule))
    if name == "z":
        np.copyto(pins, values + 0.0, where=given)
        return
    outside = given & ~((values >= 0.0) & (values <= 1.0))

    def out_of_range(at: int) -> Fault:
        value = float(values[at])
        return Fault(f"{name} out of range:", place(at), repr(value), PROBABILITY_RULE, percentage_hint(value))

    collector.add_where(outside, out_of_range)
    given &= ~outside
    coordinate = outline.notion.coordinate
    if name == "p":
        pins[given] = coordinate.from_probability(values[given])
    else:
        pins[given] = coordinate.from_error(values[given], outline.answers[given])

"""What is on the table: a problem, the values that are given, and what chooses the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from hetdp.problem.findings import Findings
from hetdp.problem.ordered import PIN, in_order
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.studio.answers import Pins, first_objective


class Origin(NamedTuple):
    """How a problem can be had again, as lines of Python and of a shell; empty if only from its file."""

    python: tuple[str, ...] = ()
    shell: str = ""


NOWHERE = Origin()


@dataclass(frozen=True, eq=False)
class Sheet:
    """What is on the table; a change makes a new one.

    Attributes:
        name: what the problem is called.
        problem: the problem.
        pins: the given values.
        objective: what chooses the others, or GIVEN.
        origin: how the problem was made, as long as it is still that problem.
        drawn: the number of the opening; pictures of one opening have the same layout.
    """

    name: str
    problem: Problem
    pins: Pins = field(default_factory=dict)
    objective: str = "fair"
    origin: Origin = NOWHERE
    drawn: int = 0


def sheet_of(name: str, problem: Problem, partial: PartialMechanism | None = None, origin: Origin = NOWHERE) -> Sheet:
    """A sheet for a problem just opened."""
    pins = pins_given(problem, partial)
    return Sheet(name, problem, pins, first_objective(problem, pins), origin)


def pins_given(problem: Problem, partial: PartialMechanism | None) -> Pins:
    """The given values by the number of their dataset."""
    found: dict[int, tuple[str, float]] = {}
    findings = Findings("partial mechanism")
    for kind in ("p", "z", "error"):
        values = None if partial is None else getattr(partial, kind)
        if values is not None:
            column = in_order(kind, values, problem.labels, PIN, findings)
            given = np.flatnonzero(~np.isnan(column)).tolist()
            found |= {index: (kind, float(column[index])) for index in given}
    findings.raise_if_any()
    return found

"""What is measured: mechanisms that were given, or those that the objectives lead to. Only private ones are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hetdp.certificate.certificate import verify
from hetdp.errors import Fault, InputError, NoExtensionError, UsageError, shown
from hetdp.mechanism import design as designing
from hetdp.mechanism.average.tangents import SLOPES
from hetdp.mechanism.extension import extend
from hetdp.mechanism.mechanism import Mechanism, sealed
from hetdp.mechanism.vote import WEIGHTED_VOTE
from hetdp.problem.partial import PartialMechanism, pins_of
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats

AVERAGE = "average"  # the one objective that needs the prior
UNNAMED = "mechanism"
FEW, MANY = 1_000, 30_000  # datasets for which an average is mostly found in seconds, by tangents and by rows


def objectives_of(wanted: Any, problem: Problem) -> tuple[str, ...]:
    """The objectives to compare: one, several, or all that there are, but for an average that would take minutes."""
    if wanted is None:
        most = FEW if problem.notion.name in SLOPES else MANY
        return tuple(name for name in designing.OBJECTIVES if name != AVERAGE or problem.graph.size <= most)
    names = (wanted,) if isinstance(wanted, str) or not isinstance(wanted, Iterable) else tuple(wanted)
    rule = f"an objective is one of {', '.join(designing.OBJECTIVES)}, and for people {WEIGHTED_VOTE}"
    if not names:
        raise UsageError("no objective", rule)
    for name in names:
        if name not in [*designing.OBJECTIVES, WEIGHTED_VOTE]:
            raise UsageError(f"unknown objective {shown(name)}", rule)
    return tuple(dict.fromkeys(names))


def designed(problem: Problem, objective: str, weights: Floats, engine: str) -> Mechanism:
    """The mechanism that an objective leads to."""
    options: dict[str, Any] = {"prior": weights} if objective == AVERAGE else {}
    return designing.design(problem, objective, engine=engine, **options)


def by_name(given: Any) -> list[tuple[str, Any]]:
    """The given mechanisms, each with a name: one, or several by name."""
    if isinstance(given, Mapping) and any(map(_holds_values, given.values())):
        return [(str(name), each) for name, each in given.items()]
    return [(given.objective if isinstance(given, Mechanism) else UNNAMED, given)]


def _holds_values(value: Any) -> bool:
    return isinstance(value, (Mechanism, PartialMechanism)) or (
        hasattr(value, "__len__") and not isinstance(value, str)
    )


def private(problem: Problem, name: str, given: Any, engine: str) -> Mechanism:
    """A given mechanism with the proof that it is private on this problem; a miss by a rounding is closed.

    Raises:
        InputError: it is not private.
    """
    if isinstance(given, Mechanism) and given.problem is problem and given.is_as_proved:
        return given
    certificate = verify(problem, given)
    z = np.array(given.coordinates, dtype=np.float64) if hasattr(given, "coordinates") else pins_of(given, problem)
    if certificate.private:
        if isinstance(given, Mechanism):
            return replace(given, problem=problem, certificate=certificate)
        size = problem.graph.size
        pinned, links = np.zeros(size, dtype=np.bool_), np.full(size, -1)
        return Mechanism(problem, z, pinned, links, certificate=certificate, objective=name)
    try:
        return sealed(replace(extend(problem, PartialMechanism(z=z), engine), objective=name))
    except NoExtensionError:
        rule = "only a private mechanism has an accuracy worth comparing"
        fault = Fault("not private:", f"mechanism {name!r}", certificate.violated, rule)
        raise InputError("accuracy", [fault]) from None

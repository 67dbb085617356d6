"""design: a mechanism when no values are given, or only some.

What each objective promises, and what it does not:

- fair: the worst-off dataset is answered as well as privacy allows, then the next worst, and so on; it does not
  maximise the average.
- balanced: the smallest possible worst error, in closed form; other datasets may be worse off than under fair, never
  better.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hetdp import progress
from hetdp.engines.registry import engine_for
from hetdp.errors import NoExtensionError, UsageError
from hetdp.mechanism.balanced import balanced_pins
from hetdp.mechanism.compatibility import check
from hetdp.mechanism.extension import extend
from hetdp.mechanism.mechanism import Mechanism, sealed
from hetdp.mechanism.products import balanced_mechanism
from hetdp.problem.partial import PartialMechanism, pins_of
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats
from hetdp.problem.stored import explicit

OBJECTIVES = ("fair", "balanced")


def design(problem: Problem, objective: str = "fair", partial: Any = None, engine: str = "auto") -> Mechanism:
    """The best private mechanism for an objective, where `extend` needs values for the boundary.

    Args:
        problem: datasets, ε and query.
        objective: "fair" (the worst-off dataset is answered as well as privacy allows, then the next worst, and so on)
            or "balanced" (the smallest possible worst error, in closed form; nowhere better than fair).
        partial: values that are given beforehand on some datasets; only "fair" fills in the rest.
        engine: "auto", "cpu" or "reference"; all give the same bits.

    Raises:
        NoExtensionError: no private mechanism has the values given beforehand; with witness and repair.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [2.0, 1.0])
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    >>> {dataset: round(p, 3) for dataset, p in dict(hetdp.design(problem)).items()}
    {'a': 0.964, 'b': 0.731, 'c': 0.269}
    """
    if objective not in OBJECTIVES:
        raise UsageError(f"unknown objective {objective!r}", f"an objective is one of {', '.join(OBJECTIVES)}")
    if objective == "balanced" and partial is None and isinstance(problem.graph, ProductSpace):
        return balanced_mechanism(problem, problem.graph, engine)
    pins = pins_of(PartialMechanism() if partial is None else partial, problem)
    if objective == "balanced":
        if not np.isnan(pins).all():
            rule, hint = "balanced is a closed form for the whole boundary", "objective='fair' fills in the rest"
            raise UsageError("values given beforehand, with the objective balanced", rule, hint)
        chosen = balanced_pins(problem, engine)
    else:
        chosen = PartialMechanism(z=_fair(problem, pins, engine))
    return sealed(replace(extend(problem, chosen, engine), objective=objective))


def _fair(problem: Problem, pins: Floats, engine: str) -> Floats:
    """The pins, and the fair values of the rest of the boundary."""
    given = ~np.isnan(pins)
    if given.any():
        verdict = check(problem, PartialMechanism(z=pins), engine)
        if not verdict.compatible:
            raise NoExtensionError(verdict.witness, verdict.repair)
    graph = explicit(problem.graph) if isinstance(problem.graph, ProductSpace) else problem.graph
    chosen = engine_for(engine, graph, problem.notion, "settle")
    progress.stage("searching for the fair values")
    ones = problem.answers == 1
    signed = np.where(ones, pins, -pins)
    labels = chosen.settle(graph, problem.notion, problem.answers, signed if given.any() else None).labels
    fair = np.where(ones, labels, -labels) + 0.0
    return np.where(given, pins, np.where(problem.boundary_mask, fair, np.nan))

"""polish: any private mechanism, made at least as accurate at every dataset."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hetdp.certificate.certificate import verify
from hetdp.errors import Fault, InputError
from hetdp.mechanism.compatibility import NEAR_MISS
from hetdp.mechanism.explanation import POLISH
from hetdp.mechanism.extension import extend
from hetdp.mechanism.mechanism import Mechanism, sealed
from hetdp.problem.partial import PartialMechanism, pins_of
from hetdp.problem.problem import Problem


def polish(problem: Problem, values: Any, engine: str = "auto") -> Mechanism:
    """Keeps the values of a private mechanism on the boundary, and makes all others as accurate as they can be then.

    Args:
        problem: datasets, ε and query.
        values: a private mechanism of whatever origin: p at every dataset, as a mapping label → p or as an array, or a
            PartialMechanism with z or error.
        engine: "auto", "cpu" or "reference"; all give the same bits.

    Raises:
        InputError: it is not private; values that miss by a rounding are let pass.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [2.0, 1.0])
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    >>> round(hetdp.polish(problem, {"a": 0.7, "b": 0.7, "c": 0.3})["a"], 4)
    0.9594
    """
    certificate = verify(problem, values)
    if not certificate.private and certificate.slack < -NEAR_MISS:
        rule = "only a private mechanism can be polished"
        raise InputError("values", [Fault("not private:", "values", certificate.violated, rule)])
    z = values.coordinates if isinstance(values, Mechanism) else pins_of(values, problem)
    kept = PartialMechanism(z=np.where(problem.boundary_mask, z, np.nan))
    return sealed(replace(extend(problem, kept, engine), objective=POLISH))

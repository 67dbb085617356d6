"""Weights: how much each dataset counts in averages."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import Fault
from hetdp.problem.findings import Findings
from hetdp.problem.labels import Labels
from hetdp.problem.ordered import WEIGHT, in_order
from hetdp.problem.space import Floats
from hetdp.problem.spelling import brief

RULE = "a weight is a finite number ≥ 0"


class Factors(NamedTuple):
    """Weights of a product that are themselves products, one factor for each position of each axis; made when needed.

    Attributes:
        factors: for each axis the weight of each of its positions, ≥ 0 and finite.
    """

    factors: tuple[Floats, ...]

    def multiplied(self) -> Floats:
        """The weight of each dataset, in order.

        >>> Factors((np.array([0.5, 0.5]), np.array([0.25, 0.75]))).multiplied()
        array([0.125, 0.375, 0.125, 0.375])
        """
        weights = np.ones(1)
        for one in self.factors:
            weights = np.multiply.outer(weights, one).ravel()
        weights.flags.writeable = False
        return weights


def weights_of(given: Any, labels: Labels) -> Floats:
    """The weights in graph order, one for each dataset; they need not add up to 1."""
    findings = Findings("weights")
    values = in_order("weights", given, labels, WEIGHT, findings)

    def place(at: int) -> str:
        return f"dataset {brief(labels.names[at])}"

    missing = np.isnan(values)
    findings.add_where(missing, lambda at: Fault("no weight", place(at), "", WEIGHT.missing))
    wrong = ~missing & ~((values >= 0.0) & np.isfinite(values))
    findings.add_where(wrong, lambda at: Fault("weight out of range:", place(at), repr(float(values[at])), RULE))
    findings.raise_if_any()
    values = values.copy()
    values.flags.writeable = False
    return values

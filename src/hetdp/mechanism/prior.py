"""The prior: how much each dataset counts in a mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetdp.errors import Fault, InputError, UsageError, shown
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats
from hetdp.problem.weights import weights_of

UNIFORM, WEIGHT, GIVEN = "uniform", "weight", "given"
RULE = "a prior is 'uniform', 'weight' (the problem's own), or a weight for each dataset"


def prior_of(problem: Problem, prior: Any) -> tuple[str, Floats]:
    """What the prior is called, and its weights in graph order, the largest of which is 1."""
    if prior is None:
        prior = UNIFORM if problem.weights is None else WEIGHT
    if isinstance(prior, str):
        return prior, _scaled(_named(problem, prior))
    return GIVEN, _scaled(weights_of(prior, problem.labels))


def shares_of(problem: Problem, prior: Any) -> Floats:
    """The weights of a prior such that they add up to 1."""
    weights = prior_of(problem, prior)[1]
    return np.asarray(weights / math.fsum(weights.tolist())) if len(weights) else weights


def _named(problem: Problem, name: str) -> Floats:
    if name == UNIFORM:
        return np.ones(problem.graph.size)
    if name != WEIGHT:
        raise UsageError(f"unknown prior {shown(name)}", RULE)
    if problem.weights is None:
        hint = "'uniform' counts every dataset once"
        raise UsageError("the problem has no weights", "the prior 'weight' takes the problem's own", hint)
    return problem.weights


def _scaled(weights: Floats) -> Floats:
    """The same proportions, such that no sum of them leaves the floats."""
    largest = np.max(weights, initial=0.0)
    if len(weights) and not largest:
        raise InputError("prior", [Fault("every weight is 0", "prior", "", "some dataset has a weight above 0")])
    return np.asarray(weights / largest) if len(weights) else weights

"""Pure ε(u,v): the paper's notion, as an exactly private step on the Laplace coordinate.

Letters: z is the label at u, epsilon is ε(u,v), t = z + ε. docs/theory/rounded-step.md has the proofs.

Paper: Definition 8 (initial DP conditions), Lemma 3 (iff).
"""

from __future__ import annotations

import math

import numpy as np

from hetdp.theory.coordinate import LAPLACE, Floats
from hetdp.theory.notion import Currency, Notion, Parameter, Promises, log_ratio
from hetdp.theory.rounding import (
    EIGHT_ULPS_DOWN,
    LN2_HI,
    LN2_LO,
    LN2_REST,
    NEGLIGIBLE,
    add_down,
    beyond_meeting,
    half_down,
)


def cross_down(z: float, epsilon: float) -> float:
    """A float just below the exact bound on an edge that crosses p = ½, that is for z < 0 < z + ε."""
    t = z + epsilon
    if t <= 0.5:
        a = -math.log1p(-math.expm1(t))
    else:
        d = ((LN2_HI - t) + LN2_LO) + LN2_REST
        a = math.inf if d <= 0.0 else -(LN2_HI + math.log(-math.expm1(-d)))
    b = epsilon - math.log1p(-math.expm1(z))
    return min(a, b) * EIGHT_ULPS_DOWN


def step(z: float, epsilon: float) -> float:
    """The upper bound that label z imposes over an edge, rounded toward privacy.

    >>> step(0.5, 0.25)
    0.75
    >>> step(-1.0, 0.25)
    -0.75
    """
    added = add_down(z, epsilon)
    if z >= 0.0 or added <= 0.0:
        return added
    return max(added, cross_down(z, epsilon))


def quick(z: float, epsilon: float) -> float:
    """Plain addition: `step` is at most one float below it, never more."""
    return z + epsilon


def meet(epsilon: float) -> float:
    """The label of both ends of an edge between the answers when neither is worse: log((1 + e^ε)/2), rounded down.

    Neither can be more accurate unless the other is less: the error 1/(1 + e^ε) of both is the least worst error. It is
    not below ε/2, as the exact value is never.

    >>> meet(0.0), round(meet(1.0), 4)
    (0.0, 0.6201)
    """
    if epsilon < NEGLIGIBLE:
        return half_down(epsilon)
    if epsilon <= 1.0:
        return max(0.5 * epsilon, math.log1p(math.expm1(epsilon) * 0.5) * EIGHT_ULPS_DOWN)
    return ((epsilon - LN2_HI) + math.log1p(math.exp(-epsilon))) * EIGHT_ULPS_DOWN


def across(label: float, epsilon: float) -> float:
    """The largest label next to a dataset of the other answer whose label is given, rounded toward privacy.

    Both labels are signed so that larger is better; so this is the step from −label.

    >>> across(0.0, 1.0), across(meet(1.0), 1.0) == meet(1.0)
    (1.0, True)
    """
    return beyond_meeting(label, meet(epsilon), step(-label, epsilon))


def promises(parameters: tuple[Floats, ...]) -> Promises:
    """ε of each arc, and no δ."""
    return parameters[0], np.zeros_like(parameters[0])


EPSILON = Parameter("epsilon", "ε", "ε is a number ≥ 0")
BY_EPSILON = Currency("epsilon", "ε", 10**9, "For each account, the ε used by all its releases add up.")
PURE = Notion(
    name="pure",
    columns=(EPSILON,),
    coordinate=LAPLACE,
    step=step,
    quick=quick,
    meet=meet,
    across=across,
    description="pure differential privacy, with an ε of its own for each pair of neighbours",
    currency=BY_EPSILON,
    loss=log_ratio,
    promises=promises,
    adds=True,
    bounds_ratios=True,
    fair_grows=True,
)

"""Pure ε(u,v): the paper's notion, as an exactly private step on the Laplace coordinate.

Letters: z is the label at u, epsilon is ε(u,v), t = z + ε. docs/theory/rounded-step.md has the proofs.

Paper: Definition 8 (initial DP conditions), Lemma 3 (iff).
"""

from __future__ import annotations

import math

from hetdp.theory.coordinate import LAPLACE
from hetdp.theory.notion import Notion

LARGEST = 1.7976931348623157e308
LN2_HI = 0.6931471805599453
LN2_LO = 2.3190468138462996e-17
LN2_REST = 1e-32  # more than what LN2_HI + LN2_LO lacks, which is amplified where t is next to ln 2
EIGHT_ULPS_DOWN = 1.0 - 2.0**-49  # more than the error of the five roundings below
HALVED = 1e-290  # below it log((1 + e^ε)/2) is ε/2 up to a rounding, and ulps are soon no longer relative


def add_down(z: float, epsilon: float) -> float:
    """The largest float not above the exact sum z + ε."""
    total = z + epsilon
    shift = total - z
    error = (z - (total - shift)) + (epsilon - shift)
    if error >= 0.0:
        return total
    if error < 0.0:
        return math.nextafter(total, -math.inf)
    if z == math.inf or z == -math.inf:
        return z
    if total == math.inf:
        return LARGEST  # the sum left the floats; the exact one did not
    return math.nextafter(total, -math.inf)  # only what measures the error did


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
    half = 0.5 * epsilon
    if epsilon < HALVED:
        return half if half + half <= epsilon else math.nextafter(half, 0.0)
    if epsilon <= 1.0:
        return max(half, math.log1p(math.expm1(epsilon) * 0.5) * EIGHT_ULPS_DOWN)
    return ((epsilon - LN2_HI) + math.log1p(math.exp(-epsilon))) * EIGHT_ULPS_DOWN


def across(label: float, epsilon: float) -> float:
    """The largest label next to a dataset of the other answer whose label is given, rounded toward privacy.

    Both labels are signed so that larger is better; so this is the step from −label. It is never below the point where
    the two meet as long as the given label is not above it, so that a search by labels never turns back.

    >>> across(0.0, 1.0), across(meet(1.0), 1.0) == meet(1.0)
    (1.0, True)
    """
    least = meet(epsilon)
    if label == least:
        return least
    bound = step(-label, epsilon)
    return bound if label > least else max(bound, least)


PURE = Notion(
    name="pure", parameters=("epsilon",), coordinate=LAPLACE, step=step, quick=quick, meet=meet, across=across
)

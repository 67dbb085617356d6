"""How probable each tally is: people are independent, so that a group's counts are multinomial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import exp, fsum, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError, shown
from hetdp.problem.axis import Axis
from hetdp.problem.weights import Factors
from hetdp.spaces.exact import exact
from hetdp.spaces.names import require_known

UNIFORM = "uniform"
PRIOR_RULE = "a prior is 'uniform', value → probability, or group → value → probability"
ROUNDING = Fraction(1, 10**9)  # by which probabilities may miss 1; they are then brought there

Weights = NDArray[np.float64]


def weights_of(axes: Sequence[Axis], prior: Any) -> Factors | None:
    """The probability of each tally, as a product over the groups; None if all are as probable.

    Args:
        axes: the groups.
        prior: as in `tallies`.

    Raises:
        UsageError: that is no prior for these groups.

    >>> weights_of([Axis.tally("all", 2, 1)], None)
    Factors(factors=(array([0.25, 0.5 , 0.25]),))
    """
    if isinstance(prior, str) and prior == UNIFORM:
        return None
    chances = _chances(axes, prior)
    return Factors(tuple(_of_counts(axis, one) for axis, one in zip(axes, chances, strict=True)))


def _chances(axes: Sequence[Axis], prior: Any) -> list[list[float]]:
    """For each group the probability of each value."""
    if prior is None:
        return [[1.0 / len(axis.values)] * len(axis.values) for axis in axes]
    if not isinstance(prior, Mapping) or not prior:
        raise UsageError(f"the prior is {shown(prior)}", PRIOR_RULE)
    if not any(isinstance(chances, Mapping) for chances in prior.values()):
        return [_of_values(axis, prior) for axis in axes]
    groups = [axis.name for axis in axes]
    require_known(prior, groups, "group")
    require_known(groups, prior, "group with a prior")
    return [_of_values(axis, prior[axis.name]) for axis in axes]


def _of_values(axis: Axis, given: Any) -> list[float]:
    if not isinstance(given, Mapping):
        raise UsageError(f"the prior of {axis.name} is {shown(given)}", PRIOR_RULE)
    require_known(given, axis.values, "value")
    require_known(axis.values, given, "value with a probability")
    found = [exact(given[value], f"the probability of {value!r}") for value in axis.values]
    if any(chance < 0 for chance in found) or abs(sum(found, Fraction(0)) - 1) > ROUNDING:
        raise UsageError(f"the prior of {axis.name} is {shown(given)}", "probabilities are ≥ 0 and add up to 1")
    return [float(chance / sum(found)) for chance in found]


def _of_counts(axis: Axis, chances: Sequence[float]) -> Weights:
    """The multinomial distribution over the positions of an axis, by logarithms of factorials; it adds up to 1."""
    positions = axis.positions if axis.shape == "counts" else [(at, axis.people - at) for at in axis.positions]
    logs = [log(chance) if chance else float("-inf") for chance in chances]
    whole = lgamma(axis.people + 1)
    found = [
        exp(whole + fsum(count * one - lgamma(count + 1) for count, one in zip(counts, logs, strict=True) if count))
        for counts in positions
    ]
    return np.array(found) / fsum(found)

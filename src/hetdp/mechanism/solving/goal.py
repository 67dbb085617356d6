"""An accuracy to reach: how much, and where it is measured."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from hetdp.errors import Fault, InputError, UnknownDatasetError, UsageError, shown
from hetdp.mechanism.mechanism import Mechanism
from hetdp.mechanism.prior import shares_of
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices

WORST, MEAN = "worst", "mean"
ULP = 2.0**-52


@dataclass(frozen=True, eq=False)
class Goal:
    """An accuracy, and where: at the worst-off dataset, in the mean, or at given datasets, each of them.

    Attributes:
        target: the accuracy.
        at: "worst", "mean", or the labels.
        where: the datasets of the labels.
        weights: for the mean, the share of each dataset, together 1; None elsewhere.
    """

    target: float
    at: Any
    where: Indices | None = None
    weights: Floats | None = None

    @property
    def allowed(self) -> float:
        """The largest error that is good enough: 1 minus the target as it was written."""
        return float(1 - Decimal(repr(self.target)))

    def shares(self, mechanism: Mechanism) -> Floats:
        """What each dataset adds to the mean error, or its error where it is asked about."""
        errors = mechanism.errors
        if self.weights is not None:
            return np.asarray(errors * self.weights)
        if self.where is None:
            return errors
        return np.asarray(np.where(np.isin(np.arange(len(errors)), self.where), errors, 0.0))

    def error(self, mechanism: Mechanism) -> float:
        """The error that counts."""
        shares = self.shares(mechanism)
        if self.at != MEAN:
            return float(np.max(shares, initial=0.0))
        return math.fsum(shares.tolist())

    @property
    def rounding(self) -> float:
        """How far, relatively, an error that is just allowed may be from it, having been a logarithm meanwhile."""
        return ULP * (2.0 - math.log(self.allowed)) if self.allowed else 0.0

    def is_met(self, error: float) -> bool:
        """Whether an error is small enough, up to a rounding."""
        return error <= self.allowed * (1.0 + self.rounding)

    def is_just_met(self, error: float) -> bool:
        """Whether an error is the largest that is small enough, up to a rounding."""
        return self.is_met(error) and error >= self.allowed * (1.0 - self.rounding)

    def place(self) -> str:
        """Where the accuracy is measured, in words."""
        if isinstance(self.at, tuple):
            return f"at {', '.join(map(shown, self.at))}"
        return "in the worst case" if self.at == WORST else "in the mean"


def goal_of(problem: Problem, target: Any, at: Any, prior: Any) -> Goal:
    """The goal a user means."""
    if isinstance(target, (bool, np.bool_)) or not isinstance(target, Real) or not 0.0 <= float(target) <= 1.0:
        rule = "an accuracy is a number from 0 to 1"
        raise InputError("target", [Fault("no accuracy:", "target", shown(target), rule)])
    target = float(target)
    if isinstance(at, str) and at == MEAN:
        return Goal(target, MEAN, weights=shares_of(problem, prior))
    if isinstance(at, str) and at == WORST:
        return Goal(target, WORST)
    labels = _labels(problem, at)
    return Goal(target, labels, np.array([problem.labels.index(label) for label in labels], dtype=np.int64))


def _labels(problem: Problem, at: Any) -> tuple[Any, ...]:
    """One label, or several; a tuple may be a label itself."""
    if isinstance(at, Hashable) and _is_known(problem, at):
        return (at,)
    if isinstance(at, str) or not isinstance(at, Iterable):
        raise UnknownDatasetError(at)
    labels = tuple(at)
    if not labels:
        rule = "it is 'worst', 'mean', a dataset, or a list of datasets"
        raise UsageError(f"nothing to measure at: at={shown(at)}", rule)
    return labels


def _is_known(problem: Problem, label: Hashable) -> bool:
    try:
        problem.labels.index(label)
    except (UnknownDatasetError, TypeError):  # a tuple with a list in it is hashable only by name
        return False
    return True

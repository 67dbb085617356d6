"""What a user may ask of a design beside its objective: a largest error."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from hetdp.errors import Fault, InputError, UsageError, shown
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats

ROUNDING = 1e-12  # an error larger than asked by this part of it is a rounding
DIGITS = 6


def largest_error(max_error: Any) -> float | None:
    """The largest error as a number."""
    if max_error is None:
        return None
    if isinstance(max_error, bool) or not isinstance(max_error, Real) or not 0.0 <= float(max_error) <= 1.0:
        raise UsageError(
            f"max_error={shown(max_error)}", "it is a number from 0 to 1, the largest probability of error"
        )
    return float(max_error)


def require_possible(
    problem: Problem, z: Floats, pins: Floats, max_error: float | None, whose: str = "the smallest possible"
) -> None:
    """Refuses a largest error that this mechanism exceeds; by default it is the fair one, and no other does better."""
    errors = problem.notion.coordinate.error(z, problem.answers)[np.isnan(pins)]
    worst = float(np.max(errors, initial=0.0))
    if max_error is None or worst <= max_error * (1.0 + ROUNDING):
        return
    rounded = math.ceil(worst * 10**DIGITS) / 10**DIGITS
    rule = f"{whose} worst error{'' if np.isnan(pins).all() else ' with the given values'} is {rounded:.{DIGITS}g}"
    raise InputError("max_error", [Fault("no private mechanism keeps to", "max_error", repr(max_error), rule)])

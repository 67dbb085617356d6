"""The path theorem in closed form, with the paper's misprints corrected.

Letters as in the paper: α is p at the head v₀, ε_i belongs to the edge (v_i, v_{i+1}), τ is the first index where the
second bound takes over; τ is searched from 0, and is n if no index qualifies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from hetdp.errors import Fault, InputError
from hetdp.text import format_value
from hetdp.theory.coordinate import Floats


def path_mechanism(alpha: float, epsilons: Sequence[float] | Any) -> Floats:
    """p at v₀ … v_n of the best private mechanism on a path with p(v₀) = alpha and answer 1 after v₀.

    Args:
        alpha: p at the head, in [0, 1].
        epsilons: ε₀ … ε_{n−1} along the path, each finite and ≥ 0.

    Raises:
        InputError: alpha or some ε out of range.

    Paper: Theorem 3 (the path graph). This is the plain formula in p, for reading; `extend` is exactly private.

    >>> path_mechanism(0.1, [1.0, 1.0]).round(4)
    array([0.1   , 0.2718, 0.7321])
    """
    epsilons = _require_valid(alpha, epsilons)
    summed = np.concatenate([[0.0], np.cumsum(epsilons)])
    if alpha == 0.0:
        return np.zeros(len(summed))
    tau = _tau(alpha, epsilons, summed)
    beyond = np.maximum(summed - summed[tau], 0.0)
    head = np.exp(np.minimum(summed, summed[tau]) + math.log(alpha))
    return np.asarray(np.where(np.arange(len(summed)) <= tau, head, 1.0 - np.exp(-beyond) * (1.0 - head[tau])))


def homogeneous_path_mechanism(alpha: float, epsilon: float, length: int) -> Floats:
    """The same for one ε > 0 on every edge, by the corollary's own formula.

    Paper: the corollary to Theorem 3, corrected: τ = max(0, ⌈·⌉), and 1 − e^{−(i−τ)ε} + e^{(2τ−i)ε}·α beyond τ.

    >>> bool(np.allclose(homogeneous_path_mechanism(0.1, 1.0, 2), path_mechanism(0.1, [1.0, 1.0])))
    True
    """
    _require_valid(alpha, [epsilon])
    if length != int(length) or length < 0:
        raise InputError("path", [Fault("length", "length", format_value(length), "a length is a whole number ≥ 0")])
    steps = np.arange(length + 1)
    if alpha == 0.0 or epsilon == 0.0:
        return np.full(length + 1, float(alpha))
    tau = max(0, math.ceil(-(math.log(alpha) + float(np.logaddexp(0.0, epsilon))) / epsilon))
    head = np.exp(np.minimum(steps, tau) * epsilon + math.log(alpha))
    beyond = np.maximum(steps - tau, 0)
    tail = 1.0 - np.exp(-beyond * epsilon) + np.exp((tau - beyond) * epsilon + math.log(alpha))
    return np.where(steps <= tau, head, tail)


def _tau(alpha: float, epsilons: Floats, summed: Floats) -> int:
    """The first i with 1/α ≤ e^{ε₀+…+ε_{i−1}}·(e^{ε_i} + 1), in logarithms; n if there is none."""
    reached = -math.log(alpha) <= summed[:-1] + np.logaddexp(0.0, epsilons)
    return int(np.argmax(reached)) if reached.any() else len(epsilons)


def _require_valid(alpha: Any, epsilons: Any) -> Floats:
    """The ε as an array, once all of them and alpha are in range."""
    faults = []
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0.0 <= float(alpha) <= 1.0:
        faults.append(Fault("out of range:", "alpha", format_value(alpha), "a probability lies in [0, 1]"))
    try:
        array = np.asarray(epsilons, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.ndim != 1:
        faults.append(Fault("not a list of numbers:", "epsilons", format_value(epsilons), "one number for each step"))
    for at in np.flatnonzero(~(np.isfinite(array) & (array >= 0.0))).tolist() if array.ndim == 1 else []:
        value, rule = repr(float(array[at])), "ε on a path is a finite number ≥ 0"
        faults.append(Fault("ε", f"epsilons[{at}]", value, rule))
    if faults:
        raise InputError("path", faults)
    return array

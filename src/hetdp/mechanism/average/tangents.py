"""Rows of the linear program for notions whose bound is curved: p(v) ≤ f(p(u)), where z(v) ≤ z(u) + parameter.

f is concave, so it lies below each of its tangents: p(v) ≤ f(a) + f′(a)·(p(u) − a) for every a. These are rows of a
linear program. Tangents where the reference is come first; wherever a solution still exceeds the curve, those that
touch it there are added. Both answers are in the one curve: 1 − p(v) ≤ f(1 − p(u)) is p(u) ≤ f(p(v)).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hetdp.mechanism.average.rows import Rows, joined, numbered
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices, Mask

DEEPEST = 0.5 * math.exp(-50.0)  # smaller tails have no weight, and share a scale
EXCEEDED = 1e-8  # of a row; where the curve is exceeded by more, a tangent is added


def _gaussian(z: Floats, mu: Floats) -> Floats:
    return np.asarray(-mu * (z + 0.5 * mu))


def _bounded_range(z: Floats, epsilon: Floats) -> Floats:
    return np.asarray(epsilon - 2.0 * (np.logaddexp(0.0, z + epsilon) - np.logaddexp(0.0, z)))


# For each notion: log f′ at the probability whose coordinate is z.
SLOPES: dict[str, Callable[[Floats, Floats], Floats]] = {"gaussian": _gaussian, "bounded-range": _bounded_range}


class Tangents:
    """The arcs between the datasets that have a column, and the tangents of what they allow."""

    def __init__(self, problem: Problem, columns: Indices, tail_is_p: Mask, log_tail: Floats) -> None:
        """As `rows_between`."""
        self._coordinate = problem.notion.coordinate
        self._log_slope = SLOPES[problem.notion.name]
        self._tail_is_p, self._log_tail = tail_is_p[columns], log_tail[columns]
        self._deepest = -float(self._coordinate.of_tail(np.array(DEEPEST)))
        number = numbered(problem, columns)
        ends, shifts = [np.zeros((2, 0), dtype=np.int32)], [np.zeros(0)]
        for block in problem.graph.edge_blocks():
            both = np.stack([number[block.source], number[block.target]])
            holds = (both >= 0).all(axis=0) & (block.parameters[0] < 2.0 * self._deepest)  # the rest constrains nothing
            ends.append(both[:, holds])
            shifts.append(block.parameters[0][holds])
        self._source, self._target = np.concatenate(ends, axis=1)
        self._shift = np.concatenate(shifts)

    def touching(self, z: Floats) -> Rows:
        """Two tangents for each arc: where its source is, and where its target is, for given values of the columns."""
        arcs = np.arange(len(self._shift))
        return joined(self._rows(arcs, at) for at in (z[self._source], z[self._target] - self._shift))

    def exceeded(self, x: Floats) -> Rows:
        """The tangents that a solution exceeds, touching between where its sources and where its targets are."""
        z = self._values(x)
        arcs = np.flatnonzero(z[self._target] > z[self._source] + self._shift)
        rows = self._rows(arcs, 0.5 * (z[self._source[arcs]] + z[self._target[arcs]] - self._shift[arcs]))
        return rows.take(np.flatnonzero(rows.excess(x) > EXCEEDED))

    def excess(self, x: Floats) -> float:
        """How far, in z, a solution exceeds the curve, at most."""
        z = self._values(x)
        return float(np.max(z[self._target] - z[self._source] - self._shift, initial=0.0))

    def _values(self, x: Floats) -> Floats:
        tail = self._coordinate.from_probability(np.clip(x * np.exp(self._log_tail), 0.0, 1.0))
        return np.clip(np.where(self._tail_is_p, tail, -tail), -self._deepest, self._deepest)

    def _rows(self, arcs: Indices, z: Floats) -> Rows:
        """The tangents at z of the source. Near 1 all is written in 1 − p, so that no tail is lost to rounding."""
        u, v, shift = self._source[arcs], self._target[arcs], self._shift[arcs]
        z = np.clip(z, -self._deepest - shift, self._deepest)
        log_slope = self._log_slope(z, shift)
        at_u, at_v = log_slope + self._log_tail[u], self._log_tail[v]
        largest = np.maximum(at_u, at_v)
        size_u, size_v = np.exp(at_u - largest), np.exp(at_v - largest)
        tail_u, tail_v = self._tail_is_p[u], self._tail_is_p[v]
        probability, unit = self._coordinate.probability, np.exp(-largest)
        allowed = np.where(tail_v, 1.0, -1.0) * probability(np.where(tail_v, z + shift, -z - shift)) * unit
        there = np.where(tail_u, -1.0, 1.0) * probability(np.where(tail_u, z, -z)) * np.exp(log_slope - largest)
        a, b = np.where(tail_u, -size_u, size_u), np.where(tail_v, size_v, -size_v)
        return Rows(u, v, a, b, allowed + there)

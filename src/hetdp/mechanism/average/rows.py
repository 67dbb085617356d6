"""The rows of the linear program: what an edge allows, written in the tails of a reference mechanism.

The variable of a dataset is x = tail / (tail of the reference), where the tail is the smaller of p and 1 − p under the
reference. Near the reference all x are near 1, however small the tails are, and a solver's tolerances are relative.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from hetdp.problem.problem import Problem
from hetdp.problem.space import EdgeBlock, Floats, Indices, Mask

LARGEST = 600.0  # of exponents; what is larger constrains nothing


class Rows(NamedTuple):
    """Rows  a·x[first] + b·x[second] ≤ limit, each divided by its largest coefficient; columns are numbered."""

    first: Indices
    second: Indices
    a: Floats
    b: Floats
    limit: Floats

    def excess(self, x: Floats) -> Floats:
        """How far each row is exceeded; negative where there is room."""
        return np.asarray(self.a * x[self.first] + self.b * x[self.second] - self.limit)

    def take(self, which: Indices) -> Rows:
        """Some of them."""
        return Rows(*(column[which] for column in self))


def rows_between(problem: Problem, columns: Indices, tail_is_p: Mask, log_tail: Floats) -> Rows:
    """All rows of the edges between the datasets that have a column.

    Args:
        problem: where the edges come from.
        columns: the datasets that have one, in order.
        tail_is_p: for every dataset, whether its tail is p; otherwise it is 1 − p.
        log_tail: log of the reference's tail, for every dataset.
    """
    number = numbered(problem, columns)
    return joined(
        rows for block in problem.graph.edge_blocks() for rows in _of_block(problem, block, number, tail_is_p, log_tail)
    )


def numbered(problem: Problem, columns: Indices) -> Indices:
    """For every dataset the number of its column, −1 where it has none."""
    number = np.full(problem.graph.size, -1, dtype=np.int32)
    number[columns] = np.arange(len(columns), dtype=np.int32)
    return number


def joined(parts: Iterable[Rows]) -> Rows:
    """All rows, one after the other."""
    ends, numbers = np.zeros(0, dtype=np.int32), np.zeros(0)
    found = [Rows(ends, ends, numbers, numbers, numbers), *parts]
    return Rows(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def _of_block(problem: Problem, block: EdgeBlock, number: Indices, tail_is_p: Mask, log_tail: Floats) -> Iterator[Rows]:
    """For either answer A:  Pr[A at u] − e^ε·Pr[A at v] ≤ δ, where a probability is its tail, or 1 minus its tail."""
    inside = np.flatnonzero((number[block.source] >= 0) & (number[block.target] >= 0))
    u, v = block.source[inside], block.target[inside]
    promises = problem.notion.promises
    assert promises is not None
    epsilon, delta = promises(tuple(parameter[inside] for parameter in block.parameters))
    holds = (epsilon < np.inf) & (delta < 1.0)
    if not holds.all():
        u, v, epsilon, delta = u[holds], v[holds], epsilon[holds], delta[holds]
    epsilon = np.minimum(epsilon, LARGEST)
    at_u, at_v = log_tail[u], epsilon + log_tail[v]
    largest = np.maximum(at_u, at_v)
    size_u, size_v = np.exp(at_u - largest), np.exp(at_v - largest)
    unit = np.exp(np.minimum(-largest, LARGEST))
    more = np.expm1(epsilon)
    for answer in (True, False):
        tail_u, tail_v = tail_is_p[u] == answer, tail_is_p[v] == answer
        limit = np.where(tail_v, np.where(tail_u, 0.0, -1.0), np.where(tail_u, 1.0 + more, more)) + delta
        a, b = np.where(tail_u, size_u, -size_u), np.where(tail_v, -size_v, size_v)
        with np.errstate(over="ignore"):  # a limit of ∞ is none
            yield Rows(number[u], number[v], a, b, limit * unit)


# Rows of the linear program for notions whose bound is curved: p(v) ≤ f(p(u)), with tangents of f.


DEEPEST = 0.5 * math.exp(-50.0)  # smaller tails have no weight, and share a scale
EXCEEDED = 1e-8  # of a row; where the curve is exceeded by more, a tangent is added


class Tangents:
    """The arcs between the datasets that have a column, and the tangents of what they allow."""

    def __init__(self, problem: Problem, columns: Indices, tail_is_p: Mask, log_tail: Floats) -> None:
        """As `rows_between`."""
        self._coordinate = problem.notion.coordinate
        assert problem.notion.curve is not None
        self._reach, self._log_slope = problem.notion.curve
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
        return joined(self._rows(arcs, at) for at in (z[self._source], self._source_of(z[self._target], arcs)))

    def exceeded(self, x: Floats) -> Rows:
        """The tangents that a solution exceeds, touching between where its sources and where its targets are."""
        z = self._values(x)
        arcs = np.flatnonzero(z[self._target] > self._reach(z[self._source], self._shift))
        rows = self._rows(arcs, 0.5 * (z[self._source[arcs]] + self._source_of(z[self._target[arcs]], arcs)))
        return rows.take(np.flatnonzero(rows.excess(x) > EXCEEDED))

    def excess(self, x: Floats) -> float:
        """How far, in z, a solution exceeds the curve, at most."""
        z = self._values(x)
        return float(np.max(z[self._target] - self._reach(z[self._source], self._shift), initial=0.0))

    def _source_of(self, z: Floats, arcs: Indices) -> Floats:
        """Where the bound of these arcs is z: the mirror of the bound, as swapping the answers mirrors the rule."""
        return -self._reach(-z, self._shift[arcs])

    def _values(self, x: Floats) -> Floats:
        tail = self._coordinate.from_probability(np.clip(x * np.exp(self._log_tail), 0.0, 1.0))
        return np.clip(np.where(self._tail_is_p, tail, -tail), -self._deepest, self._deepest)

    def _rows(self, arcs: Indices, z: Floats) -> Rows:
        """The tangents at z of the source. Near 1 all is written in 1 − p, so that no tail is lost to rounding."""
        u, v, shift = self._source[arcs], self._target[arcs], self._shift[arcs]
        z = np.clip(z, -self._deepest - shift, self._deepest)
        log_slope, reached = self._log_slope(z, shift), self._reach(z, shift)
        at_u, at_v = log_slope + self._log_tail[u], self._log_tail[v]
        largest = np.maximum(at_u, at_v)
        size_u, size_v = np.exp(at_u - largest), np.exp(at_v - largest)
        tail_u, tail_v = self._tail_is_p[u], self._tail_is_p[v]
        probability, unit = self._coordinate.probability, np.exp(-largest)
        allowed = np.where(tail_v, 1.0, -1.0) * probability(np.where(tail_v, reached, -reached)) * unit
        there = np.where(tail_u, -1.0, 1.0) * probability(np.where(tail_u, z, -z)) * np.exp(log_slope - largest)
        a, b = np.where(tail_u, -size_u, size_u), np.where(tail_v, size_v, -size_v)
        return Rows(u, v, a, b, allowed + there)

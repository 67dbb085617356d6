"""The rows of the linear program: the privacy constraints of edges, scaled by the tails of a reference mechanism.

The variable of a dataset is x = tail / (tail of the reference), where the tail is the smaller of p and 1 − p under the
reference. Close to the reference all x are close to 1, however small the tails are, so that the solver's tolerances are
relative. Notions whose edges are linear in p have `Rows`; notions with a curved bound have `Tangents` of the curve.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from hetdp.problem.problem import Problem
from hetdp.problem.space import EdgeBlock, Floats, Indices, Mask

LARGEST = 600.0  # a larger exponent constrains nothing


class Rows(NamedTuple):
    """Rows  a·x[first] + b·x[second] ≤ limit, each divided by its largest coefficient."""

    first: Indices
    second: Indices
    a: Floats
    b: Floats
    limit: Floats

    def excess(self, x: Floats) -> Floats:
        """The amount by which each row is violated; negative where it has slack."""
        return np.asarray(self.a * x[self.first] + self.b * x[self.second] - self.limit)

    def take(self, which: Indices) -> Rows:
        """A selection of the rows."""
        return Rows(*(column[which] for column in self))


def rows_between(problem: Problem, columns: Indices, tail_is_p: Mask, log_tail: Floats) -> Rows:
    """All rows of the edges between the datasets that have a column.

    Args:
        problem: the problem with the edges.
        columns: the datasets that have a column, in order.
        tail_is_p: for every dataset, whether its tail is p; otherwise it is 1 − p.
        log_tail: log of the reference's tail, for every dataset.
    """
    number = number_columns(problem, columns)
    return concatenate_rows(
        rows for block in problem.graph.edge_blocks() for rows in _of_block(problem, block, number, tail_is_p, log_tail)
    )


def number_columns(problem: Problem, columns: Indices) -> Indices:
    """The column number of every dataset; −1 for datasets without a column."""
    number = np.full(problem.graph.size, -1, dtype=np.int32)
    number[columns] = np.arange(len(columns), dtype=np.int32)
    return number


def concatenate_rows(parts: Iterable[Rows]) -> Rows:
    """Concatenates rows."""
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


# Tangents, for notions with a curved bound p(v) ≤ f(p(u)) -------------------------------------------------------------


DEEPEST = 0.5 * math.exp(-50.0)  # smaller tails have no weight and share one scale
EXCEEDED = 1e-8  # a tangent is added where the curve is exceeded by more than this


class Tangents:
    """The arcs between the datasets that have a column, with the tangents of their bounds."""

    def __init__(self, problem: Problem, columns: Indices, tail_is_p: Mask, log_tail: Floats) -> None:
        """Takes the arguments of `rows_between`."""
        self._coordinate = problem.notion.coordinate
        assert problem.notion.curve is not None
        self._reach, self._log_slope = problem.notion.curve
        self._tail_is_p, self._log_tail = tail_is_p[columns], log_tail[columns]
        self._deepest = -float(self._coordinate.of_tail(np.array(DEEPEST)))
        number = number_columns(problem, columns)
        ends, shifts = [np.zeros((2, 0), dtype=np.int32)], [np.zeros(0)]
        for block in problem.graph.edge_blocks():
            both = np.stack([number[block.source], number[block.target]])
            holds = (both >= 0).all(axis=0) & (block.parameters[0] < 2.0 * self._deepest)  # the rest constrains nothing
            ends.append(both[:, holds])
            shifts.append(block.parameters[0][holds])
        self._source, self._target = np.concatenate(ends, axis=1)
        self._shift = np.concatenate(shifts)

    def touching(self, z: Floats) -> Rows:
        """Two tangents for each arc: one at the value of its source and one at the value of its target."""
        arcs = np.arange(len(self._shift))
        return concatenate_rows(
            self._rows(arcs, at) for at in (z[self._source], self._source_of(z[self._target], arcs))
        )

    def exceeded(self, x: Floats) -> Rows:
        """The tangents that a solution violates, taken midway between its source and target values."""
        z = self._values(x)
        arcs = np.flatnonzero(z[self._target] > self._reach(z[self._source], self._shift))
        rows = self._rows(arcs, 0.5 * (z[self._source[arcs]] + self._source_of(z[self._target[arcs]], arcs)))
        return rows.take(np.flatnonzero(rows.excess(x) > EXCEEDED))

    def excess(self, x: Floats) -> float:
        """The largest amount, in z, by which a solution exceeds the curve."""
        z = self._values(x)
        return float(np.max(z[self._target] - self._reach(z[self._source], self._shift), initial=0.0))

    def _source_of(self, z: Floats, arcs: Indices) -> Floats:
        """The source value for which the bound of these arcs is z: swapping the answers mirrors the bound."""
        return -self._reach(-z, self._shift[arcs])

    def _values(self, x: Floats) -> Floats:
        tail = self._coordinate.from_probability(np.clip(x * np.exp(self._log_tail), 0.0, 1.0))
        return np.clip(np.where(self._tail_is_p, tail, -tail), -self._deepest, self._deepest)

    def _rows(self, arcs: Indices, z: Floats) -> Rows:
        """The tangents at z of the source. Close to 1 they are expressed in 1 − p, so that rounding loses no tail."""
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

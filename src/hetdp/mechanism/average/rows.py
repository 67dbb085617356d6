"""The rows of the linear program: what an edge allows, written in the tails of a reference mechanism.

The variable of a dataset is x = tail / (tail of the reference), where the tail is the smaller of p and 1 − p under the
reference. Near the reference all x are near 1, however small the tails are, and a solver's tolerances are relative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from hetdp.problem.problem import Problem
from hetdp.problem.space import EdgeBlock, Floats, Indices, Mask

LARGEST = 600.0  # of exponents; what is larger constrains nothing
Promises = tuple[Floats, Floats]


def _without_delta(parameters: tuple[Floats, ...]) -> Promises:
    return parameters[0], np.zeros_like(parameters[0])


def _with_delta(parameters: tuple[Floats, ...]) -> Promises:
    return parameters[0], parameters[2]


# For each notion: ε and δ of an arc u → v, where the probability of either answer at u is ≤ e^ε · that at v + δ.
LINEAR: dict[str, Callable[[tuple[Floats, ...]], Promises]] = {
    "pure": _without_delta,
    "directed": _without_delta,
    "approximate": _with_delta,
}


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
    epsilon, delta = LINEAR[problem.notion.name](tuple(parameter[inside] for parameter in block.parameters))
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

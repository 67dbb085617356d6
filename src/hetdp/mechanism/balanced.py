"""Balanced pins: values for the boundary when none are given, with the smallest possible worst error.

docs/theory/balanced-pins.md has the statement and its proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from hetdp.engines.registry import engine_for
from hetdp.mechanism.limits import limits
from hetdp.mechanism.products import start_labels
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.space import EdgeBlock, Floats
from hetdp.theory.notion import Notion


def balanced_pins(problem: Problem, engine: str = "auto") -> PartialMechanism:
    """The boundary values of the balanced mechanism."""
    return PartialMechanism(z=np.where(problem.boundary_mask, balanced(problem, engine), np.nan))


def balanced_with(problem: Problem, pins: Floats, engine: str = "auto") -> Floats:
    """z of the balanced mechanism at every dataset, moved to where the given values allow it; they are compatible."""
    z = balanced(problem, engine)
    if np.isnan(pins).all():
        return z
    return limits(problem, pins, engine_for(engine, problem.graph, problem.notion, "grow")).between(z)


def balanced(problem: Problem, engine: str = "auto") -> Floats:
    """z of the balanced mechanism everywhere: error e^−D with D the least Σε to an edge between the answers.

    One grow over all edges from z = log((1 + e^ε)/2) at both ends of every edge between the answers. All labels are
    ≥ 0, so it serves both answers; they are rounded toward ½, so the pins are exactly private as they stand.
    """
    graph, answers = problem.graph, problem.answers
    start = start_labels(problem, graph) if isinstance(graph, ProductSpace) else _start(problem)
    labels = engine_for(engine, graph, problem.notion, "grow").grow(graph, problem.notion, start).labels
    return np.where(answers == 1, labels, -labels) + 0.0


def _start(problem: Problem) -> Floats:
    """Where two meet, at both ends of every edge between the answers."""
    start = np.full(problem.graph.size, np.inf)
    meets(problem.graph.edge_blocks(), problem.answers, problem.notion, start)
    return start


def meets(blocks: Iterable[EdgeBlock], answers: Answers, notion: Notion, start: Floats) -> None:
    """Lowers the start of every source of an arc between the answers to where the two meet."""
    for block in blocks:
        across = np.flatnonzero(answers[block.source] != answers[block.target])
        columns = [column[across] for column in block.parameters]
        met = columns[0] if len(columns) == 1 else _each(notion.meet, *columns)
        np.minimum.at(start, block.source[across], met)
    if len(notion.parameters) == 1:  # the least parameter meets first
        boundary = start < np.inf
        start[boundary] = _each(notion.meet, start[boundary])


def _each(function: Callable[..., float], *columns: Floats) -> Floats:
    """The values of a function, row by row; once for rows that are alike."""
    different, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return np.array([function(*row) for row in different.tolist()])[which.ravel()]

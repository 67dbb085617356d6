"""Balanced pins: values for the boundary when none are given, with the smallest possible worst error.

docs/theory/balanced-pins.md has the statement and its proof.
"""

from __future__ import annotations

import numpy as np

from hetdp.engines.registry import engine_for
from hetdp.mechanism.products import start_labels
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace


def balanced_pins(problem: Problem, engine: str = "auto") -> PartialMechanism:
    """The boundary values of the balanced mechanism: error e^−D with D the least Σε to an edge between the answers.

    One grow over all edges from z = log((1 + e^ε)/2) at both ends of every edge between the answers. All labels are
    ≥ 0, so it serves both answers; they are rounded toward ½, so the pins are exactly private as they stand.
    """
    graph, answers, notion = problem.graph, problem.answers, problem.notion
    start = np.full(graph.size, np.inf)
    if isinstance(graph, ProductSpace):
        start = start_labels(problem, graph)
    for block in () if isinstance(graph, ProductSpace) else graph.edge_blocks():
        across = np.flatnonzero(answers[block.source] != answers[block.target])
        edges = np.stack([column[across] for column in block.parameters], axis=1)
        different, which = np.unique(edges, axis=0, return_inverse=True)
        points = np.array([notion.meet(*edge) for edge in different.tolist()])[which.ravel()]
        np.minimum.at(start, block.source[across], points)
    labels = engine_for(engine, graph, problem.notion, "grow").grow(graph, problem.notion, start).labels
    signed = np.where(answers == 1, labels, -labels)
    return PartialMechanism(z=np.where(problem.boundary_mask, signed, np.nan))

"""The objective `balanced`: the smallest possible worst error, in closed form.

`balanced` computes its values on any problem, `balanced_pins` and `balanced_with` the values of the boundary without
and with given ones. `balanced_mechanism` builds the mechanism on spaces of people with a single search, and stores
neither edges nor extra copies of all labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import verify
from hetdp.engines.registry import EngineName, engine_for
from hetdp.errors import VerificationError
from hetdp.interrupts import uninterrupted
from hetdp.mechanism.mechanism import LocalMechanism, sealed
from hetdp.mechanism.repair import limits
from hetdp.problem.grid import round_labels_down
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.space import SMALL, EdgeBlock, Floats, Indices
from hetdp.theory.notion import Notion


def start_labels(problem: Problem, space: ProductSpace) -> Floats:
    """Start labels on the grid: log((1 + e^ε)/2) at both ends of every edge between the answers."""
    if space.arc_count > SMALL:
        with uninterrupted():
            from hetdp.engines.product.meetings import meeting_labels
        return meeting_labels(space, problem.notion, problem.answers)
    start = np.full(space.size, np.inf)
    for block in space.edge_blocks():
        across = np.flatnonzero(problem.answers[block.source] != problem.answers[block.target])
        different, which = np.unique(block.parameters[0][across], return_inverse=True)
        points = np.array([problem.notion.meet(epsilon) for epsilon in different.tolist()])
        np.minimum.at(start, block.source[across], points[which])
    return round_labels_down(start)


def balanced_mechanism(problem: Problem, space: ProductSpace, engine: EngineName = "auto") -> LocalMechanism:
    """The balanced mechanism, by one search: its labels are those of the extension from its own boundary.

    docs/theory/products.md proves that the second search, which `extend` would run, finds the same labels again.
    """
    z, links = _grown(problem, space, engine)
    mechanism = LocalMechanism(problem, z, problem.boundary_mask.copy(), links)
    progress.report_stage("proving every edge")
    proof = verify(problem, mechanism)
    if not (proof.private and proof.optimal):
        raise VerificationError(proof)
    return sealed(replace(mechanism, certificate=proof, objective="balanced"))


def _grown(problem: Problem, space: ProductSpace, engine: EngineName) -> tuple[Floats, Indices]:
    """z and links; the start labels are freed here, before the proof needs memory."""
    chosen = engine_for(engine, space, problem.notion, "grow")
    growth = chosen.grow(space, problem.notion, start_labels(problem, space))
    z, links = growth.labels, growth.links
    links[problem.boundary_mask] = -1
    np.negative(z, out=z, where=problem.answers == 2)
    np.add(z, 0.0, out=z)  # turns −0.0 into 0.0
    return z, links


# Values on any problem ------------------------------------------------------------------------------------------------


def balanced_pins(problem: Problem, engine: EngineName = "auto") -> PartialMechanism:
    """The boundary values of the balanced mechanism."""
    return PartialMechanism(z=np.where(problem.boundary_mask, balanced(problem, engine), np.nan))


def balanced_with(problem: Problem, pins: Floats, engine: EngineName = "auto") -> Floats:
    """z of the balanced mechanism at every dataset, limited to what the given values, which are compatible, allow."""
    z = balanced(problem, engine)
    if np.isnan(pins).all():
        return z
    return limits(problem, pins, engine_for(engine, problem.graph, problem.notion, "grow")).between(z)


def balanced(problem: Problem, engine: EngineName = "auto") -> Floats:
    """z of the balanced mechanism at every dataset: error e^−D, with D the smallest Σε to an edge between the answers.

    It takes one growth over all edges from z = log((1 + e^ε)/2) at both ends of every edge between the answers. All
    labels are ≥ 0, so the growth serves both answers. They are rounded toward ½, so the pins are exactly private.
    """
    graph, answers = problem.graph, problem.answers
    start = start_labels(problem, graph) if isinstance(graph, ProductSpace) else _start(problem)
    labels = engine_for(engine, graph, problem.notion, "grow").grow(graph, problem.notion, start).labels
    return np.where(answers == 1, labels, -labels) + 0.0


def _start(problem: Problem) -> Floats:
    """The meeting labels at both ends of every edge between the answers."""
    start = np.full(problem.graph.size, np.inf)
    meets(problem.graph.edge_blocks(), problem.answers, problem.notion, start)
    return start


def meets(blocks: Iterable[EdgeBlock], answers: Answers, notion: Notion, start: Floats) -> None:
    """Lowers the start of every source of an arc between the answers to the meeting label."""
    for block in blocks:
        across = np.flatnonzero(answers[block.source] != answers[block.target])
        columns = [column[across] for column in block.parameters]
        met = columns[0] if len(columns) == 1 else _each(notion.meet, *columns)
        np.minimum.at(start, block.source[across], met)
    if len(notion.parameters) == 1:  # the smallest parameter meets first
        boundary = start < np.inf
        start[boundary] = _each(notion.meet, start[boundary])


def _each(function: Callable[..., float], *columns: Floats) -> Floats:
    """Applies a function to each row; equal rows are computed once."""
    different, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return np.array([function(*row) for row in different.tolist()])[which.ravel()]

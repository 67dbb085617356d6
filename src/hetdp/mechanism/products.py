"""The balanced mechanism on spaces of people, where neither edges nor spare copies of all labels are kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import verify
from hetdp.engines.registry import engine_for
from hetdp.errors import VerificationError
from hetdp.interrupts import load_whole
from hetdp.mechanism.mechanism import Mechanism, sealed
from hetdp.problem.grid import floored_labels
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import SMALL, Floats, Indices


def start_labels(problem: Problem, space: ProductSpace) -> Floats:
    """Where balanced labels start: log((1 + e^ε)/2) at both ends of every edge between the answers, on the grid."""
    if space.arc_count > SMALL:
        meetings = load_whole("hetdp.engines.product.meetings")
        found: Floats = meetings.meeting_labels(space, problem.notion, problem.answers)
        return found
    start = np.full(space.size, np.inf)
    for block in space.edge_blocks():
        across = np.flatnonzero(problem.answers[block.source] != problem.answers[block.target])
        different, which = np.unique(block.parameters[0][across], return_inverse=True)
        points = np.array([problem.notion.meet(epsilon) for epsilon in different.tolist()])
        np.minimum.at(start, block.source[across], points[which])
    return floored_labels(start)


def balanced_mechanism(problem: Problem, space: ProductSpace, engine: str = "auto") -> Mechanism:
    """The balanced mechanism, by one search: its labels are those of the extension from its own boundary.

    docs/theory/products.md says why the second search, which `extend` would make, finds the same labels again.
    """
    z, links = _grown(problem, space, engine)
    mechanism = Mechanism(problem, z, problem.boundary_mask.copy(), links)
    progress.stage("proving every edge")
    proof = verify(problem, mechanism)
    if not (proof.private and proof.optimal):
        raise VerificationError(proof)
    return sealed(replace(mechanism, certificate=proof, objective="balanced"))


def _grown(problem: Problem, space: ProductSpace, engine: str) -> tuple[Floats, Indices]:
    """z and links; the start labels are given up here, before anything is proved."""
    chosen = engine_for(engine, space, problem.notion, "grow")
    growth = chosen.grow(space, problem.notion, start_labels(problem, space))
    z, links = growth.labels, growth.links
    links[problem.boundary_mask] = -1
    np.negative(z, out=z, where=problem.answers == 2)
    np.add(z, 0.0, out=z)  # no zero has a sign
    return z, links

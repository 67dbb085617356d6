"""The objective `balanced`: the smallest possible worst error, in closed form.

`balanced_coordinates` computes its values on any problem, `balanced_pins` and `balanced_with_pins` the values of the
boundary without and with given ones. `balanced_mechanism` builds the mechanism on spaces of people with a single
search, and stores neither edges nor extra copies of all labels; `balanced_on_device` does so on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import verify
from hetdp.certificate.device_survey import DeviceClaim, verify_on_device
from hetdp.device import log_fallback
from hetdp.engines.contract import Engine
from hetdp.engines.gpu.engine import (
    MOST_LINKS,
    GpuEngine,
    download_labels,
    find_links,
    grow_balanced,
    sign,
    upload_states,
)
from hetdp.engines.registry import EngineName, engine_for
from hetdp.errors import DeviceError, VerificationError
from hetdp.interrupts import delay_interrupts
from hetdp.mechanism.mechanism import LocalMechanism, seal
from hetdp.mechanism.repair import limits
from hetdp.problem.decimals import round_labels_down
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.space import SMALL_SPACE, EdgeBlock, Floats, Indices
from hetdp.theory.notion import Notion


def start_labels(problem: Problem, space: ProductSpace) -> Floats:
    """Start labels on the grid: log((1 + e^ε)/2) at both ends of every edge between the answers."""
    if space.arc_count > SMALL_SPACE:
        with delay_interrupts():
            from hetdp.engines.product.engine import meeting_labels
        return meeting_labels(space, problem.notion, problem.answers)[0]
    start = np.full(space.size, np.inf)
    for block in space.edge_blocks():
        across = np.flatnonzero(problem.answers[block.source] != problem.answers[block.target])
        different, which = np.unique(block.parameters[0][across], return_inverse=True)
        points = np.array([problem.notion.meet(epsilon) for epsilon in different.tolist()])
        np.minimum.at(start, block.source[across], points[which])
    return round_labels_down(start)


def balanced_mechanism(problem: Problem, space: ProductSpace, engine: EngineName = "auto") -> LocalMechanism:
    """The balanced mechanism, by one search: its labels are those of the extension from its own boundary.

    docs/theory/products.md proves that the second search, which `extend` would run, finds the same labels again. With
    the engine gpu, the search and the proof stay on the device, and only the result is brought here.
    """
    chosen = engine_for(engine, space, problem.notion, "grow")
    if isinstance(chosen, GpuEngine):
        found = balanced_on_device(problem, space, chosen)
        if found is not None:
            return found
        chosen = engine_for("product", space, problem.notion, "grow")
    z, links = _grow(problem, space, chosen)
    mechanism = LocalMechanism(problem, z, problem.boundary_mask, links)
    progress.report_stage("proving every edge")
    proof = verify(problem, mechanism)
    if not (proof.private and proof.optimal):
        raise VerificationError(proof)
    return seal(replace(mechanism, certificate=proof, objective="balanced"))


def balanced_on_device(problem: Problem, space: ProductSpace, engine: GpuEngine) -> LocalMechanism | None:
    """The balanced mechanism, grown and proved on a device; None if the device cannot do so exactly.

    Raises:
        DeviceError: the device failed, and the engine insists on it.
        VerificationError: privacy could not be proved, which would be a bug.
    """
    device = engine.device
    try:
        answers, states = device.upload(problem.answers.view(np.uint8)), upload_states(device, space)
        grown = grow_balanced(device, space, problem.notion, answers, states)
        if grown is None or space.size >= MOST_LINKS:
            return None
        labels, boundary = grown
        links = device.download(find_links(device, space, labels, boundary, states))
        sign(device, labels, answers)
        progress.report_stage("proving every edge")
        proof = verify_on_device(problem, space, device, DeviceClaim(labels, answers, boundary, states))
        z, pinned = download_labels(device, labels), device.download(boundary).view(np.bool_)
    except DeviceError as refusal:
        if engine.insists:
            raise
        log_fallback(refusal)
        return None
    mechanism = LocalMechanism(problem, z, pinned, links)
    if proof.private and not proof.optimal:  # chains of equal values, where ε = 0, need links
        proof = verify(problem, mechanism)
    if not (proof.private and proof.optimal):
        raise VerificationError(proof)
    return seal(replace(mechanism, certificate=proof, objective="balanced"))


def _grow(problem: Problem, space: ProductSpace, chosen: Engine) -> tuple[Floats, Indices]:
    """z and links. The product engine grows them in place; the labels of others are few."""
    boundary = problem.boundary_mask
    if chosen.name == "product":
        with delay_interrupts():
            from hetdp.engines.product.engine import grow_balanced
        found = grow_balanced(space, problem.notion, problem.answers, boundary)
        if found is not None:
            return found.labels, found.links
    growth = chosen.grow(space, problem.notion, start_labels(problem, space))
    z = np.where(problem.answers == 1, growth.labels, -growth.labels) + 0.0  # turns −0.0 into 0.0
    return z, np.where(boundary, -1, growth.links)


# Values on any problem ------------------------------------------------------------------------------------------------


def balanced_pins(problem: Problem, engine: EngineName = "auto") -> PartialMechanism:
    """The boundary values of the balanced mechanism."""
    return PartialMechanism(z=np.where(problem.boundary_mask, balanced_coordinates(problem, engine), np.nan))


def balanced_with_pins(problem: Problem, pins: Floats, engine: EngineName = "auto") -> Floats:
    """z of the balanced mechanism at every dataset, limited to what the given values, which are compatible, allow."""
    z = balanced_coordinates(problem, engine)
    if np.isnan(pins).all():
        return z
    return limits(problem, pins, engine_for(engine, problem.graph, problem.notion, "grow")).between(z)


def balanced_coordinates(problem: Problem, engine: EngineName = "auto") -> Floats:
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
    lower_to_meeting(problem.graph.edge_blocks(), problem.answers, problem.notion, start)
    return start


def lower_to_meeting(blocks: Iterable[EdgeBlock], answers: Answers, notion: Notion, start: Floats) -> None:
    """Lowers the start of every source of an arc between the answers to the meeting label."""
    for block in blocks:
        across = np.flatnonzero(answers[block.source] != answers[block.target])
        columns = [column[across] for column in block.parameters]
        met = columns[0] if len(columns) == 1 else _apply_to_rows(notion.meet, *columns)
        np.minimum.at(start, block.source[across], met)
    if len(notion.parameters) == 1:  # the smallest parameter meets first
        boundary = start < np.inf
        start[boundary] = _apply_to_rows(notion.meet, start[boundary])


def _apply_to_rows(function: Callable[..., float], *columns: Floats) -> Floats:
    """Applies a function to each row; equal rows are computed once."""
    different, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return np.array([function(*row) for row in different.tolist()])[which.ravel()]

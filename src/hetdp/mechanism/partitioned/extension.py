"""extend and check on partitions: the steps of `extension` and `compatibility`, each a task for every partition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hetdp import progress
from hetdp.certificate.certificate import is_private_in_parts, verify
from hetdp.engines.dask.rounds import Growth, grow
from hetdp.errors import NoExtensionError, VerificationError
from hetdp.mechanism.compatibility import NEAR_MISS, Verdict, Witness, witness_of
from hetdp.mechanism.partitioned.mechanism import PartitionedMechanism
from hetdp.mechanism.partitioned.pins import pins_named
from hetdp.mechanism.partitioned.results import (
    FALLEN,
    boundary_fault,
    fallen_pins,
    finish_closing,
    finish_extension,
    finish_witness,
    free_boundary,
    moved_from,
    worst_drop,
)
from hetdp.mechanism.partitioned.starts import start_closing, start_extension
from hetdp.mechanism.partitioned.tracing import path_of, trace
from hetdp.problem.findings import Findings
from hetdp.problem.partitioned import PartitionedProblem, Task, forget, require_dask
from hetdp.problem.spelling import brief

TURNS = 4  # of closing downward and upward, as on one machine


def extend_parts(
    problem: PartitionedProblem, partial: Any, engine: str = "dask", attach: bool = True
) -> PartitionedMechanism:
    """Extends p from the pinned datasets to all; see `extend`."""
    require_dask(engine)
    name = problem.new_name("extend")
    return extend_named(problem, pins_named(problem, partial, f"{name}-given"), name, attach)


def extend_named(problem: PartitionedProblem, given: str, name: str, attach: bool = True) -> PartitionedMechanism:
    """The same for pins that lie in the work folder."""
    _refuse_free_boundary(problem, given)
    pins = given
    for turn, upward in enumerate((False, True) * TURNS):
        mechanism, fits = _from_pins(problem, pins, f"{name}-{turn}", attach)
        if fits:
            return replace(mechanism, moved=max(problem.run(moved_from, given, pins)))
        progress.stage("searching again, from closed pins")
        pins = _close(problem, given, pins, f"{name}-closed-{turn}", upward)
    mechanism, _ = _from_pins(problem, pins, f"{name}-last", attach)
    raise VerificationError(verify(problem, mechanism))


def _from_pins(problem: PartitionedProblem, pins: str, name: str, attach: bool) -> tuple[PartitionedMechanism, bool]:
    """The extension by one search over both answers, and whether the pins bear it."""
    growth = grow(problem, f"{name}-search", start_extension, pins, with_roles=True)
    fell = max(after(problem, growth, finish_extension, pins, name))
    forget(problem, growth.search)
    mechanism = PartitionedMechanism(problem, name, rounds=growth.rounds, told=tuple(growth.told))
    if fell > NEAR_MISS:
        return mechanism, False
    progress.stage("proving every edge")
    if attach or fell > 0.0:
        proof = verify(problem, mechanism)
        return replace(mechanism, certificate=proof), proof.private and (proof.optimal or fell == 0.0)
    return mechanism, is_private_in_parts(problem, name)


def _close(problem: PartitionedProblem, given: str, pins: str, name: str, upward: bool) -> str:
    """Pins that miss by a rounding, moved to where they fit."""
    sign = -1.0 if upward else 1.0
    growth = grow(problem, f"{name}-search", start_closing, pins, sign)
    if not upward and max(after(problem, growth, worst_drop, given)) > NEAR_MISS:
        verdict = judge_parts(problem, given, f"{name}-verdict")
        if not verdict.compatible:
            raise NoExtensionError(verdict.witness, verdict.repair)
    after(problem, growth, finish_closing, pins, sign, name)
    forget(problem, growth.search)
    return name


def check_parts(problem: PartitionedProblem, partial: Any, engine: str = "dask") -> Verdict:
    """Decides whether a private mechanism with these values exists; see `check`."""
    require_dask(engine)
    name = problem.new_name("check")
    return judge_parts(problem, pins_named(problem, partial, f"{name}-given"), name)


def judge_parts(problem: PartitionedProblem, given: str, name: str) -> Verdict:
    """The verdict on pins: one growth from all of them over all edges. There is a witness, but no repair."""
    growth = grow(problem, f"{name}-search", start_closing, given, 1.0)
    moved = max(after(problem, growth, worst_drop, given))
    witness = None
    if moved > NEAR_MISS:
        after(problem, growth, finish_witness, name)
        witness = _first_witness(problem, growth, given, name)
    forget(problem, growth.search)
    return Verdict(witness is None, moved, witness)


def _first_witness(problem: PartitionedProblem, growth: Growth, given: str, name: str) -> Witness | None:
    """The first witness that is exactly right, from the pin that fell furthest on; None if there is none."""
    seen = 0
    while found := [one for some in after(problem, growth, fallen_pins, given, NEAR_MISS, seen) for one in some]:
        for _, number in sorted(found, key=lambda one: (-one[0], one[1])):
            witness = _witness(problem, given, name, number)
            if witness is not None:
                return witness
        seen += FALLEN
    return None


def _witness(problem: PartitionedProblem, given: str, name: str, number: int) -> Witness | None:
    """The chain to a pin that fell, cut at the first pin on it that the chain's start contradicts; None if none is."""
    steps = trace(problem, name, given, number)
    for end in [at for at, step in enumerate(steps) if step.pin - step.z > NEAR_MISS]:
        path = path_of(problem, steps[: end + 1], [step.z for step in steps[: end + 1]], upper=True)
        found = witness_of(path, steps[end].pin, problem.notion)
        if found is not None:
            return found
    return None


def after(problem: PartitionedProblem, growth: Growth, task: Task, *arguments: Any) -> list[Any]:
    """The results of a task on what a search left in every partition."""
    items = [(part, growth.search, growth.latest[part.number], *arguments) for part in problem.parts]
    return problem.workers.run(task, items)


def _refuse_free_boundary(problem: PartitionedProblem, pins: str) -> None:
    findings = Findings("partial mechanism")
    found = problem.run(free_boundary, pins)
    numbers = [number for some, _ in found for number in some][:1000]
    for label in problem.names.labels(numbers):
        findings.add(boundary_fault(brief(label, problem.labels)))
    findings.total += sum(total for _, total in found) - len(numbers)
    findings.raise_if_any()

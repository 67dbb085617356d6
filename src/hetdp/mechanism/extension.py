"""extend: the unique best private mechanism with the given values, or the proof that there is none.

Paper: Theorem 1 and Algorithm 2, as one search from all pins at once (docs/theory/one-search.md).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import Certificate, is_private, verify
from hetdp.certificate.certificate import verify as prove
from hetdp.engines.contract import Engine, Role, Roles
from hetdp.engines.registry import EngineName, engine_for
from hetdp.errors import Fault, InputError, NoExtensionError, UsageError, VerificationError
from hetdp.interrupts import import_uninterrupted
from hetdp.mechanism.compatibility import NEAR_MISS, close, drops, judge
from hetdp.mechanism.explanation import POLISH
from hetdp.mechanism.mechanism import LocalMechanism, sealed
from hetdp.partitioned.problem import PartitionedProblem
from hetdp.problem.edges import PROBABILITY_RULE
from hetdp.problem.faults import FaultCollector
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.partial import PartialMechanism, pins_of
from hetdp.problem.problem import Problem, notion_for
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats
from hetdp.problem.spelling import shorten_label
from hetdp.text import format_value
from hetdp.theory.catalogue import NotionName

TURNS = 4  # of closing downward and upward; one is nearly always enough


def extend(
    problem: Problem | PartitionedProblem, partial: Any, engine: EngineName = "auto", verify: bool = True
) -> LocalMechanism:
    """Extends p from the pinned datasets to all, as accurately as privacy allows at every dataset at once.

    Args:
        problem: datasets, ε and query; a PartitionedProblem is extended by its workers, to a PartitionedMechanism.
        partial: values on a set of datasets that contains the boundary: mapping label → p, an array with NaN where not
            given, or a PartialMechanism.
        engine: "auto", "cpu" or "reference", and "dask" on partitions; all give the same bits.
        verify: prove that the result is private and optimal, and attach the certificate. Without it, every edge is
            checked all the same, but nothing is said about optimality.

    Raises:
        InputError: listing every fault, among them boundary datasets without a value.
        NoExtensionError: no private mechanism has these values; with witness and repair.
        VerificationError: privacy could not be proved, which would be a bug; nothing is returned. (A private result
            that is not shown to be optimal, likewise a bug, is returned, and its certificate says so.)

    Paper: Theorem 1, Algorithm 2.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [2.0, 1.0])
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    >>> round(hetdp.extend(problem, {"b": 0.7, "c": 0.3})["a"], 4)
    0.9594
    """
    if isinstance(problem, PartitionedProblem):
        extend_parts = import_uninterrupted("hetdp.partitioned.extension").extend_parts
        found: LocalMechanism = extend_parts(problem, partial, engine, verify)
        return found
    given = pins_of(partial, problem)
    _refuse_free_boundary(problem, given)
    chosen = engine_for(engine, problem.graph, problem.notion, "grow")
    pins = given
    for upward in (False, True) * TURNS:
        mechanism, fits = _from_pins(problem, pins, chosen, verify)
        if fits:
            moved = float(np.max(np.maximum(drops(given, pins), drops(-given, -pins)), initial=0.0))
            return sealed(replace(mechanism, moved=moved))
        progress.report_stage("searching again, from closed pins")
        pins = _close(problem, given, pins, chosen, upward)
    raise VerificationError(_certified(problem, _from_pins(problem, pins, chosen, verify)[0])[1])


def _from_pins(problem: Problem, pins: Floats, engine: Engine, attach: bool) -> tuple[LocalMechanism, bool]:
    """The extension by one search over both answers, and whether the pins bear it."""
    ones, pinned = problem.answers == 1, ~np.isnan(pins)
    start, roles = search_from(problem, pins)
    growth = engine.grow(problem.graph, problem.notion, start, roles)
    z = np.where(pinned, pins, np.where(ones, growth.labels, -growth.labels)) + 0.0  # no zero has a sign
    mechanism = LocalMechanism(problem, z, pinned, np.where(pinned, -1, growth.links))
    fell = np.max(drops(start, growth.labels)[pinned], initial=0.0)
    if fell > NEAR_MISS:
        return mechanism, False
    progress.report_stage("proving every edge")
    if attach or fell > 0.0:
        mechanism, proof = _certified(problem, mechanism)
        return mechanism, proof.private and (proof.optimal or fell == 0.0)
    return mechanism, is_private(problem, mechanism)


def search_from(problem: Problem, pins: Floats) -> tuple[Floats, Roles]:
    """Start labels, signed so that larger is better, and roles: what one search over both answers begins with."""
    ones, pinned = problem.answers == 1, ~np.isnan(pins)
    roles = np.where(pinned, Role.PINNED, np.where(ones, Role.FREE_1, Role.FREE_2)).astype(np.uint8)
    return np.where(pinned, np.where(ones, pins, -pins), np.inf), roles


def _close(problem: Problem, given: Floats, pins: Floats, engine: Engine, upward: bool) -> Floats:
    """Pins that miss by a rounding, moved to where they fit: downward, and if edges across ½ still miss, upward.

    Pins of which `check` says that they contradict each other are refused.
    """
    if upward:
        return np.where(np.isnan(pins), np.nan, -close(problem, -pins, engine).labels)
    closed = close(problem, pins, engine)
    if np.max(drops(given, closed.labels), initial=0.0) > NEAR_MISS:
        verdict = judge(problem, given, engine, close(problem, given, engine))
        if not verdict.compatible:
            raise NoExtensionError(verdict.witness, verdict.repair)
    return np.where(np.isnan(pins), np.nan, closed.labels)


def _certified(problem: Problem, mechanism: LocalMechanism) -> tuple[LocalMechanism, Certificate]:
    """The mechanism with its proof attached."""
    proof = prove(problem, mechanism)
    return replace(mechanism, certificate=proof), proof


def _refuse_free_boundary(problem: Problem, pins: Floats) -> None:
    findings = FaultCollector("partial mechanism")
    rule = "every dataset with a neighbour of the other answer has a value"
    hint = "hetdp.design chooses values where there are none"

    def fault_at(at: int) -> Fault:
        place = f"dataset {shorten_label(problem.graph.label(at), problem.labels)}"
        return Fault("boundary dataset without p", place, "", rule, hint)

    findings.add_where(problem.boundary_mask & np.isnan(pins), fault_at)
    findings.raise_if_any()


# The bounds that one dataset imposes on all others.


def induced_bounds(
    graph: DatasetGraph | ProductSpace,
    dataset: Hashable,
    alpha: float,
    notion: NotionName | None = None,
    engine: EngineName = "auto",
) -> Floats:
    """The strongest upper bound on p at every dataset that follows from p = alpha at one.

    Args:
        graph: datasets and ε.
        dataset: where p is known.
        alpha: p there.
        notion: the notion of privacy by name; default: what the parameters of the edges say.
        engine: which engine searches.

    Returns:
        The bounds, in graph order; 1.0 where no path leads.

    Paper: Algorithm 1, A_{u,α}(v) = min over all paths of U(v).

    >>> graph = DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
    >>> induced_bounds(graph, "a", 0.1).round(4)
    array([0.1   , 0.2718, 0.7321])
    """
    if not isinstance(graph, DatasetGraph | ProductSpace):
        raise UsageError(f"{format_value(graph)} is no graph", "the first argument is a DatasetGraph")
    if not isinstance(alpha, Real) or not 0.0 <= float(alpha) <= 1.0:
        fault = Fault("alpha out of range:", "alpha", format_value(alpha), PROBABILITY_RULE)
        raise InputError("induced bounds", [fault])
    start = np.full(graph.size, np.inf)
    rule = notion_for(graph, notion)
    start[graph.index(dataset)] = rule.coordinate.from_probability(alpha)
    return rule.coordinate.probability(engine_for(engine, graph, rule, "grow").grow(graph, rule, start).labels)


# polish: any private mechanism, made at least as accurate at every dataset.


def polish(problem: Problem, values: Any, engine: EngineName = "auto") -> LocalMechanism:
    """Keeps the values of a private mechanism on the boundary, and makes all others as accurate as they can be then.

    Args:
        problem: datasets, ε and query.
        values: a private mechanism of whatever origin: p at every dataset, as a mapping label → p or as an array, or a
            PartialMechanism with z or error.
        engine: "auto", "cpu" or "reference"; all give the same bits.

    Raises:
        InputError: it is not private; values that miss by a rounding are let pass.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [2.0, 1.0])
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    >>> round(hetdp.polish(problem, {"a": 0.7, "b": 0.7, "c": 0.3})["a"], 4)
    0.9594
    """
    certificate = verify(problem, values)
    if not certificate.private and certificate.slack < -NEAR_MISS:
        rule = "only a private mechanism can be polished"
        raise InputError("values", [Fault("not private:", "values", certificate.violated, rule)])
    z = values.coordinates if isinstance(values, LocalMechanism) else pins_of(values, problem)
    kept = PartialMechanism(z=np.where(problem.boundary_mask, z, np.nan))
    return sealed(replace(extend(problem, kept, engine), objective=POLISH))

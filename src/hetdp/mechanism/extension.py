"""`extend`: the unique best private mechanism with the given values, or a proof that there is none.

`polish` applies it to the boundary values of any private mechanism. `induced_bounds` computes the bounds that a single
dataset imposes on all others.

Paper: Theorem 1 and Algorithm 2, as one search from all pins at once (docs/theory/one-search.md).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from numbers import Real
from typing import Any, overload

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import is_private, verify
from hetdp.certificate.certificate import verify as prove
from hetdp.engines.registry import EngineName, engine_for
from hetdp.errors import Fault, FaultCollector, InputError, UsageError, VerificationError
from hetdp.mechanism.compatibility import require_compatible
from hetdp.mechanism.explanation import POLISH
from hetdp.mechanism.local import LocalSteps, steps_of
from hetdp.mechanism.mechanism import LocalMechanism, Mechanism, MechanismT, seal
from hetdp.mechanism.steps import NEAR_MISS, PinsT, RemoteProblem, Steps
from hetdp.problem.edges import PROBABILITY_RULE
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.partial import values_on
from hetdp.problem.problem import Problem, notion_for
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats
from hetdp.problem.spelling import shorten_label
from hetdp.text import format_value
from hetdp.theory.catalogue import FAMILIES, NotionName
from hetdp.theory.notion import Notion

MOST_ROUNDS = 4  # most rounds of closing pins downward and upward; one is nearly always enough


@overload
def extend(problem: Problem, partial: Any, engine: EngineName = "auto", verify: bool = True) -> LocalMechanism: ...
@overload
def extend(problem: RemoteProblem, partial: Any, engine: EngineName = "auto", verify: bool = True) -> Mechanism: ...
def extend(
    problem: Problem | RemoteProblem, partial: Any, engine: EngineName = "auto", verify: bool = True
) -> Mechanism:
    """Extends p from the pinned datasets to all, as accurately as privacy allows at every dataset at once.

    Args:
        problem: datasets, ε and query; a PartitionedProblem is extended by its workers.
        partial: values on a set of datasets that contains the boundary: a mapping label → p, an array with NaN for free
            datasets, or a PartialMechanism.
        engine: "auto", "cpu" or "reference", and "dask" on partitions; all give the same bits.
        verify: prove that the result is private and optimal, and attach the certificate. If False, every edge is still
            checked, but optimality is not proved.

    Raises:
        InputError: the values have faults, such as boundary datasets without a value; all of them are listed.
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
    steps = steps_of(problem, engine)
    found: Mechanism = extend_from(steps, steps.read_pins(partial), verify)
    return found


def extend_from(steps: Steps[PinsT, MechanismT], given: PinsT, attach: bool = True) -> MechanismT:
    """The algorithm of `extend`: one growth from all pins, then a proof of every edge.

    Pins that miss by a rounding are closed. Where a quick look at the edges between pins shows that they miss, they are
    closed at once, and there is one search and one proof. Otherwise the growths that close them go on from the labels
    of the search. Both ways lead to the same values.

    Args:
        steps: the steps on the problem.
        given: the pins.
        attach: prove that the result is optimal, and attach the certificate; if False, only prove that it is private.
    """
    _refuse_free_boundary(steps, given)
    search = None if steps.sees_violation(given) else steps.search(given)
    if search is not None and not (search.fell > 0.0 and steps.sees_violation(given, search)):
        found = _prove(steps, search.mechanism, search.fell, attach)
        if found is not None:
            return steps.finish(found, 0.0)
    if search is None or search.fell <= NEAR_MISS:
        progress.report_stage("searching again, from closed pins")
        mechanism, moved = steps.close(given, search)
        found = _prove(steps, mechanism, 0.0, attach) if moved <= NEAR_MISS else None
        if found is not None:
            return steps.finish(found, moved)
    return _close_both_ways(steps, given, attach)


def _prove(steps: Steps[PinsT, MechanismT], mechanism: MechanismT, fell: float, attach: bool) -> MechanismT | None:
    """The mechanism, with its certificate if that is asked for; None if it is not valid without moving pins.

    Args:
        steps: the steps on the problem.
        mechanism: the extension from some pins.
        fell: the largest distance by which the search lowered one of them.
        attach: as in `extend_from`.
    """
    if fell > NEAR_MISS:
        return None
    progress.report_stage("proving every edge")
    if attach or fell > 0.0:
        proof = prove(steps.problem, mechanism)
        return steps.attach(mechanism, proof) if proof.private and (proof.optimal or fell == 0.0) else None
    return mechanism if is_private(steps.problem, mechanism) else None


def _close_both_ways(steps: Steps[PinsT, MechanismT], given: PinsT, attach: bool) -> MechanismT:
    """The extension from pins that are closed over all edges, downward, then upward, and so on.

    This refuses pins that contradict each other. Others rarely need it: only if a pin with answer 2 is above what a
    neighbour with answer 1 allows.
    """
    pins, search = given, None
    for upward in (False, True) * MOST_ROUNDS:
        pins = _close(steps, given, pins, upward)
        search = steps.search(pins)
        found = _prove(steps, search.mechanism, search.fell, attach)
        if found is not None:
            return steps.finish(found, steps.distance(given, pins))
    assert search is not None
    raise VerificationError(prove(steps.problem, search.mechanism))


def _close(steps: Steps[PinsT, MechanismT], given: PinsT, pins: PinsT, upward: bool) -> PinsT:
    """Moves pins that miss by rounding to compatible values: downward or, if edges across ½ still miss, upward.

    Pins that `check` finds incompatible are refused.
    """
    with steps.grow(pins, -1.0 if upward else 1.0) as closure:
        if not upward and closure.largest_drop(given) > NEAR_MISS:
            require_compatible(steps, given)
        return closure.close(pins)


def _refuse_free_boundary(steps: Steps[PinsT, MechanismT], pins: PinsT) -> None:
    boundary, faults = steps.free_boundary(pins), FaultCollector("partial mechanism")
    rule = "every dataset with a neighbour of the other answer has a value"
    hint = "hetdp.design chooses values where there are none"
    first = dict(zip(boundary.first, steps.labels_at(boundary.first), strict=True))

    def fault_at(number: int) -> Fault:
        place = f"dataset {shorten_label(first[number], steps.labels)}"
        return Fault("boundary dataset without p", place, "", rule, hint)

    faults.add_first(boundary.first, boundary.free, fault_at)
    faults.raise_if_any()


def extend_local(problem: Problem, pins: Floats, engine: EngineName = "auto") -> LocalMechanism:
    """Like `extend`, for pins that are z in graph order, NaN for free datasets."""
    return extend_from(LocalSteps(problem, engine), pins)


# Bounds from one dataset ----------------------------------------------------------------------------------------------


def induced_bounds(
    graph: DatasetGraph | ProductSpace,
    dataset: Hashable,
    alpha: float,
    notion: NotionName | Notion | None = None,
    engine: EngineName = "auto",
) -> Floats:
    """The strongest upper bound on p at every dataset that follows from p = alpha at one dataset.

    Args:
        graph: datasets and ε.
        dataset: the dataset where p is known.
        alpha: p at that dataset.
        notion: the name of a notion of privacy, or the notion of a problem; by default it follows from the parameters
            of the edges.
        engine: the engine that searches.

    Returns:
        The bounds, in graph order; 1.0 for datasets that no path reaches.

    Paper: Algorithm 1, A_{u,α}(v) = min over all paths of U(v).

    >>> graph = DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
    >>> induced_bounds(graph, "a", 0.1).round(4)
    array([0.1   , 0.2718, 0.7321])
    """
    if not isinstance(graph, DatasetGraph | ProductSpace):
        raise UsageError(f"{format_value(graph)} is not a graph", "the first argument is a DatasetGraph")
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0.0 <= float(alpha) <= 1.0:
        fault = Fault("out of range:", "alpha", format_value(alpha), PROBABILITY_RULE)
        raise InputError("induced bounds", [fault])
    if isinstance(notion, str) and notion in FAMILIES:
        why = "this notion has settings of its own, which a problem holds"
        raise UsageError(f"notion={notion!r} by its name alone", why, "notion=problem.notion")
    start = np.full(graph.size, np.inf)
    rule = notion_for(graph, notion)
    start[graph.index(dataset)] = rule.coordinate.from_probability(alpha)
    return rule.coordinate.probability(engine_for(engine, graph, rule, "grow").grow(graph, rule, start).labels)


# Polishing a private mechanism ----------------------------------------------------------------------------------------


def polish(problem: Problem, values: Any, engine: EngineName = "auto") -> LocalMechanism:
    """Keeps the boundary values of a private mechanism, and makes all others as accurate as privacy then allows.

    Args:
        problem: datasets, ε and query.
        values: a private mechanism of any origin: p at every dataset, as a mapping label → p or as an array, or a
            PartialMechanism with z or error.
        engine: "auto", "cpu" or "reference"; all give the same bits.

    Raises:
        InputError: the mechanism is not private; values that miss by a rounding of floats are accepted. Values that
            a table rounds to a few digits are often not private; ``check(problem, values).repair.pins`` has private
            ones near them.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [2.0, 1.0])
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    >>> round(hetdp.polish(problem, {"a": 0.7, "b": 0.7, "c": 0.3})["a"], 4)
    0.9594
    """
    certificate = verify(problem, values)
    if not certificate.private and certificate.slack < -NEAR_MISS:
        rule = "only a private mechanism can be polished"
        hint = "hetdp.check(problem, values).repair.pins has private values near these"
        raise InputError("values", [Fault("not private:", "values", certificate.violated, rule, hint)])
    z = values.coordinates if isinstance(values, LocalMechanism) else values_on(problem, values)
    boundary_values = np.where(problem.boundary_mask, z, np.nan)
    return seal(replace(extend_local(problem, boundary_values, engine), objective=POLISH))

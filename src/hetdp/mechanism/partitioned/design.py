"""design on partitions: values for the boundary by some searches more, and then `extend`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hetdp.engines.dask.rounds import grow
from hetdp.errors import NoExtensionError, UsageError
from hetdp.mechanism.partitioned.extension import after, extend_named, judge_parts
from hetdp.mechanism.partitioned.fair import fair_pins
from hetdp.mechanism.partitioned.mechanism import PartitionedMechanism, mark_given
from hetdp.mechanism.partitioned.pins import pins_named
from hetdp.mechanism.partitioned.results import Searches, finish_balanced
from hetdp.mechanism.partitioned.starts import start_balanced, start_closing
from hetdp.problem.partitioned import PartitionedProblem, forget, require_dask

FAIR, BALANCED = OBJECTIVES = ("fair", "balanced")


def design_parts(
    problem: PartitionedProblem, objective: str, partial: Any, prior: Any, max_error: Any, engine: str = "dask"
) -> PartitionedMechanism:
    """The fair or the balanced mechanism; see `design`."""
    require_dask(engine)
    require_offered(objective, prior, max_error)
    name = problem.new_name("design")
    given = None if partial is None else _compatible(problem, partial, name)
    limits = {} if given is None else _limits(problem, given, name)
    pins = f"{name}-pins"
    (fair_pins if objective == FAIR else _balanced_pins)(problem, name, pins, given, limits)
    for search in limits:
        forget(problem, search)
    found = replace(extend_named(problem, pins, name), objective=objective)
    if given is not None:
        problem.run(mark_given, found.name, given)
    return found


def require_offered(objective: str, prior: Any, max_error: Any) -> None:
    """Refuses what needs the whole problem in one place."""
    if objective not in OBJECTIVES:
        rule = f"a partitioned problem has the objectives {' and '.join(OBJECTIVES)}"
        raise UsageError(f"the objective {objective} on a partitioned problem", rule, "average fits one machine")
    if prior is not None or max_error is not None:
        raise UsageError("a prior or a largest error on a partitioned problem", "its objectives have neither there")


def _compatible(problem: PartitionedProblem, partial: Any, name: str) -> str:
    """The name of the values that are given; refuses those that no private mechanism has."""
    given = pins_named(problem, partial, f"{name}-given")
    verdict = judge_parts(problem, given, f"{name}-check")
    if not verdict.compatible:
        raise NoExtensionError(verdict.witness, verdict.repair)
    return given


def _limits(problem: PartitionedProblem, given: str, name: str) -> Searches:
    """The searches for the greatest and the least mechanism that has these values."""
    most = grow(problem, f"{name}-most", start_closing, given, 1.0)
    least = grow(problem, f"{name}-least", start_closing, given, -1.0)
    return {search.search: tuple(search.latest) for search in (most, least)}


def _balanced_pins(problem: PartitionedProblem, name: str, pins: str, given: str | None, limits: Searches) -> None:
    """Writes the balanced values of the boundary, in closed form by one search."""
    growth = grow(problem, f"{name}-search", start_balanced, problem.notion.name, problem.gridded)
    after(problem, growth, finish_balanced, pins, given, limits)
    forget(problem, growth.search)

"""design on partitions: the balanced objective, in closed form by one search more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hetdp.engines.dask.rounds import grow
from hetdp.errors import NoExtensionError, UsageError
from hetdp.mechanism.partitioned.extension import after, extend_named, judge_parts, new_name
from hetdp.mechanism.partitioned.mechanism import PartitionedMechanism
from hetdp.mechanism.partitioned.pins import pins_named
from hetdp.mechanism.partitioned.results import finish_balanced, finish_balanced_with
from hetdp.mechanism.partitioned.starts import start_balanced, start_closing
from hetdp.problem.partitioned import PartitionedProblem, forget, require_dask


def design_parts(
    problem: PartitionedProblem, objective: str, partial: Any, prior: Any, max_error: Any, engine: str = "dask"
) -> PartitionedMechanism:
    """The balanced mechanism; see `design`."""
    require_dask(engine)
    require_balanced(objective, prior, max_error)
    name = new_name("design")
    growth = grow(problem, f"{name}-search", start_balanced, problem.notion.name, problem.gridded)
    pins = f"{name}-pins"
    if partial is None:
        after(problem, growth, finish_balanced, pins)
    else:
        given = pins_named(problem, partial, f"{name}-given")
        verdict = judge_parts(problem, given, f"{name}-check")
        if not verdict.compatible:
            raise NoExtensionError(verdict.witness, verdict.repair)
        most = grow(problem, f"{name}-most", start_closing, given, 1.0)
        least = grow(problem, f"{name}-least", start_closing, given, -1.0)
        limits = {search.search: tuple(search.latest) for search in (most, least)}
        after(problem, growth, finish_balanced_with, pins, given, limits)
        forget(problem, most.search)
        forget(problem, least.search)
    forget(problem, growth.search)
    return replace(extend_named(problem, pins, name), objective="balanced")


def require_balanced(objective: str, prior: Any, max_error: Any) -> None:
    """Refuses what needs the whole problem in one place."""
    if objective != "balanced":
        rule = "a partitioned problem has the objective balanced"
        raise UsageError(
            f"the objective {objective} on a partitioned problem", rule, "fair and average fit one machine"
        )
    if prior is not None or max_error is not None:
        raise UsageError("a prior or a largest error on a partitioned problem", "balanced has neither there")

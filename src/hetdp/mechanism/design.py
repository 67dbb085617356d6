"""design: a mechanism when no values are given, or only some.

What each objective promises, and what it does not:

- fair: the worst-off dataset is answered as well as privacy allows, then the next worst, and so on; it does not
  maximise the average.
- balanced: the smallest possible worst error, in closed form; other datasets may be worse off than under fair, never
  better.
- average: the largest mean accuracy, up to a proved gap; single datasets may be answered worse than by a coin, unless
  max_error says how bad they may be.
- weighted-vote: everybody counts as much as their ε; a closed form for people, nearly as good in the mean as average
  where groups are large, and the best at nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hetdp import progress
from hetdp.engines.registry import engine_for
from hetdp.errors import NoExtensionError, UsageError
from hetdp.interrupts import load_whole
from hetdp.mechanism.average.program import require_rows
from hetdp.mechanism.average.search import best_average
from hetdp.mechanism.balanced import balanced_with
from hetdp.mechanism.compatibility import check
from hetdp.mechanism.extension import extend
from hetdp.mechanism.mechanism import Mechanism, sealed
from hetdp.mechanism.prior import shares_of
from hetdp.mechanism.products import balanced_mechanism
from hetdp.mechanism.vote import WEIGHTED_VOTE, weighted_vote
from hetdp.mechanism.wishes import largest_error, require_possible
from hetdp.problem.partial import PartialMechanism, pins_of
from hetdp.problem.partitioned import PartitionedProblem
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats
from hetdp.problem.stored import explicit

OBJECTIVES = ("fair", "balanced", "average")  # of every problem


def design(
    problem: Problem | PartitionedProblem,
    objective: str = "fair",
    partial: Any = None,
    prior: Any = None,
    max_error: float | None = None,
    engine: str = "auto",
) -> Mechanism:
    """The best private mechanism for an objective, where `extend` needs values for the boundary.

    Args:
        problem: datasets, ε and query; a PartitionedProblem has the objectives fair and balanced.
        objective: "fair" (the worst-off dataset is answered as well as privacy allows, then the next worst, and so on),
            "balanced" (the smallest possible worst error, in closed form; nowhere better than fair; with values given
            beforehand, the smallest over all datasets, those included), or "average" (the
            largest mean accuracy; single datasets may be answered worse than by a coin). How close an average is to the
            best possible one is proved, and stands in `objective_gap` of the result. For votes and tallies there is
            "weighted-vote" as well: everybody counts as much as their smallest ε, and noise is added; it takes neither
            `partial` nor a search, and `polish` makes it at least as accurate everywhere.
        partial: values that are given beforehand on some datasets; they are kept.
        prior: how much each dataset counts in the average: a mapping label → number, a sequence in graph order,
            "uniform", or "weight" for the problem's weights. Default: these if there are any, else uniform.
        max_error: what the probability of a wrong answer must not exceed, wherever no value is given.
        engine: "auto", "cpu" or "reference"; all give the same bits.

    Raises:
        InputError: no private mechanism has errors as small as max_error; or weights that are all zero.
        NoExtensionError: no private mechanism has the values given beforehand; with witness and repair.
        UsageError: there is no such objective, or not for this problem.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [2.0, 1.0])
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    >>> {dataset: round(p, 3) for dataset, p in dict(hetdp.design(problem)).items()}
    {'a': 0.964, 'b': 0.731, 'c': 0.269}
    """
    if isinstance(problem, PartitionedProblem):
        design_parts = load_whole("hetdp.mechanism.partitioned.design").design_parts
        found: Mechanism = design_parts(problem, objective, partial, prior, max_error, engine)
        return found
    if objective not in (*OBJECTIVES, WEIGHTED_VOTE):
        rule = f"an objective is one of {', '.join(OBJECTIVES)}, and for people {WEIGHTED_VOTE}"
        raise UsageError(f"unknown objective {objective!r}", rule)
    if prior is not None and objective != "average":
        raise UsageError(f"a prior, with the objective {objective}", "a prior is what the objective average is about")
    if objective == WEIGHTED_VOTE:
        return _voted(problem, partial, largest_error(max_error))
    if objective == "balanced" and partial is None and max_error is None and isinstance(problem.graph, ProductSpace):
        return balanced_mechanism(problem, problem.graph, engine)
    pins = pins_of(PartialMechanism() if partial is None else partial, problem)
    limit = largest_error(max_error)
    if objective == "average":
        require_rows(problem)
        weights = shares_of(problem, prior)
        fair = _fair(problem, pins, engine)
        require_possible(problem, fair, pins, limit)
        return best_average(problem, pins, fair, weights, limit, engine)
    chosen = (_fair if objective == "fair" else _balanced)(problem, pins, engine)
    if limit is not None:
        require_possible(problem, _fair(problem, pins, engine), pins, limit)
        require_possible(problem, chosen, pins, limit, f"the {objective} mechanism's")
    kept = np.where(np.isnan(pins), np.where(problem.boundary_mask, chosen, np.nan), pins)
    best = extend(problem, PartialMechanism(z=kept), engine)
    return sealed(replace(best, objective=objective, given=~np.isnan(pins)))


def _voted(problem: Problem, partial: Any, limit: float | None) -> Mechanism:
    """The weighted vote, if nothing is asked of it that a formula cannot give."""
    if partial is not None:
        rule = "the weighted vote gives every value itself"
        raise UsageError(f"values given beforehand, with the objective {WEIGHTED_VOTE}", rule)
    found = weighted_vote(problem)
    if limit is not None:
        require_possible(problem, found.coordinates, np.full(len(found), np.nan), limit, "the weighted vote's")
    return found


def _require_compatible(problem: Problem, pins: Floats, engine: str) -> bool:
    """Whether there are pins; refuses those that no private mechanism has."""
    given = not np.isnan(pins).all()
    if given:
        verdict = check(problem, PartialMechanism(z=pins), engine)
        if not verdict.compatible:
            raise NoExtensionError(verdict.witness, verdict.repair)
    return given


def _balanced(problem: Problem, pins: Floats, engine: str) -> Floats:
    """The balanced mechanism with these pins, at every dataset."""
    _require_compatible(problem, pins, engine)
    return balanced_with(problem, pins, engine)


def _fair(problem: Problem, pins: Floats, engine: str) -> Floats:
    """The fair mechanism with these pins, at every dataset."""
    given = _require_compatible(problem, pins, engine)
    graph = explicit(problem.graph) if isinstance(problem.graph, ProductSpace) else problem.graph
    chosen = engine_for(engine, graph, problem.notion, "settle")
    progress.stage("searching for the fair values")
    ones = problem.answers == 1
    signed = np.where(ones, pins, -pins)
    labels = chosen.settle(graph, problem.notion, problem.answers, signed if given else None).labels
    return np.where(ones, labels, -labels) + 0.0

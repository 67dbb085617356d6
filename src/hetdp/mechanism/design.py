"""What a user may ask of a design beside its objective: a largest error."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import Any, Literal, cast

import numpy as np

from hetdp import progress
from hetdp.engines.registry import EngineName, engine_for
from hetdp.errors import Fault, InputError, NoExtensionError, UsageError
from hetdp.interrupts import import_uninterrupted
from hetdp.mechanism.average.program import require_rows
from hetdp.mechanism.average.search import best_average
from hetdp.mechanism.balanced import balanced_mechanism, balanced_with
from hetdp.mechanism.compatibility import check
from hetdp.mechanism.extension import extend
from hetdp.mechanism.mechanism import LocalMechanism, sealed
from hetdp.mechanism.vote import WEIGHTED_VOTE, weighted_vote
from hetdp.partitioned.problem import PartitionedProblem
from hetdp.problem.partial import PartialMechanism, pins_of
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace, as_graph
from hetdp.problem.space import Floats
from hetdp.problem.values import weights_of
from hetdp.text import format_value

ROUNDING = 1e-12  # an error larger than asked by this part of it is a rounding
DIGITS = 6


def largest_error(max_error: Any) -> float | None:
    """The largest error as a number."""
    if max_error is None:
        return None
    if isinstance(max_error, bool) or not isinstance(max_error, Real) or not 0.0 <= float(max_error) <= 1.0:
        raise UsageError(
            f"max_error={format_value(max_error)}", "it is a number from 0 to 1, the largest probability of error"
        )
    return float(max_error)


def require_possible(
    problem: Problem, z: Floats, pins: Floats, max_error: float | None, whose: str = "the smallest possible"
) -> None:
    """Refuses a largest error that this mechanism exceeds; by default it is the fair one, and no other does better."""
    errors = problem.notion.coordinate.error(z, problem.answers)[np.isnan(pins)]
    worst = float(np.max(errors, initial=0.0))
    if max_error is None or worst <= max_error * (1.0 + ROUNDING):
        return
    rounded = math.ceil(worst * 10**DIGITS) / 10**DIGITS
    rule = f"{whose} worst error{'' if np.isnan(pins).all() else ' with the given values'} is {rounded:.{DIGITS}g}"
    raise InputError("max_error", [Fault("no private mechanism keeps to", "max_error", repr(max_error), rule)])


# The prior: how much each dataset counts in a mean.


UNIFORM, WEIGHT, GIVEN = "uniform", "weight", "given"
RULE = "a prior is 'uniform', 'weight' (the problem's own), or a weight for each dataset"


def prior_of(problem: Problem, prior: Any) -> tuple[str, Floats]:
    """What the prior is called, and its weights in graph order, the largest of which is 1."""
    if prior is None:
        prior = UNIFORM if problem.weights is None else WEIGHT
    if isinstance(prior, str):
        return prior, _scaled(_named(problem, prior))
    return GIVEN, _scaled(weights_of(prior, problem.labels))


def shares_of(problem: Problem, prior: Any) -> Floats:
    """The weights of a prior such that they add up to 1."""
    weights = prior_of(problem, prior)[1]
    return np.asarray(weights / math.fsum(weights.tolist())) if len(weights) else weights


def _named(problem: Problem, name: str) -> Floats:
    if name == UNIFORM:
        return np.ones(problem.graph.size)
    if name != WEIGHT:
        raise UsageError(f"unknown prior {format_value(name)}", RULE)
    if problem.weights is None:
        hint = "'uniform' counts every dataset once"
        raise UsageError("the problem has no weights", "the prior 'weight' takes the problem's own", hint)
    return problem.weights


def _scaled(weights: Floats) -> Floats:
    """The same proportions, such that no sum of them leaves the floats."""
    largest = np.max(weights, initial=0.0)
    if len(weights) and not largest:
        raise InputError("prior", [Fault("every weight is 0", "prior", "", "some dataset has a weight above 0")])
    return np.asarray(weights / largest) if len(weights) else weights


# design: a mechanism when no values are given, or only some.


ObjectiveName = Literal["fair", "balanced", "average", "weighted-vote"]  # for type checkers; the last one is for people
OBJECTIVES: tuple[ObjectiveName, ...] = ("fair", "balanced", "average")  # of every problem


OBJECTIVE_RULE = f"an objective is one of {', '.join(OBJECTIVES)}, and for people {WEIGHTED_VOTE}"


def require_objective(name: Any) -> ObjectiveName:
    """The name of an objective, from a caller that has any text.

    Raises:
        UsageError: there is no such objective.
    """
    if name not in [*OBJECTIVES, WEIGHTED_VOTE]:
        raise UsageError(f"unknown objective {format_value(name)}", OBJECTIVE_RULE)
    return cast(ObjectiveName, name)


def design(
    problem: Problem | PartitionedProblem,
    objective: ObjectiveName = "fair",
    partial: Any = None,
    prior: Any = None,
    max_error: float | None = None,
    engine: EngineName = "auto",
) -> LocalMechanism:
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
        design_parts = import_uninterrupted("hetdp.partitioned.design").design_parts
        found: LocalMechanism = design_parts(problem, objective, partial, prior, max_error, engine)
        return found
    require_objective(objective)
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


def _voted(problem: Problem, partial: Any, limit: float | None) -> LocalMechanism:
    """The weighted vote, if nothing is asked of it that a formula cannot give."""
    if partial is not None:
        rule = "the weighted vote gives every value itself"
        raise UsageError(f"values given beforehand, with the objective {WEIGHTED_VOTE}", rule)
    found = weighted_vote(problem)
    if limit is not None:
        require_possible(problem, found.coordinates, np.full(len(found), np.nan), limit, "the weighted vote's")
    return found


def _require_compatible(problem: Problem, pins: Floats, engine: EngineName) -> bool:
    """Whether there are pins; refuses those that no private mechanism has."""
    given = not np.isnan(pins).all()
    if given:
        verdict = check(problem, PartialMechanism(z=pins), engine)
        if not verdict.compatible:
            raise NoExtensionError(verdict.witness, verdict.repair)
    return given


def _balanced(problem: Problem, pins: Floats, engine: EngineName) -> Floats:
    """The balanced mechanism with these pins, at every dataset."""
    _require_compatible(problem, pins, engine)
    return balanced_with(problem, pins, engine)


def _fair(problem: Problem, pins: Floats, engine: EngineName) -> Floats:
    """The fair mechanism with these pins, at every dataset."""
    given = _require_compatible(problem, pins, engine)
    graph = as_graph(problem.graph) if isinstance(problem.graph, ProductSpace) else problem.graph
    chosen = engine_for(engine, graph, problem.notion, "settle")
    progress.report_stage("searching for the fair values")
    ones = problem.answers == 1
    signed = np.where(ones, pins, -pins)
    labels = chosen.settle(graph, problem.notion, problem.answers, signed if given else None).labels
    return np.where(ones, labels, -labels) + 0.0

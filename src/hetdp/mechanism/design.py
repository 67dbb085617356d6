"""`design`: the best private mechanism for an objective, with or without given values."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Literal, cast, overload

import numpy as np

from hetdp.engines.registry import EngineName, require_local
from hetdp.errors import Fault, InputError, UsageError
from hetdp.mechanism.average.program import require_rows
from hetdp.mechanism.average.search import best_average
from hetdp.mechanism.balanced import balanced_mechanism
from hetdp.mechanism.compatibility import require_compatible
from hetdp.mechanism.extension import extend_from
from hetdp.mechanism.local import LocalSteps
from hetdp.mechanism.mechanism import LocalMechanism, Mechanism, MechanismT
from hetdp.mechanism.resident import resident_balanced
from hetdp.mechanism.steps import PinsT, RemoteProblem, Steps
from hetdp.mechanism.vote import WEIGHTED_VOTE, weighted_vote
from hetdp.problem.problem import Problem, require_problem
from hetdp.problem.product import MOST_LOCAL, ProductSpace
from hetdp.problem.space import Floats
from hetdp.problem.values import weights_of
from hetdp.text import did_you_mean, format_value

ROUNDING = 1e-12  # relative; an error that exceeds the limit by less counts as rounding
PRINTED_DIGITS = 6


def largest_error(max_error: Any) -> float | None:
    """The argument `max_error` as a number."""
    if max_error is None:
        return None
    if isinstance(max_error, bool) or not isinstance(max_error, Real) or not 0.0 <= float(max_error) <= 1.0:
        raise UsageError(
            f"max_error={format_value(max_error)}", "it must be a number from 0 to 1, the largest probability of error"
        )
    return float(max_error)


def require_possible(
    problem: Problem, z: Floats, pins: Floats, max_error: float | None, description: str = "the smallest possible"
) -> None:
    """Refuses a largest error that a mechanism exceeds; by default the fair one, whose worst error is the smallest."""
    errors = problem.notion.coordinate.error(z, problem.answers)[np.isnan(pins)]
    worst = float(np.max(errors, initial=0.0))
    if max_error is None or worst <= max_error * (1.0 + ROUNDING):
        return
    rounded = math.ceil(worst * 10**PRINTED_DIGITS) / 10**PRINTED_DIGITS
    given = "" if np.isnan(pins).all() else " with the given values"
    rule = f"{description} worst error{given} is {rounded:.{PRINTED_DIGITS}g}"
    raise InputError("problem", [Fault(f"no private mechanism keeps to max_error={max_error!r}", "problem", "", rule)])


UNIFORM, WEIGHT, GIVEN = "uniform", "weight", "given"
RULE = "a prior is 'uniform', 'weight' (the problem's own), or a weight for each dataset"


def prior_of(problem: Problem, prior: Any) -> tuple[str, Floats]:
    """The name of a prior, and its weights in graph order, scaled so that the largest is 1."""
    if prior is None:
        prior = UNIFORM if problem.weights is None else WEIGHT
    if isinstance(prior, str):
        return prior, _scale(_prior_by_name(problem, prior))
    return GIVEN, _scale(weights_of(prior, problem.labels, "prior"))


def shares_of(problem: Problem, prior: Any) -> Floats:
    """The weights of a prior, scaled so that they add up to 1."""
    weights = prior_of(problem, prior)[1]
    return np.asarray(weights / math.fsum(weights.tolist())) if len(weights) else weights


def _prior_by_name(problem: Problem, name: str) -> Floats:
    if name == UNIFORM:
        return np.ones(problem.graph.size)
    if name != WEIGHT:
        raise UsageError(f"unknown prior {format_value(name)}", RULE, did_you_mean(name, (UNIFORM, WEIGHT)))
    if problem.weights is None:
        hint = "'uniform' counts every dataset once"
        raise UsageError("the problem has no weights", "the prior 'weight' takes the problem's own", hint)
    return problem.weights


def _scale(weights: Floats) -> Floats:
    """The weights in the same proportions, scaled so that no sum overflows."""
    largest = np.max(weights, initial=0.0)
    if len(weights) and not largest:
        raise InputError("prior", [Fault("every weight is 0", "prior", "", "some dataset has a weight above 0")])
    return np.asarray(weights / largest) if len(weights) else weights


FAIR: Literal["fair"] = "fair"
BALANCED: Literal["balanced"] = "balanced"
AVERAGE: Literal["average"] = "average"
ObjectiveName = Literal["fair", "balanced", "average", "weighted-vote"]  # for type checkers; the last one needs people
LocalObjective = Literal["fair", "average", "weighted-vote"]  # their mechanisms are always held in this process
OBJECTIVES: tuple[ObjectiveName, ...] = (FAIR, BALANCED, AVERAGE)  # for every problem
OBJECTIVE_RULE = f"an objective is one of {', '.join(OBJECTIVES)}, and for people {WEIGHTED_VOTE}"


def require_objective(name: Any) -> ObjectiveName:
    """The name of an objective, checked.

    Raises:
        UsageError: there is no such objective.
    """
    if name not in [*OBJECTIVES, WEIGHTED_VOTE]:
        several = isinstance(name, list | tuple | set)
        hint = "hetdp.accuracy compares several" if several else did_you_mean(name, [*OBJECTIVES, WEIGHTED_VOTE])
        raise UsageError(f"unknown objective {format_value(name)}", OBJECTIVE_RULE, hint)
    return cast(ObjectiveName, name)


@overload
def design(
    problem: Problem,
    objective: LocalObjective = "fair",
    partial: Any = None,
    prior: Any = None,
    max_error: float | None = None,
    engine: EngineName = "auto",
) -> LocalMechanism: ...
@overload
def design(  # a balanced mechanism of more than MOST_LOCAL datasets stays on a GPU
    problem: Problem | RemoteProblem,
    objective: ObjectiveName = "fair",
    partial: Any = None,
    prior: Any = None,
    max_error: float | None = None,
    engine: EngineName = "auto",
) -> Mechanism: ...
def design(
    problem: Problem | RemoteProblem,
    objective: ObjectiveName = "fair",
    partial: Any = None,
    prior: Any = None,
    max_error: float | None = None,
    engine: EngineName = "auto",
) -> Mechanism:
    """The best private mechanism for an objective. Unlike `extend`, it needs no values for the boundary.

    Args:
        problem: datasets, ε and query; a PartitionedProblem has the objectives fair and balanced.
        objective: "fair" (the worst-off dataset is answered as well as privacy allows, then the next worst, and so on),
            "balanced" (the smallest possible worst error, in closed form; nowhere better than fair; the worst error
            includes datasets with given values), or "average" (the largest mean accuracy; single datasets may be
            answered worse than by a coin). The result's `objective_gap` is a proved bound on how far an average is
            from the best possible one. Votes and tallies also have "weighted-vote": every person is weighted by their
            smallest ε, and noise is added; it takes no `partial` and needs no search, and `polish` makes it at least
            as accurate everywhere.
        partial: given values on some datasets, which are kept.
        prior: the weight of each dataset in the average: a mapping label → number, a sequence in graph order,
            "uniform", or "weight" for the problem's weights. By default the problem's weights if it has any, otherwise
            uniform.
        max_error: the largest allowed probability of a wrong answer at datasets without a given value.
        engine: "auto", "cpu", "product", "gpu" or "reference"; all give the same bits. A balanced mechanism of more
            than 2³⁰ datasets needs a GPU and stays there: it is a Mechanism whose `coordinates` and other arrays are
            refused, and whose `blocks` and single values can be read.

    Raises:
        InputError: no private mechanism satisfies `max_error`, or all weights are zero.
        NoExtensionError: no private mechanism has the given values; with witness and repair.
        UsageError: the objective does not exist, or is not available for this problem.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [2.0, 1.0])
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    >>> {dataset: round(p, 3) for dataset, p in dict(hetdp.design(problem)).items()}
    {'a': 0.964, 'b': 0.731, 'c': 0.269}
    """
    require_objective(objective)
    if isinstance(problem, RemoteProblem):
        found: Mechanism = _design_remote(problem.steps(engine), objective, partial, prior, max_error)
        return found
    require_problem(problem)
    return _design_here(LocalSteps(problem, engine), objective, partial, prior, max_error, engine)


def _read_given(steps: Steps[PinsT, MechanismT], partial: Any) -> PinsT | None:
    """The given values; None if there are none."""
    given = None if partial is None else steps.read_pins(partial)
    return given if given is not None and steps.has_pins(given) else None


def _extend_chosen(steps: Steps[PinsT, MechanismT], objective: str, given: PinsT | None) -> MechanismT:
    """The extension of the values that an objective chooses for the boundary."""
    return steps.credit(extend_from(steps, steps.choose(objective, given)), objective, given)


def _design_remote(
    steps: Steps[PinsT, MechanismT], objective: str, partial: Any, prior: Any, max_error: Any
) -> MechanismT:
    """`design` where the arrays of the problem are, for the objectives that are offered there."""
    steps.require_objective(objective, prior, max_error)
    given = _read_given(steps, partial)
    if given is not None:
        require_compatible(steps, given)
    return _extend_chosen(steps, objective, given)


def _design_here(
    steps: LocalSteps, objective: str, partial: Any, prior: Any, max_error: Any, engine: EngineName
) -> Mechanism:
    """`design` on arrays in this process, where all objectives and limits on errors are offered."""
    steps.require_objective(objective, prior, max_error)
    limit = largest_error(max_error)
    found = _without_search(steps.problem, objective, partial, limit, engine)
    if found is not None:
        return found
    given = _read_given(steps, partial)
    if objective == AVERAGE:
        return _best_average(steps, given, prior, limit, engine)
    if given is not None:
        require_compatible(steps, given)
    if limit is not None:
        _require_limit(steps, objective, given, limit)
    return _extend_chosen(steps, objective, given)


def design_local(problem: Problem, objective: ObjectiveName, **options: Any) -> LocalMechanism:
    """`design`, for callers that read the arrays of the mechanism.

    Args:
        problem: the problem.
        objective: the objective.
        **options: other arguments of `design`.

    Raises:
        UsageError: the mechanism would not be held in this process; or as for `design`.
    """
    require_local(problem.graph)
    found: Mechanism = design(problem, objective, **options)
    assert isinstance(found, LocalMechanism)
    return found


def _without_search(
    problem: Problem, objective: str, partial: Any, limit: float | None, engine: EngineName
) -> Mechanism | None:
    """The mechanism, if a formula or a single growth gives it; None if pins must be chosen first."""
    if objective == WEIGHTED_VOTE:
        return _design_vote(problem, partial, limit)
    if objective == BALANCED and partial is None and limit is None and isinstance(problem.graph, ProductSpace):
        if problem.graph.size > MOST_LOCAL:
            return resident_balanced(problem, problem.graph, engine)
        return balanced_mechanism(problem, problem.graph, engine)
    return None


def _design_vote(problem: Problem, partial: Any, limit: float | None) -> LocalMechanism:
    """The weighted vote; refuses given values and an error limit that it does not satisfy."""
    if partial is not None:
        rule = "the weighted vote gives every value itself"
        raise UsageError(f"given values, with the objective {WEIGHTED_VOTE}", rule)
    require_local(problem.graph)
    found = weighted_vote(problem)
    if limit is not None:
        require_possible(problem, found.coordinates, np.full(len(found), np.nan), limit, "the weighted vote's")
    return found


def _best_average(
    steps: LocalSteps, given: Floats | None, prior: Any, limit: float | None, engine: EngineName
) -> LocalMechanism:
    """The mechanism with the largest mean accuracy; the search starts from the fair one."""
    require_rows(steps.problem)
    weights = shares_of(steps.problem, prior)
    if given is not None:
        require_compatible(steps, given)
    pins = np.full(steps.problem.graph.size, np.nan) if given is None else given
    fair = steps.fair(pins)
    require_possible(steps.problem, fair, pins, limit)
    return best_average(steps.problem, pins, fair, weights, limit, engine)


def _require_limit(steps: LocalSteps, objective: str, given: Floats | None, limit: float) -> None:
    """Refuses a largest error that no mechanism satisfies, or that the objective's mechanism does not satisfy."""
    pins = np.full(steps.problem.graph.size, np.nan) if given is None else given
    fair = steps.fair(pins)
    require_possible(steps.problem, fair, pins, limit)
    chosen = fair if objective == FAIR else steps.balanced_coordinates(pins)
    require_possible(steps.problem, chosen, pins, limit, f"the {objective} mechanism's")

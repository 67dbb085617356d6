"""solve_epsilon: how much ε, in the given proportions, an accuracy takes.

Why there is a smallest multiple to search for; docs/theory/scaling.md has the proofs. A mechanism that is private at
one multiple is so at every larger one. So the best worst case (fair, balanced) and the best mean (average) never fall
as the multiple grows, whatever values were given beforehand. Under fair and balanced no dataset at all gets worse, if
no values were given. Where neither is known, the question is refused: see `require_growth`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetdp.certificate.certificate import verify
from hetdp.errors import NoExtensionError, UsageError, VerificationError, rounded_up
from hetdp.mechanism.design import design
from hetdp.mechanism.digits import accuracy_of, right_digits
from hetdp.mechanism.mechanism import Mechanism, sealed
from hetdp.mechanism.solving.bracket import Attempt, narrowed, shown_too_small
from hetdp.mechanism.solving.goal import MEAN, WORST, Goal, goal_of
from hetdp.mechanism.solving.reach import refuse_certainty, refuse_out_of_reach
from hetdp.mechanism.solving.scaling import Pattern
from hetdp.problem.parameters import LETTERS
from hetdp.problem.partial import PartialMechanism, pins_of
from hetdp.problem.problem import Problem, require_problem

AVERAGE = "average"
PURE = "pure"
POINTWISE = (PURE, "gaussian", "bounded-range")  # where no dataset gets worse under fair as the multiple grows
A_BIT_MORE = 1.0 + 1e-12  # more than what roundings take
DIGITS = 9  # that are printed
TRIES = 3  # before it is asked whether the target can be reached at all
FURTHER = 4.0
FURTHEST = 1e300


@dataclass(frozen=True, eq=False)
class SolvedEpsilon:
    """The smallest multiple of a problem's ε at which an accuracy is reached.

    Attributes:
        multiple: every ε times this number is enough; 0.0 if even ε = 0 everywhere is.
        below: a smaller multiple that is proved not to be enough; None if the multiple is 0.
        problem: the problem with every ε so multiplied.
        mechanism: the objective's mechanism on it, with its proof.
        reached: the accuracy that it has.
        error: 1 − that, which keeps what an accuracy next to 1 rounds away.
        target: the accuracy that was asked for.
        at: where: "worst", "mean", or the labels of datasets.
    """

    multiple: float
    below: float | None
    problem: Problem
    mechanism: Mechanism
    reached: float
    error: float
    target: float
    at: Any

    def __str__(self) -> str:
        place = Goal(self.target, self.at).place()
        letter = LETTERS[self.problem.notion.parameters[0]]
        reached, coin = right_digits(self.error, digits=DIGITS), self.mechanism.against_coin
        enough = f"{rounded_up(self.multiple, DIGITS):.{DIGITS}g} times {letter}"
        caution = f" Caution: {coin}." if coin.worse else ""
        return f"{enough}: accuracy {reached} {place}; the target is {self.target!r}.{caution}"


def solve_epsilon(
    problem: Problem,
    target: float,
    at: Any = WORST,
    objective: str = "fair",
    partial: Any = None,
    prior: Any = None,
    engine: str = "auto",
) -> SolvedEpsilon:
    """The smallest multiple of this problem's ε, all taken times the same number, at which an accuracy is reached.

    It is found to 1e-6, and to one millionth of itself if it is below 1. That it is enough, and that what is smaller by
    so much is not, is read off mechanisms that were proved private on the problem so scaled.

    Args:
        problem: datasets, ε and query; the ε count by their proportions.
        target: the accuracy, which is the probability of the right answer; a number from 0 to 1.
        at: where it is to be reached: "worst" (at every dataset), "mean", or one dataset or a list of datasets (each
            of these). A dataset whose label is "worst" or "mean" is given in a list.
        objective: what designs the mechanism, as in `design`.
        partial: values that are given beforehand on some datasets; they stay what they are.
        prior: for the mean, how much each dataset counts: a mapping label → number, or a sequence in graph order. By
            default the weights of the problem; if it has none, all count the same.
        engine: "auto", "cpu" or "reference"; all give the same bits.

    Raises:
        InputError: the target is no accuracy, or no multiple reaches it; the message says why.
        NoExtensionError: no private mechanism has the values given beforehand, whatever the multiple.
        UsageError: a question without a smallest multiple: at single datasets, or in the mean, accuracy may fall while
            ε grows if values are given beforehand, or if the objective is another one.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [2.0, 1.0])
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    >>> solved = hetdp.solve_epsilon(problem, 0.9)
    >>> round(solved.multiple, 4), round(solved.mechanism["b"], 4), solved.mechanism.certificate.private
    (2.1972, 0.9, True)
    """
    require_problem(problem)
    goal = goal_of(problem, target, at, prior)
    if prior is not None and goal.at != MEAN and objective != AVERAGE:
        raise UsageError(
            "a prior for something else than a mean", "a prior says how much each dataset counts in a mean"
        )
    pins = pins_of(PartialMechanism() if partial is None else partial, problem)
    given = None if np.isnan(pins).all() else PartialMechanism(z=pins)
    require_growth(problem, goal, objective, given)
    options: dict[str, Any] = {"partial": given, "engine": engine}
    if objective == AVERAGE:
        options["prior"] = prior
    return _solve(Pattern(problem), goal, lambda scaled: design(scaled, objective, **options), given)


def require_growth(problem: Problem, goal: Goal, objective: str, given: PartialMechanism | None) -> None:
    """Refuses a question whose answer need not grow with the multiple, so that no search would find the smallest."""
    if objective == AVERAGE:
        grows = goal.at == MEAN
    else:
        pointwise = given is None and (objective != "fair" or problem.notion.name in POINTWISE)
        grows = goal.at == WORST or pointwise
    if not grows:
        if objective == AVERAGE:
            rule, hint = "only the mean is sure to grow with ε under average", "at='mean' can be solved"
        else:
            rule, hint = "only the worst case is sure to grow with ε then", "at='worst' can be solved"
        kind = " with values given beforehand" if given is not None else f" under the notion {problem.notion.name}"
        raise UsageError(f"accuracy {goal.place()}, objective {objective}{kind}", rule, hint)


def _solve(
    pattern: Pattern, goal: Goal, designed: Callable[[Problem], Mechanism], given: PartialMechanism | None
) -> SolvedEpsilon:
    def attempt(multiple: float) -> Attempt:
        try:
            mechanism = designed(pattern.times(multiple, with_classes=False))
        except NoExtensionError:  # the values given beforehand need more ε than this
            return Attempt(multiple, None, 1.0, 1.0, False)
        error = goal.error(_proved(mechanism))
        return Attempt(multiple, mechanism, error, error - (mechanism.objective_gap or 0.0), goal.is_met(error))

    low: Attempt | None = None
    high = attempt(0.0)
    if not high.enough:
        if goal.allowed == 0.0:
            refuse_certainty(pattern.problem, goal)
        low, high = _bracket(attempt, high, pattern, goal, lambda: designed(pattern.limit()), given)
        low, high = narrowed(attempt, low, high, goal.allowed)
        low = shown_too_small(attempt, low, high, goal.is_met)
    assert high.mechanism is not None  # what is enough has one
    final = pattern.times(high.multiple)
    mechanism = _proved(replace(high.mechanism, problem=final, certificate=verify(final, high.mechanism)))
    below = None if low is None else low.multiple
    return SolvedEpsilon(
        high.multiple, below, final, sealed(mechanism), accuracy_of(high.error), high.error, goal.target, goal.at
    )


def _bracket(
    attempt: Callable[[float], Attempt],
    low: Attempt,
    pattern: Pattern,
    goal: Goal,
    at_the_limit: Callable[[], Mechanism],
    given: PartialMechanism | None,
) -> tuple[Attempt, Attempt]:
    """A multiple that is not enough and one that is."""
    enough = _enough(pattern.problem, goal)
    multiple, tried = enough if goal.at == WORST else min(enough, 1.0), 0
    while multiple < FURTHEST:
        high = attempt(multiple)
        if high.enough:
            return low, high
        low, tried = high, tried + 1
        if tried == TRIES:
            limit = at_the_limit()
            most = goal.error(limit)
            approached = goal.at == MEAN and high.mechanism is not None and goal.is_just_met(most)
            if approached or not goal.is_met(most):
                refuse_out_of_reach(goal, limit, given)
        multiple = enough if multiple < enough else multiple * FURTHER
    raise UsageError(
        f"an accuracy of {goal.target!r} {goal.place()}",
        f"no multiple up to {FURTHEST:g} reaches it",
    )


def _enough(problem: Problem, goal: Goal) -> float:
    """For pure ε, where the worst error 1/(1 + e^ε), of the least ε between the answers, is small enough; else 1."""
    least = math.inf
    for block in problem.graph.edge_blocks():
        across = problem.answers[block.source] != problem.answers[block.target]
        least = min(least, float(np.min(block.parameters[0], initial=np.inf, where=across)))
    if problem.notion.name != PURE or not 0.0 < goal.allowed < 0.5 or not 0.0 < least < math.inf:
        return 1.0
    multiple = math.log((1.0 - goal.allowed) / goal.allowed) / least * A_BIT_MORE
    return multiple if 0.0 < multiple < FURTHEST else 1.0


def _proved(mechanism: Mechanism) -> Mechanism:
    if mechanism.certificate is None or not mechanism.certificate.private:
        raise VerificationError(mechanism.certificate)
    return mechanism

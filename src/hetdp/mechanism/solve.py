"""An accuracy to reach: how much, and where it is measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple, NoReturn

import numpy as np

from hetdp.certificate.certificate import verify
from hetdp.errors import Fault, InputError, NoExtensionError, UnknownDatasetError, UsageError, VerificationError
from hetdp.mechanism.design import design, shares_of
from hetdp.mechanism.formatting import accuracy_of, format_accuracy, format_accuracy_limit
from hetdp.mechanism.mechanism import LocalMechanism, sealed
from hetdp.mechanism.scaling import Pattern
from hetdp.problem.parameters import LETTERS
from hetdp.problem.partial import PartialMechanism, pins_of
from hetdp.problem.problem import Problem, require_problem
from hetdp.problem.space import Floats, Indices
from hetdp.problem.spelling import shorten_label
from hetdp.text import format_value, round_up

WORST, MEAN = "worst", "mean"
ULP = 2.0**-52


@dataclass(frozen=True, eq=False)
class Goal:
    """An accuracy, and where: at the worst-off dataset, in the mean, or at given datasets, each of them.

    Attributes:
        target: the accuracy.
        at: "worst", "mean", or the labels.
        where: the datasets of the labels.
        weights: for the mean, the share of each dataset, together 1; None elsewhere.
    """

    target: float
    at: Any
    where: Indices | None = None
    weights: Floats | None = None

    @property
    def allowed(self) -> float:
        """The largest error that is good enough: 1 minus the target as it was written."""
        return float(1 - Decimal(repr(self.target)))

    def shares(self, mechanism: LocalMechanism) -> Floats:
        """What each dataset adds to the mean error, or its error where it is asked about."""
        errors = mechanism.errors
        if self.weights is not None:
            return np.asarray(errors * self.weights)
        if self.where is None:
            return errors
        return np.asarray(np.where(np.isin(np.arange(len(errors)), self.where), errors, 0.0))

    def error(self, mechanism: LocalMechanism) -> float:
        """The error that counts."""
        shares = self.shares(mechanism)
        if self.at != MEAN:
            return float(np.max(shares, initial=0.0))
        return math.fsum(shares.tolist())

    @property
    def rounding(self) -> float:
        """How far, relatively, an error that is just allowed may be from it, having been a logarithm meanwhile."""
        return ULP * (2.0 - math.log(self.allowed)) if self.allowed else 0.0

    def is_met(self, error: float) -> bool:
        """Whether an error is small enough, up to a rounding."""
        return error <= self.allowed * (1.0 + self.rounding)

    def is_just_met(self, error: float) -> bool:
        """Whether an error is the largest that is small enough, up to a rounding."""
        return self.is_met(error) and error >= self.allowed * (1.0 - self.rounding)

    def place(self) -> str:
        """Where the accuracy is measured, in words."""
        if isinstance(self.at, tuple):
            return f"at {', '.join(map(format_value, self.at))}"
        return "in the worst case" if self.at == WORST else "in the mean"


def goal_of(problem: Problem, target: Any, at: Any, prior: Any) -> Goal:
    """The goal a user means."""
    if isinstance(target, (bool, np.bool_)) or not isinstance(target, Real) or not 0.0 <= float(target) <= 1.0:
        rule = "an accuracy is a number from 0 to 1"
        raise InputError("target", [Fault("no accuracy:", "target", format_value(target), rule)])
    target = float(target)
    if isinstance(at, str) and at == MEAN:
        return Goal(target, MEAN, weights=shares_of(problem, prior))
    if isinstance(at, str) and at == WORST:
        return Goal(target, WORST)
    labels = _labels(problem, at)
    return Goal(target, labels, np.array([problem.labels.index(label) for label in labels], dtype=np.int64))


def _labels(problem: Problem, at: Any) -> tuple[Any, ...]:
    """One label, or several; a tuple may be a label itself."""
    if isinstance(at, Hashable) and _is_known(problem, at):
        return (at,)
    if isinstance(at, str) or not isinstance(at, Iterable):
        raise UnknownDatasetError(at)
    labels = tuple(at)
    if not labels:
        rule = "it is 'worst', 'mean', a dataset, or a list of datasets"
        raise UsageError(f"nothing to measure at: at={format_value(at)}", rule)
    return labels


def _is_known(problem: Problem, label: Hashable) -> bool:
    try:
        problem.labels.index(label)
    except (UnknownDatasetError, TypeError):  # a tuple with a list in it is hashable only by name
        return False
    return True


# Closing in on the smallest multiple that is enough, in few designs: each may take a second.


PRECISION = 1e-6
FURTHER_DOWN = 8.0
FLOATS = 8.0  # so many floats lie between the two ends, at least; nearer ones would only compare roundings


class Attempt(NamedTuple):
    """What one multiple comes to.

    Attributes:
        multiple: of every ε.
        mechanism: the objective's mechanism; None if no private one has the given values.
        error: its error, where it counts.
        least: what the error of the objective's best mechanism is at least: under average, smaller by the proved gap.
        enough: whether the error is small enough.
    """

    multiple: float
    mechanism: LocalMechanism | None
    error: float
    least: float
    enough: bool


def narrow_bracket(
    attempt: Callable[[float], Attempt], low: Attempt, high: Attempt, allowed: float
) -> tuple[Attempt, Attempt]:
    """A multiple that is not enough and one that is, as near to each other as wanted.

    The log-odds of a wrong answer fall nearly in proportion to ε. So a straight line through both ends leads next to
    the right place (the Illinois method), and a look just beside it ends the search. Where that stalls, the middle is
    taken.
    """
    ends, heights = [low, high], [_height(low.error, allowed), _height(high.error, allowed)]
    moved, widths = -1, (math.inf, math.inf)
    while (width := ends[1].multiple - ends[0].multiple) > (room := _precision_at(ends[1].multiple)):
        stalled = width > 0.5 * widths[0]
        found = attempt(ends[0].multiple + _step(width, heights, stalled, margin=0.9 * room))
        end = int(found.enough)
        if end == moved:
            heights[1 - end] *= 0.5  # the other end has been too far away twice
        ends[end], heights[end], moved = found, _height(found.error, allowed), end
        widths = widths[1], width
    return ends[0], ends[1]


def prove_too_small(
    attempt: Callable[[float], Attempt], low: Attempt, high: Attempt, is_met: Callable[[float], bool]
) -> Attempt:
    """A multiple of which it is proved that it is not enough, from one that is only found not to be."""
    width = high.multiple - low.multiple
    while is_met(low.least) and low.multiple > 0.0:
        width *= FURTHER_DOWN
        low = attempt(max(high.multiple - width, 0.0))
    return low


def _step(width: float, heights: list[float], stalled: bool, margin: float) -> float:
    """How far from the lower end to look next, and not nearer to an end than a look there is worth."""
    if stalled or width <= 2.0 * margin or not all(map(math.isfinite, heights)) or heights[0] <= heights[1]:
        return 0.5 * width
    return min(max(width * heights[0] / (heights[0] - heights[1]), margin), width - margin)


def _precision_at(multiple: float) -> float:
    return max(PRECISION * min(1.0, multiple), FLOATS * math.ulp(multiple))


def _height(error: float, allowed: float) -> float:
    """By how much the log-odds of an error are above those of the error that is allowed."""
    return _log_odds(error) - _log_odds(allowed)


def _log_odds(error: float) -> float:
    if not 0.0 < error < 1.0:
        return math.inf if error else -math.inf
    return math.log(error) - math.log1p(-error)


# Why no multiple of ε reaches an accuracy.


def refuse_certainty(problem: Problem, goal: Goal) -> NoReturn:
    """An accuracy of 1 where ε = 0 does not have it: it is approached, and never reached."""
    at = int(np.flatnonzero(problem.boundary_mask)[0]) if problem.boundary_mask.any() else -1
    edge = "" if at < 0 else f", such as {_edge_across(problem, at)}"
    _refuse(goal, f"no finite ε makes an answer certain that an edge between the answers holds down{edge}")


def refuse_out_of_reach(goal: Goal, limit: LocalMechanism, given: PartialMechanism | None) -> NoReturn:
    """An accuracy that is not reached even where every ε > 0 has become infinite.

    Args:
        goal: what was asked for.
        limit: the mechanism there.
        given: the values given beforehand, which no multiple changes either.
    """
    problem, worst = limit.problem, int(np.argmax(goal.shares(limit)))
    assert isinstance(problem, Problem)  # it was designed for one
    error = goal.error(limit)
    path = limit.explain(problem.graph.label(worst))
    first = problem.labels.index(path.datasets[0])
    if given is not None and not np.isnan(given.z[first]):
        cause = f"p({path.names[0]}) = {path.values[0]} is given, whatever the multiple"
    else:
        cause = f"{_edge_across(problem, first)} lies between the answers and has ε = 0, whatever the multiple"
    whose = "" if goal.at == MEAN else f" of {shorten_label(problem.graph.label(worst), problem.labels)}"
    stays = "below" if goal.is_just_met(error) else "at or below"
    _refuse(goal, f"the accuracy{whose} stays {stays} {format_accuracy_limit(error)}, since {cause}")


def _edge_across(problem: Problem, at: int) -> str:
    neighbours = problem.graph.neighbours(at)[0]
    other = neighbours[problem.answers[neighbours] != problem.answers[at]][0]
    ends = ", ".join(shorten_label(problem.graph.label(int(end)), problem.labels) for end in (at, other))
    return f"the edge ({ends})"


def _refuse(goal: Goal, rule: str) -> NoReturn:
    where = f"target {goal.place()}"
    raise InputError(where, [Fault("out of reach:", where, repr(goal.target), rule)])


# solve_epsilon: how much ε, in the given proportions, an accuracy takes.


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
    mechanism: LocalMechanism
    reached: float
    error: float
    target: float
    at: Any

    def __str__(self) -> str:
        place = Goal(self.target, self.at).place()
        letter = LETTERS[self.problem.notion.parameters[0]]
        reached, coin = format_accuracy(self.error, digits=DIGITS), self.mechanism.against_coin
        enough = f"{round_up(self.multiple, DIGITS):.{DIGITS}g} times {letter}"
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
    pattern: Pattern, goal: Goal, designed: Callable[[Problem], LocalMechanism], given: PartialMechanism | None
) -> SolvedEpsilon:
    def attempt(multiple: float) -> Attempt:
        try:
            mechanism = designed(pattern.times(multiple, with_classes=False))
        except NoExtensionError:  # the values given beforehand need more ε than this
            return Attempt(multiple, None, 1.0, 1.0, False)
        error = goal.error(_require_proof(mechanism))
        return Attempt(multiple, mechanism, error, error - (mechanism.objective_gap or 0.0), goal.is_met(error))

    low: Attempt | None = None
    high = attempt(0.0)
    if not high.enough:
        if goal.allowed == 0.0:
            refuse_certainty(pattern.problem, goal)
        low, high = _bracket(attempt, high, pattern, goal, lambda: designed(pattern.limit()), given)
        low, high = narrow_bracket(attempt, low, high, goal.allowed)
        low = prove_too_small(attempt, low, high, goal.is_met)
    assert high.mechanism is not None  # what is enough has one
    final = pattern.times(high.multiple)
    mechanism = _require_proof(replace(high.mechanism, problem=final, certificate=verify(final, high.mechanism)))
    below = None if low is None else low.multiple
    return SolvedEpsilon(
        high.multiple, below, final, sealed(mechanism), accuracy_of(high.error), high.error, goal.target, goal.at
    )


def _bracket(
    attempt: Callable[[float], Attempt],
    low: Attempt,
    pattern: Pattern,
    goal: Goal,
    at_the_limit: Callable[[], LocalMechanism],
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


def _require_proof(mechanism: LocalMechanism) -> LocalMechanism:
    if mechanism.certificate is None or not mechanism.certificate.private:
        raise VerificationError(mechanism.certificate)
    return mechanism

"""solve_epsilon: the smallest factor for all ε of a problem at which a given accuracy is reached.

A `Goal` is the accuracy and where it is measured. The search brackets the factor, narrows the bracket in few designs,
proves that a slightly smaller factor is not enough, and explains why if no factor reaches the goal. For populations and
tables, it searches among decimals of few digits instead (`SolvesEpsilon`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple, NoReturn, overload

import numpy as np

from hetdp.certificate.certificate import verify
from hetdp.engines.registry import EngineName
from hetdp.errors import Fault, InputError, NoExtensionError, UnknownDatasetError, UsageError, VerificationError
from hetdp.mechanism.design import ObjectiveName, design_local, shares_of
from hetdp.mechanism.formatting import accuracy_of, format_accuracy, format_accuracy_limit
from hetdp.mechanism.mechanism import LocalMechanism, seal
from hetdp.mechanism.scaling import Pattern
from hetdp.numbers import EXACT
from hetdp.problem.labels import similar_labels
from hetdp.problem.partial import PartialMechanism, pins_of
from hetdp.problem.problem import Problem, require_problem
from hetdp.problem.space import Floats, Indices
from hetdp.problem.spelling import shorten_label
from hetdp.text import format_type, format_value, html_table, round_up
from hetdp.theory.pure import PURE

WORST, MEAN = "worst", "mean"
MOST_LEVELS = 10  # shown in a notebook
ULP = 2.0**-52


@dataclass(frozen=True, eq=False)
class Goal:
    """A target accuracy and where it is measured: at the worst dataset, in the mean, or at each of some datasets.

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
        """The largest allowed error: 1 minus the target as written."""
        return float(EXACT.subtract(1, Decimal(repr(self.target))))

    def shares(self, mechanism: LocalMechanism) -> Floats:
        """The contribution of each dataset to the mean error, or the error of each dataset that the goal names."""
        errors = mechanism.errors
        if self.weights is not None:
            return np.asarray(errors * self.weights)
        if self.where is None:
            return errors
        return np.asarray(np.where(np.isin(np.arange(len(errors)), self.where), errors, 0.0))

    def error(self, mechanism: LocalMechanism) -> float:
        """The error of a mechanism where the goal measures it."""
        shares = self.shares(mechanism)
        if self.at != MEAN:
            return float(np.max(shares, initial=0.0))
        return math.fsum(shares.tolist())

    @property
    def rounding(self) -> float:
        """The relative rounding error of an error at the limit, which was stored as a logarithm."""
        return ULP * (2.0 - math.log(self.allowed)) if self.allowed else 0.0

    def is_met(self, error: float) -> bool:
        """True if an error is small enough, up to rounding."""
        return error <= self.allowed * (1.0 + self.rounding)

    def is_just_met(self, error: float) -> bool:
        """True if an error is the largest allowed one, up to rounding."""
        return self.is_met(error) and error >= self.allowed * (1.0 - self.rounding)

    def place(self) -> str:
        """The datasets on which the accuracy is measured, in words."""
        if isinstance(self.at, tuple):
            return f"at {', '.join(map(format_value, self.at))}"
        return "in the worst case" if self.at == WORST else "in the mean"


def goal_of(problem: Problem, target: Any, at: Any, prior: Any) -> Goal:
    """The goal for the arguments of `solve_epsilon`."""
    if isinstance(target, (bool, np.bool_)) or not isinstance(target, Real) or not 0.0 <= float(target) <= 1.0:
        rule = "an accuracy is a number from 0 to 1"
        raise InputError("target", [Fault("not an accuracy:", "target", format_value(target), rule)])
    target = float(target)
    if isinstance(at, str) and at == MEAN:
        return Goal(target, MEAN, weights=shares_of(problem, prior))
    if isinstance(at, str) and at == WORST:
        return Goal(target, WORST)
    labels = _labels(problem, at)
    return Goal(target, labels, np.array([problem.labels.index(label) for label in labels], dtype=np.int64))


def _labels(problem: Problem, at: Any) -> tuple[Any, ...]:
    """The labels in `at`: one label or several. A tuple may itself be a label."""
    if isinstance(at, Hashable) and _is_known(problem, at):
        return (at,)
    if isinstance(at, str) or not isinstance(at, Iterable):
        raise UnknownDatasetError(at, chain(similar_labels(at, problem.labels), (WORST, MEAN)))
    labels = tuple(at)
    if not labels:
        rule = "it must be 'worst', 'mean', a dataset, or a list of datasets"
        raise UsageError(f"nothing to measure at: at={format_value(at)}", rule)
    return labels


def _is_known(problem: Problem, label: Hashable) -> bool:
    try:
        problem.labels.index(label)
    except (UnknownDatasetError, TypeError):  # a tuple with a list in it is hashable only by name
        return False
    return True


# The bracket around the smallest sufficient multiple ------------------------------------------------------------------


PRECISION = 1e-6
FURTHER_DOWN = 8.0
FLOATS_APART = (
    8.0  # the ends stay at least this many floats apart, since closer ones would only compare rounding errors
)


class Attempt(NamedTuple):
    """The design for one multiple.

    Attributes:
        multiple: the factor for every ε.
        mechanism: the objective's mechanism; None if no private mechanism has the given values.
        error: its error where the goal measures it.
        least: a lower bound on the error of the objective's best mechanism (for average, smaller by the proved gap).
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
    """Narrows a bracket until its ends, one too small and one sufficient, are as close as required.

    The log-odds of a wrong answer fall nearly in proportion to ε, so the Illinois method (a straight line through both
    ends) comes close to the solution, and one more attempt just beside it ends the search. Where it stalls, the middle
    is used.
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
    """Lowers a multiple that was found to be too small until it is proved to be too small."""
    width = high.multiple - low.multiple
    while is_met(low.least) and low.multiple > 0.0:
        width *= FURTHER_DOWN
        low = attempt(max(high.multiple - width, 0.0))
    return low


def _step(width: float, heights: list[float], stalled: bool, margin: float) -> float:
    """The distance of the next attempt from the lower end, at least `margin` away from both ends."""
    if stalled or width <= 2.0 * margin or not all(map(math.isfinite, heights)) or heights[0] <= heights[1]:
        return 0.5 * width
    return min(max(width * heights[0] / (heights[0] - heights[1]), margin), width - margin)


def _precision_at(multiple: float) -> float:
    return max(PRECISION * min(1.0, multiple), FLOATS_APART * math.ulp(multiple))


def _height(error: float, allowed: float) -> float:
    """The log-odds of an error minus those of the allowed error."""
    return _log_odds(error) - _log_odds(allowed)


def _log_odds(error: float) -> float:
    if not 0.0 < error < 1.0:
        return math.inf if error else -math.inf
    return math.log(error) - math.log1p(-error)


# Refusals -------------------------------------------------------------------------------------------------------------


def refuse_certainty(problem: Problem, goal: Goal) -> NoReturn:
    """Refuses an accuracy of 1 that ε = 0 does not have: it is approached but never reached."""
    at = int(np.flatnonzero(problem.boundary_mask)[0]) if problem.boundary_mask.any() else -1
    edge = "" if at < 0 else f", such as {_edge_across(problem, at)}"
    _refuse(goal, f"no finite ε makes an answer certain that an edge between the answers holds down{edge}")


def refuse_out_of_reach(goal: Goal, limit: LocalMechanism, given: PartialMechanism | None) -> NoReturn:
    """Refuses an accuracy that is not reached even if every ε > 0 is infinite.

    Args:
        goal: the requested accuracy.
        limit: the mechanism with infinite ε.
        given: the given values, which no multiple changes.
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
    dataset_words = "" if goal.at == MEAN else f" of {shorten_label(problem.graph.label(worst), problem.labels)}"
    stays = "below" if goal.is_just_met(error) else "at or below"
    _refuse(goal, f"the accuracy{dataset_words} stays {stays} {format_accuracy_limit(error)}, since {cause}")


def _edge_across(problem: Problem, at: int) -> str:
    neighbours = problem.graph.neighbours(at)[0]
    other = neighbours[problem.answers[neighbours] != problem.answers[at]][0]
    ends = ", ".join(shorten_label(problem.graph.label(int(end)), problem.labels) for end in (at, other))
    return f"the edge ({ends})"


def _refuse(goal: Goal, rule: str) -> NoReturn:
    where = f"target {goal.place()}"
    raise InputError(where, [Fault("out of reach:", where, repr(goal.target), rule)])


# The search -----------------------------------------------------------------------------------------------------------


AVERAGE = "average"
ROUNDING_FACTOR = 1.0 + 1e-12  # larger than the rounding errors
PRINTED_DIGITS = 9  # printed digits
FIRST_ATTEMPTS = 3  # attempts before testing whether the target can be reached at all
FURTHER = 4.0
FURTHEST = 1e300


class ScaledLevel(NamedTuple):
    """One ε of a population, and what it becomes.

    Attributes:
        before: the ε.
        after: the ε multiplied, as a decimal to type.
        people: the number of people who have it.
        deciding: True if it applies only where the answer depends on them.
    """

    before: Decimal
    after: Decimal
    people: int
    deciding: bool


@dataclass(frozen=True, eq=False, repr=False)
class SolvedEpsilon:
    """The smallest multiple of all ε at which an accuracy is reached.

    Attributes:
        multiple: the factor for every ε; 0.0 if ε = 0 everywhere is enough.
        below: a smaller multiple that is not enough. For a problem this is proved; for people it belongs to the next
            smaller number of four digits. None if the multiple is 0.
        problem: the problem, or population, with every ε multiplied.
        mechanism: the mechanism for it, with its certificate.
        reached: its accuracy.
        error: 1 − reached, without the rounding of an accuracy close to 1.
        target: the requested accuracy.
        at: where it is measured: "worst", "mean", or the labels of datasets; for people "worst", or the true share as
            given.
        levels: for people, each different finite ε above 0, before and after, in increasing order; only the least and
            the largest if there are very many. Empty for a problem.
        area: the area of a table that these people are in; None without areas.
        areas: what each area needs by itself, for a table with areas; the other attributes are about the area that
            needs most, so that its multiple is enough for all.
        statement: the result in words.
    """

    multiple: float
    below: float | None
    problem: Any
    mechanism: Any
    reached: float
    error: float
    target: float
    at: Any
    levels: tuple[ScaledLevel, ...] = ()
    area: str | None = None
    areas: tuple[SolvedEpsilon, ...] = field(default=(), repr=False)
    statement: str = field(default="", repr=False)

    @property
    def epsilon(self) -> Decimal | None:
        """The ε to promise, if all people who have a finite ε above 0 have the same; None if there are several."""
        return self.levels[0].after if len(self.levels) == 1 else None

    def __repr__(self) -> str:
        return f"SolvedEpsilon({self.multiple:.6g} times ε, accuracy {format_accuracy(self.error, PRINTED_DIGITS)})"

    def _repr_html_(self) -> str:
        """For notebooks."""
        enough = f"{round_up(self.multiple, PRINTED_DIGITS):.{PRINTED_DIGITS}g}"
        below = "" if self.below is None else f"{self.below:.{PRINTED_DIGITS}g}"
        rows: list[tuple[str, Any]] = [("multiple of every ε", enough), ("not enough", below)]
        rows += [("accuracy", format_accuracy(self.error)), ("target", self.target), ("measured", self._place())]
        rows += [(f"ε = {level.before}", level.after) for level in self.levels[:MOST_LEVELS]]
        return html_table("ε for an accuracy", [], rows, most=len(rows), note=str(self))

    def _place(self) -> str:
        return Goal(self.target, self.at).place() if not self.statement else str(self.at)

    def __str__(self) -> str:
        if self.statement:
            return self.statement
        place = Goal(self.target, self.at).place()
        letter = self.problem.notion.main.letter
        reached, coin = format_accuracy(self.error, digits=PRINTED_DIGITS), self.mechanism.against_coin
        enough = f"{round_up(self.multiple, PRINTED_DIGITS):.{PRINTED_DIGITS}g} times {letter}"
        caution = f" Caution: {coin}." if coin.worse else ""
        return f"{enough}: accuracy {reached} {place}; the target is {self.target!r}.{caution}"


class SolvesEpsilon(ABC):
    """People, or a table of them, for whom the smallest multiple of all ε is found by formula."""

    @abstractmethod
    def solve_epsilon(self, target: Any, at: Any = WORST) -> SolvedEpsilon:
        """Finds the smallest factor for all ε at which an accuracy is reached; see `hetdp.solve_epsilon`."""


@overload
def solve_epsilon(
    problem: Problem,
    target: float,
    at: Any = WORST,
    objective: ObjectiveName = "fair",
    partial: Any = None,
    prior: Any = None,
    engine: EngineName = "auto",
) -> SolvedEpsilon: ...
@overload
def solve_epsilon(problem: SolvesEpsilon, target: Any, at: Any = WORST) -> SolvedEpsilon: ...
def solve_epsilon(
    problem: Any,
    target: Any,
    at: Any = WORST,
    objective: ObjectiveName = "fair",
    partial: Any = None,
    prior: Any = None,
    engine: EngineName = "auto",
) -> SolvedEpsilon:
    """Finds the smallest factor for all ε of a problem, or of people, at which an accuracy is reached.

    For a problem, the result is accurate to 1e-6, and to one millionth of itself if it is below 1. Mechanisms that are
    proved private on the scaled problems show that it is enough and that a factor smaller by this much is not.

    For a population, the mechanism of a population, or the result of `ask` with `dry_run`, the result is a number of at
    most four digits: the ε if everybody has the same one, otherwise the factor. The formulas of the promise show that
    it is enough, and that the next smaller number of four digits is not. Only public columns of a table are used. As
    text, such a result also says what each ε means for a person.

    Args:
        problem: datasets, ε and query; only the proportions of the ε matter. Or a population, a mechanism of one, or
            the result of `ask`. These take `target` and `at` only, and keep their design; a population is balanced.
        target: the accuracy, that is, the probability of the right answer: a number from 0 to 1; for people also a text
            such as ``"95%"``, between a coin's 50% and certainty.
        at: where it must be reached: "worst" (at every dataset), "mean", or one dataset or a list of datasets (at each
            of them). Put a dataset whose label is "worst" or "mean" into a list. For people: "worst" (at every table),
            or the true share of those who count, such as ``"55%"``, whoever they are.
        objective: the objective that designs the mechanism, as in `design`.
        partial: values that are given on some datasets; they stay fixed.
        prior: for the mean, how much each dataset counts: a mapping label → number, or a sequence in graph order. By
            default the weights of the problem; if it has none, all datasets count equally.
        engine: "auto", "cpu" or "reference"; all give the same bits.

    Raises:
        InputError: the target is not an accuracy, or no multiple reaches it; the message explains why.
        NoExtensionError: no private mechanism has the given values, whatever the multiple.
        UsageError: a smallest multiple need not exist: with given values, or with another objective, the accuracy at
            single datasets or in the mean may fall as ε grows. Or the question has no single share, or only one answer.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [2.0, 1.0])
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    >>> solved = hetdp.solve_epsilon(problem, 0.9)
    >>> round(solved.multiple, 4), round(solved.mechanism["b"], 4), solved.mechanism.certificate.private
    (2.1972, 0.9, True)
    >>> staff = hetdp.spaces.population(hetdp.questions.majority(), 1, size=600)
    >>> hetdp.solve_epsilon(staff, "95%", at="55%").epsilon
    Decimal('0.07803')
    """
    if isinstance(problem, SolvesEpsilon):
        others = (objective, partial, prior, engine)
        if others != ("fair", None, None, "auto"):
            rule = "people have a formula that has been chosen, so only target= and at= can be given"
            hint = "population.design('weighted-vote') is the mechanism of another design"
            raise UsageError("objective=, partial=, prior= or engine= with people", rule, hint)
        return problem.solve_epsilon(target, at)
    if isinstance(problem, tuple):
        require_problem(problem)  # refuses, with a hint at the problem of a ProblemFile
    if not isinstance(problem, Problem):
        rule = "the first argument is a Problem, a population, its mechanism, or the result of hetdp.ask"
        raise UsageError(f"expected a Problem or people, got {format_type(problem)}", rule)
    goal = goal_of(problem, target, at, prior)
    if prior is not None and goal.at != MEAN and objective != AVERAGE:
        raise UsageError("prior= requires at='mean'", "a prior says how much each dataset counts in a mean")
    pins = pins_of(PartialMechanism() if partial is None else partial, problem)
    given = None if np.isnan(pins).all() else PartialMechanism(z=pins)
    require_growth(problem, goal, objective, given)
    options: dict[str, Any] = {"partial": given, "engine": engine}
    if objective == AVERAGE:
        options["prior"] = prior
    return _solve(Pattern(problem), goal, lambda scaled: design_local(scaled, objective, **options), given)


def require_growth(problem: Problem, goal: Goal, objective: str, given: PartialMechanism | None) -> None:
    """Refuses a goal whose accuracy may fall as the multiple grows, for which a smallest multiple need not exist."""
    if objective == AVERAGE:
        grows = goal.at == MEAN
    else:
        pointwise = given is None and (objective != "fair" or problem.notion.fair_grows)
        grows = goal.at == WORST or pointwise
    if not grows:
        if objective == AVERAGE:
            rule, hint = "only the mean is sure to grow with ε under average", "at='mean' can be solved"
        else:
            rule, hint = "only the worst case is sure to grow with ε then", "at='worst' can be solved"
        kind = " with given values" if given is not None else f" under the notion {problem.notion}"
        raise UsageError(f"accuracy {goal.place()}, objective {objective}{kind}", rule, hint)


def _solve(
    pattern: Pattern, goal: Goal, designed: Callable[[Problem], LocalMechanism], given: PartialMechanism | None
) -> SolvedEpsilon:
    def attempt(multiple: float) -> Attempt:
        try:
            mechanism = designed(pattern.times(multiple, with_classes=False))
        except NoExtensionError:  # the given values need more ε than this
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
        high.multiple, below, final, seal(mechanism), accuracy_of(high.error), high.error, goal.target, goal.at
    )


def _bracket(
    attempt: Callable[[float], Attempt],
    low: Attempt,
    pattern: Pattern,
    goal: Goal,
    at_the_limit: Callable[[], LocalMechanism],
    given: PartialMechanism | None,
) -> tuple[Attempt, Attempt]:
    """Finds a multiple that is not enough and one that is."""
    enough = _sufficient_multiple(pattern.problem, goal)
    multiple, tried = enough if goal.at == WORST else min(enough, 1.0), 0
    while multiple < FURTHEST:
        high = attempt(multiple)
        if high.enough:
            return low, high
        low, tried = high, tried + 1
        if tried == FIRST_ATTEMPTS:
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


def _sufficient_multiple(problem: Problem, goal: Goal) -> float:
    """A multiple that is enough under pure ε, from the worst error 1/(1 + e^ε) of the least ε across; otherwise 1."""
    least = math.inf
    for block in problem.graph.edge_blocks():
        across = problem.answers[block.source] != problem.answers[block.target]
        least = min(least, float(np.min(block.parameters[0], initial=np.inf, where=across)))
    if problem.notion != PURE or not 0.0 < goal.allowed < 0.5 or not 0.0 < least < math.inf:
        return 1.0
    multiple = math.log((1.0 - goal.allowed) / goal.allowed) / least * ROUNDING_FACTOR
    return multiple if 0.0 < multiple < FURTHEST else 1.0


def _require_proof(mechanism: LocalMechanism) -> LocalMechanism:
    if mechanism.certificate is None or not mechanism.certificate.private:
        raise VerificationError(mechanism.certificate)
    return mechanism

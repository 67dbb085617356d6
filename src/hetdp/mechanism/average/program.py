"""The linear program of the objective average, in the scale of a reference mechanism.

The reference is the best mechanism known at the start: its tails give the scale of every variable. The fair mechanism
is far from the best average where people have very different ε. A weighted vote, in which every step away from one far
dataset counts by its ε, is close to it. On any graph this is a growth from the deepest dataset of one answer, shifted
to where the average is best. Where edges do not add far from ½ (with δ, or without a bound in one direction) the vote
is not private, and it is lowered until it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hetdp.engines.contract import Engine
from hetdp.errors import UsageError
from hetdp.mechanism.average.rows import DEEPEST, Rows, Tangents, concatenate_rows, rows_between
from hetdp.mechanism.average.solver import TOLERANCE, Solver, has_many_rows, lower_bound
from hetdp.mechanism.repair import Limits
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices, Mask

FAR = 1e4  # so far below ½ that a growth from there never reaches it
SHIFTS = 24  # steps of the golden-section search


def mean_error(problem: Problem, z: Floats, weights: Floats) -> float:
    """The mean probability of the wrong answer."""
    return float(
        np.sum(weights * problem.notion.coordinate.error(z, problem.answers))
    )  # `@` may differ from run to run


def reference(problem: Problem, fair: Floats, weights: Floats, allowed: Limits, engine: Engine) -> Floats:
    """z of the fair mechanism or of a vote, whichever is better on average."""
    candidates = [fair, *(allowed.between(vote) for vote in _votes(problem, fair, weights, engine))]
    return min(candidates, key=lambda z: mean_error(problem, z, weights))


def _votes(problem: Problem, fair: Floats, weights: Floats, engine: Engine) -> Iterator[Floats]:
    for answer, sign in ((2, 1.0), (1, -1.0)):
        depth = np.where((problem.answers == answer) & np.isfinite(fair), -sign * fair, -np.inf)
        if not np.isfinite(depth).any():
            continue
        start = np.full(len(fair), np.inf)
        start[int(np.argmax(depth))] = -FAR
        away = engine.grow(problem.graph, problem.notion, start).labels + FAR
        reached = away < (np.inf if problem.notion.adds else 0.5 * FAR)  # and never came near ½
        where = away[reached & problem.boundary_mask]
        if len(where):
            away = np.where(reached, away, np.inf)
            shift = _best_shift(problem, away, sign, weights, (float(where.min()), float(where.max())))
            vote = np.where(reached, sign * (away - shift), fair)
            yield engine.grow(problem.graph, problem.notion, vote).labels if not problem.notion.adds else vote


def _best_shift(problem: Problem, away: Floats, sign: float, weights: Floats, between: tuple[float, float]) -> float:
    """The best shift, approximately, by golden-section search."""
    counted = np.where(np.isfinite(away), weights, 0.0)
    far = np.where(np.isfinite(away), away, 0.0)

    def loss(shift: float) -> float:
        return mean_error(problem, sign * (far - shift), counted)

    low, high = between
    for _ in range(SHIFTS):
        left, right = low + 0.382 * (high - low), low + 0.618 * (high - low)
        low, high = (left, high) if loss(left) > loss(right) else (low, right)
    return (low + high) / 2.0


# Curved bounds: solve, cut where the solution exceeds the curve, solve again ------------------------------------------


ROUNDS = 60
LIKELY = 0.3  # tangents with less slack than this under the reference are added at the start
NEAR_ENOUGH = 1e-8  # in z; making values private afterwards loses no more than this
NEAR = 1e-3  # tangents with more slack than this and without a price are removed


def solve_by_tangents(
    tangents: Tangents,
    reference: Floats,
    cost: Floats,
    lower: Floats,
    upper: Floats,
    lowest: Floats,
    highest: Floats,
    gain: float,
) -> tuple[Floats, float]:
    """Minimises the cost up to the solver's tolerance and the last round; returns the solution and a lower bound.

    Args:
        tangents: the tangents of all arcs between the columns.
        reference: z of each column, where the first tangents touch.
        cost: the cost of each column.
        lower: the lower bound of each column in the solution.
        upper: the upper bound of each column in the solution.
        lowest: the lower bound of each column for the bound on the minimum.
        highest: the upper bound of each column for the bound on the minimum.
        gain: the search ends with the first round that raises the minimum by less than this.
    """
    if not len(cost):
        return cost, 0.0
    rows = tangents.touching(reference)
    rows = rows.take(np.flatnonzero(rows.excess(np.ones(len(cost))) >= -LIKELY))
    x, least, before = np.ones(len(cost)), -np.inf, -np.inf
    for _ in range(ROUNDS):
        solver = Solver(cost, lower, upper)
        solver.add(rows)
        found = solver.solve()
        if not found.solved:
            break
        x = np.clip(found.x, lower, upper)
        least = max(least, lower_bound(cost, lowest, highest, rows, found.prices))
        fresh, value = tangents.exceeded(x), float(np.sum(cost * x))
        stalls = value - before <= gain
        if not len(fresh.a) or (stalls and tangents.excess(x) <= NEAR_ENOUGH):
            break
        before = value
        if not stalls:  # else what is left behind might come back for ever
            rows = rows.take(np.flatnonzero((found.prices > 0.0) | (rows.excess(x) > -NEAR)))
        rows = concatenate_rows([rows, fresh])
    return x, least


# The program: the datasets that count and the rows that may bind ------------------------------------------------------


COSTS = 1e6  # so that the solver's tolerance on costs is small beside those that matter
LEAST_ERROR = 1e-14  # a mean error that is smaller does not make costs larger
PROGRAM_LIKELY = 0.1  # rows with less room than this, under the reference, are handed over at once;
LIKELY_OF_MANY = 0.3  # or, if these are many, with less than this: then another solve costs more than more rows do
EXCEEDED = 1e-8  # rows exceeded by more are handed over afterwards
SNAP, CERTAIN = 1e-8, 1e-7  # what is so near to a limit, or to 1, is taken to be there
UNKNOWN = 1e-6  # the scale of a tail that is 0 under the reference, but need not be: with δ, or ∞ in one direction
GAIN = 1e-9  # in mean accuracy; rounds of tangents that gain less are the last


@dataclass(frozen=True)
class Answer:
    """The result of a program.

    Attributes:
        z: the values of the datasets that count, NaN elsewhere; private up to the solver's tolerance.
        error: a proved lower bound on the mean error of every private mechanism.
    """

    z: Floats
    error: float


def require_rows(problem: Problem) -> None:
    """Refuses a notion whose edges have no rows in a linear program."""
    if problem.notion.promises is None and problem.notion.curve is None:
        rule = "the objective average needs a notion that states its rows or its tangents"
        what = f"the notion {problem.notion.name!r} with the objective average"
        raise UsageError(what, rule, "objective='fair' works for any")


def best_on_average(problem: Problem, reference: Floats, weights: Floats, allowed: Limits, mass: float) -> Answer:
    """Solves for the datasets that count; those with the least weight·tail, up to `mass` in total, are left out."""
    certain, reference = np.isinf(reference), _clip_reference(problem, reference)
    tail = problem.notion.coordinate.probability(-np.abs(reference))
    free = (allowed.least < allowed.most) & ~(certain & (not problem.notion.is_directed))
    program = _Program(problem, reference, weights, allowed, _columns_that_count(weights * tail, free, mass))
    x, error = program.solve(program.lower, program.upper)
    return Answer(allowed.between(program.values(x, leave_out=True)), error)


def best_nearby(
    problem: Problem, reference: Floats, weights: Floats, allowed: Limits, factor: float, smallest: float
) -> Answer:
    """Solves for all datasets, among mechanisms whose tails differ from the reference by at most a factor.

    Tails of the smallest size or below do not shrink. The bound on the mean error holds for all private mechanisms.
    """
    columns = np.flatnonzero(allowed.least < allowed.most)
    costs = COSTS / max(mean_error(problem, reference, weights), LEAST_ERROR)
    program = _Program(problem, _clip_reference(problem, reference), weights, allowed, columns, costs)
    coordinate, scale, here = problem.notion.coordinate, program.scale, reference[columns]
    start = coordinate.probability(-np.abs(here)) / scale
    lower = np.where(scale <= smallest, start, np.maximum(program.lower, start / factor))
    upper = np.minimum(program.upper, np.minimum(factor * start, (1.0 - (1.0 - scale) / factor) / scale))
    x, error = program.solve(np.minimum(lower, start), np.maximum(upper, start))
    values = program.values(x, leave_out=False)
    return Answer(allowed.between(np.where(np.isnan(values), reference, values)), error)


class _Program:
    """The program in the scale of a reference.

    Attributes:
        lower: of each column, by the limits.
        upper: of each column, by the limits.
        scale: the tail of the reference that each column is measured in.
    """

    def __init__(
        self,
        problem: Problem,
        reference: Floats,
        weights: Floats,
        allowed: Limits,
        columns: Indices,
        costs: float = COSTS,
    ) -> None:
        coordinate, answers = problem.notion.coordinate, problem.answers
        tail = coordinate.probability(-np.abs(reference))
        tail_is_p = reference <= 0.0
        tail_is_error = tail_is_p == (answers == 2)
        known = np.ones(len(tail), dtype=np.bool_)
        known[columns] = False
        best_error = coordinate.error(np.where(answers == 1, allowed.most, allowed.least), answers)
        self._constant = math.fsum((weights * best_error)[known]) + math.fsum(weights[~known & ~tail_is_error])
        self._problem, self._columns, self._tail_is_p, self._log_tail = problem, columns, tail_is_p, np.log(tail)
        self._reference, self._sign, self.scale = reference[columns], tail_is_p[columns], tail[columns]
        sign, least, most = self._sign, allowed.least[columns], allowed.most[columns]
        self.lower = coordinate.probability(np.where(sign, least, -most)) / self.scale
        self.upper = coordinate.probability(np.where(sign, most, -least)) / self.scale
        self._costs, self._cost = costs, costs * np.where(tail_is_error, weights, -weights)[columns] * self.scale

    def solve(self, lower: Floats, upper: Floats) -> tuple[Floats, float]:
        """The solution between these bounds, and a lower bound on the mean error that does not depend on them."""
        problem, bounds = self._problem, (lower, upper, self.lower, self.upper)
        between = problem, self._columns, self._tail_is_p, self._log_tail
        if problem.notion.curve is not None:
            x, error = solve_by_tangents(Tangents(*between), self._reference, self._cost, *bounds, COSTS * GAIN)
        else:
            x, error = _solve(rows_between(*between), self._cost, *bounds)
        return x, error / self._costs + self._constant

    def values(self, x: Floats, leave_out: bool) -> Floats:
        """z of the datasets that have a column, NaN elsewhere and, with `leave_out`, where the cost is negligible."""
        coordinate = self._problem.notion.coordinate
        x = np.where(x - self.lower < SNAP * np.maximum(1.0, self.lower), self.lower, x)  # else a long way off in z
        tails = np.clip(x * self.scale, 0.0, 1.0)
        if leave_out:
            tails = np.where(tails > 1.0 - CERTAIN, 1.0, tails)
        values = coordinate.from_probability(tails)
        counts = np.abs(self._cost) >= 10.0 * TOLERANCE if leave_out else np.ones(len(x), dtype=np.bool_)
        z = np.full(len(self._log_tail), np.nan)
        z[self._columns[counts]] = np.where(self._sign, values, -values)[counts]
        return z


def _clip_reference(problem: Problem, reference: Floats) -> Floats:
    """Clips the reference so that its tails can serve as scales."""
    coordinate = problem.notion.coordinate
    deepest, unknown = (-float(coordinate.of_tail(np.array(tail))) for tail in (DEEPEST, UNKNOWN))
    if problem.notion.is_directed:
        reference = np.where(np.isinf(reference), np.copysign(unknown, reference), reference)
    return np.clip(reference, -deepest, deepest)


def _columns_that_count(loss: Floats, free: Mask, mass: float) -> Indices:
    """The columns of the program: without a mass all free datasets, since one without weight may lie between others."""
    candidates = np.flatnonzero(free)
    if mass <= 0.0:
        return candidates
    order = np.argsort(loss[candidates], kind="stable")
    kept = np.cumsum(loss[candidates][order]) > mass
    return np.sort(candidates[order[kept]])


def _solve(rows: Rows, cost: Floats, lower: Floats, upper: Floats, least: Floats, most: Floats) -> tuple[Floats, float]:
    """Solves with the rows that may bind and adds violated rows until there are none; returns solution and lower bound.

    The solution lies between `lower` and `upper`; the bound holds for everything between `least` and `most`.
    """
    if not len(cost):
        return cost, 0.0
    solver = Solver(cost, lower, upper)
    absent = np.ones(len(rows.a), dtype=np.bool_)
    order: list[Indices] = []
    room = -rows.excess(np.ones(len(cost)))
    due = np.flatnonzero(room <= PROGRAM_LIKELY)
    if has_many_rows(len(due), len(cost)):
        due = np.flatnonzero(room <= LIKELY_OF_MANY)
    while True:
        absent[due] = False
        order.append(due)
        solver.add(rows.take(due))
        found = solver.solve()
        due = np.flatnonzero(absent & (rows.excess(found.x) > EXCEEDED))
        if not len(due) or not found.solved:
            break
    used = rows.take(np.concatenate(order))
    return np.clip(found.x, lower, upper), lower_bound(cost, least, most, used, found.prices)

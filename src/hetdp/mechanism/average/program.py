"""One linear program: the datasets that count, in the scale of a reference, and the rows that may bind."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hetdp.errors import UsageError
from hetdp.mechanism.average.bound import lower_bound
from hetdp.mechanism.average.cutting import solved_by_tangents
from hetdp.mechanism.average.rows import LINEAR, Rows, rows_between
from hetdp.mechanism.average.solver import TOLERANCE, Solver, has_many_rows
from hetdp.mechanism.average.tangents import DEEPEST, SLOPES, Tangents
from hetdp.mechanism.limits import Limits
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices, Mask

COSTS = 1e6  # so that the solver's tolerance on costs is small beside those that matter
LIKELY = 0.1  # rows with less room than this, under the reference, are handed over at once;
LIKELY_OF_MANY = 0.3  # or, if these are many, with less than this: then another solve costs more than more rows do
EXCEEDED = 1e-8  # rows exceeded by more are handed over afterwards
SNAP, CERTAIN = 1e-8, 1e-7  # what is so near to a limit, or to 1, is taken to be there
UNKNOWN = 1e-6  # the scale of a tail that is 0 under the reference, but need not be: with δ, or ∞ in one direction
GAIN = 1e-9  # in mean accuracy; rounds of tangents that gain less are the last


@dataclass(frozen=True)
class Answer:
    """What a program found.

    Attributes:
        z: values of the datasets that count, NaN elsewhere; private up to the solver's tolerance.
        error: a proved lower bound on the mean error of every private mechanism.
    """

    z: Floats
    error: float


def require_rows(problem: Problem) -> None:
    """Refuses a notion whose edges are not known as rows of a linear program."""
    name, known = problem.notion.name, (*LINEAR, *SLOPES)
    if name not in known:
        rule = f"the objective average is known for the notions {', '.join(known)}"
        raise UsageError(f"the notion {name!r} with the objective average", rule, "objective='fair' works for any")


def best_on_average(problem: Problem, reference: Floats, weights: Floats, allowed: Limits, mass: float) -> Answer:
    """Solves for the datasets that count; those of the least weight·tail, up to `mass` in all, are left out."""
    coordinate, answers = problem.notion.coordinate, problem.answers
    certain, reference = np.isinf(reference), _not_too_deep(problem, reference)
    tail = coordinate.probability(-np.abs(reference))
    tail_is_p = reference <= 0.0
    tail_is_error = tail_is_p == (answers == 2)
    columns = _that_count(
        weights * tail, (allowed.least < allowed.most) & ~(certain & (not problem.notion.is_directed)), mass
    )
    known = np.ones(len(tail), dtype=np.bool_)
    known[columns] = False
    best_error = coordinate.error(np.where(answers == 1, allowed.most, allowed.least), answers)
    constant = math.fsum((weights * best_error)[known]) + math.fsum(weights[~known & ~tail_is_error])
    scale, sign = tail[columns], tail_is_p[columns]
    lower = coordinate.probability(np.where(sign, allowed.least[columns], -allowed.most[columns])) / scale
    upper = coordinate.probability(np.where(sign, allowed.most[columns], -allowed.least[columns])) / scale
    cost = COSTS * np.where(tail_is_error, weights, -weights)[columns] * scale
    log_tail = np.log(tail)
    if problem.notion.name in SLOPES:
        tangents = Tangents(problem, columns, tail_is_p, log_tail)
        x, error = solved_by_tangents(tangents, reference[columns], cost, lower, upper, COSTS * GAIN)
    else:
        x, error = _solve(rows_between(problem, columns, tail_is_p, log_tail), cost, lower, upper)
    x = np.where(x - lower < SNAP * np.maximum(1.0, lower), lower, x)  # there a tolerance would be a long way in z
    tails = np.clip(x * scale, 0.0, 1.0)
    values = coordinate.from_probability(np.where(tails > 1.0 - CERTAIN, 1.0, tails))
    matters = np.abs(cost) >= 10.0 * TOLERANCE  # what weighs less, the solver leaves anywhere
    z = np.full(len(tail), np.nan)
    z[columns[matters]] = np.where(sign, values, -values)[matters]
    return Answer(allowed.between(z), error / COSTS + constant)


def _not_too_deep(problem: Problem, reference: Floats) -> Floats:
    """The reference with tails that a scale can be made of."""
    coordinate = problem.notion.coordinate
    deepest, unknown = (-float(coordinate.of_tail(np.array(tail))) for tail in (DEEPEST, UNKNOWN))
    if problem.notion.is_directed:
        reference = np.where(np.isinf(reference), np.copysign(unknown, reference), reference)
    return np.clip(reference, -deepest, deepest)


def _that_count(loss: Floats, free: Mask, mass: float) -> Indices:
    """Without a mass to leave out, all free ones: a dataset without weight may still stand between two that have it."""
    candidates = np.flatnonzero(free)
    if mass <= 0.0:
        return candidates
    order = np.argsort(loss[candidates], kind="stable")
    kept = np.cumsum(loss[candidates][order]) > mass
    return np.sort(candidates[order[kept]])


def _solve(rows: Rows, cost: Floats, lower: Floats, upper: Floats) -> tuple[Floats, float]:
    """Solves with the rows that may bind, adds those that were exceeded, until none is; and bounds the minimum."""
    if not len(cost):
        return cost, 0.0
    solver = Solver(cost, lower, upper)
    absent = np.ones(len(rows.a), dtype=np.bool_)
    order: list[Indices] = []
    room = -rows.excess(np.ones(len(cost)))
    due = np.flatnonzero(room <= LIKELY)
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
    return np.clip(found.x, lower, upper), lower_bound(cost, lower, upper, used, found.prices)

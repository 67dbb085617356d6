"""Why no multiple of ε reaches an accuracy."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from hetdp.errors import Fault, InputError
from hetdp.mechanism.digits import limit_digits
from hetdp.mechanism.mechanism import Mechanism
from hetdp.mechanism.solving.goal import MEAN, Goal
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.spelling import brief


def refuse_certainty(problem: Problem, goal: Goal) -> NoReturn:
    """An accuracy of 1 where ε = 0 does not have it: it is approached, and never reached."""
    at = int(np.flatnonzero(problem.boundary_mask)[0]) if problem.boundary_mask.any() else -1
    edge = "" if at < 0 else f", such as {_edge_across(problem, at)}"
    _refuse(goal, f"no finite ε makes an answer certain that an edge between the answers holds down{edge}")


def refuse_out_of_reach(goal: Goal, limit: Mechanism, given: PartialMechanism | None) -> NoReturn:
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
    whose = "" if goal.at == MEAN else f" of {brief(problem.graph.label(worst), problem.labels)}"
    stays = "below" if goal.is_just_met(error) else "at or below"
    _refuse(goal, f"the accuracy{whose} stays {stays} {limit_digits(error)}, since {cause}")


def _edge_across(problem: Problem, at: int) -> str:
    neighbours = problem.graph.neighbours(at)[0]
    other = neighbours[problem.answers[neighbours] != problem.answers[at]][0]
    ends = ", ".join(brief(problem.graph.label(int(end)), problem.labels) for end in (at, other))
    return f"the edge ({ends})"


def _refuse(goal: Goal, rule: str) -> NoReturn:
    where = f"target {goal.place()}"
    raise InputError(where, [Fault("out of reach:", where, repr(goal.target), rule)])

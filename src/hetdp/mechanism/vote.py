"""The ε-weighted vote: every person is weighted by their smallest ε, and Laplace noise of scale 1 is added.

A person who changes their value changes z by at most that ε in every situation, so the vote is private on every edge;
the certificate proves this again. See docs/theory/products.md for the proof and theory/voting.py for the formula.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import verify
from hetdp.errors import UsageError, VerificationError
from hetdp.mechanism.mechanism import LocalMechanism, seal
from hetdp.problem.axis import Axis
from hetdp.problem.decimals import LARGEST_EXACT, UNIT
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.scores import Scores, Whole
from hetdp.problem.space import Floats
from hetdp.theory import voting
from hetdp.theory.pure import PURE

WEIGHTED_VOTE = "weighted-vote"
UNITS_PER_EPSILON = int(1 / UNIT)  # ε = 1 in units of the grid
LARGEST_TOTAL = 1 << 62  # the largest total weight in units, so that 64-bit integers hold every sum
OTHER_OBJECTIVES_HINT = "fair, balanced and average answer any question"


def weighted_vote(problem: Problem) -> LocalMechanism:
    """Builds the weighted vote as a verified mechanism. All its values are pinned, because a formula gives them.

    Raises:
        UsageError: the problem is not made from people, or its question is not a threshold of a sum over people.
        VerificationError: the vote could not be proved private, which would be a bug.
    """
    space, scores = require_people(problem)
    z = vote_coordinates(space, scores)
    links = np.full(space.size, -1, dtype=np.int32 if space.size < 2**31 else np.int64)
    mechanism = LocalMechanism(problem, z, np.ones(space.size, dtype=np.bool_), links)
    progress.report_stage("proving every edge")
    proof = verify(problem, mechanism)
    if not proof.private:
        raise VerificationError(proof)
    return seal(replace(mechanism, certificate=proof, objective=WEIGHTED_VOTE))


def require_people(problem: Problem) -> tuple[ProductSpace, Scores]:
    """The space of people of a problem and the score of each value.

    Raises:
        UsageError: the problem is not made from people, or its question is not a threshold of a sum.
    """
    if not isinstance(problem.graph, ProductSpace):
        rule = "the weighted vote counts people: it is for problems made by hetdp.spaces.votes or hetdp.spaces.tallies"
        raise UsageError(f"the objective {WEIGHTED_VOTE} on a problem without people", rule, OTHER_OBJECTIVES_HINT)
    if problem.scores is None or problem.notion != PURE:
        rule = "it is for a count, a share, a majority, A against B, a weighted sum, all of a group, or their opposite"
        raise UsageError(
            f"the objective {WEIGHTED_VOTE} on a question that is not a threshold of a sum", rule, OTHER_OBJECTIVES_HINT
        )
    return problem.graph, problem.scores


def vote_coordinates(space: ProductSpace, scores: Scores) -> Floats:
    """z of every dataset: a multiple of 2⁻⁴⁰, clipped to ±8,192, so that a float holds it exactly.

    Raises:
        UsageError: the sum of all ε is too large for 64-bit integers.
    """
    if scores.constant:
        return np.full(space.size, np.inf if scores.constant == 1 else -np.inf)
    weights = person_weights(space, scores)
    total = sum(axis.people * weight for axis, weight in zip(space.axes, weights.tolist(), strict=True))
    if total >= LARGEST_TOTAL:
        rule = f"the weights of all people together are below {LARGEST_TOTAL // UNITS_PER_EPSILON:,}"
        raise UsageError("the ε are too large for a weighted vote on datasets", rule, "a population has no such limit")
    units = np.array([-voting.shift(total, scores.threshold, scores.total)])
    for axis, weight, most, row in zip(space.axes, weights.tolist(), scores.most.tolist(), scores.scores, strict=True):
        units = np.add.outer(units, axis.counts() @ voting.contribution(weight, row, max(most, 1))).ravel()
    largest = int(LARGEST_EXACT * UNITS_PER_EPSILON)
    np.clip(units, -largest, largest, out=units)
    z = units.astype(np.float64)
    z *= UNIT
    return z


def person_weights(space: ProductSpace, scores: Scores) -> Whole:
    """The weight of each person, or of each member of a group, in grid units: their smallest ε in any situation."""
    least = np.array([_least(axis, row) for axis, row in zip(space.axes, scores.scores, strict=True)])
    bounded = least < np.inf
    units = np.where(bounded, least / UNIT, 0.0).astype(np.int64)
    units[~bounded] = LARGEST_TOTAL
    return voting.weights(units, bounded, scores.most > 0, UNITS_PER_EPSILON)


def _least(axis: Axis, row: Whole) -> float:
    """The smallest ε, in any state, of all changes that change the score, or of all changes if none does."""
    changes = np.array([row[one] != row[other] for one, other in combinations(range(len(row)), 2)])
    return float(np.min(axis.epsilon[changes] if changes.any() else axis.epsilon, initial=np.inf))

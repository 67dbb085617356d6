"""Baselines that need people: what else could be done with everybody's own ε, on votes and tallies.

All values are z. docs/theory/population.md has the formulas and why each is private; theory/voting.py has what they
share with populations.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from hetdp.errors import UsageError
from hetdp.mechanism.vote import people_of, vote_coordinates, weights_of
from hetdp.problem.grid import LARGEST_EXACT, UNIT
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices
from hetdp.theory import voting
from hetdp.theory.coordinate import LAPLACE

MOST_SAMPLED = 1 << 28  # additions that Sampling may take: a few seconds, and at most 1 GB
LARGEST_SAMPLED = 700.0  # beyond it, in z, tails are too small for a float; labels are brought there


class Voters(NamedTuple):
    """Everybody who counts, where everybody has one vote.

    Attributes:
        axes: how many people each axis has, or 0 where they do not count.
        yes: for each axis and position, how many people say yes.
        epsilon: the ε of each axis: what its people weigh in the weighted vote.
        limit: the mean ε of all who count.
        part: the part of all people that must say yes, less half a person.
    """

    axes: list[int]
    yes: list[Indices]
    epsilon: list[float]
    limit: float
    part: float


def weighted_vote(problem: Problem) -> Floats | None:
    """The ε-weighted vote, if the question is a threshold of a sum."""
    try:
        return vote_coordinates(*people_of(problem))
    except UsageError:
        return None


def dropping(problem: Problem) -> Floats | None:
    """Answers of people below the mean ε are not read, and Laplace noise hides the count of the others."""
    voters = _voters(problem)
    if voters is None:
        return None
    z = np.zeros(1)
    for size, yes, epsilon in zip(voters.axes, voters.yes, voters.epsilon, strict=True):
        share = voters.limit * (yes - voters.part * size)
        z = np.add.outer(z, share if epsilon >= voters.limit else np.zeros(len(yes))).ravel()
    return np.clip(z, -LARGEST_EXACT, LARGEST_EXACT)


def sampling(problem: Problem) -> Floats | None:
    """People below the mean ε are kept by chance, so that noise for this ε protects them as promised."""
    voters = _voters(problem)
    if voters is None or _additions(voters.axes) > MOST_SAMPLED:
        return None
    yes, no = _sampled(voters)
    with np.errstate(divide="ignore"):
        tail = LAPLACE.of_tail(np.minimum(yes, no))
    by_number = np.maximum(tail, -LARGEST_SAMPLED) * np.where(yes > no, -1.0, 1.0)
    return np.asarray(by_number[np.ix_(*voters.yes)].ravel())


PEOPLES = (("weighted vote", weighted_vote), ("dropping", dropping), ("Sampling", sampling))


def _voters(problem: Problem) -> Voters | None:
    """Who counts; None if the question is no count, or always has the same answer."""
    try:
        space, scores = people_of(problem)
    except UsageError:
        return None
    if not scores.is_count or scores.constant:
        return None
    weights, counts = weights_of(space, scores), scores.most > 0
    people = np.where(counts, scores.sizes, 0)
    yes = [axis.counts() @ row for axis, row in zip(space.axes, scores.scores, strict=True)]
    limit = voting.mean_epsilon(weights, people, UNIT)
    part = voting.needed_part(scores.threshold, int(people.sum()))
    return Voters(people.tolist(), yes, (weights * UNIT).tolist(), limit, part)


def _additions(axes: list[int]) -> int:
    """How many numbers `_sampled` adds up."""
    found, rest = 0, sum(axes)
    for at, size in enumerate(axes):
        lead = 2 * prod(one + 1 for one in axes[: at + 1])
        found += lead * (size + 1) * (rest + 1) * (rest - size + 1)
        rest -= size
    return found


def _sampled(voters: Voters) -> tuple[Floats, Floats]:
    """Pr[answer 1] and Pr[answer 2] by how many people say yes on each axis.

    Both begin as tables by how many are kept who say yes, and who say no. One axis after the other is folded in: what
    was known of all that are kept becomes the mean over who of these people are. In the end none is left to be kept.
    """
    rest = sum(voters.axes)
    number = np.arange(rest + 1)
    totals = voters.limit * (number[:, None] * (1.0 - voters.part) - number[None, :] * voters.part)
    found = np.stack([LAPLACE.probability(totals), LAPLACE.probability(-totals)])
    for size, epsilon in zip(voters.axes, voters.epsilon, strict=True):
        rest -= size
        chances = np.zeros((size + 1, size + 1))  # [people, of whom so many are kept]
        for people in range(size + 1):
            chances[people, : people + 1] = voting.number_kept(people, *voting.kept_chance(epsilon, voters.limit))
        keeping = range(size + 1)
        said_yes = _mean(chances, [found[..., None, kept : kept + rest + 1, :] for kept in keeping])
        found = _mean(chances[::-1], [said_yes[..., kept : kept + rest + 1] for kept in keeping])
    return found[0, ..., 0, 0], found[1, ..., 0, 0]


def _mean(chances: Floats, tables: list[Floats]) -> Floats:
    """The mean of tables, for each number of people: the k-th is the one if k of them are kept."""
    found = chances[:, 0, None, None] * tables[0]
    for kept, table in enumerate(tables[1:], start=1):
        found += chances[:, kept, None, None] * table
    return np.asarray(found)

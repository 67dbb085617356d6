"""Other mechanisms for a count, and their worst accuracy over all tables of one margin.

For each of these methods the worst table of answer 1 is the one where those who count as yes have the smallest ε, and
for answer 2 the one where those who do not have them (docs/theory/population.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import UsageError
from hetdp.mechanism.accuracy.baselines import DROPPING, GEOMETRIC, ONE_EPSILON, PERSONALISED, SAMPLING
from hetdp.numbers import parse_whole
from hetdp.people.populations.population import BALANCED, WEIGHTED_VOTE, Population
from hetdp.people.populations.shares import Distance
from hetdp.people.populations.vote import weights_of
from hetdp.people.privacy.epsilons import UNBOUNDED, epsilon_to_units, units_to_floats
from hetdp.problem.decimals import UNIT
from hetdp.problem.space import Floats, Mask
from hetdp.theory.coordinate import LAPLACE
from hetdp.theory.voting import keep_probability, kept_distribution, mean_epsilon, threshold_share

MOST_SAMPLED = 2000


class Table(NamedTuple):
    """A table for a count: people in increasing order of ε, which of them count as yes, and how many must.

    Attributes:
        epsilon: the ε of each person who counts.
        says_yes: who says yes.
        threshold: how many must, for answer 1.
    """

    epsilon: Floats
    says_yes: Mask
    threshold: int

    @property
    def part(self) -> float:
        """The needed share of all people, less half a person."""
        return threshold_share(self.threshold, len(self.epsilon))


def baselines_at(population: Population, margin: int, threshold: Any = None) -> dict[str, float]:
    """The worst accuracy of each method at one margin; see `Population.baselines`."""
    farthest = population.farthest()
    if not population.is_count:
        raise UsageError(f"the question is {population.question}", "baselines are known for counts, and shares of all")
    scores = population.require_sum()
    if not 1 <= parse_whole(margin, "the margin", 1) <= farthest:
        raise UsageError(f"no table has the margin {margin:,}", f"margins are from 1 to {farthest:,}")
    weights = weights_of(population)
    order = np.argsort(weights, kind="stable")
    counted = np.where(scores.most[population.classes.group] > 0, population.classes.sizes, 0)
    epsilon = np.repeat(units_to_floats(weights[order]), counted[order])
    mean = mean_epsilon(weights, counted, UNIT)
    limit = mean if threshold is None else float(units_to_floats(np.array([epsilon_to_units(threshold)]))[0])
    found = {ONE_EPSILON: _smaller_error(margin, float(epsilon[0]))}
    tables = list(_worst_tables(epsilon, scores.threshold, int(margin)))
    for name, chance in ((DROPPING, drop_people), (SAMPLING, sample_people), (PERSONALISED, exponential)):
        if name != SAMPLING or len(epsilon) <= MOST_SAMPLED:
            found[name] = min(chance(table, limit) if yes else 1.0 - chance(table, limit) for table, yes in tables)
    for objective in (WEIGHTED_VOTE, BALANCED):
        found[objective] = population.design(objective).accuracy(margin)
    return found


def baselines_by_distance(population: Population, objective: str) -> dict[str, Callable[[Distance], float]]:
    """The worst error of each method over all tables at a distance from the other answer, by name.

    *One ε* is the balanced mechanism if everybody has the least ε of all. *Geometric noise* adds such noise for the
    least ε to the sum and compares the result with the threshold; for counts the two have the same error. The
    weighted vote is for questions in which people have equal weights.

    Args:
        population: the people and the question.
        objective: the objective to compare with, which is left out.
    """
    scores = population.require_sum()
    if scores.constant:
        return {}
    least = least_units(population)
    alike = population.with_one_epsilon(least).design()
    sensitivity = float(scores.most.max())
    epsilon = float(units_to_floats(np.array([least]))[0]) / sensitivity

    def one_epsilon(distance: Distance) -> float:
        return alike.error_at(distance)

    def noisy_count(distance: Distance) -> float:
        return geometric_error(distance.need, epsilon)

    found: dict[str, Callable[[Distance], float]] = {ONE_EPSILON: one_epsilon, GEOMETRIC: noisy_count}
    moving = scores.most[scores.most > 0]
    if objective != WEIGHTED_VOTE and (moving == moving[0]).all():
        found[WEIGHTED_VOTE] = population.design(WEIGHTED_VOTE).error_at
    return found


def least_units(population: Population) -> int:
    """The least ε of all people whose answer counts, in units: the strongest protection, which the baselines give all.

    Raises:
        UsageError: the question is not a sum over people.
    """
    counts = population.require_sum().most[population.classes.group] > 0
    return int(np.min(population.classes.deciding, where=counts, initial=UNBOUNDED))


def _worst_tables(epsilon: Floats, threshold: int, margin: int) -> list[tuple[Table, bool]]:
    count, found = len(epsilon), []
    rank = np.arange(count)
    if threshold + margin - 1 <= count:
        found.append((Table(epsilon, rank < threshold + margin - 1, threshold), True))
    if threshold - margin >= 0:
        found.append((Table(epsilon, rank >= count - (threshold - margin), threshold), False))
    return found


def _smaller_error(margin: int, epsilon: float) -> float:
    """Geometric noise on the count, for the smallest ε of all."""
    return 1.0 - geometric_error(margin, epsilon)


def geometric_error(need: int, epsilon: float) -> float:
    """The probability that geometric noise on a sum is at least `need`, so that the answer is wrong.

    >>> round(geometric_error(1, 1.0), 4), geometric_error(3, float("inf"))
    (0.2689, 0.0)
    """
    if np.isinf(epsilon):
        return 0.0
    return float(np.exp(-epsilon * need - np.log1p(np.exp(-epsilon))))


def drop_people(table: Table, limit: float) -> float:
    """Pr[answer 1] if the answers of people below an ε are not read, and Laplace noise hides the count of the others.

    Args:
        table: the table.
        limit: the ε; the noise has the scale 1/ε.

    >>> table = Table(np.array([0.1, 1.0, 1.0]), np.array([False, True, True]), 2)
    >>> round(drop_people(table, 1.0), 4)
    0.8161
    """
    kept = table.epsilon >= limit
    total = float(np.sum((table.says_yes - table.part)[kept]))
    return float(LAPLACE.probability(limit * total))


def sample_people(table: Table, limit: float) -> float:
    """Pr[answer 1] if people below an ε are sampled, so that noise for this ε protects them as promised.

    A person with ε is kept with probability (e^ε − 1)/(e^limit − 1), and always if ε is not below the limit.

    Args:
        table: the table.
        limit: the ε; the noise has the scale 1/ε.

    >>> table = Table(np.array([0.1, 1.0, 1.0]), np.array([False, True, True]), 2)
    >>> round(sample_people(table, 1.0), 4)
    0.8088
    """
    yes, no = (_number_of(table.epsilon[who], limit) for who in (table.says_yes, ~table.says_yes))
    totals = np.arange(len(yes))[:, None] * (1.0 - table.part) - np.arange(len(no))[None, :] * table.part
    return float(yes @ LAPLACE.probability(limit * totals) @ no)


def exponential(table: Table, _limit: float = 0.0) -> float:
    """Pr[answer 1] by the personalised exponential mechanism: the odds of the true answer are e^(D/2).

    D is the least sum of ε to the other answer.

    Args:
        table: the table.

    >>> table = Table(np.array([0.1, 1.0, 1.0]), np.array([False, True, True]), 2)
    >>> round(exponential(table), 4)
    0.6225
    """
    short = table.threshold - int(np.sum(table.says_yes))
    able, need = (~table.says_yes, short) if short > 0 else (table.says_yes, 1 - short)
    tail = 1.0 / (1.0 + float(np.exp(min(0.5 * np.sum(table.epsilon[able][:need]), 700.0))))
    return tail if short > 0 else 1.0 - tail


def _number_of(epsilon: Floats, limit: float) -> Floats:
    """The distribution of the number of people that are kept."""
    found = np.ones(1)
    for one, people in zip(*np.unique(epsilon, return_counts=True), strict=True):
        found = np.convolve(found, kept_distribution(int(people), *keep_probability(float(one), limit)))
    return found

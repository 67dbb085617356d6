"""Baselines: other mechanisms on the same problem, each proved private on its own edges.

Votes and tallies also have baselines that use every person's own ε. All values are z. docs/theory/baselines.md has the
formulas and proofs of privacy; theory/voting.py has the parts that are shared with populations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hetdp.certificate.certificate import verify
from hetdp.engines.registry import EngineName, engine_for
from hetdp.errors import NoExtensionError, UsageError, VerificationError
from hetdp.mechanism.accuracy.measures import NOWHERE, Steps, is_threshold, with_one_epsilon
from hetdp.mechanism.design import design_local
from hetdp.mechanism.extension import extend
from hetdp.mechanism.mechanism import LocalMechanism, seal
from hetdp.mechanism.vote import person_weights, require_people, vote_coordinates
from hetdp.problem.decimals import LARGEST_EXACT, UNIT
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices
from hetdp.theory import voting
from hetdp.theory.coordinate import LAPLACE
from hetdp.theory.pure import PURE

MOST_SAMPLED = 1 << 28  # most additions for sampling: a few seconds, and at most 1 GB
LARGEST_SAMPLED = 700.0  # in z; tails beyond it are too small for a float, so labels are clipped


class Voters(NamedTuple):
    """The people who count in a vote with one vote per person.

    Attributes:
        axes: number of people on each axis; 0 if they do not count.
        yes: number of people who say yes, for each axis and position.
        epsilon: the ε of each axis, which is the weight of its people in the weighted vote.
        limit: the mean ε of all people who count.
        part: the fraction of all people that must say yes, less half a person.
    """

    axes: list[int]
    yes: list[Indices]
    epsilon: list[float]
    limit: float
    part: float


def weighted_vote(problem: Problem) -> Floats | None:
    """The ε-weighted vote, if the question is a threshold of a sum."""
    try:
        return vote_coordinates(*require_people(problem))
    except UsageError:
        return None


def drop_people(problem: Problem) -> Floats | None:
    """Ignores people below the mean ε, and adds Laplace noise to the count of the others."""
    voters = _voters(problem)
    if voters is None:
        return None
    z = np.zeros(1)
    for size, yes, epsilon in zip(voters.axes, voters.yes, voters.epsilon, strict=True):
        share = voters.limit * (yes - voters.part * size)
        z = np.add.outer(z, share if epsilon >= voters.limit else np.zeros(len(yes))).ravel()
    return np.clip(z, -LARGEST_EXACT, LARGEST_EXACT)


def sample_people(problem: Problem) -> Floats | None:
    """Keeps people below the mean ε at random, so that noise for the mean ε protects them as promised."""
    voters = _voters(problem)
    if voters is None or _additions(voters.axes) > MOST_SAMPLED:
        return None
    yes, no = _sample(voters)
    with np.errstate(divide="ignore"):
        tail = LAPLACE.of_tail(np.minimum(yes, no))
    by_number = np.maximum(tail, -LARGEST_SAMPLED) * np.where(yes > no, -1.0, 1.0)
    return np.asarray(by_number[np.ix_(*voters.yes)].ravel())


WEIGHTED, DROPPING, SAMPLING = "weighted-vote", "dropping", "sampling"  # the first is an objective, too
PEOPLE_BASELINES = ((WEIGHTED, weighted_vote), (DROPPING, drop_people), (SAMPLING, sample_people))


def _voters(problem: Problem) -> Voters | None:
    """The voters; None if the question is not a count, or always has the same answer."""
    try:
        space, scores = require_people(problem)
    except UsageError:
        return None
    if not scores.is_count or scores.constant:
        return None
    weights, counts = person_weights(space, scores), scores.most > 0
    people = np.where(counts, scores.sizes, 0)
    yes = [axis.counts() @ row for axis, row in zip(space.axes, scores.scores, strict=True)]
    limit = voting.mean_epsilon(weights, people, UNIT)
    part = voting.threshold_share(scores.threshold, int(people.sum()))
    return Voters(people.tolist(), yes, (weights * UNIT).tolist(), limit, part)


def _additions(axes: list[int]) -> int:
    """The number of additions in `_sample`."""
    found, rest = 0, sum(axes)
    for at, size in enumerate(axes):
        lead = 2 * prod(one + 1 for one in axes[: at + 1])
        found += lead * (size + 1) * (rest + 1) * (rest - size + 1)
        rest -= size
    return found


def _sample(voters: Voters) -> tuple[Floats, Floats]:
    """Pr[answer 1] and Pr[answer 2] by the number of people who say yes on each axis.

    Both start as tables by the numbers of sampled people who say yes and no. Then one axis after the other is averaged
    over which of its people are sampled. In the end no sampled people remain as an argument.
    """
    rest = sum(voters.axes)
    number = np.arange(rest + 1)
    totals = voters.limit * (number[:, None] * (1.0 - voters.part) - number[None, :] * voters.part)
    found = np.stack([LAPLACE.probability(totals), LAPLACE.probability(-totals)])
    for size, epsilon in zip(voters.axes, voters.epsilon, strict=True):
        rest -= size
        chances = np.zeros((size + 1, size + 1))  # [people, sampled people]
        for people in range(size + 1):
            chances[people, : people + 1] = voting.kept_distribution(
                people, *voting.keep_probability(epsilon, voters.limit)
            )
        keeping = range(size + 1)
        said_yes = _mean(chances, [found[..., None, kept : kept + rest + 1, :] for kept in keeping])
        found = _mean(chances[::-1], [said_yes[..., kept : kept + rest + 1] for kept in keeping])
    return found[0, ..., 0, 0], found[1, ..., 0, 0]


def _mean(chances: Floats, tables: list[Floats]) -> Floats:
    """The mean of tables for each number of people; the k-th table applies if k of them are sampled."""
    found = chances[:, 0, None, None] * tables[0]
    for kept, table in enumerate(tables[1:], start=1):
        found += chances[:, kept, None, None] * table
    return np.asarray(found)


# Baselines for all problems -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BaselineSetting:
    """A problem with the facts that baselines need.

    Attributes:
        problem: datasets, ε and query.
        steps: number of steps from each dataset to the other answer; 0 if no path leads there.
        engine: the engine that searches.
    """

    problem: Problem
    steps: Steps
    engine: EngineName

    @cached_property
    def least(self) -> tuple[float, ...]:
        """The smallest value of each parameter over all edges; infinite without edges."""
        least = (np.inf,) * len(self.problem.notion.parameters)
        for block in self.problem.graph.edge_blocks():
            here = (float(np.min(values, initial=np.inf)) for values in block.parameters)
            least = tuple(map(min, least, here))
        return least

    @cached_property
    def threshold(self) -> bool:
        """True if the query is a threshold along the graph."""
        return is_threshold(self.problem, self.steps)

    def by_steps(self, labels: list[float]) -> Floats:
        """The label of each dataset, from the labels at one step, two steps, and so on."""
        return np.array([np.inf, *labels])[self.steps]

    @property
    def furthest(self) -> int:
        """The largest number of steps."""
        return int(np.max(self.steps, initial=NOWHERE))


def randomised_response(setting: BaselineSetting) -> Floats:
    """The true answer, flipped everywhere with the probability that the strictest edge between the answers allows."""
    problem, edges = setting.problem, list[Floats]()
    for block in problem.graph.edge_blocks():
        across = problem.answers[block.source] != problem.answers[block.target]
        edges.append(_strictest(np.stack([values[across] for values in block.parameters])))
    kinds = _strictest(np.concatenate(edges, axis=1)).T.tolist() if edges else []
    return np.full(problem.graph.size, min((problem.notion.meet(*edge) for edge in kinds), default=np.inf))


def _strictest(parameters: Floats) -> Floats:
    """The edges, as columns, that may be the strictest: the smallest for one parameter, otherwise all distinct ones."""
    if len(parameters) == 1 and parameters.size:
        return np.asarray(np.min(parameters, axis=1, keepdims=True))
    return np.unique(parameters, axis=1)


def one_epsilon(setting: BaselineSetting) -> Floats:
    """The fair mechanism (here also the balanced one) if every edge had the smallest ε."""
    return _labels_by_steps(setting, setting.problem.notion.meet)


def geometric(setting: BaselineSetting) -> Floats:
    """Two-sided geometric noise on the signed number of steps, then the threshold."""
    return _labels_by_steps(setting, PURE.meet)


def laplace(setting: BaselineSetting) -> Floats:
    """Laplace noise on the signed number of steps, then the threshold half-way between the answers."""
    return _labels_by_steps(setting, lambda epsilon: 0.5 * epsilon)


def _labels_by_steps(setting: BaselineSetting, first: Callable[..., float]) -> Floats:
    """A label on the boundary, and at each further step the bound over an edge with the smallest ε."""
    step, labels = setting.problem.notion.step, list[float]()
    for _ in range(setting.furthest):
        labels.append(step(labels[-1], *setting.least) if labels else first(*setting.least))
    return setting.by_steps(labels)


def exponential(setting: BaselineSetting) -> Floats:
    """The exponential mechanism with the number of steps as its score, also known as inverse sensitivity."""
    half = 0.5 * setting.least[0]
    scores = np.minimum(half * np.arange(1, setting.furthest + 1), np.finfo(np.float64).max)
    return setting.by_steps([PURE.meet(score) for score in scores.tolist()])


def exponential_by_edge(setting: BaselineSetting) -> Floats:
    """The exponential mechanism with each edge's own ε: the score is the least Σε along a path to the other answer."""
    problem = setting.problem
    start = np.full(problem.graph.size, np.inf)
    for block in problem.graph.edge_blocks():
        across = np.flatnonzero(problem.answers[block.source] != problem.answers[block.target])
        np.minimum.at(start, block.source[across], block.parameters[0][across])
    sums = engine_for(setting.engine, problem.graph, PURE, "grow").grow(problem.graph, PURE, start).labels
    different, which = np.unique(0.5 * sums, return_inverse=True)
    return np.array([PURE.meet(score) for score in different.tolist()])[which]


ONE_EPSILON, ONE_AVERAGE, GEOMETRIC = "one ε", "one ε (average)", "geometric noise"
PERSONALISED = "personalised exponential"


class Baseline(NamedTuple):
    """A baseline: its name, its labels, and whether it is known for the pure notion only."""

    name: str
    labels: Callable[[BaselineSetting], Floats]
    pure_only: bool = True

    def name_on(self, setting: BaselineSetting) -> str:
        """Its name on a problem: one ε is one μ where edges have μ."""
        letter = setting.problem.notion.main.letter
        return self.name.replace("ε", letter) if self.name == ONE_EPSILON else self.name


BASELINES = (
    Baseline(ONE_EPSILON, one_epsilon, pure_only=False),
    Baseline(GEOMETRIC, geometric),
    Baseline("Laplace noise", laplace),
    Baseline("exponential mechanism", exponential),
    Baseline(PERSONALISED, exponential_by_edge),
    Baseline("randomised response", randomised_response, pure_only=False),
)


def baselines_on(setting: BaselineSetting, average: bool, weights: Floats) -> Iterator[tuple[str, LocalMechanism]]:
    """Every baseline of the problem, by name; the best mean with one ε only if `average` is set."""
    pure = setting.problem.notion == PURE
    if average and pure and setting.least[0] < np.inf:
        yield ONE_AVERAGE, prove_labels(setting, _one_epsilon_average(setting, weights), ONE_AVERAGE)
    for baseline in BASELINES:
        if pure or not baseline.pure_only:
            name = baseline.name_on(setting)
            yield name, prove_labels(setting, baseline.labels(setting), name)
    for name, coordinates in PEOPLE_BASELINES if pure else ():
        z = coordinates(setting.problem)
        if z is not None:
            yield name, prove_labels(setting, np.where(setting.problem.answers == 1, z, -z), name)


def _one_epsilon_average(setting: BaselineSetting, weights: Floats) -> Floats:
    """The best mean under the prior if every edge had the smallest ε."""
    graph = with_one_epsilon(setting.problem.graph, setting.least[0])
    options: dict[str, Any] = {"prior": weights, "engine": setting.engine}
    found = design_local(Problem(graph, setting.problem.answers), "average", **options)
    return np.where(setting.problem.answers == 1, found.coordinates, -found.coordinates)


def prove_labels(setting: BaselineSetting, labels: Floats, name: str) -> LocalMechanism:
    """The mechanism with these labels, proved private; values that miss by rounding are closed.

    Raises:
        VerificationError: it is not private, which would be a bug; such a baseline is never shown.
    """
    problem = setting.problem
    values = PartialMechanism(z=np.where(problem.answers == 1, labels, -labels) + 0.0)
    try:
        found = extend(problem, values, setting.engine)
    except NoExtensionError:
        raise VerificationError(verify(problem, values)) from None
    return seal(replace(found, objective=name))

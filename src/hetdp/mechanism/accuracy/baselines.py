"""Baselines that need people: what else could be done with everybody's own ε, on votes and tallies.

All values are z. docs/theory/population.md has the formulas and why each is private; theory/voting.py has what they
share with populations.
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
from hetdp.mechanism.design import design
from hetdp.mechanism.extension import extend
from hetdp.mechanism.mechanism import LocalMechanism, sealed
from hetdp.mechanism.vote import people_of, vote_coordinates, weights_of
from hetdp.problem.grid import LARGEST_EXACT, UNIT
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices
from hetdp.theory import voting
from hetdp.theory.coordinate import LAPLACE
from hetdp.theory.pure import PURE

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


def drop_people(problem: Problem) -> Floats | None:
    """Answers of people below the mean ε are not read, and Laplace noise hides the count of the others."""
    voters = _voters(problem)
    if voters is None:
        return None
    z = np.zeros(1)
    for size, yes, epsilon in zip(voters.axes, voters.yes, voters.epsilon, strict=True):
        share = voters.limit * (yes - voters.part * size)
        z = np.add.outer(z, share if epsilon >= voters.limit else np.zeros(len(yes))).ravel()
    return np.clip(z, -LARGEST_EXACT, LARGEST_EXACT)


def sample_people(problem: Problem) -> Floats | None:
    """People below the mean ε are kept by chance, so that noise for this ε protects them as promised."""
    voters = _voters(problem)
    if voters is None or _additions(voters.axes) > MOST_SAMPLED:
        return None
    yes, no = _sampled(voters)
    with np.errstate(divide="ignore"):
        tail = LAPLACE.of_tail(np.minimum(yes, no))
    by_number = np.maximum(tail, -LARGEST_SAMPLED) * np.where(yes > no, -1.0, 1.0)
    return np.asarray(by_number[np.ix_(*voters.yes)].ravel())


PEOPLE_BASELINES = (("weighted vote", weighted_vote), ("dropping", drop_people), ("Sampling", sample_people))


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


# What else could be done on the same problem, each proved private on its own edges like any other mechanism.


@dataclass(frozen=True, eq=False)
class Setting:
    """A problem as baselines look at it.

    Attributes:
        problem: datasets, ε and query.
        steps: how far each dataset is from the other answer; 0 where no path leads there.
        engine: which engine searches.
    """

    problem: Problem
    steps: Steps
    engine: EngineName

    @cached_property
    def least(self) -> tuple[float, ...]:
        """The least of each parameter over all edges; infinite without edges."""
        least = (np.inf,) * len(self.problem.notion.parameters)
        for block in self.problem.graph.edge_blocks():
            here = (float(np.min(values, initial=np.inf)) for values in block.parameters)
            least = tuple(map(min, least, here))
        return least

    @cached_property
    def threshold(self) -> bool:
        """Whether the query is a threshold along the graph."""
        return is_threshold(self.problem, self.steps)

    def by_steps(self, labels: list[float]) -> Floats:
        """The label of each dataset, from those at one step, two steps, and so on."""
        return np.array([np.inf, *labels])[self.steps]

    @property
    def furthest(self) -> int:
        """The largest distance."""
        return int(np.max(self.steps, initial=NOWHERE))


def randomised_response(setting: Setting) -> Floats:
    """The true answer, flipped with one probability everywhere: what the strictest edge between the answers allows."""
    problem, edges = setting.problem, list[Floats]()
    for block in problem.graph.edge_blocks():
        across = problem.answers[block.source] != problem.answers[block.target]
        edges.append(_strictest(np.stack([values[across] for values in block.parameters])))
    kinds = _strictest(np.concatenate(edges, axis=1)).T.tolist() if edges else []
    return np.full(problem.graph.size, min((problem.notion.meet(*edge) for edge in kinds), default=np.inf))


def _strictest(parameters: Floats) -> Floats:
    """Of edges as columns, those that may be the strictest: the least if there is one parameter, else all kinds."""
    if len(parameters) == 1 and parameters.size:
        return np.asarray(np.min(parameters, axis=1, keepdims=True))
    return np.unique(parameters, axis=1)


def one_epsilon(setting: Setting) -> Floats:
    """The fair mechanism, which is the balanced one too, if every edge had the least ε of all."""
    return _stepped(setting, setting.problem.notion.meet)


def geometric(setting: Setting) -> Floats:
    """Two-sided geometric noise on the signed number of steps, then the threshold."""
    return _stepped(setting, PURE.meet)


def laplace(setting: Setting) -> Floats:
    """Laplace noise on the signed number of steps, then the threshold half-way between the answers."""
    return _stepped(setting, lambda epsilon: 0.5 * epsilon)


def _stepped(setting: Setting, first: Callable[..., float]) -> Floats:
    """A label on the boundary, and from there on what an edge with the least ε allows at each further step."""
    step, labels = setting.problem.notion.step, list[float]()
    for _ in range(setting.furthest):
        labels.append(step(labels[-1], *setting.least) if labels else first(*setting.least))
    return setting.by_steps(labels)


def exponential(setting: Setting) -> Floats:
    """The exponential mechanism with the number of steps as its score, also known as inverse sensitivity."""
    half = 0.5 * setting.least[0]
    scores = np.minimum(half * np.arange(1, setting.furthest + 1), np.finfo(np.float64).max)
    return setting.by_steps([PURE.meet(score) for score in scores.tolist()])


def exponential_by_edge(setting: Setting) -> Floats:
    """The same with each edge's own ε: the score is the least sum of ε along a path to the other answer."""
    problem = setting.problem
    start = np.full(problem.graph.size, np.inf)
    for block in problem.graph.edge_blocks():
        across = np.flatnonzero(problem.answers[block.source] != problem.answers[block.target])
        np.minimum.at(start, block.source[across], block.parameters[0][across])
    sums = engine_for(setting.engine, problem.graph, PURE, "grow").grow(problem.graph, PURE, start).labels
    different, which = np.unique(0.5 * sums, return_inverse=True)
    return np.array([PURE.meet(score) for score in different.tolist()])[which]


ONE_EPSILON, ONE_AVERAGE = "one ε", "one ε, average"
OWN_EPSILON, PE = "exponential, own ε", "PE"  # the second where the edges are people's, as its authors meant it


class Baseline(NamedTuple):
    """A baseline: its name, its labels, and whether it is known for the pure notion only."""

    name: str
    labels: Callable[[Setting], Floats]
    pure_only: bool = True
    otherwise: str = ""  # its name where the query is no threshold along the graph

    def name_on(self, setting: Setting) -> str:
        """What it is called on a problem."""
        if self.name == ONE_EPSILON:
            return self.name.replace("ε", setting.problem.notion.main.letter)
        if self.name == OWN_EPSILON and isinstance(setting.problem.graph, ProductSpace):
            return PE
        return self.otherwise if self.otherwise and not setting.threshold else self.name


BASELINES = (
    Baseline(ONE_EPSILON, one_epsilon, pure_only=False),
    Baseline("geometric then threshold", geometric, otherwise="geometric on distance"),
    Baseline("Laplace then threshold", laplace, otherwise="Laplace on distance"),
    Baseline("exponential", exponential),
    Baseline(OWN_EPSILON, exponential_by_edge),
    Baseline("randomised response", randomised_response, pure_only=False),
)


def baselines_on(setting: Setting, average: bool, weights: Floats) -> Iterator[tuple[str, LocalMechanism]]:
    """Every baseline that the problem has, by name; the best mean with one ε only if `average` is compared."""
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


def _one_epsilon_average(setting: Setting, weights: Floats) -> Floats:
    """The best mean under the prior, if every edge had the least ε of all."""
    graph = with_one_epsilon(setting.problem.graph, setting.least[0])
    options: dict[str, Any] = {"prior": weights, "engine": setting.engine}
    found = design(Problem(graph, setting.problem.answers), "average", **options)
    return np.where(setting.problem.answers == 1, found.coordinates, -found.coordinates)


def prove_labels(setting: Setting, labels: Floats, name: str) -> LocalMechanism:
    """A mechanism with these labels, if it is private; values that miss by a rounding are closed.

    Raises:
        VerificationError: it is not private, which would be a bug; it is never shown.
    """
    problem = setting.problem
    values = PartialMechanism(z=np.where(problem.answers == 1, labels, -labels) + 0.0)
    try:
        found = extend(problem, values, setting.engine)
    except NoExtensionError:
        raise VerificationError(verify(problem, values)) from None
    return sealed(replace(found, objective=name))

"""Mechanisms on tallies, for tables of people: people who are alike are counted together, and every edge is checked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import comb, log10, prod
from typing import Any, NoReturn

import numpy as np

from hetdp.certificate.certificate import Certificate
from hetdp.certificate.losses import certain_answer, losses_along
from hetdp.errors import UsageError, VerificationError
from hetdp.mechanism.design import ObjectiveName, design_local
from hetdp.mechanism.formatting import accuracy_of
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.mechanism.odds import ComputesOdds, Odds
from hetdp.mechanism.solve import WORST, SolvesEpsilon
from hetdp.people.populations.baselines import baselines_by_distance
from hetdp.people.populations.classes import Classes, classes_of
from hetdp.people.populations.folding import Whole
from hetdp.people.populations.losses import round_units_up
from hetdp.people.populations.mechanism import MARGINS, NEGLIGIBLE_ERROR, MarginAccuracy
from hetdp.people.populations.odds import PopulationOdds
from hetdp.people.populations.population import Population, scores_for
from hetdp.people.populations.scores import formula_scores, scores_of
from hetdp.people.populations.shares import NOT_OFFERED, ComputesCurves, Distance, ShareScale, margins_to_show
from hetdp.people.privacy.epsilons import UNBOUNDED, Units, units_to_floats
from hetdp.people.privacy.rule import Privacy, Rule
from hetdp.people.privacy.situations import DECIDING, margins_of
from hetdp.people.products.problems import UNIFORM, tallies
from hetdp.people.questions.logic import RegroupedQuestion, alike_groups
from hetdp.people.questions.question import Question
from hetdp.problem.axis import MOST_POSITIONS
from hetdp.problem.labels import Labels
from hetdp.problem.problem import Problem
from hetdp.problem.product import MOST_ARCS, ProductSpace
from hetdp.problem.scores import Scores
from hetdp.problem.space import Floats
from hetdp.theory.coordinate import LAPLACE
from hetdp.theory.pure import PURE

METHOD = "every edge"


@dataclass(frozen=True)
class Change:
    """The change of one person that affects the answer most, among people who are alike."""

    answer: int
    low: float
    high: float
    loss: float


NONE = Change(1, 0.5, 0.5, 0.0)


@dataclass(frozen=True, eq=False)
class TalliedMechanism(ComputesOdds, ComputesCurves, SolvesEpsilon):
    """A private answer for every table of some people, by tally. `TalliedPeople.design` makes it.

    Attributes:
        coordinates: z of each tally.
        labels: the tallies.
        certificate: the proof, for which every edge was checked.
        edges: the number of edges.
        worst: for each margin from 1 on, the least z of its tallies, signed so that larger is better.
        changes: what one person of each class can change.
        classes: people who are alike.
        people: the groups, with how many of it each class has.
        digest: SHA-256 of the mechanism: its tallies, every ε, every z.
        losses: the largest privacy loss of each class over all tables, rounded up to nine places.
        constant: the published answer, 1 or 2, if it is the same for every table without randomness; else 0.
        values: how many values a person may have.
        population: the same people for formulas; None if the question is no threshold of a sum.
        by_number: the same as `worst`, for each number of people who have the counted value; empty if not known.
        by_sum: the same for each sum of scores; empty where not everybody has to answer.
    """

    coordinates: Floats = field(repr=False)
    labels: Labels = field(repr=False)
    certificate: Certificate
    edges: int
    worst: Floats = field(repr=False)
    changes: tuple[Change, ...] = field(repr=False)
    classes: Classes = field(repr=False)
    people: tuple[tuple[str, Whole], ...] = field(repr=False)
    digest: str
    losses: Floats = field(repr=False)
    constant: int
    values: int
    population: Population | None = field(repr=False)
    by_number: Floats = field(repr=False)
    by_sum: Floats = field(repr=False)

    @property
    def share_scale(self) -> ShareScale:
        """The numbers of people who may have the counted value.

        Raises:
            UsageError: accuracy by true share is not known for the question.
        """
        if self.population is None or self.population.share_scale is None:
            raise UsageError("the question is no threshold of a sum over people", NOT_OFFERED)
        return self.population.share_scale

    def error_at_number(self, number: int) -> float:
        """The worst probability of the wrong answer over all tables with a number of the share scale."""
        return float(LAPLACE.error(self.by_number[number], 1))

    def error_beyond(self, distance: Distance) -> float:
        """The worst probability of the wrong answer over all tables at this distance or a larger one."""
        if not len(self.by_sum):
            rule = f"it is known for at most {MOST_SUMS:,} different sums"
            raise UsageError("the accuracy by share of the people who answer is not known", rule)
        threshold = self.share_scale.scores.threshold
        if not distance.need:
            return 0.0
        far = (
            slice(threshold + distance.need - 1, None) if distance.answer == 1 else slice(threshold - distance.need + 1)
        )
        return float(LAPLACE.error(self.by_sum[far].min(), 1))

    def errors_by_margin(self) -> list[tuple[int, float]]:
        """Some margins from 1 on, and the worst probability of the wrong answer over all tables of each."""
        return list(margins_to_show(lambda at: float(LAPLACE.error(self.worst[at - 1], 1)), len(self.worst)))

    def other_methods(self) -> dict[str, Callable[[Distance], float]]:
        """The baselines: functions that compute the worst error at a distance, by name."""
        return {} if self.population is None else baselines_by_distance(self.population, FAIR)

    def solve_epsilon(self, target: Any, at: Any = WORST) -> NoReturn:
        """Always refused: the search among tallies would have to be repeated for many ε.

        Raises:
            UsageError: always.
        """
        if self.population is None:
            raise UsageError("the question is no threshold of a sum over people", NOT_OFFERED)
        rule = "the ε that an accuracy needs is known for formulas; for this design every tally would be searched anew"
        hint = "design='balanced' has it, and the ε that balanced needs is enough for fair"
        raise UsageError("the design works on tallies", rule, hint)

    def losses_by_group(self) -> list[float]:
        """The largest of these losses in each reported group."""
        return [float(np.max(self.losses, where=counts > 0, initial=0.0)) for _, counts in self.people]

    def loss_of_each(self) -> Floats:
        """The largest loss of each person, or of each kind of people, in the order in which they were given."""
        return self.losses[self.classes.member]

    def coordinate(self, answers: Any) -> float:
        """z of a table; for the draw, and never released. All answers are counted, and one number is looked up.

        Args:
            answers: for each person the place of the value; or, if people are known by kind only, how many of each
                kind have each value.
        """
        counts = self.classes.fold.counts(np.asarray(answers), self.values).tolist()
        label = tuple(row[0] if self.values == 2 else tuple(row) for row in counts)
        return float(self.coordinates[self.labels.index(label)])

    def accuracy_by_margin(self) -> list[MarginAccuracy]:
        """The worst accuracy over all tables of a margin, for a few margins; exact. None if no answer changes."""
        found = []
        for margin in [margin for margin in MARGINS if margin <= len(self.worst)]:
            error = float(LAPLACE.error(self.worst[margin - 1], 1))
            found.append(MarginAccuracy(margin, accuracy_of(error), error))
            if error < NEGLIGIBLE_ERROR:
                break
        return found

    def worse_than_coin_up_to(self) -> int:
        """The largest margin at which some table is answered wrongly more often than rightly; 0 if none is."""
        return int(np.max(np.flatnonzero(self.worst < 0.0) + 1, initial=0))

    def odds(self) -> Odds:
        """The largest effect of one person's value on the published answer, by group; exact."""
        return Odds({name: self._odds(name, counts) for name, counts in self.people})

    def _odds(self, name: str, counts: Whole) -> PopulationOdds:
        classes, people = self.classes, int(counts.sum())
        bounded = np.flatnonzero((classes.units < UNBOUNDED) & (counts > 0))
        only = np.flatnonzero((classes.units == UNBOUNDED) & (classes.deciding < UNBOUNDED) & (counts > 0))
        unprotected = people - int(counts[bounded].sum() + counts[only].sum())
        deciding = self._largest(name, only, classes.deciding, int(counts[only].sum())) if len(only) else None
        if not len(bounded):
            return PopulationOdds(name, 1, 1.0, 0.0, np.inf, 0.0, people, unprotected, False, deciding)
        found = self._largest(name, bounded, classes.units, people)
        return replace(found, unprotected=unprotected, deciding=deciding)

    def _largest(self, name: str, which: Whole, units: Units, people: int) -> PopulationOdds:
        """The largest change that people of some classes make, if they have a promise."""
        found, epsilon = [self.changes[at] for at in which.tolist()], float(units_to_floats(units[which]).max())
        most, loss = max(found, key=lambda change: change.high - change.low), max(change.loss for change in found)
        return PopulationOdds(name, most.answer, most.high, most.low, loss, epsilon, people, 0, True)

    def facts(self) -> dict[str, Any]:
        """The facts that identify the mechanism in a plan."""
        return {"method": METHOD, "tallies": len(self.coordinates), "edges": self.edges, "sha256": self.digest}


def make_mechanism(
    found: LocalMechanism,
    problem: Problem,
    space: ProductSpace,
    classes: Classes,
    people: tuple[tuple[str, Whole], ...],
    population: Population | None,
) -> TalliedMechanism:
    """Builds a mechanism on tallies, with everything that is promised about it; the problem itself is not stored.

    Raises:
        VerificationError: it is not proved private.
    """
    z, proof = found.coordinates, found.certificate
    if proof is None or not proof.private:
        raise VerificationError(proof)
    signed = np.where(problem.answers == 1, z, -z)
    is_constant = bool((problem.answers == problem.answers[0]).all())
    worst = np.full(0, np.inf)
    if not is_constant:
        margins = margins_of(space.axes, problem.answers)
        worst = np.full(int(margins.max()) + 1, np.inf)
        np.minimum.at(worst, margins, signed)
        worst = worst[1:]
    values = len(space.axes[0].values)
    digest = hashlib.sha256(f"hetdp tallies 1 {values} {classes.sizes.tolist()}\n".encode())
    for column in (classes.units, classes.deciding, classes.group):
        digest.update(np.ascontiguousarray(column, dtype="<i8").data)
    digest.update(np.ascontiguousarray(z + 0.0, dtype="<f8").data)
    changes = tuple(_change(space, axis, z) for axis in range(len(space.axes)))
    losses = losses_along(space, z, round_units_up(classes.units), PURE)
    facts = digest.hexdigest(), losses, certain_answer(z), values
    by_share = _worst_by_number(space, population, signed), _worst_by_sum(space, population, signed)
    places = worst, changes, classes, people, *facts, population, *by_share
    return TalliedMechanism(z, space.labels, proof, space.edge_count, *places)


def _worst_by_number(space: ProductSpace, population: Population | None, signed: Floats) -> Floats:
    """The least of some values over all tallies with each number of the share scale; infinity where there is none."""
    scale = None if population is None else population.share_scale
    if population is None or scale is None:
        return np.empty(0)
    value = population.values.index(scale.value)
    reached, fits = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.bool_)
    for axis, group in zip(space.axes, population.classes.group.tolist(), strict=True):
        counts, row = axis.counts(), scale.scores.scores[group]
        most = int(scale.scores.most[group])
        others = [at for at in range(counts.shape[1]) if at != value and row[at] != (0 if scale.rises else most)]
        weight = most // max(scale.unit, 1) * counts[:, value]
        reached = (reached[:, None] + weight).ravel()
        fits = (fits[:, None] & (counts[:, others].sum(axis=1) == 0)).ravel()
    found = np.full(scale.of + 1, np.inf)
    np.minimum.at(found, reached[fits], signed[fits])
    return found


def _worst_by_sum(space: ProductSpace, population: Population | None, signed: Floats) -> Floats:
    """The least of some values over all tallies with each sum, where people who do not answer are left out."""
    scale = None if population is None else population.share_scale
    if population is None or scale is None or scale.between is None or scale.scores.total >= MOST_SUMS:
        return np.empty(0)
    reached = np.zeros(1, dtype=np.int64)
    for axis, group in zip(space.axes, population.classes.group.tolist(), strict=True):
        reached = (reached[:, None] + axis.counts() @ scale.scores.scores[group]).ravel()
    found = np.full(scale.scores.total + 1, np.inf)
    np.minimum.at(found, reached, signed)
    return found


def _change(space: ProductSpace, axis: int, z: Floats) -> Change:
    """The largest difference that a step along one axis makes, and the largest loss of any."""
    best, largest, loss = NONE, -1.0, 0.0
    for source, target, (epsilon,) in space.blocks_along(axis):
        rising = z[source] <= z[target]
        before, after, bound = z[source][rising], z[target][rising], epsilon[rising]
        if not len(before):
            continue
        sign = np.where(before > 0.0, -1.0, 1.0)  # there 1 − p has the digits
        difference = np.abs(LAPLACE.probability(sign * after) - LAPLACE.probability(sign * before))
        losses = [_log_ratio(before, after), _log_ratio(-after, -before)]
        loss = max(loss, float(np.minimum(np.maximum(*losses), bound).max()))
        at = int(np.argmax(difference))
        if difference[at] > largest:
            largest, answer = float(difference[at]), 1 if losses[0][at] >= losses[1][at] else 2
            ends = (before[at], after[at]) if answer == 1 else (-after[at], -before[at])
            low, high = (float(LAPLACE.probability(end)) for end in ends)
            best = Change(answer, low, high, 0.0)
    return Change(best.answer, best.low, best.high, loss)


def _log_ratio(low: Floats, high: Floats) -> Floats:
    """log(p / p') of two z; 0 where they are equal, however small."""
    with np.errstate(invalid="ignore"):
        ratio = np.asarray(LAPLACE.log_probability(high) - LAPLACE.log_probability(low))
    return np.where(low == high, 0.0, ratio)


# People counted by tally ----------------------------------------------------------------------------------------------


MOST_SUMS = 1 << 24  # of scores, for the accuracy where not everybody answers
MOST_TALLIES = 1 << 25  # in memory, where no edge is stored: about 1.5 GB
MOST_DIGITS = 18  # of numbers that are shown in full
FAIR = "fair"


@dataclass(frozen=True, eq=False)
class TalliedPeople:
    """People counted by tally, without answers. `tally_people` makes it.

    Attributes:
        question: what is asked.
        values: the values that a person may have.
        classes: people who are alike: those of one class make one axis.
        people: the reported groups: for each its name, and the number of its people in each class. People of several
            groups are of one class, named after the first of these groups, if the question treats them alike.
    """

    question: Question
    values: tuple[str, ...]
    classes: Classes = field(repr=False)
    people: tuple[tuple[str, Whole], ...] = field(repr=False)

    @property
    def size(self) -> int:
        """The number of tallies."""
        return prod(self._positions())

    def _positions(self) -> list[int]:
        """The number of distinct counts of each class."""
        return [comb(size + len(self.values) - 1, size) for size in self.classes.sizes.tolist()]

    def problem(self) -> Problem:
        """The problem on the tallies, with its question and its promises."""
        classes, parts = self.classes, [str(at + 1) for at in range(len(self.classes.sizes))]
        units, deciding = (units_to_floats(column).tolist() for column in (classes.units, classes.deciding))
        rules = [Rule(Decimal(epsilon), groups=part) for part, epsilon in zip(parts, units, strict=True)]
        rules += [
            Rule(Decimal(epsilon), groups=part, when=DECIDING)
            for part, epsilon, always in zip(parts, deciding, units, strict=True)
            if epsilon < always
        ]
        asked = self.question
        if self.question.groups_used():
            group_of = {part: classes.names[group] for part, group in zip(parts, classes.group.tolist(), strict=True)}
            asked = RegroupedQuestion(self.question, group_of, tuple(name for name, _ in self.people))
        sizes = dict(zip(parts, classes.sizes.tolist(), strict=True))
        return tallies(sizes, asked, Privacy(rules), self.values, UNIFORM)

    def design(self, objective: ObjectiveName) -> TalliedMechanism:
        """The mechanism on the tallies, with every edge checked.

        Args:
            objective: ``"fair"`` or ``"balanced"``.

        Raises:
            UsageError: there are too many tallies.
        """
        self.require_few(objective)
        problem = self.problem()
        assert isinstance(problem.graph, ProductSpace)
        found, population = design_local(problem, objective), self._population()
        return make_mechanism(found, problem, problem.graph, self.classes, self.people, population)

    def _population(self) -> Population | None:
        """The same people for formulas; None if the question is no threshold of a sum."""
        if self.question.linear() is None:
            return None
        classes, sizes = self.classes, self.classes.by_group(self.classes.sizes)
        if not self.question.groups_used():
            scores = scores_of(self.question, classes.names, sizes, self.values)
        else:  # a group whose people are counted with those of another has nobody
            names = [name for name, _ in self.people]
            place = [names.index(name) for name in classes.names]
            found = np.zeros(len(names), dtype=np.int64)
            found[place] = sizes
            every = scores_of(self.question, names, found, self.values)
            scores = Scores(every.scores[place], every.most[place], sizes, every.threshold, every.all_decide)
        return Population(self.question, self.values, classes.names, classes, scores)

    def require_few(self, objective: str) -> None:
        """Refuses problems whose tallies would take too much memory or time, before any is made.

        Raises:
            UsageError: there are too many.
        """
        arcs = len(self.classes.sizes) * len(self.values) * (len(self.values) - 1)  # at most, from each tally
        most = MOST_ARCS // arcs if objective == FAIR else MOST_TALLIES
        found = self.size
        if found > most or max(self._positions()) > MOST_POSITIONS:
            people, kinds = self.classes.fold.size, len(self.classes.sizes)
            digits = int(log10(found))
            size_words = f"{found:,}" if digits < MOST_DIGITS else f"about 10^{digits}"
            what = f"{people:,} people of {kinds:,} kinds, by their ε and what is asked, make {size_words} tallies"
            rule = f"the design {objective} needs memory for each, and is offered for at most {most:,} here"
            rule += f", and at most {MOST_POSITIONS:,} from people of one kind"
            raise UsageError(what, rule, self._hint())

    def _hint(self) -> str:
        """The hint for too many tallies."""
        if self.question.linear() is not None:
            return "design='balanced' and design='weighted-vote' need none, and work for any number of people"
        if self.question.groups_used():
            sizes = np.array([int(row.sum()) for _, row in self.people])
            if formula_scores(self.question, [name for name, _ in self.people], sizes, self.values) is not None:
                return "design='balanced' needs none, and works for any number of people"
        return "by= asks each area by itself, with fewer people"


def tally_people(
    question: Question, epsilon: Any, values: Sequence[str] = ("yes", "no"), groups: Any = None, deciding: Any = None
) -> TalliedPeople:
    """Counts people in as few tallies as the question and their ε allow. It has the arguments of `spaces.population`.

    Args:
        question: what is asked; it may be of any kind.
        epsilon: the ε of each person.
        values: the values that a person may have.
        groups: the group of each person, for the question if it names groups, and for the odds.
        deciding: the ε of steps that change the answer: one for all, or one for each person.

    Raises:
        UsageError: the arguments do not fit each other.
        InputError: some values are not an ε.

    >>> import hetdp
    >>> people = tally_people(hetdp.questions.majority(), [0.1, 0.5, 0.5])
    >>> people.size, round(people.design("fair").coordinate([0, 0, 1]), 3)
    (6, 0.051)
    """
    named, group_names, code = None, np.zeros(1, dtype=np.int64), None
    if groups is not None:
        group_names, code = np.unique(groups, return_inverse=True)
        if question.groups_used():
            alike = alike_groups(question, [str(name) for name in group_names.tolist()], values)
            named = np.array(list(alike.values()))[code]
    classes = classes_of(epsilon, deciding, named, None)
    code = np.zeros(len(classes.member), dtype=np.int64) if code is None else code
    kinds = len(classes.sizes)
    counts = classes.fold.people_by(code * kinds + classes.member, len(group_names) * kinds).reshape(-1, kinds)
    people = tuple((str(group), row) for group, row in zip(group_names.tolist(), counts, strict=True))
    return TalliedPeople(question, tuple(values), classes, people)


def people_of(
    question: Question, epsilon: Any, values: Sequence[str] = ("yes", "no"), groups: Any = None, deciding: Any = None
) -> Population | TalliedPeople:
    """People and a question: a population if a formula is known for it, tallies otherwise.

    It has the arguments of `tally_people`.

    >>> import hetdp
    >>> asked = hetdp.questions.count("yes", 2, "a") & hetdp.questions.all_of("b")
    >>> type(people_of(asked, [0.1, 0.5, 0.5], groups=["a", "a", "b"])).__name__
    'Population'
    """
    classes = classes_of(epsilon, deciding, groups, None)
    known = tuple(values)
    scores = scores_for(question, classes, known)
    if scores is None:
        return tally_people(question, epsilon, values, groups, deciding)
    return Population(question, known, classes.names, classes, scores)

"""The mechanism of a population, its accuracy, and its certificate by theorem.

The tables are too many to list, so privacy is proved by a theorem (docs/theory/population.md) instead of edge by edge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from hetdp.errors import UsageError
from hetdp.mechanism.formatting import accuracy_of
from hetdp.mechanism.odds import ComputesOdds, Odds
from hetdp.mechanism.solve import WORST, SolvedEpsilon, SolvesEpsilon
from hetdp.numbers import parse_whole
from hetdp.people.populations.balanced import Balanced, Label
from hetdp.people.populations.baselines import baselines_by_distance
from hetdp.people.populations.joined import JoinedBalanced
from hetdp.people.populations.losses import Formula, largest_losses_of, losses_of, round_units_up
from hetdp.people.populations.odds import odds_of_all
from hetdp.people.populations.population import BALANCED, OBJECTIVES, WEIGHTED_VOTE, Population, document_of
from hetdp.people.populations.scores import JoinedCounts
from hetdp.people.populations.shares import ComputesCurves, Distance, ShareScale, margins_to_show, require_scale
from hetdp.people.populations.vote import WeightedVote
from hetdp.problem.decimals import GRID
from hetdp.problem.space import Floats
from hetdp.text import count_people, did_you_mean, format_value
from hetdp.theory.coordinate import LAPLACE

METHOD = "theorem"


@dataclass(frozen=True)
class Theorem:
    """The certificate of a population's mechanism: a theorem. No edge is checked, since there are too many.

    Attributes:
        private: always True; the page proves it for every population.
        optimal: whether no private mechanism has a smaller worst error.
        gap: how far z of any table can be from that of the exact balanced mechanism, toward ½, rounding aside; infinite
            if it is another mechanism, or not known.
        method: ``"theorem"``.
        statement: what is proved, in words.
        page: the page with the proof.
        caution: a sentence about tables where a coin would do better; empty if there are none.
    """

    private: bool
    optimal: bool
    gap: float
    statement: str
    method: str = METHOD
    page: str = "docs/theory/population.md"
    caution: str = ""

    def __str__(self) -> str:
        best = "no private mechanism has a smaller worst error" if self.optimal else "not shown to be the best"
        caution = f" Caution: {self.caution}." if self.caution else ""
        return f"private by {self.method} ({self.page}): {self.statement}; {best}.{caution}"


def coin_caution(worse_up_to: int, even_up_to: int) -> str:
    """The warning about margins where a coin would do as well or better, in words; empty if there are none.

    >>> coin_caution(0, 0), coin_caution(0, 1)
    ('', 'where 1 person decides, the answer may be right only as often as a coin')
    >>> coin_caution(3, 3)
    'where it takes 3 people or fewer to change it, the answer may be wrong more often than right'
    """
    margin = worse_up_to or even_up_to
    if not margin:
        return ""
    where = "where 1 person decides" if margin == 1 else f"where it takes {margin:,} people or fewer to change it"
    what = "may be wrong more often than right" if worse_up_to else "may be right only as often as a coin"
    return f"{where}, the answer {what}"


# The mechanism --------------------------------------------------------------------------------------------------------


LARGEST_LABEL = (
    1 << 53
)  # in units; a label beyond it, z = 8,192, is lowered to it, so that a float holds every label exactly
MARGINS = [size * 10**power for power in range(10) for size in (1, 2, 5)]
NEGLIGIBLE_ERROR = 1e-9  # an error below which larger margins are not listed
FORMULAS: dict[str, type[Balanced] | type[WeightedVote]] = {BALANCED: Balanced, WEIGHTED_VOTE: WeightedVote}
WEIGHTED_RULE = "a weighted vote is about a sum over people that reaches a threshold"
STATEMENTS: dict[str, str] = {
    BALANCED: "the label of a table is a lower bound on the least sum of ε to the other answer, and one person's value"
    " changes it by at most that person's ε",
    WEIGHTED_VOTE: "one person's value changes z by at most that person's ε",
}


class MarginAccuracy(NamedTuple):
    """The worst accuracy over all tables of one margin; see `PopulationMechanism.accuracy`."""

    margin: int
    accuracy: float
    error: float


@dataclass(frozen=True, eq=False)
class PopulationMechanism(ComputesOdds, ComputesCurves, SolvesEpsilon):
    """A private answer to a population's question, by a formula; made by `Population.design`.

    Attributes:
        population: the people and the question.
        objective: ``"balanced"`` or ``"weighted-vote"``.
        formula: computes labels, in units of 2⁻⁴⁰, from counts by class and value.
    """

    population: Population
    objective: str
    formula: Formula = field(repr=False)

    def __repr__(self) -> str:
        people = count_people(self.population.size)
        return f"PopulationMechanism({people}, {self.objective}, {format_value(str(self.population.question))})"

    def coordinate(self, answers: Any) -> float:
        """The exact z of a table, a multiple of 2⁻⁴⁰. This is for the draw, and is never released.

        Every answer is read once; nothing but the places that are looked up in sums depends on what they say.

        Args:
            answers: for each person the place of the value in `population.values`.

        Raises:
            UsageError: there are not as many answers as people, or some are not the place of a value.

        >>> import hetdp
        >>> people = hetdp.spaces.population(hetdp.questions.majority(), [0.5, 1.0, 2.0])
        >>> [round(people.design(name).coordinate([1, 0, 0]), 9) for name in ("balanced", "weighted-vote")]
        [0.620114507, 1.25]
        """
        return as_float(self.formula.label(self.population.counts(answers)))

    def accuracy(self, margin: int) -> float:
        """The worst probability of the right answer over all tables of one margin. It is public.

        It is exact for counts, shares of all rows and majorities of all, and where & or | joins several of them about
        disjoint groups; for other questions, such as shares of respondents, it is a lower bound.

        Args:
            margin: how many people must change before the answer does; 1 where one suffices.

        Raises:
            UsageError: no table has such a margin, or the accuracy is not known.

        >>> import hetdp
        >>> senate = hetdp.spaces.population(hetdp.questions.count("guilty", 67), 0.5, ("guilty", "not"), size=100)
        >>> round(senate.design().accuracy(10), 3)
        0.996
        """
        return accuracy_of(self._error(margin))

    def accuracy_by_margin(self) -> list[MarginAccuracy]:
        """The accuracy at a few margins: `margin`, `accuracy` and `error` of each.

        >>> import hetdp
        >>> people = hetdp.spaces.population(hetdp.questions.majority(), 0.5, size=1001)
        >>> [(row.margin, round(row.accuracy, 2)) for row in people.design().accuracy_by_margin()][:4]
        [(1, 0.62), (2, 0.77), (5, 0.95), (10, 1.0)]
        """
        farthest, found = self.population.farthest(), []
        for margin in [margin for margin in MARGINS if margin <= farthest]:
            error = self._error(margin)
            found.append(MarginAccuracy(margin, accuracy_of(error), error))
            if error < NEGLIGIBLE_ERROR:
                break
        return found

    def error_at(self, distance: Distance) -> float:
        """The worst probability of the wrong answer over all tables at a distance from the other answer.

        For a weighted vote, everybody who counts must have the same weight, and the largest score or the least.
        """
        return float(LAPLACE.error(as_float(self.label_at(distance)), 1))

    def label_at(self, distance: Distance) -> Label:
        """The least label of these tables in units, signed so that larger is better; for sums a lower bound of it.

        Raises:
            UsageError: it is not known, since people have different weights.
        """
        if not distance.need:
            return math.inf
        if isinstance(self.formula, Balanced):
            return self.formula.worst_at(distance.need)
        scores = self.population.require_sum()
        assert isinstance(self.formula, WeightedVote)
        moving = scores.most[scores.most > 0]
        if not (moving == moving[0]).all():
            rule = "the accuracy of a weighted vote by true share is known where everybody's answer counts the same"
            raise UsageError(f"the question is {self.population.question}", rule, "design='balanced' has it")
        reached = scores.threshold + (distance.need - 1 if distance.answer == 1 else -distance.need)
        return self.formula.worst_of(distance.answer, reached // int(moving[0]))

    @property
    def share_scale(self) -> ShareScale:
        """The numbers of people who may have the counted value.

        Raises:
            UsageError: accuracy by true share is not known for the question.
        """
        found = require_scale(self.population.share_scale, self.population.question)
        if self.objective == WEIGHTED_VOTE and found.weighted:
            self.label_at(Distance(1, 1))  # refuses
        return found

    def error_at_number(self, number: int) -> float:
        """The worst probability of the wrong answer over all tables with a number of the share scale."""
        return self.error_at(self.share_scale.distance(number))

    def error_beyond(self, distance: Distance) -> float:
        """An upper bound on the probability of the wrong answer over all tables at this distance or a larger one."""
        if self.objective == WEIGHTED_VOTE:
            rule = "the accuracy of a weighted vote by true share is known where everybody answers"
            raise UsageError(f"the question is {self.population.question}", rule, "design='balanced' has it")
        return self.error_at(distance)

    def errors_by_margin(self) -> list[tuple[int, float]]:
        """Some margins from 1 on, and the worst probability of the wrong answer over all tables of each."""
        if self.objective == WEIGHTED_VOTE and not self.population.is_count:
            return []  # not known
        return list(margins_to_show(self._error, self.population.farthest()))

    def other_methods(self) -> dict[str, Callable[[Distance], float]]:
        """The baselines: functions that compute the worst error at a distance, by name."""
        return baselines_by_distance(self.population, self.objective)

    def solve_epsilon(self, target: Any, at: Any = WORST) -> SolvedEpsilon:
        """Finds the smallest scale of all ε at which this design reaches an accuracy; see `hetdp.solve_epsilon`."""
        from hetdp.people.populations.scaling import solve_people

        return solve_people([(None, self)], target, at)

    def worse_than_coin_up_to(self) -> int:
        """The largest margin at which some table is answered wrongly more often than rightly; 0 if none is.

        >>> import hetdp
        >>> people = hetdp.spaces.population(hetdp.questions.majority(), [0.1] * 4 + [5.0])
        >>> [people.design(name).worse_than_coin_up_to() for name in ("balanced", "weighted-vote")]
        [0, 2]
        """
        if self.objective == BALANCED or self.population.constant:
            return 0  # no label is below zero
        low, high = 0, self.population.farthest()  # the least label grows with the margin
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.formula.worst(middle) < 0 else (low, middle - 1)
        return low

    def _error(self, margin: int) -> float:
        farthest = self.population.farthest()
        if not 1 <= parse_whole(margin, "the margin", 1) <= farthest:
            rule = f"margins are from 1 to {farthest:,}" if farthest else "every table has the same answer"
            raise UsageError(f"no table has the margin {margin:,}", rule)
        return float(LAPLACE.error(as_float(self.formula.worst(int(margin))), 1))

    def odds(self) -> Odds:
        """The largest effect of one person's value on the published answer, by group; as text, sentences for people.

        >>> import hetdp
        >>> people = hetdp.spaces.population(hetdp.questions.majority(), 0.5, size=9)
        >>> print(people.design().odds())
        If you answer differently, the published answer is yes in at most 63 of 100 runs instead of 37.
        """
        return Odds(odds_of_all(self.formula))

    @property
    def constant(self) -> int:
        """1 or 2 if the published answer is this one for every table, without any randomness; else 0."""
        return self.population.constant

    @cached_property
    def losses(self) -> Floats:
        """The largest privacy loss of each class of people over all tables, rounded up to nine places.

        >>> import hetdp
        >>> people = hetdp.spaces.population(hetdp.questions.majority(), [0.4] * 8 + [20])
        >>> people.design().losses  # whoever is promised less privacy than all others does not lose more
        array([0.4, 0.4])
        """
        return round_units_up(losses_of(self.formula))

    def losses_by_group(self) -> list[float]:
        """The largest of these losses in each group, in the order of `population.groups`."""
        found: list[float] = round_units_up(largest_losses_of(self.formula)).tolist()  # rounding keeps the order
        return found

    def loss_of_each(self) -> Floats:
        """The same for each person, or for each kind of people, in the order in which they were given."""
        return self.losses[self.population.classes.member]

    def facts(self) -> None:
        """Empty: the policy and the objective identify a formula. A mechanism on tallies has facts of its own."""

    def document(self) -> dict[str, Any]:
        """The mechanism as a document: question, digest of the policy, objective, version. ε itself is not in it.

        >>> import hetdp
        >>> people = hetdp.spaces.population(hetdp.questions.majority(), 0.5, size=9)
        >>> people.design().document()["mechanism"]["objective"]
        'balanced'
        """
        return document_of(self)

    @staticmethod
    def from_document(document: Mapping[str, Any], population: Population) -> PopulationMechanism:
        """The mechanism that a document describes, for the population that it was made for.

        Args:
            document: as `document` gives it.
            population: the population, made again from the same policy.

        Raises:
            InputError: the document is none of these, or is for another policy.
        """
        return population.design_from(document)

    @property
    def certificate(self) -> Theorem:
        """The certificate: a theorem, since the tables are too many to check every edge."""
        balanced = self.objective == BALANCED
        constant = self.population.constant > 0
        gap = 0.0 if constant else self.formula.gap / (1 << GRID) if balanced else math.inf
        best = constant or (balanced and self.population.scores.all_decide)
        return Theorem(True, best, gap, STATEMENTS[self.objective], caution=self._caution())

    def _caution(self) -> str:
        """The warning about tables where a coin would do as well or better, as far as that is known."""
        if self.objective == WEIGHTED_VOTE and not (self.population.is_count or self.population.constant):
            return "the answer may be wrong more often than right; at which tables was not computed"
        margin = self.worse_than_coin_up_to()
        is_even = not margin and not self.population.constant and self.formula.worst(1) == 0
        return coin_caution(margin, int(is_even))


def design_population(population: Population, objective: str) -> PopulationMechanism:
    """The mechanism with an objective.

    Raises:
        UsageError: there is no such objective, or it is not for this question.
    """
    if objective not in FORMULAS:
        rule = f"the objectives of a population are {', '.join(OBJECTIVES)}"
        raise UsageError(f"unknown objective {format_value(objective)}", rule, did_you_mean(objective, OBJECTIVES))
    if not isinstance(population.scores, JoinedCounts):
        return PopulationMechanism(population, objective, FORMULAS[objective](population))
    if objective != BALANCED:
        raise UsageError(f"the question is {population.question}", WEIGHTED_RULE, "design='balanced' answers it")
    return PopulationMechanism(population, objective, JoinedBalanced(population))


def as_float(label: Label) -> float:
    """A label as a float: lowered toward ½ beyond z = 8,192, else exactly."""
    if isinstance(label, float):
        return label  # an infinity
    return math.ldexp(max(-LARGEST_LABEL, min(LARGEST_LABEL, label)), -GRID)

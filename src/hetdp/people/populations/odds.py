"""The largest effect of one person's value on the published answer of a population, over all tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hetdp.mechanism.odds import ClassOdds, describe_frequency
from hetdp.people.populations.balanced import Balanced
from hetdp.people.populations.classes import Classes
from hetdp.people.populations.folding import Whole
from hetdp.people.populations.joined import JoinedBalanced
from hetdp.people.populations.losses import Formula, Limits, joined_limits_of, limits_of, losses_of
from hetdp.people.populations.vote import WeightedVote
from hetdp.people.privacy.epsilons import UNBOUNDED, units_to_floats
from hetdp.problem.answer_words import YES_AND_NO, quote_answer
from hetdp.problem.decimals import GRID
from hetdp.problem.space import Floats, Indices

SMALLEST = float(np.finfo(np.float64).tiny)
ByRank = Callable[[Indices], Floats]  # from places in increasing order to ε


@dataclass(frozen=True, repr=False)
class PopulationOdds(ClassOdds):
    """The odds of one group of a population. Beside what `hetdp.odds` gives for every class, it counts people.

    Attributes:
        group: whose.
        answer: the published answer that becomes more probable: 1 (yes) or 2 (no).
        high: its probability at one table.
        low: its probability at the neighbouring table. No other change of the group makes a larger difference.
        loss: the largest |log(Pr / Pr)| of either answer: the ε that is really used up, at most.
        epsilon: the largest finite ε of the group, as used.
        people: how many people the group has.
        unprotected: how many of them are promised nothing (ε = ∞, also where they decide); no other number here counts
            them.
        exact: whether some table attains these numbers; otherwise they are bounds.
        deciding: the same about those of ε = ∞ who are promised something where they decide, and there only; None if
            there are none. No other number here counts them.
    """

    group: str
    answer: int
    high: float
    low: float
    loss: float
    epsilon: float
    people: int
    unprotected: int
    exact: bool
    deciding: PopulationOdds | None = None

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, answers: tuple[str, str] = YES_AND_NO, protected: str = "") -> str:
        """The sentence for the people concerned.

        Args:
            answers: the words for answers 1 and 2.
            protected: what to say to those who are promised something wherever they are; by default, these numbers.
        """
        parts, only = [], 0 if self.deciding is None else self.deciding.people
        if self.unprotected + only < self.people:
            parts.append(
                protected or f"If you answer differently, the published answer is {self._answer_words(answers)}."
            )
        if self.deciding is not None:
            where = "only where the answer depends on one of them (elsewhere ε = ∞)"
            there = f"there, if they answer differently, the published answer is {self.deciding._answer_words(answers)}"
            otherwise = "elsewhere the published answer may reveal their answers with certainty"
            parts.append(f"A promise is made to {self._people_words(only)} {where}: {there}; {otherwise}.")
        if self.unprotected:
            whom = self._people_words(self.unprotected)
            parts.append(
                f"No promise is made to {whom} (ε = ∞): the published answer may reveal their answers with certainty."
            )
        return " ".join(parts)

    def _answer_words(self, answers: tuple[str, str]) -> str:
        """The answer and its odds, in words."""
        how = "just as often" if self.high == self.low else describe_frequency(self.low, self.high, self.low == 0.0)
        return f"{quote_answer(answers[self.answer - 1])} {how}"

    def _people_words(self, number: int) -> str:
        return "these people" if number == self.people else f"{number:,} of {self.people:,} people"


class Change(NamedTuple):
    """Changes, one in each place: the probabilities of an answer, and which answer it is."""

    low: Floats
    high: Floats
    answer: Indices


NOTHING = Change(np.array([0.5]), np.array([0.5]), np.array([1]))  # no answer changes


class OddsContext:
    """Facts shared by the groups of a population, computed once.

    Args:
        formula: the formula of all these groups.
        limits: the limits and losses of every class, if it is one part of several.
        least: the least label of any table, in units; that of these people by default.
    """

    def __init__(
        self, formula: Balanced | WeightedVote, limits: tuple[Limits, Whole] | None = None, least: int | None = None
    ) -> None:
        self.is_constant = bool(formula.scores.constant)
        self.is_part, self.least = least is not None, least
        self._counted: dict[float, tuple[Change, float]] = {}
        self._limits = limits

    def count_change(self, formula: Balanced, epsilon: float) -> tuple[Change, float]:
        """The largest differences of an ε, where the question is a count."""
        if epsilon not in self._counted:
            self._counted[epsilon] = _count_change(formula, epsilon)
        return self._counted[epsilon]

    def is_mixed(self, formula: Balanced) -> bool:
        """True if no limits are known: somebody, perhaps of another part, is protected when deciding, and only then."""
        return formula.mixed if self.least is None else self._limits is None

    def limits(self, formula: Balanced) -> tuple[Limits, Whole]:
        """The limits proved for every class in docs/theory/losses.md, and the largest loss."""
        if self._limits is None:
            self._limits = limits_of(formula), losses_of(formula)
        return self._limits


def odds_of_all(formula: Formula) -> dict[str, PopulationOdds]:
    """The odds of each group: those of its largest finite ε, since everything here grows with ε."""
    if isinstance(formula, JoinedBalanced):
        return _odds_of_joined(formula)
    return _odds_of_groups(formula, OddsContext(formula))


def _odds_of_groups(formula: Balanced | WeightedVote, known: OddsContext) -> dict[str, PopulationOdds]:
    names, group = formula.classes.names, formula.classes.group
    if len(names) == 1:
        return {names[0]: _odds(formula, 0, slice(0, None), known)}
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(group, minlength=len(names)))[:-1])
    return {name: _odds(formula, number, parts[number], known) for number, name in enumerate(names)}


def _odds_of_joined(formula: JoinedBalanced) -> dict[str, PopulationOdds]:
    """The odds of each group of a question that joins several counts; they are bounds."""
    limits: list[tuple[Limits, Whole] | None] = [None] * len(formula.parts)
    if not formula.mixed:
        limits = list(joined_limits_of(formula))
    least = min(part.formula.movable_people.least_from(0) for part in formula.parts)
    found: dict[str, PopulationOdds] = {}
    for part, limit in zip(formula.parts, limits, strict=True):
        found |= _odds_of_groups(part.formula, OddsContext(part.formula, limit, least))
    classes = formula.classes
    for number, name in enumerate(classes.names):
        if name not in found:
            found[name] = _odds_of_nobody(classes, name, np.flatnonzero(classes.group == number))
    return {name: found[name] for name in classes.names}


def _odds_of_nobody(classes: Classes, name: str, members: Indices) -> PopulationOdds:
    """The odds of a group whose people change nothing."""
    sizes, units, strict = classes.sizes[members], classes.units[members], classes.deciding[members]
    epsilon = float(units_to_floats(np.max(units, where=units < UNBOUNDED, initial=0, keepdims=True))[0])
    only = (units == UNBOUNDED) & (strict < UNBOUNDED)
    people, unprotected = int(sizes.sum()), int(sizes[strict == UNBOUNDED].sum())
    deciding = None
    if only.any():
        most = float(units_to_floats(strict[only]).max())
        deciding = PopulationOdds(name, 1, 0.5, 0.5, 0.0, most, int(sizes[only].sum()), 0, True)
    return PopulationOdds(name, 1, 0.5, 0.5, 0.0, epsilon, people, unprotected, True, deciding)


def _odds(formula: Balanced | WeightedVote, number: int, members: Any, known: OddsContext) -> PopulationOdds:
    """The odds of the group of some classes."""
    classes, scores = formula.classes, formula.scores
    sizes, units, strict = classes.sizes[members], classes.units[members], classes.deciding[members]
    bounded = int(np.searchsorted(units, UNBOUNDED))
    only = np.flatnonzero(strict[bounded:] < UNBOUNDED) + bounded
    people, counted = int(sizes.sum()), int(sizes[:bounded].sum()) + int(sizes[only].sum())
    epsilon = float(units_to_floats(units[bounded - 1 : bounded])[0]) if bounded else 0.0
    exact, same = False, known.is_constant or bool(scores.most[number] == 0)
    if same:
        change, loss, exact = NOTHING, 0.0, True
    elif not bounded:
        change, loss = Change(np.array([0.0]), np.array([1.0]), np.array([1])), np.inf
    elif isinstance(formula, WeightedVote):
        change, loss = _vote_change(units_to_floats(formula.weights[members][:bounded].max(keepdims=True)))
    elif scores.is_count and formula.is_plain and not known.is_part:
        (change, loss), exact = known.count_change(formula, epsilon), True
    else:
        change, loss = _bounded_change(formula, members, bounded, epsilon, known)
    most = int(np.argmax(change.high - change.low))
    high, low = float(change.high[most]), float(change.low[most])
    low = max(low, SMALLEST) if bounded else low  # too small for a float, perhaps; where ε is finite it is not zero
    name, deciding = classes.names[number], None
    if len(only):
        deciding = _where_deciding(formula, name, members, only, same)
    answer = int(change.answer[most])
    return PopulationOdds(
        name, answer, high, low, float(min(loss, epsilon)), epsilon, people, people - counted, exact, deciding
    )


def _where_deciding(
    formula: Balanced | WeightedVote, name: str, members: Any, only: Indices, same: bool
) -> PopulationOdds:
    """The odds of people who are protected where they decide, and there only: bounds for the steps between answers."""
    classes = formula.classes
    epsilon, people = (
        float(units_to_floats(classes.deciding[members][only]).max()),
        int(classes.sizes[members][only].sum()),
    )
    if same:
        return PopulationOdds(name, 1, 0.5, 0.5, 0.0, epsilon, people, 0, True)
    if isinstance(formula, WeightedVote):
        change, _ = _vote_change(units_to_floats(formula.weights[members][only].max(keepdims=True)))
        low, high = float(change.low[0]), float(change.high[0])
    else:
        low = 0.5 * float(np.exp(-units_to_floats(classes.meeting[members][only].max(keepdims=True))[0]))
        high = 1.0 - low
    return PopulationOdds(name, 1, high, max(low, SMALLEST), epsilon, epsilon, people, 0, False)


def _vote_change(weights: Floats) -> tuple[Change, float]:
    """The largest possible change: z from −weight/2 to weight/2, where p is steepest."""
    tail = 0.5 * np.exp(-0.5 * weights)
    return Change(tail, 1.0 - tail, np.ones(len(tail), dtype=np.int64)), float(weights.max())


def _bounded_change(
    formula: Balanced, members: Any, bounded: int, epsilon: float, known: OddsContext
) -> tuple[Change, float]:
    """Bounds for any population: steps between the answers, and steps on one side of them."""
    own = formula.classes.meeting[members][:bounded]
    beside, loss, across = epsilon, epsilon, [(own, own)]
    if not known.is_mixed(formula):
        limits, losses = known.limits(formula)
        beside, loss = (float(units_to_floats(units[members][:bounded]).max()) for units in (limits.beside, losses))
        across = [(yes[members][:bounded], no[members][:bounded]) for yes, no in limits.across]
    lowest = formula.movable_people.least_from(0) if known.least is None else known.least
    least = 0.5 * np.exp(-units_to_floats(np.array([lowest])))
    low, high = [least * np.exp(-beside)], [least]
    for yes, no in across:
        low.append(0.5 * np.exp(-units_to_floats(no.max(keepdims=True))))
        high.append(1.0 - 0.5 * np.exp(-units_to_floats(yes.max(keepdims=True))))
    return Change(np.concatenate(low), np.concatenate(high), np.ones(len(low), dtype=np.int64)), loss


def _count_change(formula: Balanced, epsilon: float) -> tuple[Change, float]:
    """The largest differences that a count has, exactly; see docs/theory/population.md, Odds."""
    classes, movable, threshold = formula.classes, formula.movable_people, formula.scores.threshold
    own, count = np.array([epsilon]), movable.size
    first = int(np.searchsorted(classes.units, int(epsilon * (1 << GRID))))  # exact: both are whole units
    place = movable.up_to(first).people

    def other(ranks: Indices) -> Floats:
        """The ε of the others by rank, from 0, in increasing order: everybody's but one's own."""
        there = [movable.class_of(rank if rank < place else rank + 1) for rank in ranks.tolist()]
        return units_to_floats(classes.units[there])

    def below(target: Floats) -> Indices:
        """The number of other people with less than that; exact, since all amounts are whole units."""
        end = np.searchsorted(classes.units, np.ceil(np.ldexp(np.maximum(target, 0.0), GRID)).astype(np.int64))
        return np.array([movable.up_to(int(end[0])).people]) - (own < target)

    found, losses = [], [0.0]
    for saying_yes, saying_no in ((threshold - 1, count - threshold), (count - threshold, threshold - 1)):
        # the others who have the answer at hand are those with the largest ε, or those with the smallest
        rich = np.minimum(own, other(np.array([saying_no]))) if saying_yes else own
        poor = np.minimum(own, other(np.array([0]))) if saying_no else own
        found.append(Change(_tail(poor), 1.0 - _tail(rich), np.array([1])))
        found.append(Change(_tail(rich), 1.0 - _tail(poor), np.array([1])))
        losses += [_log_ratio(rich, poor), _log_ratio(poor, rich)]
    for answer, needed in ((2, threshold), (1, count - threshold + 1)):
        if needed < count:
            changes, loss = _on_one_side(own, other, below, count - needed, needed > 1)
            found += [Change(low, high, np.array([answer])) for low, high in changes]
            losses.append(loss)
    return Change(*(np.concatenate(column) for column in zip(*found, strict=True))), max(losses)


def _on_one_side(
    own: Floats, other: ByRank, below: Callable[[Floats], Indices], most: int, has_next: bool
) -> tuple[list[tuple[Floats, Floats]], float]:
    """Changes between margin 1 and margin 2: the least other ε before is one of the `most` smallest."""
    limit = np.minimum(own, other(np.array([most]))) if has_next else own
    steepest = -np.log(np.sqrt(1.0 + np.exp(np.minimum(limit, 700.0))) - 1.0)
    changes: list[tuple[Floats, Floats]] = []
    for target in (own, steepest):
        rank = np.minimum(below(target), most)
        changes += [_step(own, limit, other(np.clip(near, 0, most - 1))) for near in (rank - 1, rank)]
    last = other(np.array([most - 1]))
    increase = np.where(own <= last, own, last + _meeting(limit) - _meeting(last))
    return changes, float(np.max(increase))


def _step(own: Floats, limit: Floats, least: Floats) -> tuple[Floats, Floats]:
    """The error before and after one more person with one's own ε could go, where the least ε of others is known."""
    after = np.where(own <= least, own + _meeting(least), least + _meeting(limit))
    return 0.5 * np.exp(-after), _tail(least)


def _meeting(epsilon: Floats) -> Floats:
    return np.asarray(np.logaddexp(0.0, epsilon) - np.log(2.0))


def _log_ratio(high: Floats, low: Floats) -> float:
    """log((1 − tail(high)) / tail(low))."""
    return float(np.max(np.log1p(-_tail(high)) + np.logaddexp(0.0, low)))


def _tail(epsilon: Floats) -> Floats:
    """The error where somebody with this ε decides."""
    return np.asarray(1.0 / (1.0 + np.exp(np.minimum(epsilon, 700.0))))

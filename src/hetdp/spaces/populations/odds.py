"""What one person's value does to the published answer of a population, at most, over all tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hetdp.mechanism.odds_words import runs_of
from hetdp.problem.space import Floats, Indices
from hetdp.spaces.populations.balanced import Balanced
from hetdp.spaces.populations.vote import WeightedVote
from hetdp.spaces.privacy.grid import UNBOUNDED, as_floats

ANSWERS = ("yes", "no")
ByRank = Callable[[Indices], Floats]  # from places in increasing order to ε


@dataclass(frozen=True)
class PopulationOdds:
    """How much one person's value shows in the published answer; as text, the sentence for the people concerned.

    Attributes:
        group: whose.
        answer: the published answer that becomes more probable: 1 (yes) or 2 (no).
        high: its probability at one table.
        low: its probability at the neighbouring table. No other change of the group makes a larger difference.
        loss: the largest |log(Pr / Pr)| of either answer: the ε that is really used up, at most.
        epsilon: the largest finite ε of the group, as used.
        people: how many people the group has.
        unprotected: how many of them have ε = ∞: about these no promise is made, and no other number here counts them.
        exact: whether some table attains these numbers; otherwise they are bounds.
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

    def __str__(self) -> str:
        parts = []
        if self.unprotected < self.people:
            runs, most, least = runs_of(self.low, self.high)
            instead = "less than 1" if least == 0 and self.low > 0.0 else f"{least:,}"
            how = f"in at most {most:,} of {runs:,} runs instead of {instead}"
            if self.high == self.low:
                how = "just as often"
            parts.append(f"If you answer differently, the published answer is {ANSWERS[self.answer - 1]} {how}.")
        if self.unprotected:
            whom = f"{self.unprotected:,} of {self.people:,} people" if parts else "these people"
            parts.append(f"To {whom} no promise is made (ε = ∞): the published answer may show theirs for certain.")
        return " ".join(parts)


class Change(NamedTuple):
    """Changes, one in each place: the probabilities of an answer, and which answer it is."""

    low: Floats
    high: Floats
    answer: Indices


def odds_of(formula: Balanced | WeightedVote, group: str) -> PopulationOdds:
    """The odds of one group."""
    classes, scores = formula.classes, formula.scores
    mine = classes.group == classes.names.index(group)
    bounded = mine & (classes.units < UNBOUNDED)
    people, unprotected = (int(classes.sizes[one].sum()) for one in (mine, mine & ~bounded))
    epsilon = float(np.max(as_floats(classes.units[bounded]), initial=0.0))
    exact = False
    if scores.constant or scores.most[classes.names.index(group)] == 0:
        change, loss, exact = Change(np.array([0.5]), np.array([0.5]), np.array([1])), 0.0, True
    elif not bounded.any():
        change, loss = Change(np.array([0.0]), np.array([1.0]), np.array([1])), np.inf
    elif isinstance(formula, WeightedVote):
        change, loss = _voted(as_floats(formula.weights[bounded]))
    elif scores.is_count and (classes.deciding == classes.units).all() and (classes.units < UNBOUNDED).all():
        change, loss = _counted(formula, np.flatnonzero(bounded))
        exact = True
    else:
        change, loss = _bounded(formula, bounded)
    most = int(np.argmax(change.high - change.low))
    high, low = float(change.high[most]), float(change.low[most])
    return PopulationOdds(
        group, int(change.answer[most]), high, low, float(min(loss, epsilon)), epsilon, people, unprotected, exact
    )


def _voted(weights: Floats) -> tuple[Change, float]:
    """At most, z goes from −weight/2 to weight/2: nowhere else is p so steep."""
    tail = 0.5 * np.exp(-0.5 * weights)
    return Change(tail, 1.0 - tail, np.ones(len(tail), dtype=np.int64)), float(weights.max())


def _bounded(formula: Balanced, whose: Indices) -> tuple[Change, float]:
    """Bounds for any population: steps between the answers, and steps on one side of them."""
    classes = formula.classes
    epsilon, meeting = as_floats(classes.units[whose]), as_floats(classes.meeting[whose])
    tail = 0.5 * np.exp(-meeting)
    least = 0.5 * np.exp(-as_floats(classes.meeting[formula.counted]).min())
    low, high = np.append(tail, least * np.exp(-epsilon)), np.append(1.0 - tail, np.full(len(tail), least))
    return Change(low, high, np.ones(len(low), dtype=np.int64)), float(epsilon.max())


def _counted(formula: Balanced, whose: Indices) -> tuple[Change, float]:
    """The largest differences that a count has, exactly; see docs/theory/population.md, Odds."""
    classes, scores = formula.classes, formula.scores
    sizes = np.where(formula.counted, classes.sizes, 0)
    everybody = np.repeat(as_floats(classes.units), sizes)
    own = as_floats(classes.units[whose])
    place = (np.cumsum(sizes) - sizes)[whose]

    def other(rank: Indices) -> Floats:
        """The ε of the others by rank, from 0, in increasing order: everybody's but one's own."""
        return everybody[np.where(rank < place, rank, rank + 1)]

    count, threshold = len(everybody), scores.threshold
    found, losses = [], [0.0]
    for saying_yes, saying_no in ((threshold - 1, count - threshold), (count - threshold, threshold - 1)):
        # the others who have the answer at hand are those with the largest ε, or those with the smallest
        rich = np.minimum(own, other(np.full_like(place, saying_no))) if saying_yes else own
        poor = np.minimum(own, other(np.zeros_like(place))) if saying_no else own
        found.append(Change(_tail(poor), 1.0 - _tail(rich), np.ones_like(place)))
        found.append(Change(_tail(rich), 1.0 - _tail(poor), np.ones_like(place)))
    for answer, needed in ((2, threshold), (1, count - threshold + 1)):
        if needed < count:
            changes, loss = _on_one_side(own, place, other, count - needed, needed > 1)
            found += [Change(low, high, np.full_like(place, answer)) for low, high in changes]
            losses.append(loss)
    losses += [float(np.max(np.log(one.high / one.low))) for one in found]
    return Change(*(np.concatenate(column) for column in zip(*found, strict=True))), max(losses)


def _on_one_side(
    own: Floats, place: Indices, other: ByRank, most: int, has_next: bool
) -> tuple[list[tuple[Floats, Floats]], float]:
    """Changes between margin 1 and margin 2: the least other ε before is one of the `most` smallest."""
    limit = np.minimum(own, other(np.full_like(place, most))) if has_next else own
    steepest = -np.log(np.sqrt(1.0 + np.exp(np.minimum(limit, 700.0))) - 1.0)
    changes: list[tuple[Floats, Floats]] = []
    for target in (own, steepest):
        rank = _rank(other, target, most)
        changes += [_step(own, limit, other(np.clip(near, 0, most - 1))) for near in (rank - 1, rank)]
    last = other(np.full_like(place, most - 1))
    increase = np.where(own <= last, own, last + _meeting(limit) - _meeting(last))
    return changes, float(np.max(increase))


def _rank(other: ByRank, target: Floats, most: int) -> Indices:
    """How many of the `most` smallest others are below a target, by halving."""
    low, high = np.zeros(len(target), dtype=np.int64), np.full(len(target), most, dtype=np.int64)
    for _ in range(most.bit_length() + 1):
        middle = np.minimum((low + high) // 2, most - 1)
        below = (other(middle) < target) & (low < high)
        low = np.where(below, middle + 1, low)
        high = np.where(below, high, np.minimum(high, middle))
    return low


def _step(own: Floats, limit: Floats, least: Floats) -> tuple[Floats, Floats]:
    """The error before and after one more person with one's own ε could go, where the least ε of others is known."""
    after = np.where(own <= least, own + _meeting(least), least + _meeting(limit))
    return 0.5 * np.exp(-after), _tail(least)


def _meeting(epsilon: Floats) -> Floats:
    return np.asarray(np.logaddexp(0.0, epsilon) - np.log(2.0))


def _tail(epsilon: Floats) -> Floats:
    """The error where somebody with this ε decides."""
    return np.asarray(1.0 / (1.0 + np.exp(np.minimum(epsilon, 700.0))))

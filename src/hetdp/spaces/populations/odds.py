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
from hetdp.spaces.privacy.grid import GRID, UNBOUNDED, as_floats

ANSWERS = ("yes", "no")
SMALLEST = float(np.finfo(np.float64).tiny)
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
    """The odds of one group: those of its largest finite ε, since everything here grows with ε."""
    classes, scores, number = formula.classes, formula.scores, formula.classes.names.index(group)
    mine = slice(0, None) if len(classes.names) == 1 else np.flatnonzero(classes.group == number)
    sizes, units = classes.sizes[mine], classes.units[mine]
    bounded = int(np.searchsorted(units, UNBOUNDED))
    people, unprotected = int(sizes.sum()), int(sizes[bounded:].sum())
    epsilon = float(as_floats(units[bounded - 1 : bounded])[0]) if bounded else 0.0
    exact = False
    if scores.constant or scores.most[number] == 0:
        change, loss, exact = Change(np.array([0.5]), np.array([0.5]), np.array([1])), 0.0, True
    elif not bounded:
        change, loss = Change(np.array([0.0]), np.array([1.0]), np.array([1])), np.inf
    elif isinstance(formula, WeightedVote):
        change, loss = _voted(as_floats(formula.weights[mine][:bounded].max(keepdims=True)))
    elif scores.is_count and formula.is_plain:
        change, loss = _counted(formula, epsilon)
        exact = True
    else:
        change, loss = _bounded(formula, epsilon, int(classes.meeting[mine][:bounded].max()))
    most = int(np.argmax(change.high - change.low))
    high, low = float(change.high[most]), float(change.low[most])
    low = (
        max(low, SMALLEST) if bounded else low
    )  # it may be too small for a float, but where ε is finite it is not zero
    return PopulationOdds(
        group, int(change.answer[most]), high, low, float(min(loss, epsilon)), epsilon, people, unprotected, exact
    )


def _voted(weights: Floats) -> tuple[Change, float]:
    """At most, z goes from −weight/2 to weight/2: nowhere else is p so steep."""
    tail = 0.5 * np.exp(-0.5 * weights)
    return Change(tail, 1.0 - tail, np.ones(len(tail), dtype=np.int64)), float(weights.max())


def _bounded(formula: Balanced, epsilon: float, meeting: int) -> tuple[Change, float]:
    """Bounds for any population: steps between the answers, and steps on one side of them."""
    tail, least = (0.5 * np.exp(-as_floats(np.array([one]))) for one in (meeting, formula.everybody.least_from(0)))
    low, high = np.append(tail, least * np.exp(-epsilon)), np.append(1.0 - tail, least)
    return Change(low, high, np.ones(len(low), dtype=np.int64)), epsilon


def _counted(formula: Balanced, epsilon: float) -> tuple[Change, float]:
    """The largest differences that a count has, exactly; see docs/theory/population.md, Odds."""
    classes, everybody, threshold = formula.classes, formula.everybody, formula.scores.threshold
    own, count = np.array([epsilon]), everybody.size
    first = int(np.searchsorted(classes.units, int(epsilon * (1 << GRID))))  # exact: both are whole units
    place = everybody.up_to(first).people

    def other(ranks: Indices) -> Floats:
        """The ε of the others by rank, from 0, in increasing order: everybody's but one's own."""
        there = [everybody.class_of(rank if rank < place else rank + 1) for rank in ranks.tolist()]
        return as_floats(classes.units[there])

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
            changes, loss = _on_one_side(own, other, count - needed, needed > 1)
            found += [Change(low, high, np.array([answer])) for low, high in changes]
            losses.append(loss)
    return Change(*(np.concatenate(column) for column in zip(*found, strict=True))), max(losses)


def _on_one_side(own: Floats, other: ByRank, most: int, has_next: bool) -> tuple[list[tuple[Floats, Floats]], float]:
    """Changes between margin 1 and margin 2: the least other ε before is one of the `most` smallest."""
    limit = np.minimum(own, other(np.array([most]))) if has_next else own
    steepest = -np.log(np.sqrt(1.0 + np.exp(np.minimum(limit, 700.0))) - 1.0)
    changes: list[tuple[Floats, Floats]] = []
    for target in (own, steepest):
        rank = _rank(other, target, most)
        changes += [_step(own, limit, other(np.clip(near, 0, most - 1))) for near in (rank - 1, rank)]
    last = other(np.array([most - 1]))
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


def _log_ratio(high: Floats, low: Floats) -> float:
    """log((1 − tail(high)) / tail(low))."""
    return float(np.max(np.log1p(-_tail(high)) + np.logaddexp(0.0, low)))


def _tail(epsilon: Floats) -> Floats:
    """The error where somebody with this ε decides."""
    return np.asarray(1.0 / (1.0 + np.exp(np.minimum(epsilon, 700.0))))

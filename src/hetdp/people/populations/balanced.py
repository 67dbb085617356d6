"""The balanced mechanism in closed form: the cheapest way to the other answer, in whole units of ε.

docs/theory/population.md has the formulas. `Level` holds sums over people sorted by ε: a few numbers for each span of
some hundred classes; the rest is computed when needed.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.people.populations.classes import NO_TERMS, PART_BITS, Classes
from hetdp.people.populations.folding import BLOCK, Whole
from hetdp.people.populations.population import Population
from hetdp.people.privacy.epsilons import UNBOUNDED
from hetdp.problem.scores import OtherAnswerDistance
from hetdp.threads import run_in_threads, slices

FEW_CLASSES = 8  # classes that plain Python sums sooner than NumPy does
SPAN = 1 << 9  # classes whose sums are stored together; it divides BLOCK
MOST_SPANS = 1 << 10  # classes within which a public level stores sums; 20 MB
Label = int | float  # units; or an infinity


class Sums(NamedTuple):
    """Sums and extremes over some classes; or arrays of them.

    Attributes:
        people: how many people there are.
        high: the sum of the upper parts of their ε.
        low: the sum of the lower parts.
        saved: the largest ε minus meeting label: what is saved if that person goes last.
        least: the least meeting label.
    """

    people: Any
    high: Any
    low: Any
    saved: Any
    least: Any

    @property
    def epsilon(self) -> int:
        """The sum of all ε, in units."""
        return (int(self.high) << PART_BITS) + int(self.low)


ONE = np.zeros(1, dtype=np.int64)  # one sum over a whole piece
NOBODY = np.array([0, 0, 0, -UNBOUNDED])  # people, both parts of ε, and what is saved, of no class at all


class Level:
    """All people who can move the sum equally far, sorted by ε.

    Args:
        classes: the classes.
        gain: how far each of these people can move the sum.
        people: how many of them each class has.
    """

    def __init__(self, classes: Classes, gain: int, people: NDArray[Any]) -> None:
        self.gain, self._classes, self._people = gain, classes, people
        self._span = 1 if len(people) <= SPAN else SPAN
        if len(people) <= FEW_CLASSES:
            self._accumulate(people.tolist())
            self.size = self._before[-1][0]
            return
        found = self._sums_of_each() if self._span == 1 else self._over_spans()
        before, after = np.empty((4, found.shape[1] + 1), np.int64), np.empty(found.shape[1] + 1, np.int64)
        before[:, 0], after[-1] = NOBODY, UNBOUNDED
        found[:3].cumsum(axis=1, out=before[:3, 1:])
        np.maximum.accumulate(found[3], out=before[3, 1:])
        np.minimum.accumulate(found[4, ::-1], out=after[-2::-1])
        self._before: list[list[int]] = before.T.tolist()
        self._after: list[int] = after.tolist()
        self.size = self._before[-1][0]

    def up_to(self, end: int) -> Sums:
        """Sums over the classes before an end, and the most that one of them saves; the least label is not among it."""
        span = end // self._span
        people, high, low, saved = self._before[span]
        if end % self._span == 0:
            return Sums(people, high, low, saved, UNBOUNDED)
        rest = self._sums_over(slice(span * self._span, end), ONE)
        people, high, low = people + int(rest.people[0]), high + int(rest.high[0]), low + int(rest.low[0])
        return Sums(people, high, low, max(saved, int(rest.saved[0])), UNBOUNDED)

    def least_from(self, begin: int) -> int:
        """The least meeting label of a class and those after it."""
        if self._span == 1:
            return self._after[begin]
        span = -(-begin // self._span)
        rest = slice(begin, min(span * self._span, len(self._people)))
        found = self._after[min(span, len(self._after) - 1)]
        return found if rest.start >= rest.stop else min(found, int(self._sums_over(rest, ONE).least[0]))

    def least_sum(self, people: int) -> Label:
        """The sum of the ε of this many people with the smallest ε; infinite if fewer are protected."""
        if people > self.up_to(self._classes.bounded).people:
            return math.inf
        if people == 0:
            return 0
        last = self.class_of(people - 1)
        before = self.up_to(last)
        return before.epsilon + (people - int(before.people)) * int(self._classes.units[last])

    def payment_at(self, price: int) -> tuple[int, int]:
        """The amount that these people pay at a price, and the most that one of them saves by going last."""
        asked = min(price * self.gain, UNBOUNDED)
        end = self._classes.end_of(asked)
        people, high, low, saved = self._before[end] if self._span == 1 else self.up_to(end)[:4]
        return (high << PART_BITS) + low + asked * (self.size - people), max(saved, asked - self.least_from(end))

    @cached_property
    def _people_before(self) -> Whole:
        return np.array([people for people, *_ in self._before])

    def class_of(self, rank: int) -> int:
        """The class of a person, by their number from 0 in order of ε."""
        span = int(np.searchsorted(self._people_before, rank, side="right")) - 1
        people = np.cumsum(self._people[span * self._span : (span + 1) * self._span], dtype=np.int64)
        rest = rank - int(self._people_before[span])
        return span * self._span + int(np.searchsorted(people, rest, side="right"))

    def _accumulate(self, people: list[int]) -> None:
        """The same sums over a handful of classes in plain Python, which is faster; Python numbers need no parts."""
        before, after = [0, 0, 0, -UNBOUNDED], UNBOUNDED
        self._before, self._after = [before], [after]
        terms = list(zip(people, self._classes.listed_terms, strict=True))
        for number, (units, saved, _) in terms:
            before = [
                before[0] + number,
                0,
                before[2] + number * units,
                max(before[3], saved * (number > 0) - UNBOUNDED),
            ]
            self._before.append(before)
        for number, (_, _, label) in reversed(terms):
            after = min(after, label * (number > 0) + UNBOUNDED)
            self._after.append(after)
        self._after.reverse()

    def _sums_of_each(self) -> Whole:
        """The `Sums` of each class by itself, one row for each field; for few classes, with few calls of NumPy."""
        found = np.empty((len(Sums._fields), len(self._people)), dtype=np.int64)
        found[:3] = self._people
        np.greater(
            self._people, 0, out=found[3:], casting="unsafe"
        )  # multiplied instead of selected, so that the time is the same for all data
        found *= self._classes.terms
        found[3:] += NO_TERMS
        return found

    def _over_spans(self) -> Whole:
        """The `Sums` of each span of the classes, one row for each field, block by block."""
        count = len(self._people)
        found = np.empty((len(Sums._fields), -(-count // SPAN)), dtype=np.int64)
        self._classes.meeting, self._classes.bounded  # noqa: B018 # found once, and not by each thread

        def work(piece: slice) -> None:
            part = slice(piece.start // SPAN, -(-piece.stop // SPAN))
            first = np.arange(0, piece.stop - piece.start, SPAN)
            for column, sums in zip(found, self._sums_over(piece, first), strict=True):
                column[part] = sums

        run_in_threads(work, slices(count, BLOCK), count)
        return found

    def _sums_over(self, piece: slice, first: NDArray[np.int64]) -> Sums:
        """Sums over a piece of the classes, from each of some places in it to the next."""
        units, meeting = self._classes.units[piece], self._classes.meeting[piece]
        people = self._people[piece].astype(np.int64, copy=False)
        there = people > 0
        if piece.stop > self._classes.bounded:
            there &= self._classes.deciding[piece] < UNBOUNDED
        there = there.astype(np.int64)  # multiplied instead of selected, so that the time is the same for all data
        high, low = people * (units >> PART_BITS), people * (units & ((1 << PART_BITS) - 1))
        saved, least = (units - meeting + 1) * there, (UNBOUNDED - meeting) * there  # no label is above its ε
        people, high, low = (np.add.reduceat(column, first) for column in (people, high, low))
        saved, least = (np.maximum.reduceat(column, first) for column in (saved, least))
        return Sums(people, high, low, np.where(saved == 0, -UNBOUNDED, saved - 1), UNBOUNDED - least)


class PublicLevel(Level):
    """A level that is the same for every table, so that sums within spans may be stored for reuse.

    The accuracies of many margins and shares need the same spans. For the levels of one table, the time would reveal
    which spans its answers lead to.
    """

    def up_to(self, end: int) -> Sums:
        """The same sums as `Level.up_to`."""
        span, rest = divmod(end, self._span)
        if rest == 0:
            return super().up_to(end)
        people, high, low, saved = self._before[span]
        upward, _ = self._within(span)
        more, higher, lower, most = upward[:, rest - 1].tolist()
        return Sums(people + more, high + higher, low + lower, max(saved, most), UNBOUNDED)

    def least_from(self, begin: int) -> int:
        """The same label as `Level.least_from`."""
        span, rest = divmod(begin, self._span)
        if rest == 0 or begin == len(self._people):
            return super().least_from(begin)
        return min(self._after[span + 1], int(self._within(span)[1][rest]))

    def _within(self, span: int) -> tuple[Whole, Whole]:
        """The sums from the beginning of a span up to each of its classes, and the least label from each to its end."""
        if span not in self._spans:
            piece = slice(span * SPAN, min((span + 1) * SPAN, len(self._people)))
            *upward, least = self._sums_over(piece, np.arange(piece.stop - piece.start))
            sums = np.cumsum(upward, axis=1)
            np.maximum.accumulate(upward[3], out=sums[3])
            if len(self._spans) >= MOST_SPANS:
                self._spans.clear()
            self._spans[span] = sums, np.minimum.accumulate(least[::-1])[::-1]
        return self._spans[span]

    @cached_property
    def _spans(self) -> dict[int, tuple[Whole, Whole]]:
        return {}


def least_meeting(classes: Classes, people: NDArray[Any]) -> int:
    """The least meeting label of all classes that have people."""
    if len(people) <= FEW_CLASSES:
        terms = zip(people.tolist(), classes.listed_terms, strict=True)
        labels: list[int] = [label * (number > 0) for number, (_, _, label) in terms]
        return UNBOUNDED + min(labels)
    found = UNBOUNDED
    for piece in slices(len(people), BLOCK):
        found = min(found, UNBOUNDED - int(((UNBOUNDED - classes.meeting[piece]) * (people[piece] > 0)).max()))
    return found


# The balanced mechanism -----------------------------------------------------------------------------------------------


class CheapestChange(NamedTuple):
    """The cheapest change of the answer of a table to a count question.

    Attributes:
        answer: the answer of the table, 1 (yes) or 2.
        total: the sum of the ε of the people who change.
        label: the same, where one person goes last and crosses the boundary: the label of the table, without its sign.
    """

    answer: int
    total: Label
    label: Label


class Prices:
    """The prices at which the payments may bend: 0, everybody's ε in order, and perhaps one more."""

    def __init__(self, epsilon: Whole, last: tuple[int, ...]) -> None:
        self._epsilon = epsilon.tolist() if len(epsilon) <= SPAN else epsilon  # a list is faster, for few
        self._last = last

    def __len__(self) -> int:
        return 1 + len(self._epsilon) + len(self._last)

    def __getitem__(self, at: int) -> int:
        if at == 0:
            return 0
        return int(self._epsilon[at - 1]) if at <= len(self._epsilon) else self._last[0]

    def __iter__(self) -> Iterator[int]:
        return map(int, chain((0,), self._epsilon, self._last))

    def after(self, at: int) -> int:
        """The index of the next larger price."""
        return 1 + bisect_right(self._epsilon, self[at])


class Balanced:
    """The balanced mechanism of a population."""

    def __init__(self, population: Population) -> None:
        self.population = population
        self.classes, self.scores = population.classes, population.require_sum()
        self._constant = self.scores.constant
        self.counted = self.classes.by_class(self.scores.most > 0)
        bounded = slice(0, self.classes.bounded)
        finite = self.classes.units[bounded]
        if not self.all_count:
            finite = finite[self.counted[bounded]]
        self.dearest = int(finite[-1]) if len(finite) else 0
        beyond = slice(self.classes.bounded, None)
        only_deciding = self.counted[beyond] & (self.classes.deciding[beyond] < UNBOUNDED)
        self.mixed = bool(only_deciding.any())  # protected when deciding, and only then
        highest = self.dearest + (self._largest_meeting() if self.mixed else 0)
        self.prices: range | Prices = range(highest + 1)
        if self.scores.is_count:
            self.prices = Prices(finite, (highest,) if highest > self.dearest else ())

    @cached_property
    def is_plain(self) -> bool:
        """True if everybody has one finite ε for all steps."""
        classes = self.classes
        alike = classes.deciding is classes.units or bool((classes.deciding == classes.units).all())
        return alike and classes.bounded == len(classes.units)

    @cached_property
    def all_count(self) -> bool:
        """True if everybody's value can move the sum."""
        return bool((self.scores.most > 0).all())

    @cached_property
    def movable(self) -> Whole:
        """The number of people of each class whose value can move the sum."""
        return self.classes.sizes if self.all_count else np.where(self.counted, self.classes.sizes, 0)

    @cached_property
    def movable_people(self) -> PublicLevel:
        """Everybody who counts, as if each could move the sum by one."""
        return PublicLevel(self.classes, 1, self.movable)

    @property
    def gap(self) -> Label:
        """An upper bound on the distance of any table's label below the exact length of the cheapest way, in units."""
        if self.scores.is_count:
            return 0
        if self.mixed:
            return math.inf
        return self._most_saved + self._grain() + self._largest_meeting()

    def label(self, counts: Whole) -> Label:
        """The label of a table in units, positive for answer 1; `counts` is by class and value."""
        if self._constant:
            return math.inf if self._constant == 1 else -math.inf
        way = self.scores.way(by_group(self.classes, counts))
        levels, least = self._levels(counts, way)
        found = self._highest(levels, least, way)
        return found if way.answer == 1 else -found

    def change(self, counts: Whole) -> CheapestChange:
        """The cheapest change of the answer of a table; only for counts that are not constant."""
        way = self.scores.way(by_group(self.classes, counts))
        levels, least = self._levels(counts, way)
        return CheapestChange(way.answer, levels[0].least_sum(way.need), self._highest(levels, least, way))

    def worst(self, margin: int) -> Label:
        """The least label, signed so that larger is better, of all tables at this margin from the other answer.

        For questions that are not counts it is a lower bound of it.
        """
        if self.scores.is_count:
            return self.worst_at(margin)
        everybody = self.movable_people
        last = everybody.class_of(margin - 1)
        if last >= self.classes.bounded and not self.mixed:
            return math.inf  # those who are protected cannot change the answer together
        before = everybody.class_of(max(0, margin - 2))
        caps = {self._least, int(self.classes.units[before]), int(self.classes.units[last]), self.dearest}
        found = [self._worst_capped(margin, cap) for cap in caps if cap <= self.dearest]
        return max(everybody.least_from(0), *found)

    def _worst_capped(self, margin: int, cap: int) -> int:
        """A lower bound of the same label, computed as if nobody's ε were larger than a cap, which is finite."""
        everybody = self.movable_people
        end = self.classes.end_of(cap)
        last = min(everybody.class_of(margin - 1), end)  # from here on, everybody pays the cap
        before = everybody.up_to(last)
        price = cap if last >= end else int(self.classes.units[last])
        paid = before.epsilon + (margin - 1 - int(before.people)) * price
        return paid + price // self._largest_gain(margin) - everybody.payment_at(cap)[1] - self._grain()

    def _largest_gain(self, rank: int) -> int:
        """The largest gain that so many people can have together: the rank-th largest score of a person."""
        people = 0
        for group in np.argsort(-self.scores.most).tolist():
            people += int(self.scores.sizes[group])
            if people >= rank:
                break
        return int(self.scores.most[group])

    def worst_at(self, need: int) -> Label:
        """The least label, signed likewise, of all tables where the sum must move this far.

        For questions that are not counts it is a lower bound of it, which treats everybody as if they could move the
        sum as far as anybody of their group can.
        """
        way = OtherAnswerDistance(1, self.scores.scores, need, self.scores.total - need)
        return self._highest(self._levels_at_most, UNBOUNDED, way)

    @cached_property
    def _levels_at_most(self) -> Sequence[Level]:
        """Everybody who counts, by the most that they can move the sum."""
        if self.scores.is_count:
            return [self.movable_people]
        gains = self.classes.by_class(self.scores.most)
        found = sorted({gain for gain in self.scores.most.tolist() if gain})
        return [PublicLevel(self.classes, gain, np.where(gains == gain, self.classes.sizes, 0)) for gain in found]

    def _levels(self, counts: Whole, way: OtherAnswerDistance) -> tuple[list[Level], int]:
        """The people who can move the sum, by how far, and the least meeting label of all others."""
        levels, least, gains = [], UNBOUNDED, way.gains.tolist()
        for gain in sorted(set(chain.from_iterable(gains))):
            there = self._count_with_values(counts, [[other == gain for other in row] for row in gains])
            if gain:
                levels.append(Level(self.classes, gain, there))
            else:
                least = least_meeting(self.classes, there if self.all_count else there * self.counted)
        return levels, least

    def _count_with_values(self, counts: NDArray[Any], chosen: list[list[bool]]) -> NDArray[Any]:
        """The number of people of each class that have one of the values chosen for their group."""
        if all(row == [True, False] for row in chosen):
            return counts[:, 0]
        if all(row == [False, True] for row in chosen):
            return counts[:, 1]
        there, by_group = np.zeros(len(counts), dtype=np.int64), np.array(chosen)
        for value in np.flatnonzero(by_group.any(axis=0)):
            there += np.where(self.classes.by_class(by_group[:, value]), counts[:, value], 0)
        return there

    def _highest(self, levels: Sequence[Level], least: int, way: OtherAnswerDistance) -> Label:
        """The largest bound over all prices, found by bisection: as prices grow, bounds first rise and then fall."""
        bounded = self.classes.bounded
        within_reach = sum(one.gain * one.up_to(bounded).people for one in levels)
        if bounded < len(self.classes.units):  # who is protected only when deciding may go last
            last = [one.gain for one in levels if one.least_from(bounded) < UNBOUNDED]
            within_reach += max(last, default=0)
        if way.need > within_reach:
            return math.inf

        def bound(price: int) -> int:
            paid, saved = -price * way.reserve, -least
            for one in levels:
                pays, saves = one.payment_at(price)
                paid, saved = paid + pays, max(saved, saves)
            return paid - saved

        if len(self.prices) <= FEW_CLASSES:
            return max(map(bound, self.prices))
        low, high = 0, len(self.prices) - 1
        for _ in range(high.bit_length()):  # as often for every table
            middle = (low + high) // 2
            after = self.prices.after(middle) if isinstance(self.prices, Prices) else middle + 1
            after = min(after, high)
            if bound(self.prices[middle]) < bound(self.prices[after]):
                low = after
            else:
                high = middle
        return bound(self.prices[low])

    @cached_property
    def _most_saved(self) -> int:
        bounded = slice(0, self.classes.bounded)
        saved = self.classes.units[bounded] - self.classes.meeting[bounded]
        return int(np.max(saved, where=self.counted[bounded], initial=0))

    @cached_property
    def _least(self) -> int:
        """The least ε of all steps of everybody who counts."""
        return int(np.min(self.classes.deciding, where=self.counted, initial=UNBOUNDED))

    def _largest_meeting(self) -> int:
        return int(np.max(self.classes.meeting, where=self.classes.meeting < UNBOUNDED, initial=0))

    def _grain(self) -> int:
        """The cost of rounding prices to whole units."""
        return max(self.scores.threshold, self.scores.total - self.scores.threshold + 1)


def by_group(classes: Classes, counts: NDArray[Any]) -> Whole:
    """Counts by group and value, from counts by class and value."""
    if len(classes.names) == 1:
        total: Whole = counts.sum(axis=0, dtype=np.int64)
        return total[None]
    return np.stack([classes.by_group(column) for column in counts.T], axis=1)

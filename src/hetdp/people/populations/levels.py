"""Sums over people in order of ε, by spans: a few numbers for some hundred classes each, the rest when asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.people.populations.classes import Classes
from hetdp.people.populations.folding import BLOCK
from hetdp.people.privacy.epsilons import UNBOUNDED
from hetdp.threads import slices

PART = 31  # an ε is added in two parts of so many bits, so that no sum overflows
SPAN = 1 << 9  # classes whose sums are kept together; it divides BLOCK


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
        return (int(self.high) << PART) + int(self.low)


ONE = np.zeros(1, dtype=np.int64)  # all of a piece is one sum


class Level:
    """All who can go equally far, in order of ε.

    Args:
        classes: the classes.
        gain: how far each of these people can go.
        people: how many of them each class has.
    """

    def __init__(self, classes: Classes, gain: int, people: NDArray[Any]) -> None:
        self.gain, self._classes, self._people = gain, classes, people
        spans = -(-len(people) // SPAN)
        found = Sums(*(np.empty(spans, dtype=np.int64) for _ in Sums._fields))
        for piece in slices(len(people), BLOCK):
            part = slice(piece.start // SPAN, -(-piece.stop // SPAN))
            for column, sums in zip(
                found, self._over(piece, np.arange(0, piece.stop - piece.start, SPAN)), strict=True
            ):
                column[part] = sums
        self._people_before, self._high, self._low = (np.append(0, np.cumsum(column)) for column in found[:3])
        self._saved = np.maximum.accumulate(np.append(-UNBOUNDED, found.saved))
        self._after = np.minimum.accumulate(np.append(found.least, UNBOUNDED)[::-1])[::-1]
        self.size = int(self._people_before[-1])

    def up_to(self, end: int) -> Sums:
        """Sums over the classes before an end, and the most that one of them saves; the least label is not among it."""
        span = end // SPAN
        before = (self._people_before, self._high, self._low, self._saved)
        people, high, low, saved = (int(column[span]) for column in before)
        if end % SPAN == 0:
            return Sums(people, high, low, saved, UNBOUNDED)
        rest = self._over(slice(span * SPAN, end), ONE)
        people, high, low = people + int(rest.people[0]), high + int(rest.high[0]), low + int(rest.low[0])
        return Sums(people, high, low, max(saved, int(rest.saved[0])), UNBOUNDED)

    def least_from(self, begin: int) -> int:
        """The least meeting label of a class and those after it."""
        span = -(-begin // SPAN)
        rest = slice(begin, min(span * SPAN, len(self._people)))
        found = int(self._after[min(span, len(self._after) - 1)])
        return found if rest.start >= rest.stop else min(found, int(self._over(rest, ONE).least[0]))

    def paid(self, price: int) -> tuple[int, int]:
        """What these people pay at a price, and the most that one of them saves by going last."""
        asked = min(price * self.gain, UNBOUNDED)
        end = int(np.searchsorted(self._classes.units, asked, side="right"))
        whole = self.up_to(end)
        return whole.epsilon + asked * (self.size - whole.people), max(whole.saved, asked - self.least_from(end))

    def class_of(self, rank: int) -> int:
        """The class of a person, by their number from 0 in order of ε."""
        span = int(np.searchsorted(self._people_before, rank, side="right")) - 1
        people = np.cumsum(self._people[span * SPAN : (span + 1) * SPAN], dtype=np.int64)
        rest = rank - int(self._people_before[span])
        return span * SPAN + int(np.searchsorted(people, rest, side="right"))

    def _over(self, piece: slice, first: NDArray[np.int64]) -> Sums:
        """Sums over a piece of the classes, from each of some places in it to the next."""
        units, meeting = self._classes.units[piece], self._classes.meeting[piece]
        people = self._people[piece].astype(np.int64, copy=False)
        there = people > 0
        if piece.stop > self._classes.bounded:
            there &= self._classes.deciding[piece] < UNBOUNDED
        there = there.astype(np.int64)  # multiplied by, which takes as long whoever is there
        saved = np.maximum.reduceat((units - meeting + 1) * there, first)  # no label is above its ε
        return Sums(
            np.add.reduceat(people, first),
            np.add.reduceat(people * (units >> PART), first),
            np.add.reduceat(people * (units & ((1 << PART) - 1)), first),
            np.where(saved == 0, -UNBOUNDED, saved - 1),
            UNBOUNDED - np.maximum.reduceat((UNBOUNDED - meeting) * there, first),
        )


def least_meeting(classes: Classes, people: NDArray[Any]) -> int:
    """The least meeting label of all classes that have people."""
    found = UNBOUNDED
    for piece in slices(len(people), BLOCK):
        found = min(found, UNBOUNDED - int(((UNBOUNDED - classes.meeting[piece]) * (people[piece] > 0)).max()))
    return found

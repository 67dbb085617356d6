"""Axes of a product of people, and the datasets of the product as lines along one axis.

An axis is the value of one person, or the number of people of a group who have each value. Engines work on the lines
of one axis at a time, cut into parts that share no dataset, so that several parts can be worked on at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, InputError, UsageError
from hetdp.problem.decimals import lower_to_written, marks_of, round_labels_down, unpack_marks
from hetdp.problem.space import Floats, Frozen
from hetdp.text import format_value

BLOCK = 1 << 18


class Lines(NamedTuple):
    """All datasets, seen along one axis: dataset (h · length + position) · low + l, for h < high and l < low.

    Attributes:
        high: the number of combinations of positions on the axes before this one.
        length: the number of positions on this axis.
        low: the number of combinations of positions on the axes after it.
        moves: the moves between positions.
        epsilon: ε by kind of move, state and state; one state if it does not depend on them.
    """

    high: int
    length: int
    low: int
    moves: Moves
    epsilon: Floats


Part = tuple[int, int, int, int]  # lines from the first to the last, and of each the datasets from begin to end


def cut_lines(lines: Lines, most: int = BLOCK) -> Iterator[Part]:
    """Cuts the lines along one axis into parts of bounded size that share no dataset."""
    width = max(1, most // max(lines.length, 1))
    if lines.low >= width:
        for line in range(lines.high):
            for begin in range(0, lines.low, width):
                yield line, line + 1, begin, min(begin + width, lines.low)
        return
    several = max(1, width // max(lines.low, 1))
    for first in range(0, lines.high, several):
        yield first, min(first + several, lines.high), 0, lines.low


Shape = Literal["value", "count", "counts"]
TABLE_RULE = "ε is one number, or a table by value and value, or by value, value, state and state"
MOST_POSITIONS = 1 << 20


class Moves(NamedTuple):
    """Moves grouped by position: those from position i go to ``targets[indptr[i]:indptr[i + 1]]``, with their kinds."""

    indptr: NDArray[np.int64]
    targets: NDArray[np.int64]
    kinds: NDArray[np.int64]


def runs_of(moves: Moves) -> NDArray[np.int64]:
    """The moves as runs of neighbouring positions that move equally far, by one kind.

    Returns:
        One row for each run: its first position, the position after its last, how far they move, and the kind.

    >>> runs_of(Axis.tally("Pupils", 30, 0.5).moves()).tolist()
    [[1, 31, -1, 0], [0, 30, 1, 0]]
    """
    starts = np.repeat(np.arange(len(moves.indptr) - 1), np.diff(moves.indptr))
    hops = moves.targets - starts
    order = np.lexsort((starts, moves.kinds, hops))
    starts, hops, kinds = starts[order], hops[order], moves.kinds[order]
    begins = np.ones(len(starts), dtype=np.bool_)
    begins[1:] = (np.diff(starts) != 1) | (np.diff(hops) != 0) | (np.diff(kinds) != 0)
    ends = np.roll(begins, -1)
    return np.stack([starts[begins], starts[ends] + 1, hops[begins], kinds[begins]], axis=1)


class Axis(Frozen):
    """One axis. Make one with `person`, `tally` or `group`.

    Attributes:
        name: the name of the person or group.
        shape: "value" (one person: any value to any other), "count" (a group with two values: one up or down) or
            "counts" (a group with several: one person from a value to another).
        values: the values that a person may have.
        people: the number of people.
        positions: the entry of a dataset's label at each position: a value, the count of the first value, or the counts
            of all values.
        epsilon: ε by kind of move, state and state, floored to the grid; the same both ways.
        written: the same, as written.
    """

    def __init__(self, name: Any, shape: Shape, values: Sequence[Any], people: int, epsilon: Any) -> None:
        self.name, self.shape, self.values, self.people = name, shape, tuple(values), people
        if shape == "value":
            self.positions: Sequence[Any] = self.values
        elif shape == "count":
            self.positions = range(people + 1)
        else:
            self.positions = tuple(_counts(people, len(self.values)))
        self.epsilon, self.written = _tables(name, len(self.values), epsilon)

    @classmethod
    def person(cls, name: Any, values: Sequence[Any], epsilon: Any) -> Axis:
        """One person, who has one of some values.

        Args:
            name: the name of the person or group.
            values: the values that the person may have, two or more.
            epsilon: one number; or a table by value and value (from, to; symmetric); or one by value, value, state and
                state, where ε depends on the datasets as well.

        >>> Axis.person("Ann", ["yes", "no"], 0.5)
        Axis('Ann', 2 positions)
        """
        if len(values) < 1 or len(set(values)) < len(values):
            raise UsageError(f"the values {format_value(list(values))}", "a person has one of several different values")
        return cls(name, "value", values, 1, epsilon)

    @classmethod
    def tally(cls, name: Any, size: int, epsilon: Any, values: Sequence[Any] = ("yes", "no")) -> Axis:
        """A group of people with two values; a position is the number of people who have the first one.

        >>> Axis.tally("Pupils", 30, 0.5)
        Axis('Pupils', 31 positions)
        """
        _require_size(name, size, size + 1)
        if len(values) != 2:
            raise UsageError(
                f"the values {format_value(list(values))}", "one count tells two values apart; for more, use group"
            )
        return cls(name, "count", values, size, epsilon)

    @classmethod
    def group(cls, name: Any, size: int, values: Sequence[Any], epsilon: Any) -> Axis:
        """A group of people with any number of values; a position is the number of people who have each value.

        >>> Axis.group("Pupils", 30, ["yes", "no", "abstain"], 0.5)
        Axis('Pupils', 496 positions)
        """
        _require_size(name, size, comb(size + len(values) - 1, len(values) - 1) if size >= 0 and len(values) else 1)
        return cls(name, "counts", values, size, epsilon)

    def with_written(self, written: Floats) -> Axis:
        """The axis with other ε, which are given as written: by kind of move, state and state."""
        count = len(self.values)
        table = np.full((count, count, *written.shape[1:]), 0.0)
        for kind, (one, other) in enumerate(combinations(range(count), 2)):
            table[one, other] = table[other, one] = written[kind]
        return Axis(self.name, self.shape, self.values, self.people, table)

    @property
    def length(self) -> int:
        """The number of positions."""
        return len(self.positions)

    def counts(self) -> NDArray[np.int64]:
        """The number of people who have each value: [position, value].

        >>> Axis.tally("Pupils", 2, 0.5).counts().tolist()
        [[0, 2], [1, 1], [2, 0]]
        """
        if self.shape == "value":
            return np.eye(len(self.values), dtype=np.int64)
        if self.shape == "count":
            first = np.arange(self.length)
            return np.stack([first, self.people - first], axis=1)
        return np.array(self.positions, dtype=np.int64).reshape(self.length, len(self.values))

    @property
    def states(self) -> int:
        """The number of states that the table of ε distinguishes; 1 if ε does not depend on states."""
        return int(self.epsilon.shape[1])

    def moves(self) -> Moves:
        """All moves, grouped by position and ordered by target."""
        if self.shape == "count":
            return _steps(self.length)
        listed = _changes(len(self.values)) if self.shape == "value" else _transfers(self)
        rows = np.array(sorted(listed), dtype=np.int64).reshape(-1, 3)
        indptr = np.searchsorted(rows[:, 0], np.arange(self.length + 1))
        return Moves(indptr.astype(np.int64), rows[:, 1].copy(), rows[:, 2].copy())

    def __repr__(self) -> str:
        return f"Axis({format_value(self.name)}, {self.length} positions)"


def change_kind(one: int, other: int, values: int) -> int:
    """The kind of a change between two values, which is the position of the pair among all pairs.

    >>> [change_kind(*pair, 3) for pair in ((0, 1), (0, 2), (2, 1))]
    [0, 1, 2]
    """
    low, high = min(one, other), max(one, other)
    return low * (2 * values - low - 1) // 2 + high - low - 1


def _steps(length: int) -> Moves:
    """One up or one down."""
    ends = np.stack([np.arange(length) - 1, np.arange(length) + 1], axis=1)
    inside = (ends >= 0) & (ends < length)
    indptr = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    targets = ends[inside]
    return Moves(indptr.astype(np.int64), targets, np.zeros(len(targets), dtype=np.int64))


def _changes(values: int) -> Iterator[tuple[int, int, int]]:
    """Any value to any other."""
    for one, other in combinations(range(values), 2):
        kind = change_kind(one, other, values)
        yield from ((one, other, kind), (other, one, kind))


def _transfers(axis: Axis) -> Iterator[tuple[int, int, int]]:
    """One person moves from a value that somebody has to any other."""
    places = {counts: place for place, counts in enumerate(axis.positions)}
    values = len(axis.values)
    for counts, place in places.items():
        for one in range(values):
            for other in range(values):
                if counts[one] and one != other:
                    moved = [*counts]
                    moved[one], moved[other] = moved[one] - 1, moved[other] + 1
                    yield place, places[tuple(moved)], change_kind(one, other, values)


def _counts(people: int, values: int) -> Iterator[tuple[int, ...]]:
    """All distributions of a number of people among values, in the order of the counts."""
    if values == 1:
        yield (people,)
        return
    for first in range(people + 1):
        for rest in _counts(people - first, values - 1):
            yield (first, *rest)


def _require_size(name: Any, size: int, positions: int) -> None:
    if size < 0 or positions > MOST_POSITIONS:
        rule = f"a group has 0 people or more, and at most {MOST_POSITIONS:,} different counts"
        raise UsageError(f"a group {format_value(name)} of {size} people", rule)


def _tables(name: Any, values: int, epsilon: Any) -> tuple[Floats, Floats]:
    """ε on the grid and as written, by kind of move, state and state."""
    given = np.asarray(epsilon, dtype=object)
    if given.ndim not in (0, 2, 4) or (given.ndim and given.shape[:2] != (values, values)):
        raise UsageError(f"a table of shape {given.shape} for {format_value(name)}, with {values} values", TABLE_RULE)
    given = given[(...,) + (None,) * (4 - given.ndim)] if given.ndim else np.full((values, values, 1, 1), given[()])
    if given.shape[2] != given.shape[3]:
        raise UsageError(f"a table of shape {given.shape} for {format_value(name)}", TABLE_RULE)
    pairs = list(combinations(range(values), 2))
    written = np.array(
        [[[lower_to_written(x) for x in row] for row in given[pair]] for pair in pairs], dtype=np.float64
    )
    written = written.reshape(len(pairs), *given.shape[2:])
    if not np.all(written >= 0.0):
        raise InputError("privacy", [Fault("ε out of range", format_value(name), "", "ε is a number ≥ 0")])
    both_ways = all(np.array_equal(given[a, b], given[b, a]) for a, b in pairs)
    if not both_ways or not np.array_equal(written, written.transpose(0, 2, 1)):
        raise InputError(
            "privacy", [Fault("ε differs by direction", format_value(name), "", "ε is the same both ways")]
        )
    written += 0.0
    used = round_labels_down(unpack_marks(marks_of(written.ravel()))[0]).reshape(written.shape)
    used.flags.writeable = written.flags.writeable = False
    return used, written

"""Classes of people who are alike: with the same ε and deciding ε, in the same group.

`classes_of` counts people by class, from rows or from kinds of people that workers counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, InputError, UsageError
from hetdp.numbers import parse_whole
from hetdp.people.populations.folding import (
    BLOCK,
    EpsilonLevels,
    Fold,
    Whole,
    first_of_each,
    sizes_from,
    sort_rows,
    take_distinct,
    to_units,
)
from hetdp.people.privacy.epsilons import LARGEST, RULE, UNBOUNDED, Units, epsilon_to_units
from hetdp.problem.decimals import GRID
from hetdp.threads import run_in_threads, slices


class KindsFold(Fold):
    """The assignment of kinds of people to classes, where a row is a kind with many people.

    Args:
        kinds: the kinds in the order of their classes.
        weights: the number of people of each kind.
    """

    def __init__(self, kinds: Fold, weights: Whole) -> None:
        self._kinds, self._weights = kinds, weights
        self._begin = np.cumsum(kinds.sizes) - kinds.sizes
        super().__init__(np.add.reduceat(weights[kinds.order], self._begin), lambda: kinds.order)

    @cached_property
    def member(self) -> Whole:
        """The class of each kind."""
        return self._kinds.member

    def counts(self, answers: NDArray[Any], values: int) -> NDArray[Any]:
        """The number of people of each class with each value, from the numbers by kind: [kind, value].

        Raises:
            UsageError: there are not as many answers of a kind as people.
        """
        fits = answers.shape == (len(self._weights), values) and answers.dtype.kind in "iu"
        if not fits or int(answers.min()) < 0 or not np.array_equal(answers.sum(axis=1), self._weights):
            rule = "they must be whole numbers that add up to the number of people of each kind"
            raise UsageError(f"the answers have the shape {answers.shape} and the type {answers.dtype}", rule)
        found: NDArray[Any] = np.add.reduceat(answers[self.order], self._begin, axis=0)
        return found

    def people_by(self, codes: Whole, count: int) -> Whole:
        """The number of people with each code; sums are below 2⁵³, so floats are exact."""
        return np.bincount(codes, self._weights, count).astype(np.int64)


# Classes --------------------------------------------------------------------------------------------------------------


EVERYBODY = "everybody"
MOST_PEOPLE = 1 << 31
MANY_PEOPLE = 1 << 12  # people; fewer are always grouped by ε
LN_2 = float(np.log(2.0))
PART_BITS = 31  # an ε is added in two parts of so many bits, so that no sum overflows
NO_TERMS = np.array([[-UNBOUNDED], [UNBOUNDED]])  # the saving and the meeting label where there are no people
ROUNDING_FACTOR = 1.0 - 2.0**-46  # far more than the rounding error of the functions used


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes of people who are alike, sorted by ε.

    Attributes:
        fold: the assignment of rows to classes.
        group: the group of each class, by number.
        units: ε in units of 2⁻⁴⁰, floored; `UNBOUNDED` where no protection is promised.
        deciding: ε for the steps that change the answer; never above `units`.
        names: the names of the groups.
    """

    fold: Fold
    group: Whole
    units: Units
    deciding: Units
    names: tuple[str, ...]

    @property
    def sizes(self) -> Whole:
        """The number of people of each class."""
        return self.fold.sizes

    @property
    def member(self) -> Whole:
        """The class of each person."""
        return self.fold.member

    @cached_property
    def meeting(self) -> Units:
        """The label log((1 + e^ε)/2) of the deciding ε in units, floored."""
        return meetings(self.deciding)

    @cached_property
    def terms(self) -> Whole:
        """The terms that one person of each class adds to sums over people, one row each; used where classes are few.

        The rows are: people, the upper and the lower part of ε, and what must be added to `NO_TERMS`, which stands for
        nobody: what is saved if this person goes last (ε minus meeting label), and the meeting label.
        """
        found = np.stack(
            [
                np.ones(len(self.units), dtype=np.int64),
                self.units >> PART_BITS,
                self.units & ((1 << PART_BITS) - 1),
                self.units - self.meeting,
                self.meeting,
            ]
        )
        found[3:] -= NO_TERMS  # this may overflow, and adding `NO_TERMS` undoes it
        found[3:, self.deciding == UNBOUNDED] = 0
        return found

    @cached_property
    def listed_terms(self) -> list[tuple[int, int, int]]:
        """The same as Python numbers, which need no parts, for each class: ε, and what is added to `NO_TERMS`."""
        columns = zip(self.units.tolist(), self.meeting.tolist(), (self.deciding < UNBOUNDED).tolist(), strict=True)
        return [(own, (own - label + UNBOUNDED) * may, (label - UNBOUNDED) * may) for own, label, may in columns]

    @cached_property
    def _units(self) -> Sequence[int] | Units:
        return self.units.tolist() if len(self.units) <= BLOCK else self.units

    def end_of(self, epsilon: int) -> int:
        """The number of classes whose ε, in units, is at most this one."""
        return bisect_right(self._units, epsilon)

    @cached_property
    def bounded(self) -> int:
        """The number of classes with a finite ε; they come first."""
        return int(np.searchsorted(self.units, UNBOUNDED))

    def by_class(self, by_group: NDArray[Any]) -> NDArray[Any]:
        """A value by group as a value by class; nothing is copied if all groups have the same."""
        if (by_group == by_group[0]).all():
            return np.broadcast_to(by_group[0], len(self.units))
        return by_group[self.group]

    def by_group(self, by_class: NDArray[Any]) -> Whole:
        """The sums of a value by class over each group; they are below 2⁵³, so floats are exact."""
        if len(self.names) == 1:
            return np.array([by_class.sum(dtype=np.int64)])
        return np.bincount(self.group, by_class, len(self.names)).astype(np.int64)


def classes_of(epsilon: Any, deciding: Any, groups: Any, size: int | None) -> Classes:
    """Groups people into classes. If `epsilon` has weights, the other columns are by kind, too.

    Raises:
        UsageError: the arguments do not fit each other.
        InputError: some values are not an ε; the message says how many, and names nobody.
    """
    if np.ndim(epsilon) == 0:
        if size is None:
            raise UsageError("one ε, and no size", "one ε for everybody needs size=, the number of people")
        epsilon = np.full(_number(size), np.nan if epsilon is None else epsilon)
    levels = _one_class(epsilon, "ε")
    weights = levels.weights if isinstance(levels, EpsilonLevels) else None
    rows = len(levels)
    people = rows if weights is None else int(weights.sum())
    if size is not None and _number(size) != people:
        raise UsageError(f"size is {size}, and there are {people:,} ε", "there is one ε for each person")
    _number(people)
    columns: list[Whole] = []
    if deciding is not None and np.ndim(deciding) > 0:
        strict, which = np.unique(_units(_one_class(deciding, "the deciding ε")), return_inverse=True)
        columns.append(_require_length(which, rows, "deciding ε"))
    else:
        strict = np.array([UNBOUNDED if deciding is None else epsilon_to_units(deciding)])
    names, code = _group_names(groups)
    if groups is not None:
        columns.append(_require_length(code, rows, "groups"))
    several = bool(columns) or weights is not None
    fold, units, parts = _by_several(_units(levels), columns) if several else _by_epsilon(levels)
    if weights is not None:
        fold = KindsFold(fold, weights)
    least = strict[parts[0]] if np.ndim(deciding) > 0 else strict
    group = parts[-1] if groups is not None else np.broadcast_to(np.int64(0), len(units))
    decides = units if deciding is None else np.minimum(units, least)
    return Classes(fold, group, units, decides, names)


def meetings(units: Units) -> Units:
    """log((1 + e^ε)/2) in units, never above the exact value: the label that both ends of a deciding step can have.

    >>> round(int(meetings(np.array([2**40]))[0]) / 2**40, 9)
    0.620114507
    """
    found = np.empty(len(units), dtype=np.int64)

    def work(piece: slice) -> None:
        epsilon = np.minimum(units[piece], LARGEST) * 2.0**-GRID
        label = np.log1p(0.5 * np.expm1(np.minimum(epsilon, 1.0)))
        if epsilon.max() > 1.0:
            label = np.where(epsilon <= 1.0, label, (epsilon - LN_2) + np.log1p(np.exp(-epsilon)))
        found[piece] = np.maximum(label * (ROUNDING_FACTOR * 2.0**GRID), 0.0)  # whole numbers: floored
        if units[piece].max() == UNBOUNDED:
            found[piece][units[piece] == UNBOUNDED] = UNBOUNDED

    run_in_threads(work, slices(len(units), BLOCK), len(units))
    return found


def _number(size: Any) -> int:
    found = parse_whole(size, "the number of people", 1)
    if found >= MOST_PEOPLE:
        raise UsageError(f"there are {found:,} people", f"a population has fewer than {MOST_PEOPLE:,}")
    return found


def _one_class(given: Any, what: str) -> EpsilonLevels | Units:
    """Everybody's ε as floats; or in units already, if given as texts or decimals."""
    if isinstance(given, EpsilonLevels):
        found = given
    else:
        array = np.asarray(given)
        if array.ndim != 1 or array.dtype.kind == "b":
            rule = "it must have one entry for each person"
            raise UsageError(f"{what} has the shape {array.shape} and the type {array.dtype}", rule)
        if array.dtype != np.float64 and array.dtype.kind not in "iu":
            return _units_of_few_levels(array, what)
        found = EpsilonLevels(array.astype(np.float64, copy=False))
    if len(found) and not (found.levels[0] >= 0.0 and found.levels[-1] >= 0.0):  # NaN sorts last
        _refuse(int(np.count_nonzero(~(found.values >= 0.0))), len(found), what)
    return found


def _units_of_few_levels(array: NDArray[Any], what: str) -> Units:
    """Texts, Decimals and narrow floats in units, each distinct one converted by itself."""
    try:
        distinct, member = np.unique(array, return_inverse=True)
    except TypeError:  # None among texts
        distinct, member = np.unique(array.astype(str), return_inverse=True)
    units, wrong = np.zeros(len(distinct), dtype=np.int64), np.zeros(len(distinct), dtype=np.bool_)
    for at, epsilon in enumerate(distinct):
        try:
            units[at] = epsilon_to_units(epsilon)
        except UsageError:
            wrong[at] = True
    if wrong.any():
        _refuse(int(np.count_nonzero(wrong[member])), len(array), what)
    return units[member]


def _units(levels: EpsilonLevels | Units) -> Units:
    """Everybody's ε in units, in the order of the rows."""
    return to_units(levels.values) if isinstance(levels, EpsilonLevels) else levels


def _by_epsilon(levels: EpsilonLevels | Units) -> tuple[Fold, Units, list[Whole]]:
    """Classes by ε alone, from the distinct values; their rows are looked up later."""
    if not isinstance(levels, EpsilonLevels):
        return _by_several(levels, [])
    rows, size = lambda: levels.order, len(levels)
    if size > MANY_PEOPLE and 2 * len(levels.levels) > size:  # then each person is a class
        return Fold(sizes_from(None, size), rows), levels.sorted_units, []
    units = to_units(levels.levels)
    first = first_of_each(units)  # several ε may round to the same units
    sizes = levels.sizes if first is None else np.add.reduceat(levels.sizes, first)
    return Fold(sizes, rows, take_distinct(levels.levels, first), levels.values), take_distinct(units, first), []


def _by_several(units: Units, columns: list[Whole]) -> tuple[Fold, Units, list[Whole]]:
    """Classes by ε and other columns, in the order of the first; and the value of each class in each of the others."""
    widths = [int(column.max()) + 1 for column in columns]
    bounded = int(np.max(units, where=units < UNBOUNDED, initial=-1))
    beyond = bounded + 1  # instead of infinity, so that keys are short
    levels, key = None, units if int(units.max()) == bounded else np.minimum(units, beyond)
    if (beyond + 1) * prod(widths) >= 1 << 62:
        levels, key = np.unique(key, return_inverse=True)
        if len(levels) * prod(widths) >= 1 << 62:
            raise UsageError("too many different ε and groups", "their numbers, multiplied, are below 2⁶²")
    for column, width in zip(columns, widths, strict=True):
        key = key * width + column
    order, ordered = sort_rows(key)
    first = first_of_each(ordered)
    found, parts = take_distinct(ordered, first), []
    for width in reversed(widths):
        found, part = np.divmod(found, width)
        parts.append(part)
    found = found if levels is None else levels[found]
    fold = Fold(sizes_from(first, len(units)), lambda: order)
    return fold, np.where(found == beyond, UNBOUNDED, found), parts[::-1]


def _refuse(wrong: int, people: int, what: str) -> None:
    raise InputError(
        "people", [Fault(f"{what} is missing or invalid for", "people", f"{wrong:,} of {people:,} people", RULE)]
    )


def _group_names(groups: Any) -> tuple[tuple[str, ...], Whole]:
    if groups is None:
        return (EVERYBODY,), np.zeros(0, dtype=np.int64)
    array = np.asarray(groups)
    if array.ndim != 1:
        raise UsageError(f"the groups have the shape {array.shape}", "there is one group for each person")
    lost = array.dtype.kind == "O" or (array.dtype.kind == "U" and array is not groups)
    if lost and any("\0" in str(group) for group in groups):
        raise UsageError("a group with a NUL in its name", "a name is plain text")  # NumPy texts end at a NUL
    names, code = np.unique(array if array.dtype.kind in "iuU" else array.astype(str), return_inverse=True)
    return tuple(str(name) for name in names), code.astype(np.int64, copy=False)


def _require_length(column: Whole, people: int, what: str) -> Whole:
    if len(column) != people:
        raise UsageError(f"there are {people:,} ε and {len(column):,} {what}", "there is one for each person")
    return column

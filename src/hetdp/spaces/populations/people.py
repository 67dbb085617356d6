"""People, folded into classes: all who have the same ε and belong to the same group are counted together."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, InputError, UsageError
from hetdp.problem.building.decimals import marks_of, unmarked
from hetdp.spaces.exact import whole
from hetdp.spaces.privacy.grid import GRID, LARGEST, RULE, UNBOUNDED, Units, on_grid

EVERYBODY = "everybody"
MOST_PEOPLE = 1 << 31
LN_2 = float(np.log(2.0))
LOWERED = 1.0 - 2.0**-46  # many times the error of the functions that are used

Whole = NDArray[np.int64]


class Classes(NamedTuple):
    """People who are alike, in increasing order of ε.

    Attributes:
        member: the class of each person.
        sizes: how many people each class has.
        group: the group of each class, by number.
        units: ε in units of 2⁻⁴⁰, floored; `UNBOUNDED` where no protection is promised.
        deciding: ε for the steps that change the answer; never above `units`.
        meeting: the label log((1 + e^ε)/2) of that ε in units, floored.
        names: the names of the groups.
    """

    member: Whole
    sizes: Whole
    group: Whole
    units: Units
    deciding: Units
    meeting: Units
    names: tuple[str, ...]


def classes_of(epsilon: Any, deciding: Any, groups: Any, size: int | None) -> Classes:
    """Folds people into classes.

    Raises:
        UsageError: the arguments do not fit each other.
        InputError: some ε are none; the message says how many, and names nobody.
    """
    if np.ndim(epsilon) == 0:
        if size is None:
            raise UsageError("one ε, and no size", "one ε for everybody needs size=, the number of people")
        epsilon = np.full(_number(size), np.nan if epsilon is None else epsilon)
    levels, member = _levels(epsilon, "ε")
    if size is not None and _number(size) != len(member):
        raise UsageError(f"size is {size}, and there are {len(member):,} ε", "there is one ε for each person")
    _number(len(member))
    units, columns = levels, []
    if deciding is not None and np.ndim(deciding) > 0:
        strict, which = _levels(deciding, "the deciding ε")
        columns.append(_fitting(which, len(member), "deciding ε"))
    else:
        strict = np.array([UNBOUNDED if deciding is None else on_grid(deciding)])
    names, code = _named(groups)
    if groups is not None:
        columns.append(_fitting(code, len(member), "groups"))
    member, parts = _combined(member, len(units), [(column, column.max(initial=0) + 1) for column in columns])
    units = units[parts[0]]
    least = strict[parts[1]] if len(strict) > 1 or np.ndim(deciding) > 0 else strict[0]
    group = parts[-1] if groups is not None else np.zeros(len(units), dtype=np.int64)
    decides = np.minimum(units, least)
    sizes = np.bincount(member, minlength=len(units))
    return Classes(member, sizes, group, units, decides, meetings(decides), names)


def meetings(units: Units) -> Units:
    """log((1 + e^ε)/2) in units, never above the exact value: the label that both ends of a deciding step can have.

    >>> round(int(meetings(np.array([2**40]))[0]) / 2**40, 9)
    0.620114507
    """
    epsilon = np.ldexp(np.minimum(units, LARGEST).astype(np.float64), -GRID)
    small = np.log1p(0.5 * np.expm1(np.minimum(epsilon, 1.0)))
    large = (epsilon - LN_2) + np.log1p(np.exp(-epsilon))
    floored = np.floor(np.ldexp(np.where(epsilon <= 1.0, small, large) * LOWERED, GRID)).astype(np.int64)
    return np.where(units == UNBOUNDED, UNBOUNDED, np.maximum(floored, 0))


def _number(size: Any) -> int:
    found = whole(size, "the number of people", 1)
    if found >= MOST_PEOPLE:
        raise UsageError(f"there are {found:,} people", f"a population has fewer than {MOST_PEOPLE:,}")
    return found


def _levels(given: Any, what: str) -> tuple[Units, Whole]:
    """The different ε in increasing order, on the grid, and which of them each person has."""
    array = np.asarray(given)
    if array.ndim != 1 or array.dtype.kind == "b":
        raise UsageError(f"{what} has the shape {array.shape} and the type {array.dtype}", "it is one for each person")
    if array.dtype.kind in "iu":
        array = array.astype(np.float64)
    if array.dtype != np.float64:
        return _few_levels(array, what)
    wrong = int(np.count_nonzero(~(array >= 0.0)))
    if wrong:
        _refuse(wrong, len(array), what)
    distinct, member = np.unique(array + 0.0, return_inverse=True)
    floored = unmarked(marks_of(distinct))[0]
    units = np.where(np.isinf(distinct), UNBOUNDED, np.minimum(np.ldexp(np.minimum(floored, 4096.0), GRID), LARGEST))
    return units.astype(np.int64), member.astype(np.int64, copy=False)


def _few_levels(array: NDArray[Any], what: str) -> tuple[Units, Whole]:
    """The same for texts, Decimals and narrow floats, each different one by itself."""
    try:
        distinct, member = np.unique(array, return_inverse=True)
    except TypeError:  # None among texts
        distinct, member = np.unique(array.astype(str), return_inverse=True)
    units, wrong = np.zeros(len(distinct), dtype=np.int64), np.zeros(len(distinct), dtype=np.bool_)
    for at, epsilon in enumerate(distinct):
        try:
            units[at] = on_grid(epsilon)
        except UsageError:
            wrong[at] = True
    if wrong.any():
        _refuse(int(np.count_nonzero(wrong[member])), len(array), what)
    order = np.argsort(units, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return units[order], rank[member]


def _refuse(wrong: int, people: int, what: str) -> None:
    raise InputError("people", [Fault(f"{what} is no ε for", "people", f"{wrong:,} of {people:,} people", RULE)])


def _named(groups: Any) -> tuple[tuple[str, ...], Whole]:
    if groups is None:
        return (EVERYBODY,), np.zeros(0, dtype=np.int64)
    array = np.asarray(groups)
    if array.ndim != 1:
        raise UsageError(f"the groups have the shape {array.shape}", "there is one group for each person")
    names, code = np.unique(array if array.dtype.kind in "iuU" else array.astype(str), return_inverse=True)
    return tuple(str(name) for name in names), code.astype(np.int64, copy=False)


def _fitting(column: Whole, people: int, what: str) -> Whole:
    if len(column) != people:
        raise UsageError(f"there are {people:,} ε and {len(column):,} {what}", "there is one for each person")
    return column


def _combined(member: Whole, count: int, columns: Sequence[tuple[Whole, int]]) -> tuple[Whole, list[Whole]]:
    """Classes by several columns at once, in the order of the first; and what each class has in each column."""
    if not columns:
        return member, [np.arange(count)]
    width = prod(int(different) for _, different in columns)
    if count * width >= 1 << 62:
        raise UsageError("too many different ε and groups", "their numbers, multiplied, are below 2⁶²")
    key = member
    for column, different in columns:
        key = key * int(different) + column
    if count * width <= 4 * len(member):  # then a table of all combinations is shorter than sorting
        found = np.flatnonzero(np.bincount(key, minlength=count * width))
        place = np.zeros(count * width, dtype=np.int64)
        place[found] = np.arange(len(found))
        folded = place[key]
    else:
        found, folded = np.unique(key, return_inverse=True)
    parts = []
    for _, different in reversed(columns):
        found, part = np.divmod(found, int(different))
        parts.append(part)
    return folded, [found, *reversed(parts)]

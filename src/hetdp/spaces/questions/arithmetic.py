"""Sums and products of counts in whole numbers that cannot overflow: narrow arrays where they fit, else Python's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError, shown

Counts = NDArray[Any]  # whole numbers ≥ 0
Truth = NDArray[np.bool_]
WIDTHS = (np.int8, np.int16, np.int32, np.int64)


def as_counts(given: Any, where: str) -> tuple[Counts, int]:
    """Counts as an array, and the largest of them.

    Args:
        given: whole numbers, of any shape.
        where: whose counts they are, for the message.

    Raises:
        UsageError: that are no whole numbers ≥ 0.
    """
    array = np.asarray(given)
    rule = "counts are whole numbers ≥ 0"
    if array.dtype.kind not in "iu" and not _is_python(array):
        raise UsageError(f"the counts of {where} are of the type {array.dtype}", rule)
    if array.size == 0:
        return array, 0
    if int(array.min()) < 0:
        raise UsageError(f"a count of {where} is {shown(array.min())}", rule)
    return array, int(array.max())


def _is_python(array: Counts) -> bool:
    """Whether these are Python's own whole numbers."""
    return array.dtype == object and all(type(number) is int for number in array.flat)


def width_for(largest: int) -> Any:
    """The narrowest type of array for numbers up to this size, on both sides of zero.

    >>> width_for(100).__name__, width_for(10**6).__name__, width_for(2**63).__name__
    ('int8', 'int32', 'object')
    """
    return next((width for width in WIDTHS if largest <= np.iinfo(width).max), object)


def weighted_reaches(terms: Sequence[tuple[int, Counts, int]], at_least: int) -> Truth:
    """Whether Σ weight × counts ≥ at_least, in whole numbers.

    Args:
        terms: weights, counts, and the largest of these counts; the arrays need only fit each other's shapes.
        at_least: the threshold.

    >>> weighted_reaches([(2, np.array([0, 1, 2]), 2), (-1, np.array([[1], [4]]), 4)], 0)
    array([[False,  True,  True],
           [False, False,  True]])
    """
    width = width_for(abs(at_least) + sum(abs(weight) * largest for weight, _, largest in terms))
    total = np.zeros((), dtype=width)
    order = sorted(range(len(terms)), key=lambda at: (terms[at][1].size, -at))  # last axes first: longer inner loops
    for weight, counts, _ in (terms[at] for at in order):
        total = total + counts.astype(width, copy=False) * _scalar(weight, width)
    return np.asarray(total >= _scalar(at_least, width), dtype=np.bool_)


def scaled_product(factor: int, left: tuple[Counts, int], right: tuple[Counts, int]) -> tuple[Counts, int]:
    """factor × left × right, in whole numbers, with the largest it can be."""
    largest = max(factor, 1) * max(left[1], 1) * max(right[1], 1)
    width = width_for(largest)
    product = left[0].astype(width, copy=False) * right[0].astype(width, copy=False)
    return np.asarray(product * _scalar(factor, width)), largest


def _scalar(number: int, width: Any) -> Any:
    """A number that leaves an array as wide as it is; one that meets only zeros may be any."""
    if width is object:
        return number
    return width(number) if abs(number) <= np.iinfo(width).max else width(0)

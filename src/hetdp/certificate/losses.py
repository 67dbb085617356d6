"""The largest privacy loss that a mechanism causes, over all edges of a class: an upper bound, and tight.

The loss of an edge is the least parameter that it would keep: of pure and directed ε the largest |log p/p'| and
|log q/q'|, of bounded range and of Gaussian privacy the difference of z. It is found in ordinary floats first. Where
these leave open between which two decimals of nine places it lies, the definition is asked again, exactly: on one side
of ½ a difference of z is a fraction, and across ½ balls enclose it. docs/theory/losses.md has the proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from hetdp.certificate.enclosure import crossing_slack, precision
from hetdp.certificate.products import changes_of
from hetdp.certificate.rules import HALVED
from hetdp.problem.axis import cut_lines
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices

SCALE = 10**9  # a loss is rounded up to so many parts of one
MARGIN = 2.0**-45  # many times the relative error of any float below
LARGE = 1e4  # beyond which floats lie too far apart for nine places; they are rounded up as they are
PRECISION = 256
MOST = 1 << 14  # pairs that are looked at exactly; for more, the larger decimal is taken

Pairs = Iterable[tuple[Floats, Floats]]


def has_loss(notion: str) -> bool:
    """Whether the loss of an edge is one number: it is not where an edge has a δ."""
    return notion in HALVED or notion == "directed"


def is_halved(notion: str) -> bool:
    """Whether p = ½ is special: the coordinate is Laplace's, and the loss is one of probabilities."""
    return HALVED.get(notion, True)


def certain_answer(z: Floats) -> int:
    """1 or 2 if every dataset is given this answer for certain; else 0."""
    return 1 if float(z.min(initial=np.inf)) == np.inf else 2 if float(z.max()) == -np.inf else 0


def largest_losses(one: Floats, other: Floats, numbers: Indices, allowed: Floats, notion: str) -> Floats:
    """The largest loss of each class, rounded up to nine places, and never above what is allowed.

    Args:
        one: z at one end of each edge.
        other: z at the other end.
        numbers: the class of each edge.
        allowed: for each class the largest parameter that its edges promise; the edges were proved to keep it.
        notion: the notion of privacy, by name.

    >>> one, other = np.array([0.0, 2.0]), np.array([0.25, np.inf])
    >>> largest_losses(one, other, np.array([0, 1]), np.array([1.0, np.inf]), "pure")
    array([0.25,  inf])
    """
    halved = is_halved(notion)
    found = losses(one, other, halved)
    largest = np.zeros(len(allowed))
    np.maximum.at(largest, numbers, found)
    least, most, undecided = _decimals(largest, allowed)
    if undecided.any():
        near = np.flatnonzero(undecided[numbers] & (found >= largest[numbers] * (1.0 - 2.0 * MARGIN)))
        ends = np.sort([one[near], other[near]], axis=0)
        rows = np.unique(np.stack([numbers[near].astype(np.float64), *ends]), axis=1)
        _settle(rows, least, undecided, halved)
    return np.minimum(np.where(undecided, most, least), allowed)


def losses_along(space: ProductSpace, z: Floats, allowed: Floats) -> Floats:
    """The same for each axis of a product, whose edges are not stored; ε = ∞ included, where no edge is checked.

    Args:
        space: the product.
        z: the coordinate of each dataset.
        allowed: for each axis the largest ε that is promised along it.
    """
    largest = np.array([_largest(_pairs(space, axis, z)) for axis in range(len(space.axes))])
    least, most, undecided = _decimals(largest, allowed)
    for axis in np.flatnonzero(undecided).tolist():
        rows = [np.empty((3, 0))]
        for one, other in _pairs(space, axis, z):
            with np.errstate(invalid="ignore"):
                near = np.flatnonzero(np.abs(one - other) >= largest[axis] * (1.0 - 2.0 * MARGIN))
            near = near[losses(one[near], other[near], True) >= largest[axis] * (1.0 - 2.0 * MARGIN)]
            ends = np.sort([one[near], other[near]], axis=0)
            rows.append(np.unique(np.stack([np.full(len(near), float(axis)), *ends]), axis=1))
            if sum(row.shape[1] for row in rows) > MOST:
                rows = [np.unique(np.concatenate(rows, axis=1), axis=1)]
        _settle(np.unique(np.concatenate(rows, axis=1), axis=1), least, undecided, True)
    return np.minimum(np.where(undecided, most, least), allowed)


def losses(one: Floats, other: Floats, halved: bool) -> Floats:
    """The loss of each pair of z in ordinary floats, each right but for far less than a part in 2⁴⁵."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.asarray(np.abs(one - other))
    found[one == other] = 0.0  # p = 0 or p = 1 at both ends
    if halved:
        low, high = np.minimum(one, other), np.maximum(one, other)
        across = np.flatnonzero((low < 0.0) & (high > 0.0))
        found[across] = -crossing_slack(low[across], high[across], np.zeros(len(across)))
    return found


def _decimals(largest: Floats, allowed: Floats) -> tuple[Floats, Floats, Any]:
    """The two decimals of nine places that a loss may round up to, and where they differ and it matters."""
    with np.errstate(invalid="ignore", over="ignore"):
        least, most = (np.ceil(largest * factor * SCALE) / SCALE for factor in (1.0 - MARGIN, 1.0 + MARGIN))
    most = np.where(largest < LARGE, most, largest * (1.0 + MARGIN))
    least = np.where(largest < LARGE, least, most)
    return least, most, (least != most) & (least < allowed)


def _settle(rows: Floats, least: Floats, undecided: Any, halved: bool) -> None:
    """Decides for which classes of these rows the smaller decimal is enough: all of their near pairs keep it."""
    if rows.shape[1] > MOST:
        return
    enough = np.zeros_like(undecided)
    enough[rows[0].astype(np.intp)] = True  # of classes that have no row here, nothing is decided
    with precision():
        ctx.prec = PRECISION
        for number, one, other in rows.T.tolist():
            at = int(number)
            enough[at] = enough[at] and _is_at_most(one, other, Fraction(round(least[at] * SCALE), SCALE), halved)
    undecided &= ~enough


def _is_at_most(low: float, high: float, bound: Fraction, halved: bool) -> bool:
    """Whether the loss between two finite z is at most a number; what cannot be told is not."""
    if not (halved and low < 0.0 < high):
        return Fraction(high) - Fraction(low) <= bound
    most = arb(fmpq(bound.numerator, bound.denominator))
    return bool((2 - arb(-high).exp()).log() - low <= most and (2 - arb(low).exp()).log() + high <= most)


def _largest(pairs: Pairs) -> float:
    """The largest loss of all pairs. It is nowhere above the difference of z, which is looked at first."""
    found = 0.0
    for one, other in pairs:
        with np.errstate(invalid="ignore"):
            apart = np.abs(one - other)
        if np.isnan(apart).any() or float(apart.max(initial=0.0)) > found:
            found = max(found, float(losses(one, other, True).max(initial=0.0)))
    return found


def _pairs(space: ProductSpace, axis: int, z: Floats) -> Iterator[tuple[Floats, Floats]]:
    """z at both ends of every change of one person along an axis, each change once, in bounded pieces."""
    lines = space.lines(axis)
    moves = [(np.flatnonzero(to > np.arange(len(to))), to) for _, to in changes_of(space.axes[axis])]
    cube = z.reshape(lines.high, lines.length, lines.low)
    for first, last, begin, end in cut_lines(lines):
        piece = cube[first:last, :, begin:end]
        for start, to in moves:
            if len(start):
                yield piece[:, start, :].ravel(), piece[:, to[start], :].ravel()

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
from flint import ctx

from hetdp.certificate.enclosure import precision
from hetdp.certificate.products import changes_of
from hetdp.certificate.rule import Losses
from hetdp.certificate.rules import rule_of
from hetdp.problem.axis import cut_lines
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices

SCALE = 10**9  # a loss is rounded up to so many parts of one
LARGE_LOSS = 1e4  # beyond which floats lie too far apart for nine places; they are rounded up as they are
PRECISION = 256
MOST_PAIRS = 1 << 14  # pairs that are looked at exactly; for more, the larger decimal is taken

Pairs = Iterable[tuple[Floats, Floats]]


def has_loss(notion: Any) -> bool:
    """True if the loss of an edge is one number; it is not where an edge has a δ."""
    return rule_of(notion).losses is not None


def losses_of(notion: Any) -> Losses:
    """The functions that compute losses, for a notion that has them."""
    losses = rule_of(notion).losses
    assert losses is not None
    return losses


def certain_answer(z: Floats) -> int:
    """1 or 2 if every dataset is given this answer for certain; else 0."""
    return 1 if float(z.min(initial=np.inf)) == np.inf else 2 if float(z.max()) == -np.inf else 0


def largest_losses(one: Floats, other: Floats, numbers: Indices, allowed: Floats, notion: Any) -> Floats:
    """The largest loss of each class, rounded up to nine places, and never above what is allowed.

    Args:
        one: z at one end of each edge.
        other: z at the other end.
        numbers: the class of each edge.
        allowed: for each class the largest parameter that its edges promise; the edges were proved to keep it.
        notion: the notion of privacy.
    """
    losses = losses_of(notion)
    found = losses.estimate(one, other)
    largest = np.zeros(len(allowed))
    np.maximum.at(largest, numbers, found)
    least, most, undecided = _decimals(largest, allowed, losses.margin)
    if undecided.any():
        near = np.flatnonzero(undecided[numbers] & (found >= largest[numbers] * (1.0 - 2.0 * losses.margin)))
        ends = np.sort([one[near], other[near]], axis=0)
        rows = np.unique(np.stack([numbers[near].astype(np.float64), *ends]), axis=1)
        _settle(rows, least, most, undecided, losses)
    return np.minimum(np.where(undecided, most, least), allowed)


def losses_along(space: ProductSpace, z: Floats, allowed: Floats, notion: Any) -> Floats:
    """The same for each axis of a product, whose edges are not stored; ε = ∞ included, where no edge is checked.

    Args:
        space: the product.
        z: the coordinate of each dataset.
        allowed: for each axis the largest ε that is promised along it.
        notion: the notion of privacy.
    """
    losses = losses_of(notion)
    largest = np.array([_largest(_pairs(space, axis, z), losses) for axis in range(len(space.axes))])
    least, most, undecided = _decimals(largest, allowed, losses.margin)
    for axis in np.flatnonzero(undecided).tolist():
        rows = [np.empty((3, 0))]
        for one, other in _pairs(space, axis, z):
            with np.errstate(invalid="ignore"):
                near = np.flatnonzero(np.abs(one - other) >= largest[axis] * (1.0 - 2.0 * losses.margin))
            near = near[losses.estimate(one[near], other[near]) >= largest[axis] * (1.0 - 2.0 * losses.margin)]
            ends = np.sort([one[near], other[near]], axis=0)
            rows.append(np.unique(np.stack([np.full(len(near), float(axis)), *ends]), axis=1))
            if sum(row.shape[1] for row in rows) > MOST_PAIRS:
                rows = [np.unique(np.concatenate(rows, axis=1), axis=1)]
        _settle(np.unique(np.concatenate(rows, axis=1), axis=1), least, most, undecided, losses)
    return np.minimum(np.where(undecided, most, least), allowed)


def _decimals(largest: Floats, allowed: Floats, margin: float) -> tuple[Floats, Floats, Any]:
    """The two decimals of nine places that a loss may round up to, and where they differ and it matters."""
    with np.errstate(invalid="ignore", over="ignore"):
        least, most = (np.ceil(largest * factor * SCALE) / SCALE for factor in (1.0 - margin, 1.0 + margin))
    most = np.where(largest < LARGE_LOSS, most, largest * (1.0 + margin))
    least = np.where(largest < LARGE_LOSS, least, most)
    return least, most, (least != most) & (least < allowed)


def _settle(rows: Floats, least: Floats, most: Floats, undecided: Any, losses: Losses) -> None:
    """Finds for the undecided classes of these rows the smallest decimal that all of their near pairs keep."""
    if rows.shape[1] > MOST_PAIRS:
        return
    classes = rows[0].astype(np.intp)  # of classes that have no row here, nothing is decided
    with precision():
        ctx.prec = PRECISION
        for at in np.unique(classes[undecided[classes]]).tolist():
            pairs = rows[1:, classes == at].T.tolist()
            low, high = (round(float(bound[at]) * SCALE) for bound in (least, most))
            while low < high:
                middle = (low + high) // 2
                if all(losses.is_at_most(one, other, Fraction(middle, SCALE)) for one, other in pairs):
                    high = middle
                else:
                    low = middle + 1
            least[at], undecided[at] = low / SCALE, False


def _largest(pairs: Pairs, losses: Losses) -> float:
    """The largest loss of all pairs. It is nowhere above the difference of z, which is looked at first."""
    found = 0.0
    for one, other in pairs:
        with np.errstate(invalid="ignore"):
            difference = np.abs(one - other)
        if np.isnan(difference).any() or float(difference.max(initial=0.0)) > found:
            found = max(found, float(losses.estimate(one, other).max(initial=0.0)))
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

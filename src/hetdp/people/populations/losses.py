"""The largest privacy loss of each person over all tables: an upper bound in whole units (docs/theory/losses.md).

It may be much less than the allowed ε: it is at most the *price* of one step of the sum, which depends on the people
with smaller ε.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hetdp.certificate.additive import LOSS_MARGIN, ratios
from hetdp.certificate.losses import SCALE
from hetdp.people.populations.balanced import Balanced
from hetdp.people.populations.folding import BLOCK, Whole
from hetdp.people.populations.joined import JoinedBalanced
from hetdp.people.populations.vote import WeightedVote
from hetdp.people.privacy.epsilons import UNBOUNDED
from hetdp.problem.decimals import GRID
from hetdp.problem.space import Floats
from hetdp.threads import run_in_threads, slices

Formula = Balanced | WeightedVote | JoinedBalanced
HALF_BITS = GRID // 2
LOWER_HALF = (1 << HALF_BITS) - 1
WIDE_BLOCK = 4 * BLOCK  # classes at a time, where each piece of work begins with many small steps


class Side(NamedTuple):
    """All tables of one answer.

    Attributes:
        price: no table's label needs a price above it.
        step: no label of a count changes by more than it, where the answer stays.
        is_finite: whether no table is answered for certain.
        rich: at every table, somebody whose meeting label is at most this can go.
        dear: at every table, somebody whose deciding ε is at most this can go.
    """

    price: int
    step: int
    is_finite: bool
    rich: int
    dear: int


class Limits(NamedTuple):
    """Upper bounds on the effect of one person's value on the label of a table, by class, in units.

    Attributes:
        beside: how far the label changes where the answer stays.
        across: where the answer changes, the largest label where it is yes and the largest where it is no; one of these
            pairs bounds each such step.
    """

    beside: Whole
    across: list[tuple[Whole, Whole]]


def limits_of(formula: Balanced) -> Limits:
    """The proofs behind `losses_of`, for the odds. Not for populations that are `mixed`."""
    sides = _sides(formula)
    return _limits_within(formula, sides, _ends(formula, sides))


def _limits_within(formula: Balanced, sides: list[Side], ends: list[tuple[Whole, Whole]]) -> Limits:
    """The limits of every class, from what bounds all tables of each answer."""
    classes = formula.classes
    (yes, other_no), (no, other_yes) = ends
    pairs = [(yes, other_no), (other_yes, no)]
    across = [tuple(np.minimum(classes.meeting, classes.by_class(limit)) for limit in pair) for pair in pairs]
    return Limits(_losses_beside(formula, sides), [(one, other) for one, other in across])


def losses_of(formula: Formula) -> Whole:
    """For each class an upper bound on the loss over all tables and all changes of one value, in units of 2⁻⁴⁰.

    It is never above the class's ε. For counts where everybody has a finite ε and nobody a deciding ε, it is exact to a
    few units; `UNBOUNDED` is infinity.
    """
    losses, count = _losses_by_piece(formula), len(formula.classes.units)
    found = np.empty(count, dtype=np.int64)

    def work(piece: slice) -> None:
        found[piece] = losses(piece)

    run_in_threads(work, slices(count, WIDE_BLOCK), count)
    return found


def largest_losses_of(formula: Formula) -> Whole:
    """The largest of these bounds in each group, without storing those of all classes."""
    losses, classes = _losses_by_piece(formula), formula.classes
    found: list[Whole] = []

    def work(piece: slice) -> None:
        largest = np.zeros(len(classes.names), dtype=np.int64)
        if len(largest) == 1:
            largest[0] = losses(piece).max()
        else:
            np.maximum.at(largest, classes.group[piece], losses(piece))
        found.append(largest)

    run_in_threads(work, slices(len(classes.units), WIDE_BLOCK), len(classes.units))
    return np.asarray(np.max(found, axis=0))


def _losses_by_piece(formula: Formula) -> Callable[[slice], Whole]:
    """The function that computes the losses of a piece of the classes; see `losses_of`."""
    if isinstance(formula, JoinedBalanced):
        return _joined_losses(formula).__getitem__
    classes, scores = formula.classes, formula.scores
    most = classes.by_class(scores.most)
    if scores.constant:
        return lambda piece: np.zeros(len(most[piece]), dtype=np.int64)
    if isinstance(formula, WeightedVote):
        weights = formula.weights  # zero for those who do not count
        return lambda piece: weights[piece]
    if formula.mixed:  # nothing less is shown
        return lambda piece: np.where(most[piece] > 0, classes.units[piece], 0)
    sides = _sides(formula)
    return _losses_within(formula, sides, _ends(formula, sides))


def _losses_within(formula: Balanced, sides: list[Side], ends: list[tuple[Whole, Whole]]) -> Callable[[slice], Whole]:
    """The function that computes the losses of a piece of the classes, from what bounds all tables of each answer."""
    classes = formula.classes
    most = classes.by_class(formula.scores.most)
    is_finite, all_count = all(side.is_finite for side in sides), formula.all_count

    def losses(piece: slice) -> Whole:
        beside, units = _losses_beside(formula, sides, piece), classes.units[piece]
        larger = np.maximum(beside, _losses_across(formula, sides, ends, beside, piece))
        if not is_finite:
            larger = np.where(units == UNBOUNDED, UNBOUNDED, larger)
        larger = np.minimum(larger, units)
        return larger if all_count else np.where(most[piece] > 0, larger, 0)

    return losses


def round_units_up(units: Whole) -> Floats:
    """Units of 2⁻⁴⁰ as decimals of nine places, rounded up.

    >>> round_units_up(np.array([0, 1, 2**40, 439804651110, UNBOUNDED]))
    array([0.e+00, 1.e-09, 1.e+00, 4.e-01,    inf])
    """
    found = np.empty(len(units))

    def work(piece: slice) -> None:
        found[piece] = _round_few_up(units[piece])

    run_in_threads(work, slices(len(units), BLOCK), len(units))
    return found


def _round_few_up(units: Whole) -> Floats:
    small = np.minimum(units, 1 << 53)
    whole, high, low = small >> GRID, (small >> HALF_BITS) & LOWER_HALF, small & LOWER_HALF  # far faster than divisions
    parts = high * SCALE - (-low * SCALE >> HALF_BITS)  # each is below 2⁵¹
    decimals = (whole * SCALE - (-parts >> HALF_BITS)) / SCALE
    beyond = np.ldexp(units.astype(np.float64), -GRID) * (1.0 + LOSS_MARGIN)
    return np.where(units >= UNBOUNDED, np.inf, np.where(units <= 1 << 53, decimals, beyond))


def _sides(formula: Balanced) -> list[Side]:
    """The tables whose answer is yes, and those whose answer is no."""
    scores = formula.scores
    toward_yes = scores.most[:, None] - scores.scores
    reserves = scores.threshold - 1, scores.total - scores.threshold
    return [_side(formula, scores.scores, reserves[0]), _side(formula, toward_yes, reserves[1])]


def _ends(formula: Balanced, sides: list[Side]) -> list[tuple[Whole, Whole]]:
    """The largest labels, by group, at the ends of a step across; the end that excludes the least label is first."""
    least, most = int(np.min(formula.classes.meeting, where=formula.counted, initial=UNBOUNDED)), formula.scores.most
    both = sides, sides[::-1]
    return [(_limits(most, one, one.rich, least), _limits(most, other, least, least)) for one, other in both]


def _side(formula: Balanced, gains: Whole, reserve: int) -> Side:
    """The facts shared by all tables of one answer, from everybody's gains by group and value."""
    classes, scores = formula.classes, formula.scores
    beyond = slice(classes.bounded, None)
    free = int(np.sum(classes.sizes[beyond] * classes.by_class(scores.most)[beyond]))
    price = _price(formula, gains, reserve - min(free, reserve))
    dear = _largest_deciding(formula, reserve)
    return Side(price, _step(formula, reserve, price), free <= reserve, _largest_meeting(formula, dear), dear)


def _largest_deciding(formula: Balanced, reserve: int) -> int:
    """The largest deciding ε of those who can go at every table, if the last of them have gains of `reserve`."""
    classes, deciding, movable = formula.classes, formula.classes.deciding, formula.movable_people
    if formula.scores.is_count and deciding is classes.units:  # people are sorted already
        return int(deciding[movable.class_of(movable.size - reserve - 1)])
    order = np.argsort(deciding, kind="stable")
    after = np.cumsum((classes.sizes * classes.by_class(formula.scores.most))[order][::-1])
    last = len(order) - int(np.searchsorted(after, reserve, side="right")) - 1  # the first that is not beyond it
    return int(deciding[order[last]])


def _largest_meeting(formula: Balanced, dear: int) -> int:
    """The largest meeting label of those who count and whose deciding ε is at most `dear`."""
    classes = formula.classes
    if dear == UNBOUNDED:
        return UNBOUNDED
    if classes.deciding is classes.units and formula.all_count:
        return int(classes.meeting[: classes.end_of(dear)].max(initial=0))
    there = (classes.deciding <= dear) & formula.counted
    return int(np.max(classes.meeting, where=there, initial=0))


def _price(formula: Balanced, gains: Whole, room: int) -> int:
    """The least price at which those who still pay by the step have gains of at most `room`, at any table."""
    classes, bounded = formula.classes, formula.classes.bounded
    kinds: list[tuple[list[int], Whole, Callable[[int], Any]]] = []
    rows, kind = np.unique(np.sort(gains, axis=1), axis=0, return_inverse=True)
    kind_of = classes.by_class(kind.reshape(-1))[:bounded]
    for number, row in enumerate(rows):
        steps = np.unique(row[row > 0]).tolist()
        if len(rows) == 1 and formula.all_count:
            kinds.append((steps, classes.units[:bounded], partial(_people_from, formula)))
            continue
        of_kind = slice(None) if len(rows) == 1 else kind_of == number
        units, sizes = classes.units[:bounded][of_kind], classes.sizes[:bounded][of_kind]
        kinds.append((steps, units, np.append(0, np.cumsum(sizes[::-1]))[::-1].__getitem__))

    def count_payers(price: int) -> int:
        found = 0
        for steps, units, people_from in kinds:
            for step, before in zip(steps, [0, *steps], strict=False):
                place = int(np.searchsorted(units, min(price * step, UNBOUNDED), side="right"))
                found += (step - before) * int(people_from(place))
        return found

    low, high = 0, formula.dearest
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if count_payers(middle) <= room else (middle + 1, high)
    return low


def _people_from(formula: Balanced, place: int) -> int:
    """The number of people with a finite ε from a class on, where everybody counts."""
    movable = formula.movable_people
    return int(movable.up_to(formula.classes.bounded).people) - int(movable.up_to(place).people)


def _step(formula: Balanced, reserve: int, price: int) -> int:
    """The most by which a label of a count changes beside ½: x + m(y) − m(x), of two neighbours in the order of ε."""
    if not (formula.scores.is_count and formula.is_plain):
        return price
    classes, movable = formula.classes, formula.movable_people
    if movable.size < reserve + 2:  # no two tables of this answer are neighbours
        return 0
    upper, lower = (movable.class_of(movable.size - reserve - rank) for rank in (1, 2))
    met = int(classes.meeting[upper]) - int(classes.meeting[lower])
    rounding = 4 + (int(classes.meeting.max()) >> 44)  # units: more than two labels are rounded down by
    return min(price, int(classes.units[lower]) + met + rounding)


def _losses_beside(formula: Balanced, sides: list[Side], piece: slice = slice(None)) -> Whole:
    """The loss of some classes where the answer stays: at most the price of one person's steps, and at most ε."""
    scores, classes = formula.scores, formula.classes
    limits = [max(min(side.step * most, UNBOUNDED) for side in sides) for most in scores.most.tolist()]
    return np.asarray(np.minimum(classes.units[piece], _of_classes(formula, np.array(limits, dtype=np.int64), piece)))


def _of_classes(formula: Balanced, by_group: Whole, piece: slice) -> Whole:
    """A value by group as a value of some classes."""
    return by_group[formula.classes.group[piece]] if len(by_group) > 1 else by_group


def _losses_across(
    formula: Balanced, sides: list[Side], ends: list[tuple[Whole, Whole]], beside: Whole, piece: slice
) -> Whole:
    """The loss of some classes where the answer changes: the person with the least label can go at one of the two ends.

    It is computed only where it may be above the loss `beside`, and once for everybody in a group whose own label is
    above what the others allow.
    """
    classes, scores = formula.classes, formula.scores
    meeting = classes.meeting[piece]
    most = np.max(ends, axis=(0, 1))

    def units_of(own: Whole, group: Whole) -> Whole:
        found = np.zeros(len(own))
        for high, low in ends:
            one, other = (np.ldexp(np.minimum(own, limit[group]).astype(np.float64), -GRID) for limit in (high, low))
            found = np.maximum(found, ratios(np.negative(other), one))
        return np.ceil(np.ldexp(np.minimum(found, 2.0**22) * (1.0 + LOSS_MARGIN), GRID)).astype(np.int64)

    every = np.arange(len(most))
    alike = units_of(np.full(len(most), UNBOUNDED), every)
    found = np.broadcast_to(_of_classes(formula, alike, piece), meeting.shape).copy()
    dear = max(side.dear for side in sides)  # where people go one step, no loss is above the ε of the larger label
    allowed = _of_classes(formula, np.where(scores.most == 1, dear, UNBOUNDED), piece)
    limit = np.minimum(classes.deciding[piece], allowed)
    closer = np.flatnonzero((beside < limit) & (meeting < _of_classes(formula, most, piece)))
    found[closer] = units_of(meeting[closer], classes.group[piece][closer])
    return np.asarray(np.minimum(found, limit))


def _limits(most: Whole, side: Side, rich: int, least: int) -> Whole:
    """The most that a label can be, by group, at tables where somebody with a label of at most `rich` can go."""
    found = [min(rich + side.price * (one - 1), least + side.price * one, UNBOUNDED) for one in most.tolist()]
    return np.where(most > 0, np.array(found, dtype=np.int64), 0)


# Counts that are joined by and / or -----------------------------------------------------------------------------------


def joined_limits_of(formula: JoinedBalanced) -> list[tuple[Limits, Whole]]:
    """The limits and the losses of the classes of each part; not for populations that are `mixed`."""
    found = []
    for part, sides, ends in _joined_sides(formula):
        losses = _losses_within(part, sides, ends)(slice(0, None))
        found.append((_limits_within(part, sides, ends), losses))
    return found


def _joined_losses(formula: JoinedBalanced) -> Whole:
    """The losses of all classes; who is in no part changes nothing."""
    losses = np.zeros(len(formula.classes.units), dtype=np.int64)
    if formula.mixed:  # nothing less is shown
        for part in formula.parts:
            losses[part.rows] = formula.classes.units[part.rows]
        return losses
    for part, (own, sides, ends) in zip(formula.parts, _joined_sides(formula), strict=True):
        losses[part.rows] = _losses_within(own, sides, ends)(slice(0, None))
    return losses


def _joined_sides(formula: JoinedBalanced) -> list[tuple[Balanced, list[Side], list[tuple[Whole, Whole]]]]:
    """What bounds all tables of each answer, for the people of each part; docs/theory/losses.md has the proofs.

    Where all parts hold, no label is above the largest of another part. Where several fail, somebody of another part
    may go last, so that a label changes by up to the price.
    """
    parts = [part.formula for part in formula.parts]
    each = [_sides(part) for part in parts]
    highest = [part.worst(part.scores.farthest(1)) for part in parts]  # where everybody says yes
    saved = [_most_saved(part, no.price) for part, (_, no) in zip(parts, each, strict=True)]
    is_finite = all(side.is_finite for sides in each for side in sides)
    found = []
    for at, (part, (yes, no)) in enumerate(zip(parts, each, strict=True)):
        ceiling = int(min(UNBOUNDED, *(one for other, one in enumerate(highest) if other != at)))
        others_save = max(one for other, one in enumerate(saved) if other != at)
        ends = _ends(part, [yes, no])
        below = max(0, ceiling - part.movable_people.least_from(0))
        sides = [
            yes._replace(step=min(yes.step, below), is_finite=is_finite),
            no._replace(step=_step_beside_others(part, no, others_save), is_finite=is_finite),
        ]
        ends = [
            (np.minimum(ends[0][0], ceiling), ends[0][1]),
            (ends[1][0], np.minimum(ends[1][1], ceiling)),
        ]
        found.append((part, sides, ends))
    return found


def _most_saved(part: Balanced, price: int) -> int:
    """The most that is saved where the dearest who goes has at most the price, and the best of all goes last."""
    saved = int(part.movable_people.up_to(part.classes.end_of(price)).saved)
    return saved if part.is_plain else max(saved, price - part.movable_people.least_from(0))


def _step_beside_others(part: Balanced, side: Side, others_save: int) -> int:
    """The most by which a label changes if other parts fail, too, where somebody saves so much by going last."""
    if not part.is_plain:
        return side.price
    classes, movable = part.classes, part.movable_people
    reserve = part.scores.total - part.scores.threshold
    upper = movable.class_of(movable.size - reserve - 1)
    lower = movable.class_of(movable.size - reserve - 2) if movable.size >= reserve + 2 else None
    own, before = (0 if at is None else int(classes.units[at]) - int(classes.meeting[at]) for at in (upper, lower))
    rounding = 4 + (int(classes.meeting.max()) >> 44)
    return min(side.price, int(classes.units[upper]) - max(own, others_save) + max(before, others_save) + rounding)

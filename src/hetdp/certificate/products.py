"""The verifier's own list of the edges of a space of people: decode a dataset's number, change what one person has.

Nothing is taken from the space but its definition: the shape of each axis, its table of ε, and the states of datasets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import permutations
from math import prod
from operator import mul
from typing import Any

import numpy as np

from hetdp.interrupts import delay_interrupts
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import SMALL_SPACE, EdgeBlock, Indices, Space

BLOCK = 1 << 16  # datasets looked at together
Change = tuple[Indices, Indices]  # for each position, the kind of a change and where it leads; −1: nowhere


def list_arcs(space: Space) -> tuple[Iterable[Any], Callable[[Any], EdgeBlock]]:
    """Pieces of the work, and what makes arcs of a piece; together they list every arc once."""
    if not isinstance(space, ProductSpace):
        return space.edge_blocks(), lambda block: block
    changes = [list(changes_of(axis)) for axis in space.axes]
    return _pieces(space, changes), lambda piece: _arcs(space, *piece)


def _pieces(space: ProductSpace, changes: list[list[Change]]) -> Iterator[tuple[int, Change, int]]:
    for axis, own in enumerate(changes):
        for change in own:
            for start in range(0, space.size, BLOCK):
                yield axis, change, start


def _arcs(space: ProductSpace, axis: int, change: Change, start: int) -> EdgeBlock:
    """The arcs of one change, from a block of datasets."""
    kinds, leads_to = change
    stride, table = prod(one.length for one in space.axes[axis + 1 :]), space.axes[axis].epsilon
    stop = min(start + BLOCK, space.size)
    source, target, epsilon = np.empty(stop - start, np.int64), np.empty(stop - start, np.int64), np.empty(stop - start)
    state_count, states = table.shape[1], np.empty(0, dtype=np.uint8) if space.states is None else space.states
    write: Any = write_arcs
    if space.arc_count > SMALL_SPACE:
        with delay_interrupts():
            from hetdp.certificate.compiled import write_arcs as write
    columns = kinds, leads_to, table.ravel(), state_count, states
    count = write(start, stop, stride, space.axes[axis].length, *columns, source, target, epsilon)
    return EdgeBlock(source[:count], target[:count], (epsilon[:count],))


def write_arcs(
    start: int,
    stop: int,
    stride: int,
    length: int,
    kinds: Any,
    leads_to: Any,
    table: Any,
    state_count: int,
    states: Any,
    source: Any,
    target: Any,
    epsilon: Any,
) -> int:
    """Writes down the arcs of one change from some datasets, where it is possible and ε is not ∞; how many they are."""
    count, position, within = 0, start // stride % length, start % stride
    for dataset in range(start, stop):
        to = leads_to[position]
        if to >= 0:
            other = dataset + (to - position) * stride
            place = kinds[position] * state_count * state_count
            if state_count > 1:
                place += states[dataset] * state_count + states[other]
            source[count], target[count], epsilon[count] = dataset, other, table[place]
            count += table[place] < math.inf
        within += 1
        if within == stride:
            within, position = 0, position + 1
            if position == length:
                position = 0
    return count


def changes_of(axis: Axis) -> Iterator[Change]:
    """The changes that one person can make; each neighbour of a dataset is reached by exactly one of them."""
    values = len(axis.values)
    kinds = np.zeros((values, values), dtype=np.int64)
    kinds[np.triu_indices(values, 1)] = np.arange(values * (values - 1) // 2)
    kinds += kinds.T
    if axis.shape == "value":  # cyclic shift of the value
        for shift in range(1, values):
            to = (np.arange(values) + shift) % values
            yield kinds[np.arange(values), to], to
        return
    for given_up, taken in permutations(range(values), 2):
        to = _count_after_move(axis, taken) if axis.shape == "count" else _position_after_move(axis, given_up, taken)
        yield np.full(len(to), kinds[given_up, taken]), to


def _count_after_move(axis: Axis, taken: int) -> Indices:
    """The count is that of value 0: one more if that is what is taken, else one fewer."""
    to = np.arange(axis.people + 1) + (1 if taken == 0 else -1)
    return np.where(to > axis.people, -1, to)


def _position_after_move(axis: Axis, given_up: int, taken: int) -> Indices:
    """The place of the counts with one person moved; every list of counts is read as a number, to be looked up."""
    weights = [(axis.people + 1) ** digit for digit in range(len(axis.values))]
    numbers = [sum(map(mul, counts, weights)) for counts in axis.positions]
    places = {number: place for place, number in enumerate(numbers)}
    shift = weights[taken] - weights[given_up]
    moved = zip(numbers, axis.positions, strict=True)
    found = [places[number + shift] if counts[given_up] else -1 for number, counts in moved]
    return np.array(found, dtype=np.int64)

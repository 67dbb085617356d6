"""The arcs of spaces of people, which the verifier lists anew: decode a dataset's number, change what one person has.

Nothing is taken from the space but its definition: the shape of each axis, its table of ε, and the states of datasets.

Small spaces are listed arc by arc (`list_arcs`). In large ones, arcs are sifted row by row, since neighbours along an
axis lie in rows at a fixed distance: `rows_of` turns the changes into rows, and `sift_rows` goes through them in plain
arithmetic that a compiler can vectorize. It leaves out the arcs that plainly hold and cannot have the least slack. The
others are few. It lists them, and the loops in `scan.py` decide them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import permutations
from math import prod
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from hetdp.interrupts import delay_interrupts
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import SMALL_SPACE, EdgeBlock, Floats, Indices, Space

BLOCK = 1 << 16  # datasets looked at together
NARROW = 32  # rows shorter than this are joined, with ε = ∞ where there is no arc
FEWEST_FOR_ROWS = 1 << 21  # arcs; with fewer, compiling takes longer than it saves
NO_STATES: Any = np.empty(0, dtype=np.uint8)
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


# Rows -----------------------------------------------------------------------------------------------------------------


def has_rows(space: Space) -> bool:
    """True for a space of people with so many arcs that they are looked at row by row."""
    return isinstance(space, ProductSpace) and space.arc_count > FEWEST_FOR_ROWS


def as_readonly(array: Any) -> Any:
    """A view that cannot be written to; so there is one type of array to compile for."""
    view = array.view()
    view.flags.writeable = False
    return view


class Rows(NamedTuple):
    """The changes of a space, as rows of arcs.

    A change repeats along the datasets, once in every *period*. Within a period it consists of runs: the datasets from
    the first to the last of a run have an arc each, to the dataset that lies `shift` further on.

    Attributes:
        changes: for each change its period, its first run, the run after its last, and the number of states.
        runs: for each run its first dataset, the one after its last, the shift, and where its ε begin in `epsilon`.
        epsilon: ε of the arcs of a row; or, of a run that tells states apart, ε by state and state.
    """

    changes: Indices
    runs: Indices
    epsilon: Floats


def rows_of(space: ProductSpace, longest: int) -> Rows:
    """All changes of a space as rows, and lists of ε for rows of at most this length."""
    changes, runs, lists = list[tuple[int, ...]](), list[tuple[int, ...]](), list[Floats]()
    for at, axis in enumerate(space.axes):
        stride, states = prod(one.length for one in space.axes[at + 1 :]), axis.states
        joined = states == 1 and stride < NARROW and stride * axis.length <= longest and axis.shape != "counts"
        for change in changes_of(axis):
            list_runs = _runs_over_periods if joined else _runs
            found = list_runs(change, axis.epsilon, stride, longest)
            period = stride * axis.length
            for one in [[run] for run in found] if joined else [found]:
                first = len(runs)
                for begin, end, shift, epsilon in one:
                    runs.append((begin, end, shift, sum(map(len, lists))))
                    lists.append(epsilon)
                    period = end if joined else period
                changes.append((period, first, len(runs), states))
    return Rows(
        np.array(changes, dtype=np.int64).reshape(-1, 4),
        np.array(runs, dtype=np.int64).reshape(-1, 4),
        np.concatenate([np.empty(0), *lists]),
    )


Run = tuple[int, int, int, Floats]


def _runs(change: Change, table: Floats, stride: int, longest: int) -> list[Run]:
    """The runs of a change: neighbouring positions with one kind and one distance are one run."""
    kinds, leads_to = change
    hops = np.where(leads_to >= 0, leads_to - np.arange(len(leads_to)), 0)
    edges = np.flatnonzero((np.diff(hops) != 0) | (np.diff(kinds) != 0)) + 1
    starts = np.concatenate([[0], edges]) if len(hops) else edges
    stops = np.concatenate([starts[1:], [len(hops)]]) if len(hops) else edges
    found = list[Run]()
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        if hops[start]:
            own = table[kinds[start]].ravel()
            epsilon = np.full(longest, own[0]) if len(own) == 1 else own
            found.append((start * stride, stop * stride, int(hops[start]) * stride, epsilon))
    return found


def _runs_over_periods(change: Change, table: Floats, stride: int, longest: int) -> list[Run]:
    """The same for short periods: one run for each distance, over several whole periods."""
    kinds, leads_to = change
    hops = leads_to - np.arange(len(leads_to))
    found = list[Run]()
    for hop in np.unique(hops[leads_to >= 0]).tolist():
        own = np.where((leads_to >= 0) & (hops == hop), table[kinds, 0, 0], math.inf)
        period = np.repeat(own, stride)
        epsilon = np.tile(period, longest // len(period))
        found.append((0, len(epsilon), hop * stride, epsilon))
    return found


def sift_rows(
    start: int,
    stop: int,
    rows: Any,
    values: Any,
    links: Any,
    bound: float,
    limit: int,
    halved: bool,
    place: Any,
    notes: Any,
    listed: Any,
    room: Any,
    block: int,
) -> tuple[int, int]:
    """Goes through the arcs u → v from some datasets, and lists those that `is_settled` does not settle.

    Args:
        start: the first dataset.
        stop: the dataset after the last.
        rows: the changes, runs and lists of ε; see `Rows`.
        values: the state and z of every dataset.
        links: for each of these datasets the one that its link leads to; empty if links are left out.
        bound: the least slack known so far, at least 0.
        limit: the dataset after which slacks equal to the bound do not matter.
        halved: whether p = ½ is special.
        place: the next block of datasets and its next change: where to go on if the lists become full.
        notes: take, for each of these datasets, ε of the arc that is its link, and z at the end of it.
        listed: take u, v and ε of the arcs that are left.
        room: for ε of one row, as long as the lists of ε.
        block: the number of datasets whose values stay in a core's cache while all changes are looked at.

    Returns:
        The number of arcs looked at, and how many of them are listed.
    """
    changes, runs, _ = rows
    seen, count, how = 0, 0, (bound, limit, halved)
    while place[0] < stop:
        first, last = place[0], min(place[0] + block, stop)
        for change in range(place[1], len(changes)):
            if len(listed[0]) - count < last - first:
                place[1] = change
                return seen, count
            period, states = changes[change, 0], changes[change, 3]
            for line in range(first // period, (last - 1) // period + 1):
                base = line * period
                run = first_run(runs, changes[change, 1], changes[change, 2], first - base)
                while run < changes[change, 2] and base + runs[run, 0] < last:
                    span = max(base + runs[run, 0], first), min(base + runs[run, 1], last)
                    own = runs[run], rows[2], base, states, room
                    arcs, count = sift_run(own, span, start, values, links, how, notes, listed, count)
                    seen += arcs
                    run += 1
        place[0], place[1] = last, 0
    return seen, count


def first_run(runs: Any, low: int, high: int, place: int) -> int:
    """The last run that begins not after a place, or else the first one."""
    while high - low > 1:
        middle = (low + high) // 2
        if runs[middle, 0] <= place:
            low = middle
        else:
            high = middle
    return low


def sift_run(
    own: Any,
    span: Any,
    start: int,
    values: Any,
    links: Any,
    how: Any,
    notes: Any,
    listed: Any,
    count: int,
) -> tuple[int, int]:
    """Goes through the arcs of a run from the datasets of a span, a row at a time.

    Args:
        own: the run, the lists of ε, the first dataset of its period, the number of states, and room for ε of a row.
        span: the first of the datasets, and the one after the last.
        start: the dataset that the first of the links and notes belongs to.
        values: see `sift_rows`, as for the arguments below.
        links: of datasets.
        how: bound, limit, and whether p = ½ is special.
        notes: of links.
        listed: arcs.
        count: how many are listed already.

    Returns:
        The number of arcs looked at, and how many are listed by now.
    """
    run, tables, base, state_count, looked_up = own
    begin, shift, table = base + run[0], run[2], tables[run[3] :]
    states, z = values
    at, end = max(span[0], -shift), min(span[1], len(z) - shift)
    bound, limit, halved = how
    seen = 0
    while at < end:
        offset = (at - begin) % len(looked_up)
        width = min(end - at, len(looked_up) - offset)
        tied = at > limit
        if not tied:
            width = min(width, limit + 1 - at)
        here, there = z[at : at + width], z[at + shift : at + shift + width]
        if state_count == 1:
            allowed = table[offset : offset + width]
        else:
            allowed = looked_up[:width]
            look_up(states[at : at + width], states[at + shift : at + shift + width], state_count, table, allowed)
        near = slice(at - start, at - start + width)
        if count_links(links[near], at + shift):
            note_links(there, allowed, links[near], at + shift, notes[0][near], notes[1][near])
        arcs, close = count_close(here, there, allowed, bound)
        seen += arcs
        if close and count_doubts(here, there, allowed, bound, tied, halved):
            count = list_doubts(here, there, allowed, bound, tied, halved, at, shift, listed, count)
        at += width
    return seen, count


def look_up(here: Any, there: Any, state_count: int, table: Any, allowed: Any) -> None:
    """Looks up ε of each arc of a row by the states of its ends."""
    for at in range(len(allowed)):
        allowed[at] = table[here[at] * state_count + there[at]]


def count_links(links: Any, first: int) -> int:
    """The number of arcs of a row that are links; the first one leads to the dataset `first`."""
    count = 0
    for at in range(len(links)):
        count += links[at] == first + at
    return count


def note_links(there: Any, allowed: Any, links: Any, first: int, noted: Any, ends: Any) -> None:
    """Notes ε of the arcs of a row that are links, and z at their ends."""
    for at in range(len(allowed)):
        linked = (links[at] == first + at) & (allowed[at] < math.inf)
        noted[at] = allowed[at] if linked else noted[at]
        ends[at] = there[at] if linked else ends[at]


def count_close(here: Any, there: Any, allowed: Any, bound: float) -> tuple[int, int]:
    """The number of arcs in a row, and how many of all places have no slack above the bound."""
    arcs, close = 0, 0
    for at in range(len(allowed)):
        arcs += allowed[at] < math.inf
        close += not (here[at] + allowed[at]) - there[at] > bound
    return arcs, close


def count_doubts(here: Any, there: Any, allowed: Any, bound: float, tied: bool, halved: bool) -> int:
    """The number of arcs in a row that are not settled."""
    doubts = 0
    for at in range(len(allowed)):
        settled = is_settled(here[at], there[at], allowed[at], bound, tied, halved)
        doubts += (allowed[at] < math.inf) & (not settled)
    return doubts


def list_doubts(
    here: Any,
    there: Any,
    allowed: Any,
    bound: float,
    tied: bool,
    halved: bool,
    first: int,
    shift: int,
    listed: Any,
    count: int,
) -> int:
    """Lists the arcs of a row that are not settled; returns how many are listed by now."""
    source, target, epsilon = listed
    for at in range(len(allowed)):
        settled = is_settled(here[at], there[at], allowed[at], bound, tied, halved)
        if allowed[at] < math.inf and not settled:
            source[count], target[count], epsilon[count] = first + at, first + at + shift, allowed[at]
            count += 1
    return count


def is_settled(here: float, there: float, epsilon: float, bound: float, tied: bool, halved: bool) -> bool:
    """True if z(v) ≤ z(u) + ε in exact arithmetic, and the slack of the arc does not matter.

    It does not matter if it is above the bound; nor, where `tied`, if it is the bound, unless the bound is 0 and the
    arc crosses ½. The error of a sum is itself a float, found by Knuth's two-sum.
    """
    total = here + epsilon
    slack = total - there
    part = total - here
    error = (here - (total - part)) + (epsilon - part)
    across = halved & (here < 0.0) & (there > 0.0)
    equal = tied & (slack == bound) & ((slack > 0.0) | (error >= 0.0)) & (not across)
    certain = (slack != slack) & (here == there)  # p = 0 or p = 1 at both ends
    return bool((slack > bound) | equal | certain)

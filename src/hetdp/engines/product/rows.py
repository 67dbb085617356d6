"""Neighbours in rows: along an axis they lie at a fixed distance, so vectorized loops can process many at once.

`rows_of` lists the rows of a product, and `visit_rows` is the loop over them. What happens to a row is a placeholder
that is replaced when the loop is compiled: the functions at the end find the start labels of the balanced search, those
of `links.py` find links.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from hetdp.engines.contract import Roles
from hetdp.engines.product.grow import INFINITE
from hetdp.problem.axis import Lines
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices

ROW = 1 << 10  # datasets of a row that are processed together; as long as the lists of their values
BLOCK = 1 << 12  # datasets that stay in a core's cache while all rows are visited
NARROW = 32  # rows shorter than this are joined, with +inf where there is no neighbour
MOST_JOINED = 8  # different distances to neighbours along one axis


class Rows(NamedTuple):
    """All pairs of neighbours of a product, in rows.

    A layer repeats along the datasets, once in every *period*. Within a period it consists of runs: each dataset from
    the first to the last of a run has a neighbour that lies `shift` further on.

    Attributes:
        layers: for each layer its period, its first run, the run after its last, and the number of states.
        runs: for each run its first dataset, the one after its last, the shift, and where its values begin in `values`.
        values: the values of a row; or, of a run that distinguishes states, the values by state and state.
    """

    layers: Indices
    runs: Indices
    values: Floats


class Run(NamedTuple):
    """One run: see `Rows`."""

    first: int
    last: int
    shift: int
    values: Floats


def rows_of(space: ProductSpace, tables: Sequence[Floats]) -> Rows:
    """The rows of a product, given a table of values by kind of move, state and state for each axis."""
    layers, runs, lists, filled = list[list[int]](), list[list[int]](), list[Floats](), 0
    for axis, table in enumerate(tables):
        lines = space.lines(axis)
        for period, found in _layers(lines, table):
            layers.append([period, len(runs), len(runs) + len(found), table.shape[1]])
            for run in found:
                runs.append([run.first, run.last, run.shift, filled])
                lists.append(run.values)
                filled += len(run.values)
    return Rows(
        np.array(layers, dtype=np.int64).reshape(-1, 4),
        np.array(runs, dtype=np.int64).reshape(-1, 4),
        np.concatenate([np.empty(0), *lists]),
    )


def _layers(lines: Lines, table: Floats) -> Iterator[tuple[int, list[Run]]]:
    """The layers of one axis, each with its period."""
    starts = np.repeat(np.arange(lines.length), np.diff(lines.moves.indptr))
    hops, kinds, period = lines.moves.targets - starts, lines.moves.kinds, lines.length * lines.low
    distances = np.unique(hops).tolist()
    if table.shape[1] == 1 and lines.low < NARROW and period <= ROW and len(distances) <= MOST_JOINED:
        for hop in distances:
            own = np.full(lines.length, np.inf)
            own[starts[hops == hop]] = table[kinds[hops == hop], 0, 0]
            values = np.tile(np.repeat(own, lines.low), ROW // period)
            yield len(values), [Run(0, len(values), hop * lines.low, values)]
        return
    ranks = np.arange(len(starts)) - lines.moves.indptr[starts]
    for rank in range(int(ranks.max(initial=-1)) + 1):
        chosen = np.flatnonzero(ranks == rank)
        yield period, _runs(starts[chosen], hops[chosen], kinds[chosen], table, lines.low)


def _runs(starts: Indices, hops: Indices, kinds: Indices, table: Floats, low: int) -> list[Run]:
    """Runs of neighbouring positions whose moves have one distance and one kind."""
    ends = np.flatnonzero((np.diff(starts) != 1) | (np.diff(hops) != 0) | (np.diff(kinds) != 0)) + 1
    found = list[Run]()
    for group in np.split(np.arange(len(starts)), ends):
        own = table[kinds[group[0]]].ravel()
        values = np.full(ROW, own[0]) if len(own) == 1 else own
        first, last = int(starts[group[0]]), int(starts[group[-1]]) + 1
        found.append(Run(first * low, last * low, int(hops[group[0]]) * low, values))
    return found


# Kernels --------------------------------------------------------------------------------------------------------------


def visit_rows(columns: Any, rows: Any, states: Roles, room: Floats, first: int, last: int) -> int:
    """Visits all rows of some datasets, block by block, and returns the sum of what `finish` returns.

    Args:
        columns: arrays with an entry for each dataset, for the placeholders.
        rows: see `Rows`.
        states: the state of each dataset; empty if values do not depend on them.
        room: for the values of one row.
        first: the first of the datasets.
        last: the dataset after the last.
    """
    layers, runs, _ = rows
    total = 0
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        prepare(columns, begin, end)
        for layer in range(len(layers)):
            period = layers[layer, 0]
            for line in range(begin // period, (end - 1) // period + 1):
                run = first_run(runs, layers[layer, 1], layers[layer, 2], begin - line * period)
                while run < layers[layer, 2] and line * period + runs[run, 0] < end:
                    visit_run(columns, rows, states, room, layer, run, line * period, begin, end)
                    run += 1
        total += finish(columns, begin, end)
    return total


def first_run(runs: Indices, low: int, high: int, place: int) -> int:
    """The last run that begins not after a place, or else the first one."""
    while high - low > 1:
        middle = (low + high) // 2
        if runs[middle, 0] <= place:
            low = middle
        else:
            high = middle
    return low


def visit_run(
    columns: Any, rows: Any, states: Roles, room: Floats, layer: int, run: int, base: int, begin: int, end: int
) -> None:
    """Visits the rows of one run, as far as they belong to some datasets."""
    layers, runs, lists = rows
    count, shift, place = layers[layer, 3], runs[run, 2], runs[run, 3]
    at = max(begin, base + runs[run, 0], -shift)
    end = min(end, base + runs[run, 1], len(columns[0]) - shift)
    while at < end:
        offset = (at - base - runs[run, 0]) % ROW
        width = min(end - at, ROW - offset)
        if concerns(columns, at, shift, width):
            if count == 1:
                values = lists[place + offset : place + offset + width]
            else:
                values = room[:width]
                table = lists[place : place + count * count]
                look_up(states[at : at + width], states[at + shift : at + shift + width], count, table, values)
            treat(columns, at, shift, width, values)
        at += width


def look_up(here: Roles, there: Roles, count: int, table: Floats, values: Floats) -> None:
    """Looks up the value of each pair of neighbours by their states."""
    for at in range(len(values)):
        values[at] = table[here[at] * count + there[at]]


def prepare(columns: Any, begin: int, end: int) -> None:
    """Placeholder: prepares a block of datasets."""
    raise NotImplementedError


def concerns(columns: Any, at: int, shift: int, width: int) -> bool:
    """Placeholder: returns False if nothing has to be done to a row."""
    raise NotImplementedError


def treat(columns: Any, at: int, shift: int, width: int, values: Floats) -> None:
    """Placeholder: does what has to be done to a row."""
    raise NotImplementedError


def finish(columns: Any, begin: int, end: int) -> int:
    """Placeholder: finishes a block of datasets."""
    raise NotImplementedError


# Start labels of the balanced search: where neighbours of different answers meet --------------------------------------


def prepare_start(columns: Any, begin: int, end: int) -> None:
    """Sets the labels of a block to infinity."""
    start = columns[1]
    for at in range(begin, end):
        start[at] = INFINITE


def has_both_answers(columns: Any, at: int, shift: int, width: int) -> bool:
    """True if some dataset of a row has a neighbour of the other answer."""
    here, there = columns[0][at : at + width], columns[0][at + shift : at + shift + width]
    found = False
    for i in range(width):
        found |= here[i] != there[i]
    return found


def meet_row(columns: Any, at: int, shift: int, width: int, points: Floats) -> None:
    """Lowers the labels of a row to the meeting points with neighbours of the other answer."""
    answers, start = columns
    here, there, row = answers[at : at + width], answers[at + shift : at + shift + width], start[at : at + width]
    for i in range(width):
        bound = points[i] if here[i] != there[i] else INFINITE
        row[i] = bound if bound < row[i] else row[i]


def finish_start(columns: Any, begin: int, end: int) -> int:
    """Does nothing: a start label needs no second look. `visit` expects a count."""
    return 0

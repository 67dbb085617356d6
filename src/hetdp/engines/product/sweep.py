"""One sweep along each axis by plain addition, which is exact if ε does not depend on datasets.

A sweep consists of passes over neighbouring axes that fit into the cache together (`passes`). Each pass has a *program*
for a buffer of labels: one row per step, with the operation, the length of the axis, the distance between neighbours
along it, and the range of its ε among the weights. Neighbouring axes of length 2 are processed two or three at a time,
so that labels are read and written less often. docs/theory/products.md has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from hetdp.problem.axis import Axis
from hetdp.problem.decimals import UNIT
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices

LOW_EIGHT, FOUR, TWO, PATH, MOVES = range(5)  # operations; LOW_EIGHT: the last three axes at once
ON_GRID, LARGEST = range(2)  # notes on the start labels: all on the grid, bits of the largest
GRID = 1.0 / UNIT
INFINITE_BITS = 0x7FF0000000000000
SHORTEST_VECTOR = 8  # shortest row for which vectorized code pays off
FIRST_WHOLE = 2.0**52  # all floats from here on are integers


def meet_at(one: float, other: float, epsilon: float) -> tuple[float, float]:
    """The labels of two neighbours, each lowered to what the other allows."""
    bound = (one if one < other else other) + epsilon
    return (one if one < bound else bound), (other if other < bound else bound)


def sweep_blocks(
    start: Floats,
    labels: Floats,
    bits: Indices,
    first: int,
    last: int,
    block: int,
    part: int,
    program: Indices,
    part_steps: int,
    weights: Floats,
    moves: Indices,
    notes: Indices,
) -> None:
    """Sweeps some blocks of labels along the last axes; the first steps run in parts, in cache.

    Copies the start labels before, if there are any, and notes whether all of them are on the grid and not below 0, and
    the largest of them.
    """
    for number in range(first, last):
        own = labels[number * block : (number + 1) * block]
        for begin in range(0, block, part):
            if len(start):
                place = number * block + begin
                given = start[place : place + part]
                copy_and_look(given, own[begin : begin + part], bits[place : place + part], notes)
                if notes[ON_GRID] == 0:
                    return
            run(own[begin : begin + part], program, 0, part_steps, weights, moves)
        run(own, program, part_steps, len(program), weights, moves)


def sweep_columns(
    labels: Floats,
    first: int,
    last: int,
    rows: int,
    low: int,
    width: int,
    program: Indices,
    weights: Floats,
    moves: Indices,
    buffer: Floats,
) -> None:
    """Sweeps some columns along axes in the middle; each is copied to a buffer and back."""
    across = (low + width - 1) // width
    for number in range(first, last):
        base = number // across * rows * low + number % across * width
        wide = min(width, low - number % across * width)
        for row in range(rows):
            outside = labels[base + row * low : base + row * low + wide]
            inside = buffer[row * width : row * width + wide]
            for at in range(wide):
                inside[at] = outside[at]
        run(buffer, program, 0, len(program), weights, moves)
        for row in range(rows):
            outside = labels[base + row * low : base + row * low + wide]
            inside = buffer[row * width : row * width + wide]
            for at in range(wide):
                outside[at] = inside[at]


def copy_and_look(given: Floats, own: Floats, bits: Indices, notes: Indices) -> None:
    """Copies labels, −0.0 as 0.0, and notes their properties; `bits` is an integer view of the copy.

    Floats ≥ 0 have the same order as their bits, and the maximum of integers is vectorized.
    """
    strange, largest = 0, 0
    for at in range(len(given)):
        label = given[at] + 0.0
        own[at] = label
        scaled = label * GRID
        strange += not ((label >= 0.0) & (round_half_even(scaled) == scaled))
    for at in range(len(bits)):
        largest = max(largest, bits[at] if bits[at] < INFINITE_BITS else 0)
    if strange:
        notes[ON_GRID] = 0
    notes[LARGEST] = max(notes[LARGEST], largest)


def round_half_even(number: float) -> float:
    """The integer nearest to a number ≥ 0; ties go to the even one."""
    return (number + FIRST_WHOLE) - FIRST_WHOLE if number < FIRST_WHOLE else number


def run(labels: Floats, program: Indices, first: int, last: int, weights: Floats, moves: Indices) -> None:
    """Runs some steps of a program."""
    for step in range(first, last):
        operation, length, stride = program[step, 0], program[step, 1], program[step, 2]
        begin, end = program[step, 3], program[step, 4]
        if operation == LOW_EIGHT:
            low_eight(labels, weights[begin], weights[begin + 1], weights[begin + 2])
        elif operation == FOUR:
            sweep_two_axes(labels, stride, weights[begin], weights[begin + 1])
        elif operation == TWO:
            sweep_one_axis(labels, stride, weights[begin])
        elif operation == PATH:
            path(labels, length, stride, weights[begin])
        else:
            along_moves(labels, length, stride, weights[begin:end], moves[begin:end])


def low_eight(labels: Floats, last: float, middle: float, first: float) -> None:
    """Sweeps the last three axes, of length 2, eight labels at a time."""
    for number in range(len(labels) // 8):
        at = 8 * number
        a, b, c, d = labels[at], labels[at + 1], labels[at + 2], labels[at + 3]
        e, f, g, h = labels[at + 4], labels[at + 5], labels[at + 6], labels[at + 7]
        a, b = meet_at(a, b, last)
        c, d = meet_at(c, d, last)
        e, f = meet_at(e, f, last)
        g, h = meet_at(g, h, last)
        a, c = meet_at(a, c, middle)
        b, d = meet_at(b, d, middle)
        e, g = meet_at(e, g, middle)
        f, h = meet_at(f, h, middle)
        a, e = meet_at(a, e, first)
        b, f = meet_at(b, f, first)
        c, g = meet_at(c, g, first)
        d, h = meet_at(d, h, first)
        labels[at], labels[at + 1], labels[at + 2], labels[at + 3] = a, b, c, d
        labels[at + 4], labels[at + 5], labels[at + 6], labels[at + 7] = e, f, g, h


def sweep_two_axes(labels: Floats, stride: int, later: float, earlier: float) -> None:
    """Sweeps two neighbouring axes of length 2; `later` is the ε of the one whose positions are `stride` apart."""
    for begin in range(0, len(labels), 4 * stride):
        piece = labels[begin : begin + 4 * stride]
        one, two, three = piece[:stride], piece[stride : 2 * stride], piece[2 * stride : 3 * stride]
        four = piece[3 * stride :]
        for at in range(stride):
            a, b = meet_at(one[at], two[at], later)
            c, d = meet_at(three[at], four[at], later)
            a, c = meet_at(a, c, earlier)
            b, d = meet_at(b, d, earlier)
            one[at], two[at], three[at], four[at] = a, b, c, d


def sweep_one_axis(labels: Floats, stride: int, epsilon: float) -> None:
    """Sweeps one axis of length 2."""
    for begin in range(0, len(labels), 2 * stride):
        one, other = labels[begin : begin + stride], labels[begin + stride : begin + 2 * stride]
        for at in range(stride):
            one[at], other[at] = meet_at(one[at], other[at], epsilon)


def path(labels: Floats, length: int, stride: int, epsilon: float) -> None:
    """Sweeps one axis of counts: up, then down."""
    for begin in range(0, len(labels), length * stride):
        if stride < SHORTEST_VECTOR:
            narrow_path(labels[begin : begin + length * stride], stride, epsilon)
            continue
        for count in range(1, length):
            row = begin + count * stride
            lower_row(labels[row - stride : row], labels[row : row + stride], epsilon)
        for count in range(length - 1, 0, -1):
            row = begin + count * stride
            lower_row(labels[row : row + stride], labels[row - stride : row], epsilon)


def narrow_path(labels: Floats, stride: int, epsilon: float) -> None:
    """Does the same for rows too short to be processed one by one."""
    for at in range(stride, len(labels)):
        bound = labels[at - stride] + epsilon
        labels[at] = bound if bound < labels[at] else labels[at]
    for at in range(len(labels) - stride - 1, -1, -1):
        bound = labels[at + stride] + epsilon
        labels[at] = bound if bound < labels[at] else labels[at]


def along_moves(labels: Floats, length: int, stride: int, weights: Floats, moves: Indices) -> None:
    """Sweeps one axis of any kind: repeats all moves, coded as from · length + to, until nothing changes."""
    for begin in range(0, len(labels), length * stride):
        again = True
        while again:
            again = False
            for move in range(len(moves)):
                source = begin + moves[move] // length * stride
                target = begin + moves[move] % length * stride
                if lower_row(labels[source : source + stride], labels[target : target + stride], weights[move]):
                    again = True


def lower_row(source: Floats, target: Floats, epsilon: float) -> bool:
    """Lowers one row of labels to what another allows; returns True if any label fell."""
    fell = 0
    for at in range(len(source)):
        bound = source[at] + epsilon
        fell += bound < target[at]
        target[at] = bound if bound < target[at] else target[at]
    return fell > 0


# Passes and their programs --------------------------------------------------------------------------------------------


BLOCK = 1 << 17  # labels that fit into a core's L2 cache
CACHE_LABELS = 1 << 12  # labels that fit into its L1 cache
ROWS = 1 << 7
BUFFER_LABELS = 1 << 8  # labels of a row that are copied to a buffer at once


@dataclass(frozen=True)
class Pass:
    """Neighbouring axes that are swept together.

    Attributes:
        high: number of combinations of positions on the axes before.
        rows: number of combinations on these axes.
        low: number of combinations on the axes after; 1 for the first pass.
        width: number of labels of a row that are processed together.
        part: number of labels of a block that the first steps need at once.
        part_steps: number of these first steps.
        program: the steps.
        weights: the ε of the steps.
        moves: for each weight of a MOVES step, the two positions.
    """

    high: int
    rows: int
    low: int
    width: int
    part: int
    part_steps: int
    program: Indices
    weights: Floats
    moves: Indices


def passes(space: ProductSpace) -> list[Pass]:
    """All passes of one sweep, the last axes first."""
    found, end = list[Pass](), len(space.axes)
    while end > 0 or not found:
        begin, most = max(end - 1, 0), ROWS if found else BLOCK
        while begin > 0 and prod(space.shape[begin - 1 : end]) <= most:
            begin -= 1
        found.append(_pass(space, begin, end))
        end = begin
    return found


def _pass(space: ProductSpace, begin: int, end: int) -> Pass:
    low = prod(space.shape[end:])
    width = min(BUFFER_LABELS, low)
    program, weights, moves = list[tuple[int, ...]](), list[float](), list[int]()
    part, part_steps, stride, at = 1, 0, width, end
    while at > begin:
        taken, step, own, own_moves = _step(space.axes[begin:at], stride)
        start = len(weights)
        weights += own
        moves += own_moves or [0] * len(own)
        length = prod(space.shape[at - taken : at])
        if step >= 0:
            program.append((step, length, stride, start, len(weights)))
        stride, at = stride * length, at - taken
        if stride <= CACHE_LABELS:
            part, part_steps = stride, len(program)
    rows = prod(space.shape[begin:end])
    return Pass(
        prod(space.shape[:begin]),
        rows,
        low,
        width,
        part if low == 1 else rows,
        part_steps,
        np.array(program, dtype=np.int64).reshape(-1, 5),
        np.array(weights, dtype=np.float64),
        np.array(moves, dtype=np.int64),
    )


def _step(axes: tuple[Axis, ...], stride: int) -> tuple[int, int, list[float], list[int]]:
    """The number of last axes that the next step takes, its operation (−1 for none), its ε, and their moves."""
    pairs = [_is_pair(axis) for axis in axes[-3:]]
    if stride == 1 and len(pairs) == 3 and all(pairs):
        return 3, LOW_EIGHT, [_only_epsilon(axis) for axis in axes[:-4:-1]], []
    if len(pairs) > 1 and all(pairs[-2:]):
        return 2, FOUR, [_only_epsilon(axis) for axis in axes[:-3:-1]], []
    axis = axes[-1]
    if _is_pair(axis):
        return 1, TWO, [_only_epsilon(axis)], []
    if axis.shape == "count" and axis.length > 1:
        return (1, PATH, [_only_epsilon(axis)], []) if _only_epsilon(axis) < np.inf else (1, -1, [], [])
    if axis.shape == "value":
        distances = _distances(axis)
        listed = [
            (float(distances[one, other]), one * axis.length + other)
            for one in range(axis.length)
            for other in range(axis.length)
            if one != other and distances[one, other] < np.inf
        ]
    else:
        moves = axis.moves()
        starts = np.repeat(np.arange(axis.length), np.diff(moves.indptr))
        epsilon = axis.epsilon[moves.kinds, 0, 0]
        up, down = (
            np.flatnonzero((epsilon < np.inf) & way) for way in (starts < moves.targets, starts > moves.targets)
        )
        order = np.concatenate([up, down[::-1]])
        listed = list(zip(epsilon[order].tolist(), (starts * axis.length + moves.targets)[order].tolist(), strict=True))
    return (1, MOVES, *map(list, zip(*listed, strict=True))) if listed else (1, -1, [], [])  # type: ignore[return-value]


def _is_pair(axis: Axis) -> bool:
    return axis.length == 2 and axis.shape != "counts"


def _only_epsilon(axis: Axis) -> float:
    return float(axis.epsilon[0, 0, 0])


def _distances(axis: Axis) -> Floats:
    """The smallest sum of ε from each value to each other; all sums are exact."""
    size = axis.length
    found = np.where(np.eye(size) == 1, 0.0, np.inf)
    moves = axis.moves()
    found[np.repeat(np.arange(size), np.diff(moves.indptr)), moves.targets] = axis.epsilon[moves.kinds, 0, 0]
    for middle in range(size):
        found = np.minimum(found, found[:, middle, None] + found[None, middle, :])
    return found


def reach(axis: Axis) -> float:
    """An upper bound on the distance of connected positions: the largest ε times the largest number of moves."""
    finite = axis.epsilon[np.isfinite(axis.epsilon)]
    return float(finite.max(initial=0.0)) * axis.people * max(len(axis.values) - 1, 1)

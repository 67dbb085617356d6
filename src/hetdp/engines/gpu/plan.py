"""The schedule of a sweep: which kernel sweeps which axis, with how many blocks, threads and bytes of shared memory.

All is arithmetic on the shape of a space; nothing here touches a device. A pass sweeps one axis, or several people with
two values each, and reads and writes every label once if a line fits into shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hetdp.device import Device, Launch
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats

Units = NDArray[np.int64]
Kernel = Literal["sweep_path", "sweep_people", "sweep_moves"]

FAR = 1 << 61  # stands for infinity, as in sweep.cu
CAPPED = 1 << 60  # a finite ε that is larger is replaced by this; labels that it reaches are too large anyhow
UNITS = 2.0**40  # units that make 1
LABEL = 8  # bytes
THREADS = 256  # of kernels that treat datasets one by one
BLOCKS = 16  # of these kernels, for each multiprocessor
TILE_BITS = 13  # a tile of sweep_people has 2^13 labels, so that several fit into a multiprocessor
COLUMN_BITS = 3  # 2^3 labels beside each other, 64 bytes, are read at once
LANES = 8  # lines of a tile of sweep_path, for the same reason
FEWEST_LANES = 4  # below which reading them wastes bandwidth: memory is read 32 bytes at a time
PATH_THREADS = 256  # of a block of sweep_path
PEOPLE_THREADS = 256  # of a block of sweep_people, as in sweep.cu: the registers of three blocks fit
CONTIGUOUS = 1 << 10  # labels of a tile of short lines that lie behind each other
MOST_AXES = 64  # as in sweep.cu
INNER = 1 << 16  # datasets of a row whose positions are decoded one by one


def units_of(epsilon: Floats) -> Units:
    """ε or labels on the grid as whole numbers of units; infinite ones are FAR."""
    with np.errstate(over="ignore"):
        scaled = np.minimum(np.where(np.isinf(epsilon), 0.0, epsilon) * UNITS, float(CAPPED))
    return np.where(np.isinf(epsilon), FAR, scaled.astype(np.int64))


@dataclass(frozen=True)
class Pass:
    """One launch over all labels.

    Attributes:
        kernel: which kernel.
        axes: the axes that it sweeps.
        high: the number of combinations of positions on the axes before.
        length: the number of combinations on these axes.
        low: the number of combinations on the axes after.
        table: ε in units, by kind of move, state and state; for people, one ε for each, the last person first.
        state_count: the number of states in the table.
        moves: for sweep_moves, the source, target and kind of every move.
    """

    kernel: Kernel
    axes: range
    high: int
    length: int
    low: int
    table: Units
    state_count: int = 1
    moves: NDArray[np.int32] | None = None


def passes(space: ProductSpace, shared: int) -> list[Pass]:
    """All passes of one sweep, the last axes first; axes without a finite ε are left out.

    Args:
        space: the space.
        shared: bytes of shared memory that a block may have.
    """
    found, end = list[Pass](), len(space.axes)
    while end > 0:
        begin = _people_before(space, end)
        if begin < end:
            found.append(_people(space, begin, end))
        else:
            begin = end - 1
            if np.isfinite(space.axes[begin].epsilon).any() and space.axes[begin].length > 1:
                found.append(_one_axis(space, begin, shared))
        end = begin
    return found


def reach_of(space: ProductSpace) -> float:
    """An upper bound on the distance of connected datasets, if ε does not depend on states."""
    largest = [float(axis.epsilon[np.isfinite(axis.epsilon)].max(initial=0.0)) for axis in space.axes]
    most = [axis.people * max(len(axis.values) - 1, 1) for axis in space.axes]  # moves
    return sum(epsilon * moves for epsilon, moves in zip(largest, most, strict=True))


def is_pair(axis: Axis) -> bool:
    """True for one person with two values, or a group of one, whose ε does not depend on states."""
    return axis.length == 2 and axis.states == 1 and axis.shape != "counts"


def _people_before(space: ProductSpace, end: int) -> int:
    """The first of the neighbouring pairs before an axis that fit into one tile."""
    bits = TILE_BITS - column_bits(prod(space.shape[end:]))
    begin = end
    while begin > 0 and end - begin < bits and is_pair(space.axes[begin - 1]):
        begin -= 1
    return begin


def column_bits(low: int) -> int:
    """The number of columns of a tile of people, as an exponent of 2, no larger than needed."""
    return min(COLUMN_BITS, (low - 1).bit_length())


def _people(space: ProductSpace, begin: int, end: int) -> Pass:
    epsilon = np.array([space.axes[at].epsilon[0, 0, 0] for at in reversed(range(begin, end))])
    sizes = prod(space.shape[:begin]), prod(space.shape[begin:end]), prod(space.shape[end:])
    return Pass("sweep_people", range(begin, end), *sizes, units_of(epsilon))


def _one_axis(space: ProductSpace, at: int, shared: int) -> Pass:
    axis, lines = space.axes[at], space.lines(at)
    table = units_of(axis.epsilon).ravel()
    is_path = axis.shape == "count" or (axis.shape == "value" and axis.length == 2)
    if is_path and path_shared(axis.length, 1) <= shared:
        return Pass("sweep_path", range(at, at + 1), lines.high, lines.length, lines.low, table, axis.states)
    sources = np.repeat(np.arange(lines.length), np.diff(lines.moves.indptr))
    upward = lines.moves.targets > sources
    order = np.concatenate([np.flatnonzero(upward), np.flatnonzero(~upward)[::-1]])  # up, then down
    moves = np.stack([sources, lines.moves.targets, lines.moves.kinds])[:, order].astype(np.int32)
    return Pass("sweep_moves", range(at, at + 1), lines.high, lines.length, lines.low, table, axis.states, moves)


# Launches -------------------------------------------------------------------------------------------------------------


def path_shared(length: int, lanes: int) -> int:
    """Bytes of shared memory of a block of sweep_path: a tile, and two labels for each thread."""
    return LABEL * (lanes * length + 2 * PATH_THREADS)


def path_lanes(length: int, low: int, shared: int) -> int:
    """The number of lines that a block of sweep_path takes: as many as are read at once, but no more than fit.

    With fewer than two blocks in a multiprocessor, memory would wait while a block computes; then a block takes less.
    """
    lanes = max(1, min(LANES, CONTIGUOUS // length)) if low == 1 else LANES
    while lanes > FEWEST_LANES and 2 * path_shared(length, lanes) > shared:
        lanes //= 2
    while path_shared(length, lanes) > shared:
        lanes //= 2
    return max(1, lanes)


def path_segments(length: int, lanes: int) -> tuple[int, int]:
    """Into how many segments a line is cut, and their length, which is odd: threads then use different banks."""
    span = -(-length // (PATH_THREADS // lanes)) | 1
    return -(-length // span), span


def launch_of(one: Pass, device: Device, labels: Any, states: Any, fell: Any, watch: bool) -> Launch:
    """The launch of a pass.

    Args:
        one: the pass.
        device: the device.
        labels: the labels, on the device.
        states: the state of each dataset, on the device; anything if ε depends on none.
        fell: one whole number on the device, which becomes 1 if a label falls.
        watch: whether that matters.
    """
    table = device.upload(one.table)
    if one.kernel == "sweep_people":
        people, bits = one.length.bit_length() - 1, column_bits(one.low)
        size = 1 << (people + bits)
        blocks = one.high * -(-one.low // (1 << bits))
        shared = LABEL * (size + (size >> 4) + 1)
        threads = max(32, min(PEOPLE_THREADS, size >> 4))
        arguments: Any = (labels, table, people, one.low, bits, int(watch), fell)
        return Launch("sweep_people", blocks, threads, arguments, shared)
    sizes = one.high, one.length, one.low
    if one.kernel == "sweep_path":
        lanes = path_lanes(one.length, one.low, device.shared)
        segments, span = path_segments(one.length, lanes)
        blocks, shared = -(-(one.high * one.low) // lanes), path_shared(one.length, lanes)
        arguments = (labels, states, table, one.state_count, *sizes, lanes, segments, span, fell)
        return Launch("sweep_path", blocks, lanes * segments, arguments, shared)
    assert one.moves is not None
    moves = tuple(map(device.upload, one.moves))
    arguments = (labels, states, table, one.state_count, *sizes, *moves, one.moves.shape[1], fell)
    return each(device, "sweep_moves", one.high * one.low, arguments)


def each(device: Device, kernel: str, size: int, arguments: tuple[Any, ...]) -> Launch:
    """The launch of a kernel that treats datasets, or lines, one by one."""
    blocks = min(-(-size // THREADS), BLOCKS * device.processors)
    return Launch(kernel, max(1, blocks), THREADS, arguments)


@dataclass(frozen=True)
class Rows:
    """All axes of a space in a few arrays, for kernels that visit every neighbour of every dataset.

    Attributes:
        axes: for each axis its length, the distance between neighbouring positions, the start of its moves (−1 if
            neighbours are next to each other), the start of its table, and its states.
        rows: for each such axis, the start of the moves from each position.
        targets: the target of each move.
        kinds: the kind of each move.
        tables: ε of all axes.
        inner_from: the first axis of those that make up a row.
        outer: the number of rows.
        inner: the number of datasets of a row.
    """

    axes: Units
    rows: Units
    targets: NDArray[np.int32]
    kinds: NDArray[np.int32]
    tables: Floats
    inner_from: int
    outer: int
    inner: int

    @classmethod
    def of(cls, space: ProductSpace) -> Rows:
        """The arrays of a space."""
        axes, rows, targets, kinds, tables = [], [], [], [], [np.empty(0)]
        moves, row, table = 0, 0, 0
        for at, axis in enumerate(space.axes):
            lines = space.lines(at)
            is_path = axis.shape == "count" or (axis.shape == "value" and axis.length == 2)
            axes.append([lines.length, lines.low, -1 if is_path else row, table, axis.states])
            tables.append(axis.epsilon.ravel())
            table += axis.epsilon.size
            if not is_path:
                rows.append(lines.moves.indptr + moves)
                targets.append(lines.moves.targets)
                kinds.append(lines.moves.kinds)
                moves, row = moves + len(lines.moves.targets), row + lines.length + 1
        inner_from = len(axes)
        while inner_from > 0 and (inner_from == len(axes) or prod(space.shape[inner_from - 1 :]) <= INNER):
            inner_from -= 1
        inner, nothing = prod(space.shape[inner_from:]), np.zeros(1, dtype=np.int64)
        return cls(
            np.array(axes, dtype=np.int64).reshape(-1, 5).ravel(),
            np.concatenate([*rows, nothing]),
            np.concatenate([*targets, nothing]).astype(np.int32),
            np.concatenate([*kinds, nothing]).astype(np.int32),
            np.concatenate(tables),
            inner_from,
            prod(space.shape[:inner_from]),
            inner,
        )

    def launch(self, device: Device, kernel: str, arguments: tuple[Any, ...]) -> Launch:
        """The launch of a kernel that takes a space and other arguments."""
        arrays = [device.upload(array) for array in (self.axes, self.rows, self.targets, self.kinds)]
        sizes = len(self.axes) // 5, self.inner_from, self.outer, self.inner
        blocks = min(self.outer, BLOCKS * device.processors)
        threads = min(THREADS, -(-self.inner // 32) * 32)
        return Launch(kernel, max(1, blocks), max(32, threads), (*arrays, *sizes, *arguments))

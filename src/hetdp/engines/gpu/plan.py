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
Kernel = Literal["sweep_path", "sweep_watched_path", "sweep_people", "sweep_moves"]

FAR = 1 << 61  # stands for infinity, as in sweep.cu
CAPPED = 1 << 60  # a finite ε that is larger is replaced by this; labels that it reaches are too large anyhow
UNITS = 2.0**40  # units in 1
LABEL = 8  # bytes of a label
THREADS = 256  # most threads of a block of the kernels that treat datasets one by one
BLOCKS = 16  # blocks of these kernels for each multiprocessor
TILE_BITS = 13  # bits of a tile of sweep_people: 2^13 labels, so that several fit into a multiprocessor
COLUMN_BITS = 3  # bits of the labels read at once: 2^3 beside each other, which are 64 bytes
PEOPLE_THREADS = 256  # most threads of a block of sweep_people, as in sweep.cu
SPAN = 16  # labels of a thread of sweep_path, as in sweep.cu
PATH_THREADS = {"sweep_path": 1024, "sweep_watched_path": 512}  # most threads of a block of these kernels
FEWER_THREADS = 512  # threads of a block with enough lines, so that two blocks fit into a multiprocessor
LANES = 8  # lines of a block that are enough: 64 bytes are read at once
MOST_AXES, AXIS_COLUMNS = 64, 5  # most axes, and columns of each, as in sweep.cu
WARP = 32  # threads that read together
MANY_THREADS, SHORTEST = 1 << 21, 8  # threads that keep a device busy, and fewest datasets of each


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
    kernel: Kernel = "sweep_path" if space.state_count == 1 else "sweep_watched_path"
    fits = axis.length <= SPAN * PATH_THREADS[kernel] and path_shared(axis.length, lines.low, 1) <= shared
    if is_path and fits:
        return Pass(kernel, range(at, at + 1), lines.high, lines.length, lines.low, table, axis.states)
    sources = np.repeat(np.arange(lines.length), np.diff(lines.moves.indptr))
    upward = lines.moves.targets > sources
    order = np.concatenate([np.flatnonzero(upward), np.flatnonzero(~upward)[::-1]])  # up, then down
    moves = np.stack([sources, lines.moves.targets, lines.moves.kinds])[:, order].astype(np.int32)
    return Pass("sweep_moves", range(at, at + 1), lines.high, lines.length, lines.low, table, axis.states, moves)


# Launches -------------------------------------------------------------------------------------------------------------


def path_lanes(length: int, low: int, shared: int, threads: int) -> int:
    """The number of lines that a block of sweep_path takes, with at most so many threads.

    Lines that lie behind each other take their place in shared memory, and groups of `low` of them stay together.
    """
    segments = -(-length // SPAN)
    lanes = max(1, FEWER_THREADS // segments)
    if lanes < LANES <= threads // segments:
        lanes = LANES
    if not is_staged(low, lanes):
        return 1 << lanes.bit_length() - 1
    lanes -= lanes % low
    while lanes > low and 2 * path_shared(length, low, lanes) > shared:
        lanes = (lanes // low + 1) // 2 * low
    return lanes


def is_staged(low: int, lanes: int) -> bool:
    """True if the lines of a block are read through shared memory: they lie behind each other."""
    return low == 1 or low < lanes


def path_shared(length: int, low: int, lanes: int) -> int:
    """Bytes of shared memory of a block of sweep_path: its tile, or four labels for each thread and direction."""
    tile = lanes * length if is_staged(low, lanes) else 0
    return LABEL * max(tile + tile // 32 + 1, 8 * lanes * -(-length // SPAN))


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
        shared = LABEL * (size + (size >> 4) + (size >> 8 << 3) + 1)
        threads = max(32, min(PEOPLE_THREADS, size >> 4))
        arguments: Any = (labels, table, people, one.low, bits, int(watch), fell)
        return Launch("sweep_people", blocks, threads, arguments, shared)
    sizes = one.high, one.length, one.low
    if one.kernel in PATH_THREADS:
        lanes = path_lanes(one.length, one.low, device.shared, PATH_THREADS[one.kernel])
        segments = -(-one.length // SPAN)
        blocks, shared = -(-(one.high * one.low) // lanes), path_shared(one.length, one.low, lanes)
        arguments = (
            labels,
            states,
            table,
            one.state_count,
            *sizes,
            lanes,
            segments,
            int(is_staged(one.low, lanes)),
            fell,
        )
        return Launch(one.kernel, blocks, lanes * segments, arguments, shared)
    assert one.moves is not None
    moves = tuple(map(device.upload, one.moves))
    arguments = (labels, states, table, one.state_count, *sizes, *moves, one.moves.shape[1], fell)
    return each(device, "sweep_moves", one.high * one.low, arguments)


def each(device: Device, kernel: str, size: int, arguments: tuple[Any, ...]) -> Launch:
    """The launch of a kernel that treats datasets, or lines, one by one."""
    blocks = min(-(-size // THREADS), BLOCKS * device.processors)
    return Launch(kernel, max(1, blocks), THREADS, arguments)


@dataclass(frozen=True)
class Neighbours:
    """All axes of a space in a few arrays, for kernels that visit the neighbours of datasets.

    Attributes:
        axes: for each axis its length, the distance between neighbouring positions, the start of its moves (−1 if
            neighbours are next to each other), the start of its table, and its states.
        rows: for each such axis, the start of the moves from each position.
        targets: the target of each move.
        kinds: the kind of each move.
        tables: ε of all axes.
    """

    axes: Units
    rows: Units
    targets: NDArray[np.int32]
    kinds: NDArray[np.int32]
    tables: Floats

    @classmethod
    def of(cls, space: ProductSpace) -> Neighbours:
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
        nothing = np.zeros(1, dtype=np.int64)
        return cls(
            np.array(axes, dtype=np.int64).reshape(-1, AXIS_COLUMNS),
            np.concatenate([*rows, nothing]),
            np.concatenate([*targets, nothing]).astype(np.int32),
            np.concatenate([*kinds, nothing]).astype(np.int32),
            np.concatenate(tables),
        )

    def arguments(self, device: Device) -> tuple[Any, ...]:
        """The arguments of a kernel that stand for the space."""
        axes, rows = device.upload(self.axes.ravel()), device.upload(self.rows)
        return axes, rows, device.upload(self.targets), device.upload(self.kinds), len(self.axes)

    def stretch(self) -> tuple[int, int, int]:
        """Whether neighbours are next to each other on all axes, the axis that a thread goes along, and how far.

        It is the longest axis on which the threads of a warp read datasets beside each other, if there is one.
        """
        lengths, lows = self.axes[:, 0], self.axes[:, 1]
        paths = len(self.axes) > 0 and bool((self.axes[:, 2] < 0).all())
        if not paths:
            return 0, 0, 1
        along = int(np.argmax(np.where(lows >= WARP, lengths, 0))) if (lows >= WARP).any() else 0
        size = int(lengths[0] * lows[0])
        return 1, along, int(np.clip(size // MANY_THREADS, SHORTEST, lengths[along]))

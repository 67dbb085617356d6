"""Which axes are swept together, and the program for each such pass (see `sweep.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from hetdp.engines.product.sweep import FOUR, LOW_EIGHT, MOVES, PATH, TWO
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices

BLOCK = 1 << 17  # labels that fit into a core's second cache
PART = 1 << 12  # labels that fit into its first one
ROWS = 1 << 7
WIDTH = 1 << 8  # labels of a row that are brought into a buffer at once


@dataclass(frozen=True)
class Pass:
    """Some neighbouring axes, swept together.

    Attributes:
        high: how many combinations of positions there are on the axes before.
        rows: and on these axes.
        low: and on the axes after; 1 for the first pass.
        width: how many labels of a row are worked on together.
        part: how many labels of a block the first steps need at a time.
        part_steps: how many steps these are.
        program: the steps.
        weights: their ε.
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
    width = min(WIDTH, low)
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
        if stride <= PART:
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
    """How many of the last axes the next step takes, its operation (−1: none), its ε, and the moves they belong to."""
    pairs = [_is_pair(axis) for axis in axes[-3:]]
    if stride == 1 and len(pairs) == 3 and all(pairs):
        return 3, LOW_EIGHT, [_one(axis) for axis in axes[:-4:-1]], []
    if len(pairs) > 1 and all(pairs[-2:]):
        return 2, FOUR, [_one(axis) for axis in axes[:-3:-1]], []
    axis = axes[-1]
    if _is_pair(axis):
        return 1, TWO, [_one(axis)], []
    if axis.shape == "count" and axis.length > 1:
        return (1, PATH, [_one(axis)], []) if _one(axis) < np.inf else (1, -1, [], [])
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


def _one(axis: Axis) -> float:
    return float(axis.epsilon[0, 0, 0])


def _distances(axis: Axis) -> Floats:
    """The least sum of ε from each value to each other; all sums are exact."""
    size = axis.length
    found = np.where(np.eye(size) == 1, 0.0, np.inf)
    moves = axis.moves()
    found[np.repeat(np.arange(size), np.diff(moves.indptr)), moves.targets] = axis.epsilon[moves.kinds, 0, 0]
    for middle in range(size):
        found = np.minimum(found, found[:, middle, None] + found[None, middle, :])
    return found


def reach(axis: Axis) -> float:
    """No two connected positions of an axis are further apart: the largest ε, for as many moves as it may take."""
    finite = axis.epsilon[np.isfinite(axis.epsilon)]
    return float(finite.max(initial=0.0)) * axis.people * max(len(axis.values) - 1, 1)

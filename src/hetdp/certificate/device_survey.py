"""The proof on a device: every arc of a space of people, in whole numbers, by the verifier's own kernel (`arcs.cu`).

Nothing is taken from the engines. The host lists what one person may change, and settles arcs across ½ by enclosures,
once for each distinct triple of both z and ε. Optimality is shown without links: every free dataset has a neighbour
with a smaller value from which exactly ε leads to its own, so that a chain of these ends at a pinned dataset.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.certificate.certificate import Certificate, certificate_of
from hetdp.certificate.enclosure import crossing_holds
from hetdp.certificate.losses import largest_losses
from hetdp.certificate.products import changes_of
from hetdp.certificate.rule import LOOSE, UNPINNED, Chains, Survey
from hetdp.certificate.rules import rule_of
from hetdp.device import CPU, Device, Launch
from hetdp.errors import DeviceError
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import EdgeBlock, Floats, Indices

FAR = 1 << 61  # stands for infinity, as in the kernels
UNITS = 2.0**40  # units in 1
THREADS = 256  # most threads of a block
BLOCKS = 8  # blocks for each multiprocessor
WARP = 32  # threads that read together
MANY_THREADS, SHORTEST = 1 << 21, 8  # threads that keep a device busy, and fewest datasets of each
VALUES, TRIPLES = 1 << 16, 1 << 18  # capacity of the sets of distinct values and triples across ½
NOTES, COLUMNS, STEP_COLUMNS = 7, 6, 5  # notes of the kernels, columns of an axis and of an axis of steps
MOST_STEPS = 4  # most axes of steps, as in arcs.cu
FEWEST_LISTED, MOST_LISTED = (
    1 << 20,
    16,
)  # capacity of the list of datasets to be examined: this many, or one in this many
NOWHERE = np.iinfo(np.uint64).max


class DeviceClaim(NamedTuple):
    """A mechanism on a device.

    Attributes:
        z: the coordinate of each dataset, in units of 2^-40; ±2^61 stands for ±∞.
        answers: the true answers, 1 or 2.
        pinned: which values were given or chosen, 0 or 1.
        states: the state of each dataset; anything if ε depends on none.
    """

    z: Any
    answers: Any
    pinned: Any
    states: Any


@cache
def source() -> str:
    """The source of the kernel."""
    return files(__package__).joinpath("arcs.cu").read_text(encoding="utf-8")


def verify_on_device(problem: Problem, space: ProductSpace, device: Device, claim: DeviceClaim) -> Certificate:
    """Proves or refutes that a mechanism on a device is private on every edge, and optimal given its pins.

    Raises:
        DeviceError: the device failed, or there are too many different arcs across ½.
    """
    halved = rule_of(problem.notion).halved
    if halved is None:
        raise DeviceError(f"a proof of the notion {problem.notion.name!r} on a GPU", "its kernel adds ε to z", CPU)
    return certificate_of(problem, *survey_on_device(space, device, claim, halved))


def survey_on_device(
    space: ProductSpace, device: Device, claim: DeviceClaim, halved: bool = True
) -> tuple[Survey, Chains]:
    """Looks at every arc on the device.

    Args:
        space: the space.
        device: the device that holds the claim.
        claim: the mechanism.
        halved: whether p = ½ is special, as it is for pure ε.

    Raises:
        DeviceError: the device failed, or there are too many different arcs across ½.
    """
    table = _ChangeTable(space)
    values, triples = (device.upload(np.zeros(places, dtype=np.uint64)) for places in (VALUES, TRIPLES))
    first = device.upload(np.full(TRIPLES, NOWHERE, dtype=np.uint64))
    failing = np.zeros(TRIPLES, dtype=np.uint8)
    sets = values, VALUES, triples, TRIPLES, first
    notes, worst = _launch_survey(table, device, claim, sets, failing, halved)
    _require_room(notes)
    across = table.across(device.download(values), device.download(triples), device.download(first))
    holds, slack = crossing_holds(across.z_source, across.z_target, across.epsilon)
    if not holds.all():
        failing[across.place[~holds]] = 1
        notes, worst = _launch_survey(table, device, claim, sets, failing, halved)
    seen = Survey(np.empty(0), int(notes[0]), int(notes[1]), int(notes[2]))
    plain = worst[worst[:, 0] < FAR].T
    found = np.where(plain[0] == -FAR, -np.inf, plain[0] / UNITS), *plain[1:3], plain[3] / UNITS
    settled = np.where(holds, np.maximum(slack, 0.0), np.minimum(slack, -np.finfo(float).tiny))
    crossing = settled, across.source, across.target, across.epsilon
    _offer_least(seen, *map(np.concatenate, zip(found, crossing, strict=True)))
    return seen, _chains(notes)


class Changes(NamedTuple):
    """Some edges along one axis, with z at both ends; among them are those of the largest loss and difference of p."""

    source: Indices
    target: Indices
    before: Floats
    after: Floats


def largest_changes(
    space: ProductSpace, device: Device, claim: DeviceClaim, halved: bool, unbound: bool = False
) -> list[Changes]:
    """For each axis the edges with the largest changes of z and of p, and one for each pair of z across ½.

    Args:
        space: the space.
        device: the device that holds the claim.
        claim: the mechanism.
        halved: whether p = ½ is special, as it is for pure ε.
        unbound: whether edges without a constraint take part.

    Raises:
        DeviceError: the device failed, or there are too many different edges across ½.
    """
    table = _ChangeTable(space)
    return [_changes_along(table, device, claim, axis, halved, unbound) for axis in range(len(space.axes))]


def _changes_along(
    table: _ChangeTable, device: Device, claim: DeviceClaim, axis: int, halved: bool, unbound: bool
) -> Changes:
    size = table.size
    blocks = _blocks(device, size)
    values, pairs = (device.upload(np.zeros(places, dtype=np.uint64)) for places in (VALUES, TRIPLES))
    first = device.upload(np.full(TRIPLES, NOWHERE, dtype=np.uint64))
    notes, edges = device.upload(np.zeros(NOTES, dtype=np.int64)), device.empty(8 * blocks, np.int64)
    arcs, tables = table.changes(device), device.upload(table.units())
    sets = values, VALUES, pairs, TRIPLES, first
    along = device.upload(table.axes[axis])
    arguments = (claim.z, claim.states, size, along, *arcs, tables, int(unbound), *sets, int(halved), notes, edges)
    device.launch(source(), Launch("largest_changes", blocks, THREADS, arguments))
    _require_room(device.download(notes))
    ends = device.download(edges).reshape(-1, 4)
    ends = np.unique(ends[ends[:, 0] >= 0], axis=0).T
    across = table.across(device.download(values), device.download(pairs), device.download(first), 1)
    columns = (
        np.concatenate([ends[0], across.source]),
        np.concatenate([ends[1], across.target]),
        np.concatenate([units_to_z(ends[2]), across.z_source]),
        np.concatenate([units_to_z(ends[3]), across.z_target]),
    )
    order = np.lexsort(columns[1::-1])  # of equals, the first one counts, as on the host
    return Changes(*(column[order] for column in columns))


def losses_on_device(space: ProductSpace, device: Device, claim: DeviceClaim, allowed: Floats, notion: Any) -> Floats:
    """The largest loss along each axis, as `losses_along` finds it on the host.

    On one side of ½ the loss of an edge is the distance of z, so that the edge with the largest one is enough.
    """
    halved = rule_of(notion).halved
    assert halved is not None, "verify_on_device has proved it"
    found = largest_changes(space, device, claim, halved, unbound=True)
    numbers = np.repeat(np.arange(len(found)), [len(one.source) for one in found])
    before, after = (
        np.concatenate(columns) for columns in zip(*((one.before, one.after) for one in found), strict=True)
    )
    return largest_losses(before, after, numbers, allowed, notion)


def units_to_z(units: Indices) -> Floats:
    """Grid units as z; ±`FAR` means ±infinity."""
    return np.where(np.abs(units) == FAR, np.copysign(np.inf, units), units / UNITS)


def _require_room(notes: NDArray[np.int64]) -> None:
    if notes[5]:
        what = f"more than {VALUES:,} different values, or {TRIPLES:,} different arcs, across ½"
        raise DeviceError(what, "the GPU's proof settles each of them once, on the host", CPU)


def _chains(notes: NDArray[np.int64]) -> Chains:
    """The optimality that the kernel's notes prove. Sums are exact, so chains leave no gap."""
    loose, unpinned = notes[3:5].tolist()  # −1: none
    if unpinned >= 0:
        return Chains(UNPINNED, unpinned)
    return Chains(LOOSE, loose) if loose >= 0 else Chains("", gap=0.0)


def _offer_least(seen: Survey, slack: Floats, source: Indices, target: Indices, epsilon: Floats) -> None:
    """Offers the arc with the least slack; of equals that with the first source, then target."""
    if len(slack):
        at = np.lexsort((epsilon, target, source, slack))[:1]
        seen.offer(EdgeBlock(source[at], target[at], (epsilon[at],)), 0, float(slack[at[0]]))


def _launch_survey(
    table: _ChangeTable, device: Device, claim: DeviceClaim, sets: tuple[Any, ...], failing: Any, halved: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The notes of a survey, and the worst arc of each block.

    Where people take steps along few axes, a quick look at all datasets lists those that need a close one: if there is
    no room for them, all do.
    """
    size, blank = table.size, np.array([0, 0, 0, -1, -1, 0, 0], dtype=np.int64)
    notes, (steps, span) = device.upload(blank), table.steps()
    room = min(size, max(FEWEST_LISTED, size // MOST_LISTED)) if len(steps) else 0
    listed = device.empty(max(room, 1), np.int64)
    if room:
        matter = int((steps[:, 4] > 1).any())
        path = size, device.upload(steps.ravel()), len(steps), span, matter
        arguments = *claim, device.upload(table.units()), *path, listed, room, notes
        device.launch(source(), Launch("survey_steps", _blocks(device, size), THREADS, arguments))
    count = int(device.download(notes)[6])
    if not 0 < count <= room:
        notes, count, room = device.upload(blank), size, 0
    worst = device.empty(4 * _blocks(device, count), np.int64)
    arguments = *claim, listed, int(room > 0), count, *table.arguments(device), *sets, device.upload(failing)
    launch = Launch("survey_arcs", _blocks(device, count), THREADS, (*arguments, int(halved), notes, worst))
    device.launch(source(), launch)
    return device.download(notes), device.download(worst).reshape(-1, 4)


def _blocks(device: Device, size: int) -> int:
    return max(1, min(-(-size // THREADS), BLOCKS * device.processors))


class _Across(NamedTuple):
    """The distinct triples across ½, with the first arc that has each, and their places in the set."""

    place: Indices
    source: Indices
    target: Indices
    z_source: Floats
    z_target: Floats
    epsilon: Floats


class _ChangeTable:
    """All that one person may change, in a few arrays."""

    def __init__(self, space: ProductSpace) -> None:
        axes, kinds, leads_to, tables = list[list[int]](), list[Indices](), list[Indices](), [np.empty(0)]
        self._axis_of: list[int] = []
        self._all_steps = True
        stride, cells = space.size, 0
        for at, axis in enumerate(space.axes):
            stride //= axis.length
            first = len(kinds)
            for kind, to in changes_of(axis):
                kinds.append(kind)
                leads_to.append(to)
                self._axis_of.append(at)
            self._all_steps &= _are_steps(kinds[first:], leads_to[first:])
            axes.append([axis.length, stride, first, len(kinds), cells, axis.epsilon.shape[1]])
            tables.append(axis.epsilon.ravel())
            cells += axis.epsilon.size
        self.axes = np.array(axes, dtype=np.int64).reshape(-1, COLUMNS)
        self._kinds, self._leads_to = (_concatenate(columns).astype(np.int32) for columns in (kinds, leads_to))
        self._starts = np.cumsum([0, *map(len, kinds)])
        self._epsilon = np.concatenate(tables)
        self.size = space.size

    def arguments(self, device: Device) -> tuple[Any, ...]:
        """The arguments of the kernel that describe the arcs."""
        axes, cells = device.upload(self.axes.ravel()), max(1, len(self._epsilon))
        return axes, len(self.axes), *self.changes(device), device.upload(self.units()), cells

    def steps(self) -> tuple[NDArray[np.int64], int]:
        """All axes that have arcs, if the kernel may see them as steps, and how many datasets a thread takes in a row.

        It takes them along the first axis: the longest one on which the threads of a warp read datasets beside each
        other, if there is one.
        """
        none = np.empty((0, STEP_COLUMNS), dtype=np.int64), 1
        epsilon, found = self.units(), list[list[int]]()
        for positions, apart, _, _, cell, states in self.axes.tolist():
            if (epsilon[cell : cell + states**2] == 0).any():
                return none
            if positions > 1 and (states > 1 or epsilon[cell] < FAR):
                found.append([positions, apart, int(epsilon[cell]), cell, states])
        if not self._all_steps or not 0 < len(found) <= MOST_STEPS:
            return none
        found.sort(key=lambda step: (step[1] >= WARP, step[0]), reverse=True)
        return np.array(found), int(np.clip(self.size // MANY_THREADS, min(SHORTEST, found[0][0]), found[0][0]))

    def changes(self, device: Device) -> tuple[Any, ...]:
        """The arguments of the kernels that describe what one person may change."""
        return *map(device.upload, (self._kinds, self._leads_to, self._starts)), max(1, len(self._axis_of))

    def units(self) -> NDArray[np.int64]:
        """All ε in units."""
        with np.errstate(over="ignore"):
            scaled = np.minimum(np.where(np.isinf(self._epsilon), 0.0, self._epsilon) * UNITS, FAR / 2)
        return np.append(np.where(np.isinf(self._epsilon), FAR, scaled.astype(np.int64)), FAR)

    def across(self, values: Any, triples: Any, first: Any, cells: int = 0) -> _Across:
        """The triples of a set, decoded; with cells = 1, pairs without ε."""
        place = np.flatnonzero(triples)
        pair, cell = np.divmod(triples[place].astype(np.int64) - 1, cells or max(1, len(self._epsilon)))
        z_source, z_target = (units_to_z(values[side].astype(np.int64) - 2 * FAR) for side in np.divmod(pair, VALUES))
        source, change = np.divmod(first[place].astype(np.int64), max(1, len(self._axis_of)))
        axes = self.axes[np.array(self._axis_of, dtype=np.int64)[change]]
        position = source // axes[:, 1] % axes[:, 0]
        to = self._leads_to[self._starts[change] + position]
        target = source + (to - position) * axes[:, 1]
        return _Across(place, source, target, z_source, z_target, self._epsilon[cell])


def _are_steps(kinds: list[Indices], leads_to: list[Indices]) -> bool:
    """True if the changes lead from each position to the next one and the one before, all with the first table of ε."""
    if not leads_to:
        return True
    length, to = len(leads_to[0]), np.stack(leads_to)
    moves = np.where(to < 0, 0, to - np.arange(length))
    up, down = np.arange(length) + 1 < length, np.arange(length) > 0
    are_all = np.array_equal((moves == 1).sum(axis=0), up) and np.array_equal((moves == -1).sum(axis=0), down)
    return are_all and bool((np.abs(moves) <= 1).all()) and not any(column.any() for column in kinds)


def _concatenate(columns: list[Indices]) -> Indices:
    return np.concatenate([*columns, np.zeros(1, dtype=np.int64)])

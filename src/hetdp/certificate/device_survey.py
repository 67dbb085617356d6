"""The proof on a device: every arc of a space of people, in whole numbers, by the verifier's own kernel (`arcs.cu`).

Nothing is taken from the engines. The host lists what one person may change, and settles arcs across ½ by enclosures,
once for each distinct triple of both z and ε. Optimality is shown without links: every free dataset has a neighbour
with a smaller value from which exactly ε leads to its own, so that a chain of these ends at a pinned dataset.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.certificate.certificate import Certificate, certificate_of
from hetdp.certificate.enclosure import crossing_holds
from hetdp.certificate.losses import largest_losses
from hetdp.certificate.products import changes_of
from hetdp.certificate.rule import LOOSE, Chains, Survey
from hetdp.certificate.rules import rule_of
from hetdp.device import CPU, Device, DeviceError, Launch
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import EdgeBlock, Floats, Indices

FAR = 1 << 61
UNITS = 2.0**40
THREADS = 256
BLOCKS = 8  # for each multiprocessor
WIDEST = 1 << 14  # datasets of a row, unless the last axis is longer
VALUES, TRIPLES = 1 << 16, 1 << 18  # places for distinct values and triples across ½
NOTES, COLUMNS = 6, 6  # of the kernels, and of an axis
NOWHERE = np.iinfo(np.uint64).max
UNPINNED = "a boundary dataset is not pinned"


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
    for least, *arc in worst.tolist():
        if least < FAR:
            _offer(seen, arc[0], arc[1], arc[2] / UNITS, -np.inf if least == -FAR else least / UNITS)
    settled = np.where(holds, np.maximum(slack, 0.0), np.minimum(slack, -np.finfo(float).tiny))
    for at in range(len(settled)):
        _offer(seen, int(across.source[at]), int(across.target[at]), float(across.epsilon[at]), float(settled[at]))
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
    size = table.rows * table.width
    blocks = max(1, min(-(-size // THREADS), BLOCKS * device.processors))
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
    return Changes(
        np.concatenate([ends[0], across.source]),
        np.concatenate([ends[1], across.target]),
        np.concatenate([_z_of(ends[2]), across.z_source]),
        np.concatenate([_z_of(ends[3]), across.z_target]),
    )


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


def _z_of(units: Indices) -> Floats:
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


def _offer(seen: Survey, u: int, v: int, epsilon: float, slack: float) -> None:
    seen.offer(EdgeBlock(np.array([u]), np.array([v]), (np.array([epsilon]),)), 0, slack)


def _launch_survey(
    table: _ChangeTable, device: Device, claim: DeviceClaim, sets: tuple[Any, ...], failing: Any, halved: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The notes of one launch, and the worst arc of each block."""
    blocks = max(1, min(table.rows, BLOCKS * device.processors))
    notes = device.upload(np.array([0, 0, 0, -1, -1, 0], dtype=np.int64))
    worst = device.empty(4 * blocks, np.int64)
    arguments = (*claim, *table.arguments(device), *sets, device.upload(failing), int(halved), notes, worst)
    device.launch(source(), Launch("survey_arcs", blocks, THREADS, arguments))
    return device.download(notes), device.download(worst).reshape(-1, 4)


class _Across(NamedTuple):
    """The distinct triples across ½, with the first arc that has each, and their places in the set."""

    place: Indices
    source: Indices
    target: Indices
    z_source: Floats
    z_target: Floats
    epsilon: Floats


class _ChangeTable:
    """All that one person may change, in a few arrays; and the rows in which datasets are visited."""

    def __init__(self, space: ProductSpace) -> None:
        axes, kinds, leads_to, tables = list[list[int]](), list[Indices](), list[Indices](), [np.empty(0)]
        self._axis_of: list[int] = []
        stride, cells = space.size, 0
        for at, axis in enumerate(space.axes):
            stride //= axis.length
            first = len(kinds)
            for kind, to in changes_of(axis):
                kinds.append(kind)
                leads_to.append(to)
                self._axis_of.append(at)
            axes.append([axis.length, stride, first, len(kinds), cells, axis.epsilon.shape[1]])
            tables.append(axis.epsilon.ravel())
            cells += axis.epsilon.size
        self.axes = np.array(axes, dtype=np.int64).reshape(-1, COLUMNS)
        self._kinds, self._leads_to = (_concatenate(columns).astype(np.int32) for columns in (kinds, leads_to))
        self._starts = np.cumsum([0, *map(len, kinds)])
        self._epsilon = np.concatenate(tables)
        self._inner_from = len(axes)
        while self._inner_from > 0 and (
            self._inner_from == len(axes) or prod(space.shape[self._inner_from - 1 :]) <= WIDEST
        ):
            self._inner_from -= 1
        self.width = prod(space.shape[self._inner_from :])
        self.rows = prod(space.shape[: self._inner_from])

    def arguments(self, device: Device) -> tuple[Any, ...]:
        """The arguments of the kernel that describe the arcs."""
        sizes = len(self.axes), self._inner_from, self.rows, self.width
        cells = max(1, len(self._epsilon))
        return device.upload(self.axes.ravel()), *sizes, *self.changes(device), device.upload(self.units()), cells

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
        z_source, z_target = (_z_of(values[side].astype(np.int64) - 2 * FAR) for side in np.divmod(pair, VALUES))
        source, change = np.divmod(first[place].astype(np.int64), max(1, len(self._axis_of)))
        axes = self.axes[np.array(self._axis_of, dtype=np.int64)[change]]
        position = source // axes[:, 1] % axes[:, 0]
        to = self._leads_to[self._starts[change] + position]
        target = source + (to - position) * axes[:, 1]
        return _Across(place, source, target, z_source, z_target, self._epsilon[cell])


def _concatenate(columns: list[Indices]) -> Indices:
    return np.concatenate([*columns, np.zeros(1, dtype=np.int64)])

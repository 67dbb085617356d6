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
NOTES = 6
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
    if notes[5]:
        what = f"more than {VALUES:,} different values, or {TRIPLES:,} different arcs, across ½"
        raise DeviceError(what, "the GPU's proof settles each of them once, on the host", CPU)
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
        apart, cells = space.size, 0
        for at, axis in enumerate(space.axes):
            apart //= axis.length
            first = len(kinds)
            for kind, to in changes_of(axis):
                kinds.append(kind)
                leads_to.append(to)
                self._axis_of.append(at)
            axes.append([axis.length, apart, first, len(kinds), cells, axis.epsilon.shape[1]])
            tables.append(axis.epsilon.ravel())
            cells += axis.epsilon.size
        self._axes = np.array(axes, dtype=np.int64).reshape(-1, NOTES)
        self._kinds, self._leads_to = (_concatenate(columns).astype(np.int32) for columns in (kinds, leads_to))
        self._starts = np.cumsum([0, *map(len, kinds)])
        self._epsilon = np.concatenate(tables)
        self._inner_from = len(axes)
        while self._inner_from > 0 and (
            self._inner_from == len(axes) or prod(space.shape[self._inner_from - 1 :]) <= WIDEST
        ):
            self._inner_from -= 1
        self._width = prod(space.shape[self._inner_from :])
        self.rows = prod(space.shape[: self._inner_from])

    def arguments(self, device: Device) -> tuple[Any, ...]:
        """The arguments of the kernel that describe the arcs."""
        with np.errstate(over="ignore"):
            scaled = np.minimum(np.where(np.isinf(self._epsilon), 0.0, self._epsilon) * UNITS, FAR / 2)
        units = np.append(np.where(np.isinf(self._epsilon), FAR, scaled.astype(np.int64)), FAR)
        kinds, leads_to, starts = map(device.upload, (self._kinds, self._leads_to, self._starts))
        sizes = len(self._axes), self._inner_from, self.rows, self._width
        changes = kinds, leads_to, starts, max(1, len(self._axis_of))
        return device.upload(self._axes.ravel()), *sizes, *changes, device.upload(units), max(1, len(self._epsilon))

    def across(self, values: Any, triples: Any, first: Any) -> _Across:
        """The triples of a set, decoded."""
        place = np.flatnonzero(triples)
        pair, cell = np.divmod(triples[place].astype(np.int64) - 1, max(1, len(self._epsilon)))
        low, high = ((values[side].astype(np.int64) - 2 * FAR) for side in np.divmod(pair, VALUES))
        z_source, z_target = (
            np.where(np.abs(one) == FAR, np.copysign(np.inf, one), one / UNITS) for one in (low, high)
        )
        source, change = np.divmod(first[place].astype(np.int64), max(1, len(self._axis_of)))
        axes = self._axes[np.array(self._axis_of, dtype=np.int64)[change]]
        position = source // axes[:, 1] % axes[:, 0]
        to = self._leads_to[self._starts[change] + position]
        target = source + (to - position) * axes[:, 1]
        return _Across(place, source, target, z_source, z_target, self._epsilon[cell])


def _concatenate(columns: list[Indices]) -> Indices:
    return np.concatenate([*columns, np.zeros(1, dtype=np.int64)])

"""The gpu engine: moves labels to the device, sweeps them there in whole numbers, and brings them back.

It sweeps what plain addition settles exactly: notions that add ε, start labels on the grid and not below 0, and pins
that do not fall. Everything else goes to another engine, which gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property, partial
from importlib.resources import files
from typing import Any

import numpy as np

from hetdp.device import Device, log_fallback
from hetdp.engines.contract import Engine, Growth, Operation, Roles
from hetdp.engines.gpu.plan import MOST_AXES, UNITS, Neighbours, each, launch_of, passes, reach_of, units_of
from hetdp.errors import DeviceError, UsageError
from hetdp.problem.decimals import LARGEST_EXACT, round_labels_down
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices, Mask, Space
from hetdp.theory.notion import Notion

MOST_LINKS = 2**31  # links are 32-bit numbers


@cache
def source() -> str:
    """The source of the kernels."""
    return files(__package__).joinpath("sweep.cu").read_text(encoding="utf-8")


class DeviceGrowth(Growth):
    """A growth whose links are found on first access, since sweeps do not need them."""

    def __init__(self, labels: Floats, find: Callable[[], Indices]) -> None:
        self.__dict__["labels"], self.__dict__["_find"] = labels, find

    @cached_property
    def links(self) -> Indices:
        """For each dataset the neighbour that its label came from; see the contract."""
        find: Callable[[], Indices] = self.__dict__.pop("_find")
        return find()


class GpuEngine:
    """Sweeps labels on a device.

    Args:
        device: the device.
        otherwise: loads the engine for what the device cannot sweep exactly.
        insist: whether an error of the device is raised; if not, the other engine goes on.
    """

    name = "gpu"

    def __init__(self, device: Device, otherwise: Callable[[], Engine], insist: bool = True) -> None:
        self.device = device
        self.insists = insist
        self._otherwise = otherwise

    def supports(self, space: Space, notion: Notion, operation: Operation) -> bool:
        """True for `grow` on product spaces under notions that add one ε for each edge."""
        if not isinstance(space, ProductSpace) or len(space.axes) > MOST_AXES:
            return False
        return notion.adds and notion.parameters == ("epsilon",) and operation == "grow"

    def grow(
        self, space: Space, notion: Notion, labels: Floats, roles: Roles | None = None, active: Mask | None = None
    ) -> Growth:
        """See the contract. `active` is ignored: propagating the other labels again changes nothing.

        Links are found on first access; until then the start labels must not be modified.
        """
        assert isinstance(space, ProductSpace)
        start = np.ascontiguousarray(labels, dtype=np.float64)
        try:
            grown = self._grow_on_device(space, start, roles)
        except DeviceError as refusal:
            if self.insists:
                raise
            log_fallback(refusal)
            grown = None
        if grown is None:
            return self._otherwise().grow(space, notion, labels, roles, active)
        return DeviceGrowth(grown, partial(self._links, space, notion, start, grown, roles))

    def settle(self, space: Space, notion: Notion, answers: Indices, pins: Floats | None = None) -> Growth:
        """Not supported: the fair search needs rows."""
        raise UsageError("the fair search on a GPU", "the gpu engine grows", "engine='auto' chooses another")

    def _grow_on_device(self, space: ProductSpace, start: Floats, roles: Roles | None) -> Floats | None:
        """The labels after sweeps on the device; None if these are not exact."""
        device = self.device
        labels, largest = upload_labels(device, start)
        if labels is None:
            return None
        first = labels if roles is None else upload_labels(device, start)[0]
        sweep(device, space, labels, upload_states(device, space))
        if not are_exact(device, space, labels, largest):
            return None
        if roles is not None and pins_fell(device, labels, first, device.upload(roles.astype(np.uint8))):
            return None
        return download_labels(device, labels)

    def _links(self, space: ProductSpace, notion: Notion, start: Floats, grown: Floats, roles: Roles | None) -> Indices:
        """The links of a growth."""
        device = self.device
        try:
            if space.size >= MOST_LINKS:
                raise DeviceError(f"links of {space.size:,} datasets", f"there are fewer than {MOST_LINKS:,}")
            labels, first = (upload_labels(device, each)[0] for each in (grown, start))
            own = device.empty(space.size, np.uint8)
            device.launch(source(), each(device, "mark_own", space.size, (labels, first, own, space.size)))
            del first
            return device.download(find_links(device, space, labels, own, upload_states(device, space), roles))
        except DeviceError as refusal:
            if self.insists:
                raise
            log_fallback(refusal)
            return self._otherwise().grow(space, notion, start, roles).links


# Steps of a growth, on arrays of the device ---------------------------------------------------------------------------


def upload_labels(device: Device, labels: Floats) -> tuple[Any, float]:
    """Labels in units on the device, and the largest finite one; None if one is off the grid, too large or below 0."""
    size, notes = len(labels), device.upload(np.zeros(2, dtype=np.int64))
    found = device.upload(labels.view(np.int64))
    device.launch(source(), each(device, "read_labels", size, (found, size, notes)))
    strange, largest = device.download(notes).tolist()
    return (None if strange else found), largest / UNITS


def download_labels(device: Device, labels: Any) -> Floats:
    """Labels or z in units as floats in this process; the array on the device is used up."""
    device.launch(source(), each(device, "write_labels", len(labels), (labels, len(labels))))
    return device.download(labels).view(np.float64)


def upload_states(device: Device, space: ProductSpace) -> Any:
    """The state of each dataset; one byte if ε does not depend on states."""
    return device.upload(np.zeros(1, dtype=np.uint8) if space.states is None else space.states)


def sweep(device: Device, space: ProductSpace, labels: Any, states: Any) -> None:
    """Lowers labels to their fixed point: once along each axis or, if ε depends on states, until none falls."""
    plan = passes(space, device.shared)
    fell = device.upload(np.zeros(1, dtype=np.int64))
    if space.state_count == 1:
        for one in plan:
            device.launch(source(), launch_of(one, device, labels, states, fell, False))
        return
    quiet, at = 0, 0
    while quiet < len(plan):
        fell = device.upload(np.zeros(1, dtype=np.int64))
        device.launch(source(), launch_of(plan[at], device, labels, states, fell, True))
        quiet = 1 if device.download(fell)[0] else quiet + 1
        at = (at + 1) % len(plan)


def are_exact(device: Device, space: ProductSpace, labels: Any, largest: float) -> bool:
    """True if all finite labels are exact as floats; only looks at them if the largest start does not tell."""
    if space.state_count == 1 and largest + reach_of(space) < LARGEST_EXACT:
        return True
    return not _check(device, labels, labels, None)[0]


def pins_fell(device: Device, labels: Any, start: Any, roles: Any) -> bool:
    """True if the label of a pinned dataset is below its start."""
    return bool(_check(device, labels, start, roles)[1])


def _check(device: Device, labels: Any, start: Any, roles: Any) -> list[int]:
    notes, size = device.upload(np.zeros(2, dtype=np.int64)), len(labels)
    has_roles = roles is not None
    arguments = (labels, start, roles if has_roles else notes, int(has_roles), size, notes)
    device.launch(source(), each(device, "check_labels", size, arguments))
    found: list[int] = device.download(notes).tolist()
    return found


def meet(device: Device, space: ProductSpace, notion: Notion, answers: Any, states: Any) -> tuple[Any, Any, float]:
    """Start labels of the balanced search, the mask of the boundary, and the largest finite label possible.

    A start label is the smallest one at which a dataset meets a neighbour of the other answer, on the grid.
    """
    neighbours = Neighbours.of(space)
    points = round_labels_down(
        np.array([notion.meet(one) if one < np.inf else np.inf for one in neighbours.tables.tolist()])
    )
    labels, boundary = device.empty(space.size, np.int64), device.empty(space.size, np.uint8)
    table = device.upload(np.append(units_of(points), 0))
    columns = *neighbours.stretch(), space.size, answers, states, table, labels, boundary
    arguments = *neighbours.arguments(device), *columns
    device.launch(source(), each(device, "meet_neighbours", space.size, arguments))
    return labels, boundary, float(np.max(points, initial=0.0, where=points < np.inf))


def grow_balanced(device: Device, space: ProductSpace, notion: Notion, answers: Any, states: Any) -> Any:
    """Labels of the balanced mechanism, larger is better, and the mask of the boundary; None if they are not exact."""
    labels, boundary, largest = meet(device, space, notion, answers, states)
    sweep(device, space, labels, states)
    return (labels, boundary) if are_exact(device, space, labels, largest) else None


def sign(device: Device, labels: Any, answers: Any) -> None:
    """Turns labels into z, in place."""
    device.launch(source(), each(device, "sign_labels", len(labels), (labels, answers, len(labels))))


def find_links(
    device: Device, space: ProductSpace, labels: Any, own: Any, states: Any, roles: Roles | None = None
) -> Any:
    """For each label that is not its own start, a neighbour that it came from; −1 for the others. No cycle is formed.

    Args:
        device: the device.
        space: the space.
        labels: the labels in units, larger is better.
        own: where they are their own start.
        states: the state of each dataset.
        roles: roles as in the contract.
    """
    neighbours, size = Neighbours.of(space), space.size
    tables, links = device.upload(np.append(units_of(neighbours.tables), 0)), device.empty(size, np.int32)
    flags = own if roles is None else device.upload(roles.astype(np.uint8))
    missing, tied = 1, 0
    while missing:
        notes = device.upload(np.zeros(1, dtype=np.int64))
        columns = labels, own, flags, int(roles is not None), states, tables, links, tied, notes
        arguments = *neighbours.arguments(device), size, *columns
        device.launch(source(), each(device, "find_links", size, arguments))
        before, missing = missing, int(device.download(notes)[0])
        assert not tied or missing < before, "a label that fell has no neighbour that holds it down"
        tied = 1
    return links

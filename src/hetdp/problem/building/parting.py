"""The files of one partition's graph: its ghosts, whom it tells what, its rows, and what a search goes along."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hetdp.problem.building.lookup import Lookup
from hetdp.problem.columns import distinct
from hetdp.problem.parts import Part
from hetdp.problem.space import Floats, Indices

Numbers = NDArray[np.int64]


def is_far(part: Part, numbers: Numbers) -> NDArray[np.bool_]:
    """Which datasets others own."""
    return (numbers < part.first) | (numbers >= part.first + part.size)


def ghosts_among(part: Part, *ends: Numbers) -> Numbers:
    """The datasets that others own, each once, in order."""
    return distinct(np.concatenate([numbers[is_far(part, numbers)] for numbers in ends]))


def placed(part: Part, ghosts: Numbers, numbers: Numbers) -> Indices:
    """Where datasets stand among own ones and ghosts."""
    before = int(np.searchsorted(ghosts, part.first))
    places = numbers - (part.first - before)
    if len(ghosts):
        far = np.flatnonzero(is_far(part, numbers))
        found = Lookup(ghosts).positions(numbers[far]).astype(np.int64)
        places[far] = np.where(found < before, found, found + part.size)
    return places


def write_cut(part: Part, source: Numbers, target: Numbers) -> None:
    """For each other partition, the own datasets that are its ghosts: those whose changes it is told."""
    count, width, pairs = len(part.offsets) - 1, max(part.size, 1), []
    for near, far in ((source, target), (target, source)):
        cut = np.flatnonzero(~is_far(part, near) & is_far(part, far))
        pairs.append(part.owners(far[cut]) * width + (near[cut] - part.first))
    keys = distinct(np.concatenate(pairs))
    receivers = keys // width
    part.save("cut_bounds", np.searchsorted(receivers, np.arange(count + 1)))
    part.save("cut_places", keys - receivers * width)


def write_rows(part: Part, name: str, indptr: Numbers, targets: Indices, columns: tuple[Floats, ...]) -> None:
    """Rows in compressed form."""
    part.save(f"{name}_indptr", indptr)
    part.save(f"{name}_targets", targets)
    for at, column in enumerate(columns):
        part.save(f"{name}_{at}", column)

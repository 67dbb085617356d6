"""What a search over partitions leaves: values and links of a mechanism, and how far pins were moved."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetdp.errors import Fault
from hetdp.mechanism.compatibility import drops
from hetdp.mechanism.limits import Limits
from hetdp.problem.findings import KEPT
from hetdp.problem.local import LocalGraph
from hetdp.problem.parts import Part
from hetdp.problem.space import Floats

FALLEN = 100  # pins that a partition tells of at a time
Searches = dict[str, tuple[int, ...]]  # by name; for each partition, the round in which it was last at work


def labels_of(part: Part, search: str, latest: int) -> Floats:
    """The labels that a search found at a partition's own datasets."""
    found: Floats = part.load(f"{search}/labels-{latest}")[LocalGraph(part).own]
    return found


def links_of(part: Part, search: str, latest: int) -> Any:
    """The links, as numbers of datasets."""
    graph = LocalGraph(part)
    return graph.numbers(part.load(f"{search}/links-{latest}")[graph.own])


def finish_extension(part: Part, search: str, latest: int, pins: str, name: str) -> float:
    """Writes the mechanism that one search found; returns how far a pin was contradicted, at most."""
    z, answers, labels = part.load(pins), part.load("answers"), labels_of(part, search, latest)
    ones, pinned = answers == 1, ~np.isnan(z)
    part.save(f"{name}/z", np.where(pinned, z, np.where(ones, labels, -labels)) + 0.0)
    part.save(f"{name}/pinned", pinned)
    part.save(f"{name}/links", np.where(pinned, -1, links_of(part, search, latest)))
    return float(np.max(drops(part.load(f"{search}/start"), labels)[pinned], initial=0.0))


def finish_closing(part: Part, search: str, latest: int, pins: str, sign: float, name: str) -> None:
    """Writes pins closed by a search."""
    closed = sign * labels_of(part, search, latest)
    part.save(name, np.where(np.isnan(part.load(pins)), np.nan, closed))


def worst_drop(part: Part, search: str, latest: int, given: str) -> float:
    """How far a search from all pins lowered a given one, at most."""
    return float(np.max(drops(part.load(given), labels_of(part, search, latest)), initial=0.0))


def fallen_pins(
    part: Part, search: str, latest: int, given: str, least: float, skipped: int
) -> list[tuple[float, int]]:
    """The next pins that a search lowered by more than that, and how far: those that fell furthest come first."""
    moves = drops(part.load(given), labels_of(part, search, latest))
    fallen = np.flatnonzero(moves > least)
    next_ones = fallen[np.argsort(-moves[fallen], kind="stable")][skipped : skipped + FALLEN]
    return list(zip(moves[next_ones].tolist(), (part.first + next_ones).tolist(), strict=True))


def moved_from(part: Part, given: str, pins: str) -> float:
    """How far pins were moved from the given ones, at most."""
    one, other = part.load(given), part.load(pins)
    return float(np.max(np.maximum(drops(one, other), drops(-one, -other)), initial=0.0))


def finish_balanced(part: Part, search: str, latest: int, name: str, given: str | None, limits: Searches) -> None:
    """Writes the boundary values of the balanced mechanism, moved to where given values allow it."""
    labels = labels_of(part, search, latest)
    z = np.where(part.load("answers") == 1, labels, -labels) + 0.0
    part.save(name, chosen(part, Limits.of(*found_by(part, limits)).between(z) if limits else z, given))


def found_by(part: Part, searches: Searches) -> list[Floats]:
    """The labels that several searches found at a partition's own datasets."""
    return [labels_of(part, search, latest[part.number]) for search, latest in searches.items()]


def chosen(part: Part, z: Floats, given: str | None) -> Floats:
    """Values for the boundary, beside those that are given."""
    found = np.where(part.load("boundary"), z, np.nan)
    return found if given is None else np.where(np.isnan(part.load(given)), found, part.load(given))


def finish_witness(part: Part, search: str, latest: int, name: str) -> None:
    """Writes labels and links of a search as a path through them needs them."""
    part.save(f"{name}/z", labels_of(part, search, latest))
    part.save(f"{name}/links", links_of(part, search, latest))


def free_boundary(part: Part, pins: str) -> tuple[list[int], int]:
    """The first datasets of the boundary without a value, and how many there are."""
    free = np.flatnonzero(part.load("boundary") & np.isnan(part.load(pins)))
    return (free[:KEPT] + part.first).tolist(), len(free)


def boundary_fault(label: str) -> Fault:
    """A boundary dataset without a value."""
    rule = "every dataset with a neighbour of the other answer has a value"
    return Fault(
        "boundary dataset without p", f"dataset {label}", "", rule, "hetdp.design chooses values where there are none"
    )

"""Where searches over partitions begin: start labels and roles, written by each partition for its own datasets."""

from __future__ import annotations

import numpy as np

from hetdp.engines.contract import Role
from hetdp.mechanism.balanced import meets
from hetdp.problem.grid import floored_labels
from hetdp.problem.local import LocalGraph
from hetdp.problem.parts import Part
from hetdp.theory.catalogue import NOTIONS


def start_extension(part: Part, search: str, pins: str) -> None:
    """One search over both answers, from all pins, as `extension.search_from` has it."""
    z, answers = part.load(pins), part.load("answers")
    ones, pinned = answers == 1, ~np.isnan(z)
    part.save(f"{search}/start", np.where(pinned, np.where(ones, z, -z), np.inf))
    roles = np.where(pinned, Role.PINNED, np.where(ones, Role.FREE_1, Role.FREE_2))
    part.save(f"{search}/roles", roles.astype(np.uint8))


def start_closing(part: Part, search: str, pins: str, sign: float) -> None:
    """Over all edges from all pins: what the greatest compatible values below (or, with −1, above) come from."""
    z = part.load(pins)
    part.save(f"{search}/start", np.where(np.isnan(z), np.inf, sign * z))


def start_balanced(part: Part, search: str, notion: str, gridded: bool) -> None:
    """Over all edges from where two meet, at both ends of every edge between the answers."""
    graph = LocalGraph(part)
    answers = graph.gather("answers")
    start = np.full(graph.size, np.inf)
    meets(graph.edge_blocks(), answers, NOTIONS[notion], start)
    part.save(f"{search}/start", floored_labels(start[graph.own]) if gridded else start[graph.own])

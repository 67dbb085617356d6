"""What a mechanism claims of the datasets of one partition: values, pins and links, with the values of its ghosts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetdp.problem.local import LocalGraph
from hetdp.problem.parts import Part
from hetdp.problem.space import Floats, Indices, Mask


class Claimed(NamedTuple):
    """What a mechanism claims of one partition's datasets and its ghosts."""

    graph: LocalGraph
    z: Floats
    better: Floats
    pinned: Mask
    links: Indices

    @property
    def skipped(self) -> Mask:
        """Where no link is looked at: pins, and ghosts, whose owners do it."""
        skipped = np.ones(self.graph.size, dtype=np.bool_)
        skipped[self.graph.own] = self.pinned[self.graph.own]
        return skipped


def claimed(part: Part, name: str) -> Claimed:
    """The values of a mechanism of that name, with those of ghosts."""
    graph = LocalGraph(part)
    z, answers = graph.gather(f"{name}/z"), graph.gather("answers")
    links = np.full(graph.size, -1, dtype=np.int64)
    links[graph.own] = graph.places(part.load(f"{name}/links"))
    better = np.negative(z, out=z.copy(), where=answers == 2)
    return Claimed(graph, z, better, graph.gather(f"{name}/pinned"), links)

"""What an engine is: something that grows the tightest bounds over a space. Everything else is written once, above.

`grow` returns the one fixed point of

    label(v) = min( start(v), min over the edges (u, v) that take part of step(label(u), edge) )

in which every label below its start is held up by a chain of edges that ends at a start. With a monotone step that is
never below its argument, every order of relaxing reaches it, so all engines agree bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hetdp.problem.space import Floats, Indices, Mask, Space
from hetdp.theory.notion import Notion

Operation = Literal["grow", "settle"]
Roles = NDArray[np.uint8]


class Role(IntEnum):
    """What part a dataset plays in a search: an edge takes part unless both its ends are pinned.

    The label of a dataset is an upper bound on z where its answer is 1, and on −z (the mirrored search) where it is 2.
    One search serves both answers, since no edge joins a free dataset to a dataset of the other answer: whoever gives
    roles makes sure that FREE_1 and FREE_2 are not neighbours, as they are not when the boundary is pinned.
    """

    PINNED = 0
    FREE_1 = 1
    FREE_2 = 2


@dataclass(frozen=True)
class Growth:
    """What `grow` returns.

    Attributes:
        labels: the fixed point, one for each dataset.
        links: for each dataset the neighbour that its label came from; −1 where the label is its own start.
            The links form no cycle.
    """

    labels: Floats
    links: Indices

    @property
    def changed(self) -> Mask:
        """Which labels fell below their start."""
        return np.asarray(self.links >= 0)


class Engine(Protocol):
    """An engine says what it supports; the registry chooses one.

    `settle(space, notion, answers)`, the fair search, is the second operation of this contract. It arrives together
    with the objectives; until then no engine says that it supports it.
    """

    name: str

    def supports(self, space: Space, notion: Notion, operation: Operation) -> bool:
        """Whether this engine can carry out the operation on such a space."""

    def grow(
        self, space: Space, notion: Notion, labels: Floats, roles: Roles | None = None, active: Mask | None = None
    ) -> Growth:
        """The smallest labels reachable from the start labels.

        Args:
            space: the datasets and their neighbours.
            notion: what an edge allows.
            labels: start labels, +inf where there is none; not changed.
            roles: a Role for each dataset; None: all edges take part, and labels bound z from above.
            active: the datasets whose start labels are news to their neighbours; None: all of them. A search that
                resumes after some labels fell passes only those.
        """

"""What an engine is: something that grows the tightest bounds over a space. Everything else is written once, above.

`grow` returns the one fixed point of

    label(v) = min( start(v), min over the edges (u, v) that take part of step(label(u), edge) )

in which every label below its start is held up by a chain of edges that ends at a start. With a monotone step that is
never below its argument, every order of relaxing reaches it, so all engines agree bit for bit.

`settle` returns the fair labels: the worst-off dataset is as well off as it can be, then the next, and so on. The least
of all bounds is settled, over and over; whichever comes first among equals, the labels are the same, so here too all
engines agree bit for bit (docs/theory/fair-search.md).
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
    """What a search returns; this describes `grow`, and `settle` says where it differs.

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
    """An engine says what it supports; the registry chooses one."""

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

    def settle(self, space: Space, notion: Notion, answers: Indices, pins: Floats | None = None) -> Growth:
        """The fair mechanism: sorted from the worst, no private mechanism with these pins has larger labels.

        Args:
            space: the datasets and their neighbours.
            notion: what an edge allows.
            answers: 1 or 2 for each dataset.
            pins: signed labels of the datasets whose values are given, NaN where free; None: all are free.

        Labels are signed so that larger is better: z where the answer is 1, −z where it is 2. Each is at most its exact
        bound; +inf (error 0) where nothing bounds it. Pins come back as they are: whether they can be extended at all
        is for others to judge, and a result from pins that cannot is not private.

        The link of a free dataset is the neighbour that bounds it, −1 where none does; any such neighbour, so engines
        may differ. Two of different answers that settle together, at the label where they meet, are each other's links.
        Without pins every chain of links ends at such a pair. With pins, it may end at a pin, or lead to a dataset of
        the other answer through which the bound of a pin came.
        """

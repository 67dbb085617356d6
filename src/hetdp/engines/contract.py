"""The contract of engines: an engine computes the tightest bounds over a space. Callers contain everything else.

`grow` returns the unique fixed point of

    label(v) = min( start(v), min over the edges (u, v) that take part of step(label(u), edge) )

in which every label below its start is justified by a chain of edges that ends at a start. If the step is monotone and
never below its argument, every order of relaxation reaches this fixed point, so all engines agree bit for bit.

`settle` returns the fair labels: the worst-off dataset is as well off as possible, then the next, and so on. It
repeatedly settles the smallest bound. The order among equal bounds does not affect the labels, so here, too, all
engines agree bit for bit (docs/theory/fair-search.md). `demands` computes the bounds that pins impose on it.
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
    """The role of a dataset in a search. An edge takes part unless both its ends are pinned.

    The label of a dataset is an upper bound on z if its answer is 1, and on −z (the mirrored search) if it is 2. One
    search serves both answers, since no edge joins a free dataset to a free one of the other answer. The caller must
    ensure that no FREE_1 is a neighbour of a FREE_2, which holds when the boundary is pinned.
    """

    PINNED = 0
    FREE_1 = 1
    FREE_2 = 2


@dataclass(frozen=True)
class Growth:
    """The result of a search, as `grow` returns it; `settle` documents where its result differs.

    Attributes:
        labels: the fixed point, one label per dataset.
        links: for each dataset the neighbour that its label came from; −1 if the label is its own start.
            The links form no cycle.
    """

    labels: Floats
    links: Indices

    @property
    def changed(self) -> Mask:
        """A mask of the labels that fell below their start."""
        return np.asarray(self.links >= 0)


class Engine(Protocol):
    """An engine; the registry chooses one that supports an operation."""

    name: str

    def supports(self, space: Space, notion: Notion, operation: Operation) -> bool:
        """True if this engine supports the operation on the space with the notion."""

    def grow(
        self, space: Space, notion: Notion, labels: Floats, roles: Roles | None = None, active: Mask | None = None
    ) -> Growth:
        """The smallest labels reachable from the start labels.

        Args:
            space: the datasets and their neighbours.
            notion: the notion of privacy.
            labels: start labels, +inf if a dataset has none; not modified.
            roles: a Role for each dataset. If None, all edges take part, and labels bound z from above.
            active: a mask of the datasets whose start labels must be propagated; None for all of them. A search that
                resumes after some labels fell passes only those.
        """

    def settle(self, space: Space, notion: Notion, answers: Indices, pins: Floats | None = None) -> Growth:
        """The fair mechanism: sorted from the worst, no private mechanism with these pins has larger labels.

        Args:
            space: the datasets and their neighbours.
            notion: the notion of privacy.
            answers: 1 or 2 for each dataset.
            pins: signed labels of the datasets with given values, NaN for free datasets; None if all are free.

        Labels are signed so that larger is better: z if the answer is 1, −z if it is 2. Each is at most its exact
        bound, or +inf (error 0) if nothing bounds it. Pins are returned unchanged. The caller must check that they can
        be extended: otherwise the result is not private.

        The link of a free dataset is a neighbour that bounds it, −1 if there is none. There may be several such
        neighbours, so engines may differ. Two datasets of different answers that settle together, at the label where
        they meet, are each other's links. Without pins every chain of links ends at such a pair. With pins, it may end
        at a pin, or lead to a dataset of the other answer through which the bound of a pin came.
        """


# Bounds that pins impose on the fair search ---------------------------------------------------------------------------
#
# A pin bounds free datasets over any path, including paths through datasets of the other answer: a very good pin forces
# its neighbours to be good, and their neighbours across the boundary to be bad. So there are two growths, one upward
# and one downward. docs/theory/fair-search.md has the proofs.


@dataclass(frozen=True)
class Demands:
    """The start of the fair search. All labels are signed so that larger is better.

    Attributes:
        roles: a Role for each dataset.
        most: the largest label that the pins allow; at a pin, its own label.
        least: the smallest label that the pins allow, −inf at pins; None without pins.
        links: the neighbour that `most` came from; −1 if there is none.
    """

    roles: Roles
    most: Floats
    least: Floats | None
    links: Indices

    def finish(self, labels: Floats, links: Indices) -> Growth:
        """The result of the search, raised where rounding left a label below `least`."""
        return Growth(labels if self.least is None else np.maximum(labels, self.least), links)


def demands(engine: Engine, space: Space, notion: Notion, answers: Indices, pins: Floats | None) -> Demands:
    """The bounds that pins impose; unbounded if there are no pins."""
    roles = answers.astype(np.uint8)  # FREE_1 is 1 and FREE_2 is 2
    if pins is None or np.isnan(pins).all():
        return Demands(roles, np.full(space.size, np.inf), None, np.full(space.size, -1, dtype=np.int32))
    ones, free = answers == 1, np.isnan(pins)
    z = np.where(ones, pins, -pins)
    above, below = (engine.grow(space, notion, np.where(free, np.inf, start)) for start in (z, -z))
    return Demands(
        np.where(free, roles, Role.PINNED).astype(np.uint8),
        np.where(free, np.where(ones, above.labels, below.labels), pins) + 0.0,
        np.where(free, -np.where(ones, below.labels, above.labels), -np.inf) + 0.0,
        np.where(free, np.where(ones, above.links, below.links), -1),
    )

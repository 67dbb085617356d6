"""The bounds that pins impose on the fair search, shared by all engines: two growths, one upward and one downward.

A pin bounds free datasets over any path, including paths through datasets of the other answer: a very good pin forces
its neighbours to be good, and their neighbours across the boundary to be bad. docs/theory/fair-search.md has the
proofs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetdp.engines.contract import Engine, Growth, Role, Roles
from hetdp.problem.space import Floats, Indices, Space
from hetdp.theory.notion import Notion


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

    def kept(self, labels: Floats, links: Indices) -> Growth:
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

"""The reference engine: supports every space and notion. Every other engine must agree with it bit for bit."""

from __future__ import annotations

import numpy as np

from hetdp.engines.contract import Growth, Operation, Role, Roles, demands
from hetdp.engines.reference.grow import grow
from hetdp.engines.reference.settle import settle
from hetdp.problem.space import Floats, Indices, Mask, Space
from hetdp.theory.notion import Notion


class ReferenceEngine:
    """The engine in plain Python, for reading and for small problems."""

    name = "reference"

    def supports(self, space: Space, notion: Notion, operation: Operation) -> bool:
        """True: everything is supported."""
        return True

    def grow(
        self, space: Space, notion: Notion, labels: Floats, roles: Roles | None = None, active: Mask | None = None
    ) -> Growth:
        """See the contract."""
        labels, links = labels + 0.0, np.full(space.size, -1, dtype=np.int32 if space.size < 2**31 else np.int64)
        roles = np.full(space.size, Role.FREE_1, dtype=np.uint8) if roles is None else roles
        starts = np.flatnonzero(labels < np.inf if active is None else active)
        queue = list(zip(labels[starts].tolist(), starts.tolist(), strict=True))
        grow(space, notion, labels.data, roles.data, links.data, queue)
        return Growth(labels, links)

    def settle(self, space: Space, notion: Notion, answers: Indices, pins: Floats | None = None) -> Growth:
        """See the contract."""
        start = demands(self, space, notion, answers, pins)
        labels, links = start.most.copy(), start.links.astype(np.int64)
        settle(space, notion, start.roles, labels.data, links.data)
        return start.finish(labels, links)

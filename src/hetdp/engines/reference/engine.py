"""The reference engine: supports every space and notion. Every other engine must agree with it bit for bit."""

from __future__ import annotations

import numpy as np

from hetdp.engines.contract import Growth, Operation, Role, Roles
from hetdp.engines.demands import demands
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
        values = (labels + 0.0).tolist()
        starts = np.isfinite(labels) | np.isneginf(labels) if active is None else active
        queue = [(values[dataset], dataset) for dataset in np.flatnonzero(starts).tolist()]
        roles_list = [int(Role.FREE_1)] * len(values) if roles is None else roles.tolist()
        links = grow(space, notion.step, values, roles_list, queue)
        return Growth(np.array(values, dtype=np.float64), np.array(links, dtype=np.int64))

    def settle(self, space: Space, notion: Notion, answers: Indices, pins: Floats | None = None) -> Growth:
        """See the contract."""
        start = demands(self, space, notion, answers, pins)
        values, links = start.most.tolist(), start.links.tolist()
        settle(space, notion, start.roles.tolist(), values, links)
        return start.kept(np.array(values, dtype=np.float64), np.array(links, dtype=np.int64))

"""The CPU engine: explicit graphs, any notion with one parameter per edge."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from hetdp.engines.contract import Growth, Operation, Role, Roles
from hetdp.engines.cpu.buckets import DESK_SIZE, pool_size
from hetdp.engines.cpu.compile import compiled_for, compiled_sides
from hetdp.engines.cpu.grow import IDLE
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.space import Floats, Indices, Mask, Space
from hetdp.theory.notion import Notion

WORTH_A_THREAD = 1 << 12  # starting one costs as much as settling some thousand datasets


class CpuEngine:
    """Label-setting search, one thread for each answer."""

    name = "cpu"

    def supports(self, space: Space, notion: Notion, operation: Operation) -> bool:
        """Only growing, and only on graphs that are stored."""
        return operation == "grow" and isinstance(space, DatasetGraph) and notion.parameters == ("epsilon",)

    def grow(
        self, space: Space, notion: Notion, labels: Floats, roles: Roles | None = None, active: Mask | None = None
    ) -> Growth:
        """The smallest labels reachable from the start labels; see the contract."""
        assert isinstance(space, DatasetGraph)
        labels = np.add(labels, 0.0, dtype=np.float64)  # a copy in which −0.0 is 0.0, as the order of keys needs
        queued = labels < np.inf if active is None else (labels < np.inf) & active
        starts = np.flatnonzero(queued).astype(space.targets.dtype)
        links = np.full(space.size, -1, dtype=space.targets.dtype)
        flags = np.full(space.size, Role.FREE_1, dtype=np.uint8) if roles is None else roles.astype(np.uint8)
        search = compiled_for(notion)
        arrays = space.indptr, space.targets, space.epsilon, labels, labels.view(np.int64), flags, links
        groups = [starts] if roles is None else split_by_answer(space, flags, starts)
        flags[(labels < np.inf) & ~queued] |= IDLE
        def run(group: Indices) -> None:
            entries = len(space.targets) + len(group)
            pool = np.empty(pool_size(entries), dtype=space.targets.dtype)
            search(*arrays, group, np.zeros(DESK_SIZE, dtype=np.int64), pool)

        if min(len(group) for group in groups) == 0 or np.count_nonzero(flags) < WORTH_A_THREAD:
            run(np.concatenate(groups))
        else:
            with ThreadPoolExecutor(len(groups)) as pool:
                list(pool.map(run, groups))
        return Growth(labels, links)


def split_by_answer(space: DatasetGraph, flags: Roles, starts: Indices) -> list[Indices]:
    """The starts of the search for each answer, which touch different datasets."""
    side = np.zeros(len(starts), dtype=np.uint8)
    compiled_sides()(space.indptr, space.targets, flags, starts, side)
    return [starts[side == Role.FREE_1], starts[side == Role.FREE_2]]

"""Which datasets touch the other answer or a pin, and where two of different answers would meet."""

from __future__ import annotations

from hetdp.engines.contract import Roles
from hetdp.engines.cpu.grow import ROLE, Columns, edge_of, quick, step
from hetdp.engines.cpu.settle import MIXED
from hetdp.problem.space import Floats, Indices


def meet(*edge: float) -> float:
    """Stands for the meeting point of a notion."""
    raise NotImplementedError


def turned_edge_of(columns: Columns, arc: int) -> tuple[float, ...]:
    """Stands for the parameters of an arc as they are seen from its target."""
    raise NotImplementedError


def mark(indptr: Indices, targets: Indices, flags: Roles, first: int, last: int) -> None:
    """Marks those of some datasets that are mixed; it looks at every arc of theirs, so threads take a part each."""
    for dataset in range(first, last):
        role = flags[dataset] & ROLE
        for arc in range(indptr[dataset], indptr[dataset + 1]):
            if flags[targets[arc]] & ROLE != role and role != 0:
                flags[dataset] |= MIXED


def meetings(
    indptr: Indices,
    targets: Indices,
    columns: Columns,
    labels: Floats,
    flags: Roles,
    any_worse: bool,
    most: Floats,
    ends: Indices,
    points: Floats,
) -> int:
    """Lists the meetings of mixed datasets that may come about: pairs of ends, and their points.

    A dataset is never better than `most`: than its label, and than step(0) from a neighbour of the other answer that is
    no worse than a coin. A meeting above that of either end comes too late for that end. `any_worse` says whether some
    label is below zero.
    """
    for dataset in range(len(flags)):
        if flags[dataset] & MIXED:
            role, limit = flags[dataset] & ROLE, float(labels[dataset])
            for arc in range(indptr[dataset], indptr[dataset + 1]):
                target = targets[arc]
                if flags[target] & ROLE == 3 - role and (not any_worse or labels[target] >= 0.0):
                    limit = min(limit, step(0.0, *turned_edge_of(columns, arc)))
            most[dataset] = limit
    found = 0
    for dataset in range(len(flags)):
        if flags[dataset] & MIXED:
            role = flags[dataset] & ROLE
            for arc in range(indptr[dataset], indptr[dataset + 1]):
                target = targets[arc]
                if dataset < target and flags[target] & ROLE == 3 - role:
                    limit = float(min(most[dataset], most[target]))
                    edge = edge_of(columns, arc)
                    if quick(-limit, *edge) > limit:
                        continue
                    point = meet(*edge) + 0.0
                    if point <= limit:
                        ends[2 * found], ends[2 * found + 1] = dataset, target
                        points[found] = point
                        found += 1
    return found

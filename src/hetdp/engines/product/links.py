"""Links, found afterwards: for each label that fell, a neighbour whose step gives it; and no cycle among them.

A neighbour with a smaller label can never be part of a cycle. Labels that only equal ones hold down (ε = 0, or p = 0)
are linked to a neighbour that is linked already, or that kept its start: so every chain of links ends at a start.
"""

from __future__ import annotations

from hetdp.engines.contract import Roles
from hetdp.engines.product.grow import INFINITE, step
from hetdp.problem.space import Floats, Indices

LENGTH, LOW, ROWS, TABLE, STATES = range(5)  # of an axis: length, distance, where its moves and its table begin, states


def find_links(
    labels: Floats,
    start: Floats,
    roles: Roles,
    states: Roles,
    axes: Indices,
    indptr: Indices,
    targets: Indices,
    kinds: Indices,
    tables: Floats,
    links: Indices,
    first: int,
    last: int,
) -> int:
    """Sets the links to neighbours with a smaller label, from one dataset to another; how many are still missing."""
    missing = 0
    for dataset in range(first, last):
        links[dataset] = -1
        if labels[dataset] < start[dataset]:
            links[dataset] = holder(
                labels, start, roles, states, axes, indptr, targets, kinds, tables, links, dataset, False
            )
            missing += links[dataset] < 0
    return missing


def link_ties(
    labels: Floats,
    start: Floats,
    roles: Roles,
    states: Roles,
    axes: Indices,
    indptr: Indices,
    targets: Indices,
    kinds: Indices,
    tables: Floats,
    links: Indices,
    pending: Indices,
) -> int:
    """Links what can be linked of the pending datasets, and moves up the others; how many these are."""
    kept = 0
    for place in range(len(pending)):
        dataset = pending[place]
        links[dataset] = holder(
            labels, start, roles, states, axes, indptr, targets, kinds, tables, links, dataset, True
        )
        if links[dataset] < 0:
            pending[kept] = dataset
            kept += 1
    return kept


def holder(
    labels: Floats,
    start: Floats,
    roles: Roles,
    states: Roles,
    axes: Indices,
    indptr: Indices,
    targets: Indices,
    kinds: Indices,
    tables: Floats,
    links: Indices,
    dataset: int,
    tied: bool,
) -> int:
    """A neighbour whose step gives a dataset its label; −1 if there is none of the kind that is looked for."""
    label = float(labels[dataset])
    for axis in range(len(axes)):
        length, low, count = axes[axis, LENGTH], axes[axis, LOW], axes[axis, STATES]
        position = dataset // low % length
        row = axes[axis, ROWS] + position
        for arc in range(indptr[row], indptr[row + 1]):
            other = dataset + (targets[arc] - position) * low
            beside = float(labels[other])
            if beside > label or (beside == label) != tied:
                continue
            if tied and labels[other] < start[other] and links[other] < 0:
                continue
            place = axes[axis, TABLE] + kinds[arc] * count * count
            if count > 1:
                place += states[other] * count + states[dataset]
            epsilon = float(tables[place])
            if epsilon == INFINITE:
                continue
            if len(roles) and roles[other] == 0 and roles[dataset] == 0:
                continue
            if step(beside, epsilon) + 0.0 == label:
                return other
    return -1

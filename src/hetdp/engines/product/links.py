"""Finds the links of a product growth afterwards: for each label that fell, a neighbour whose step gives it.

`flat` packs all axes of a product into a few arrays, for kernels that visit every neighbour of some datasets.
`find_links` links to neighbours with smaller labels, and `link_ties` to neighbours with equal ones, without cycles. If
labels were grown by plain addition, `link_row` and its companions do the work of `find_links`, row by row. All of them
take a mask of the datasets whose label is their own start (`own`), which need no link.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hetdp.engines.contract import Roles
from hetdp.engines.product.grow import INFINITE, step
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.space import Floats, Indices, Mask

LENGTH, LOW, ROWS, TABLE, STATES = range(5)  # of an axis: length, distance, start of its moves and its table, states
PIECE = 1 << 14  # datasets processed together, axis by axis


def flat(space: ProductSpace) -> tuple[Indices, Indices, Indices, Indices, Floats]:
    """All axes in a few arrays: the properties of each axis, and concatenated moves and tables."""
    every = [space.lines(axis) for axis in range(len(space.axes))]
    axes, rows, arcs, table = list[list[int]](), [np.zeros(1, dtype=np.int64)], 0, 0
    row = 1
    for lines in every:
        axes.append([lines.length, lines.low, row, table, lines.epsilon.shape[1]])
        rows.append(lines.moves.indptr + arcs)
        row, arcs, table = row + lines.length + 1, arcs + len(lines.moves.targets), table + lines.epsilon.size
    whole = [np.zeros(0, dtype=np.int64)]
    return (
        np.array(axes, dtype=np.int64).reshape(-1, 5),
        np.concatenate(rows),
        np.concatenate([*whole, *(lines.moves.targets for lines in every)]),
        np.concatenate([*whole, *(lines.moves.kinds for lines in every)]),
        np.concatenate([np.empty(0), *(lines.epsilon.ravel() for lines in every)]),
    )


# Kernels --------------------------------------------------------------------------------------------------------------


WANTED = -2  # marks a link that is not found yet


def find_links(
    labels: Floats,
    own: Mask,
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
    """Links a range of datasets to neighbours with smaller labels; returns the number of missing links."""
    for dataset in range(first, last):
        links[dataset] = WANTED if labels[dataset] < INFINITE and not own[dataset] else -1
    for axis in range(len(axes)):
        length, low = axes[axis, LENGTH], axes[axis, LOW]
        position, within = first // low % length, first % low
        for dataset in range(first, last):
            if links[dataset] == WANTED:
                found = find_link(
                    labels,
                    own,
                    roles,
                    states,
                    axes,
                    indptr,
                    targets,
                    kinds,
                    tables,
                    links,
                    dataset,
                    axis,
                    position,
                    False,
                )
                links[dataset] = found if found >= 0 else WANTED
            within += 1
            if within == low:
                within, position = 0, position + 1
                if position == length:
                    position = 0
    missing = 0
    for dataset in range(first, last):
        if links[dataset] == WANTED:
            links[dataset] = -1
            missing += 1
    return missing


def link_ties(
    labels: Floats,
    own: Mask,
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
    """Links pending datasets to equal labels where possible; moves the others to the front and returns their number."""
    kept = 0
    for place in range(len(pending)):
        dataset = pending[place]
        for axis in range(len(axes)):
            position = dataset // axes[axis, LOW] % axes[axis, LENGTH]
            if links[dataset] < 0:
                links[dataset] = find_link(
                    labels,
                    own,
                    roles,
                    states,
                    axes,
                    indptr,
                    targets,
                    kinds,
                    tables,
                    links,
                    dataset,
                    axis,
                    position,
                    True,
                )
        if links[dataset] < 0:
            pending[kept] = dataset
            kept += 1
    return kept


def find_link(
    labels: Floats,
    own: Mask,
    roles: Roles,
    states: Roles,
    axes: Indices,
    indptr: Indices,
    targets: Indices,
    kinds: Indices,
    tables: Floats,
    links: Indices,
    dataset: int,
    axis: int,
    position: int,
    tied: bool,
) -> int:
    """A neighbour along one axis, with a smaller or (`tied`) equal label, whose step gives a label; −1 if none."""
    label, count = float(labels[dataset]), axes[axis, STATES]
    row = axes[axis, ROWS] + position
    for arc in range(indptr[row], indptr[row + 1]):
        other = dataset + (targets[arc] - position) * axes[axis, LOW]
        beside = float(labels[other])
        if beside > label or (beside == label) != tied:
            continue
        if tied and not own[other] and links[other] < 0:
            continue
        place = axes[axis, TABLE] + kinds[arc] * count * count
        if count > 1:
            place += states[other] * count + states[dataset]
        epsilon = float(tables[place])
        if epsilon == INFINITE or (len(roles) and roles[other] == 0 and roles[dataset] == 0):
            continue
        if step(beside, epsilon) + 0.0 == label:
            return int(other)
    return -1


# Links by plain addition, in rows; no pin fell ------------------------------------------------------------------------


def mark_pending(columns: Any, begin: int, end: int) -> None:
    """Marks the datasets of a block whose label came from a neighbour."""
    labels, own, links = columns
    for at in range(begin, end):
        links[at] = WANTED if (labels[at] < INFINITE) & (not own[at]) else -1


def lacks_links(columns: Any, at: int, shift: int, width: int) -> bool:
    """True if some dataset of a row has no link yet."""
    links = columns[2][at : at + width]
    found = False
    for i in range(width):
        found |= links[i] == WANTED
    return found


def link_row(columns: Any, at: int, shift: int, width: int, epsilon: Floats) -> None:
    """Links the datasets of a row to their neighbours with smaller labels, if the step is tight."""
    here, beside = columns[0][at : at + width], columns[0][at + shift : at + shift + width]
    links = columns[2][at : at + width]
    for i in range(width):
        tight = (beside[i] + epsilon[i] == here[i]) & (beside[i] < here[i]) & (links[i] == WANTED)
        links[i] = at + shift + i if tight else links[i]


def count_missing(columns: Any, begin: int, end: int) -> int:
    """The number of missing links in a block, which are marked no more."""
    links, missing = columns[2], 0
    for at in range(begin, end):
        missing += links[at] == WANTED
        links[at] = max(links[at], -1)
    return missing


def sign_labels(labels: Floats, answers: Answers) -> None:
    """Turns labels, where larger is better, into z: minus the label where the answer is 2, and never −0.0."""
    for at in range(len(labels)):
        labels[at] = labels[at] if answers[at] == 1 else 0.0 - labels[at]

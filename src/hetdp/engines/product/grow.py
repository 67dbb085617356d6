"""Kernels that relax one axis in the general case: any start labels, any tables of ε, and pinned datasets.

They are plain Python and also run uncompiled. When they are compiled, the functions of a notion replace the
placeholders `step` and `quick`, or plain addition replaces `relax`.
"""

from __future__ import annotations

from hetdp.engines.contract import Roles
from hetdp.problem.space import Floats, Indices

INFINITE = float("inf")
SHORTEST_VECTOR = 8  # shortest row for which vectorized code pays off


def step(label: float, epsilon: float) -> float:
    """Placeholder for the step of a notion."""
    raise NotImplementedError


def quick(label: float, epsilon: float) -> float:
    """Placeholder for the quick guess of a notion."""
    raise NotImplementedError


def relax_lines(
    labels: Floats,
    roles: Roles,
    states: Roles,
    table: Floats,
    state_count: int,
    indptr: Indices,
    targets: Indices,
    kinds: Indices,
    length: int,
    low: int,
    once: bool,
    first: int,
    last: int,
    begin: int,
    end: int,
) -> bool:
    """Lowers labels along an axis until each line is at its fixed point; returns True if any label fell.

    Args:
        labels: labels of all datasets.
        roles: roles of all datasets; empty if all edges take part.
        states: states of all datasets; empty if ε does not depend on them.
        table: ε by kind, state and state, flattened.
        state_count: number of states in the table.
        indptr: start of the moves from each position.
        targets: target position of each move.
        kinds: kind of each move.
        length: number of positions on the axis.
        low: distance between neighbouring positions.
        once: True if going up and down once is enough, as on a path.
        first: first line of the part.
        last: line after the last.
        begin: first dataset of each position.
        end: dataset after the last.
    """
    fell = False
    for line in range(first, last):
        again = True
        while again:
            again = False
            for turn in range(2 * length):
                upward = turn < length
                position = turn if upward else 2 * length - 1 - turn
                for arc in range(indptr[position], indptr[position + 1]):
                    if (targets[arc] > position) == upward:
                        source = (line * length + position) * low
                        target = (line * length + targets[arc]) * low
                        if relax(
                            labels,
                            roles,
                            states,
                            table,
                            state_count,
                            kinds[arc],
                            source + begin,
                            target + begin,
                            end - begin,
                        ):
                            again = fell = True
            if once:
                break
    return fell


def relax(
    labels: Floats,
    roles: Roles,
    states: Roles,
    table: Floats,
    state_count: int,
    kind: int,
    source: int,
    target: int,
    count: int,
) -> bool:
    """Lowers a row of neighbours to what the labels of a row of datasets allow; returns True if any label fell."""
    fell = False
    epsilon = float(table[kind * state_count * state_count])
    for at in range(count):
        if state_count > 1:
            place = (kind * state_count + states[source + at]) * state_count + states[target + at]
            epsilon = float(table[place])
        label = float(labels[source + at])
        if quick(label, epsilon) > labels[target + at] or epsilon == INFINITE:
            continue
        if len(roles) and roles[source + at] == 0 and roles[target + at] == 0:
            continue
        lowered = step(label, epsilon) + 0.0
        if lowered < labels[target + at]:
            labels[target + at] = lowered
            fell = True
    return fell


def relax_plain(
    labels: Floats,
    roles: Roles,
    states: Roles,
    table: Floats,
    state_count: int,
    kind: int,
    source: int,
    target: int,
    count: int,
) -> bool:
    """The same as `relax` by vectorized plain addition over all edges; for exact sums and unchanged pins."""
    fell = 0
    if count < SHORTEST_VECTOR:
        for at in range(count):
            place = kind * state_count * state_count
            if state_count > 1:
                place += states[source + at] * state_count + states[target + at]
            bound = labels[source + at] + table[place]
            if bound < labels[target + at]:
                labels[target + at] = bound
                fell = 1
        return fell > 0
    here, there = labels[source : source + count], labels[target : target + count]
    if state_count == 1:
        epsilon = table[kind]
        for at in range(count):
            bound = here[at] + epsilon
            fell += bound < there[at]
            there[at] = bound if bound < there[at] else there[at]
        return fell > 0
    states_here, states_there = states[source : source + count], states[target : target + count]
    own = table[kind * state_count * state_count : (kind + 1) * state_count * state_count]
    for at in range(count):
        bound = here[at] + own[states_here[at] * state_count + states_there[at]]
        fell += bound < there[at]
        there[at] = bound if bound < there[at] else there[at]
    return fell > 0


def relax_narrow_counts(
    labels: Floats,
    states: Roles,
    table: Floats,
    state_count: int,
    length: int,
    low: int,
    first: int,
    last: int,
) -> bool:
    """Lowers labels along an axis of counts by plain addition, up and then down; for rows too short for vectors.

    The arguments are those of `relax_lines`, for whole lines.
    """
    fell = 0
    for line in range(first, last):
        begin, end = line * length * low, (line + 1) * length * low
        for at in range(begin + low, end):
            place = states[at - low] * state_count + states[at] if state_count > 1 else 0
            bound = labels[at - low] + table[place]
            fell += bound < labels[at]
            labels[at] = bound if bound < labels[at] else labels[at]
        for at in range(end - low - 1, begin - 1, -1):
            place = states[at + low] * state_count + states[at] if state_count > 1 else 0
            bound = labels[at + low] + table[place]
            fell += bound < labels[at]
            labels[at] = bound if bound < labels[at] else labels[at]
    return fell > 0

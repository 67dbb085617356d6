"""The verifier's passes over arcs, for privacy, and over links, for optimality, in plain arithmetic.

Two serve every notion with one number for each edge that is added to z. With `halved`, as for pure ε, sums are the
whole truth on either side of p = ½ only, and what crosses it is left to others; without, they are so everywhere.

Each pass is written twice: as a loop, which is compiled for large problems (`compiled.py`), and with NumPy for small
ones, and for all others until the compiled loop is ready. Both find the same. All arithmetic is on floats, and exact:
the error of a sum is itself a float, found by Knuth's two-sum.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetdp.problem.space import Floats, Indices, Mask

SMALLEST_RISE = 1075  # the class of a rise r with 2^(k−1) ≤ r < 2^k is k plus this; class 0 is for no rise at all
RISES = 2100
SLOTS = 1 << 11  # of the table that finds doubtful arcs with the same numbers
NUMBER = 0x7FFFFFFFFFFFFFFF  # a mask that tells the compiler that a dataset's number is not counted from the end
MARGIN = 1e-9  # far more than the rounding of two sums


def scan_arcs(
    source: Any,
    target: Any,
    epsilon: Any,
    z: Any,
    bits: Any,
    links: Any,
    link_epsilon: Any,
    doubtful: Any,
    sources: Any,
    alike: Any,
    slots: Any,
    halved: bool,
) -> tuple[float, int, float, int, int]:
    """Goes through arcs u → v and decides z(v) ≤ z(u) + ε, which is privacy, or enough for it (`halved`, across ½).

    Notes the least ε of every dataset's link in `link_epsilon`, and the arcs that fail the test across ½ in `doubtful`.
    There are often many of these, and few different ones, so that some are only counted (`note_doubt`).

    Args:
        source: u of each arc.
        target: v of each arc.
        epsilon: ε of each arc.
        z: the value of each dataset.
        bits: the bits of `epsilon` and of `z`, as integers.
        links: the neighbour that holds each dataset down.
        link_epsilon: takes ε of each dataset's link; NaN at first.
        doubtful: takes the doubtful arcs.
        sources: takes the datasets that they lead from.
        alike: takes how many arcs each doubtful one stands for, itself included.
        slots: SLOTS zeros, for the table: 1 plus a place in `doubtful`.
        halved: whether p = ½ is special.

    Returns:
        The least slack beside ½ and the arc that has it (−1: none has any), a number that no slack across ½ is below
        (but for the doubtful), how many arcs beside ½ are violated, and how many arcs are listed as doubtful.
    """
    found = math.inf, -1, math.inf, 0, 0
    values, notes = (target, epsilon, z, bits), (links, link_epsilon, doubtful, sources, alike, slots)
    for arc in range(len(source)):
        found = scan_row(int(source[arc]) & NUMBER, arc, arc + 1, values, notes, halved, found)
    return found


def scan_rows(
    indptr: Any,
    row: int,
    start: int,
    target: Any,
    epsilon: Any,
    z: Any,
    bits: Any,
    links: Any,
    link_epsilon: Any,
    doubtful: Any,
    sources: Any,
    alike: Any,
    slots: Any,
    halved: bool,
) -> tuple[float, int, float, int, int]:
    """Does the same as `scan_arcs` for arcs that are stored one after the other, from any place in a row to any other.

    Args:
        indptr: where the arcs of each dataset begin, and where the last ones end.
        row: the dataset that the first arc leads from.
        start: the place of the first arc.
        target: as for `scan_arcs`, like the arguments below.
        epsilon: of each arc.
        z: of each dataset.
        bits: of both.
        links: of each dataset.
        link_epsilon: of the links.
        doubtful: of doubtful arcs.
        sources: of the same.
        alike: of the same.
        slots: of the same.
        halved: whether p = ½ is special.
    """
    found = math.inf, -1, math.inf, 0, 0
    values, notes = (target, epsilon, z, bits), (links, link_epsilon, doubtful, sources, alike, slots)
    arc = 0
    while arc < len(target):
        stop = min(indptr[row + 1] - start, len(target))
        found = scan_row(row & NUMBER, arc, stop, values, notes, halved, found)
        arc = stop
        row += 1
    return found


def scan_row(
    u: int, first: int, stop: int, values: Any, notes: Any, halved: bool, found: tuple[float, int, float, int, int]
) -> tuple[float, int, float, int, int]:
    """Goes through some arcs that lead from one dataset, and adds to what `scan_arcs` has found."""
    least, worst, across, violations, doubts = found
    target, epsilon, z, bits = values
    links, link_epsilon, doubtful, sources, alike, slots = notes
    here, link = z[u], links[u]
    for arc in range(first, stop):
        v, edge = int(target[arc]) & NUMBER, epsilon[arc]
        if link == v and not link_epsilon[u] <= edge:  # NaN at first; of parallel edges the tightest counts
            link_epsilon[u] = edge
        total = here + edge
        slack = total - z[v]
        if slack > 0.0 and slack >= least:
            continue
        if halved and here < 0.0 and z[v] > 0.0:
            if slack > 0.0:
                across = min(across, slack)
                continue
            doubts = note_doubt(arc, u, v, target, epsilon, z, bits, doubtful, sources, alike, slots, doubts)
            continue
        if slack == 0.0:  # equal after rounding: the rounding decides
            part = total - here
            slack = (here - (total - part)) + (edge - part)
        elif math.isnan(slack):  # p = 0 or p = 1 at both ends, or a sum beyond the largest float beside p = 1
            slack = math.inf if here == z[v] else -math.inf
        if slack < 0.0:
            violations += 1
        if slack < least:
            least, worst = slack, arc
    return least, worst, across, violations, doubts


def note_doubt(
    arc: int,
    u: int,
    v: int,
    target: Any,
    epsilon: Any,
    z: Any,
    bits: Any,
    doubtful: Any,
    sources: Any,
    alike: Any,
    slots: Any,
    doubts: int,
) -> int:
    """Lists a doubtful arc, or counts it with an earlier one that has the same numbers; returns the length of the list.

    The table holds the last arc that was listed for each slot. Arcs with other numbers may share a slot and replace
    each other there, so that some with the same numbers are listed more than once.
    """
    mixed = bits[1][u] ^ (bits[1][v] << 1) ^ (bits[0][arc] << 2)
    mixed ^= mixed >> 32
    mixed ^= (mixed >> 11) ^ (mixed >> 21)
    slot = mixed & (SLOTS - 1)
    place = slots[slot] - 1
    if place >= 0:
        other = doubtful[place]
        if z[sources[place]] == z[u] and z[target[other]] == z[v] and epsilon[other] == epsilon[arc]:
            alike[place] += 1
            return doubts
    doubtful[doubts], sources[doubts], alike[doubts], slots[slot] = arc, u, 1, doubts + 1
    return doubts + 1


def scan_arcs_by_numpy(
    source: Indices,
    target: Indices,
    epsilon: Floats,
    z: Floats,
    bits: tuple[Indices, Indices],
    links: Indices,
    link_epsilon: Floats,
    doubtful: Indices,
    sources: Indices,
    alike: Indices,
    slots: Indices,
    halved: bool,
) -> tuple[float, int, float, int, int]:
    """Does the same as `scan_arcs`, with two differences.

    `across` is the least slack across ½, even if a smaller one comes before it. Every doubtful arc is listed.
    """
    own = np.flatnonzero(links[source] == target)
    np.fmin.at(link_epsilon, source[own], epsilon[own])
    low, high = z[source], z[target]
    total = low + epsilon
    slack = total - high
    crossing = (low < 0.0) & (high > 0.0) & halved
    across = float(np.min(slack, initial=math.inf, where=crossing & (slack > 0.0)))
    doubts = np.flatnonzero(crossing & ~(slack > 0.0))
    doubtful[: len(doubts)], sources[: len(doubts)], alike[: len(doubts)] = doubts, source[doubts], 1
    tied, unknown = np.flatnonzero(slack == 0.0), np.flatnonzero(np.isnan(slack))
    slack[tied] = _rounding(low[tied], epsilon[tied], total[tied])
    slack[unknown] = np.where(low[unknown] == high[unknown], math.inf, -math.inf)
    slack[crossing] = math.inf
    worst = int(np.argmin(slack)) if len(slack) else -1
    least = float(slack[worst]) if worst >= 0 else math.inf
    violations = int(np.count_nonzero(slack < 0.0))
    return least, worst if least < math.inf else -1, across, violations, len(doubts)


def _rounding(one: Floats, other: Floats, total: Floats) -> Floats:
    """The difference between the exact sum of two floats and the rounded one."""
    part = total - one
    return (one - (total - part)) + (other - part)


def scan_links(
    start: int,
    stop: int,
    better: Any,
    pinned: Any,
    links: Any,
    epsilon: Any,
    ties: Any,
    crossings: Any,
    counts: Any,
    gaps: Any,
    halved: bool,
) -> tuple[int, int, int, int]:
    """Goes through datasets and checks that the link of each free one is tight: no larger float would fit below it.

    Notes the datasets as good as their link in `ties`, and those whose link crosses ½, undecided, in `crossings` (if
    `halved`). A link with a gap (exact bound minus value) is counted in the class of its rise, with the largest gap of
    the class.

    Returns:
        The first dataset without a link (−1: none), the first with a loose one, how many ties, how many crossings.
    """
    missing, loose, tied, crossed = -1, -1, 0, 0
    for dataset in range(start, stop):
        high, edge = better[dataset], epsilon[dataset]
        if pinned[dataset] or high == math.inf:
            continue
        if math.isnan(edge):
            missing = dataset if missing < 0 else missing
            continue
        low = better[links[dataset]]
        if not low < high:
            ties[tied] = dataset
            tied += 1
        if halved and low < 0.0 and high > 0.0:
            crossings[crossed] = dataset
            crossed += 1
            continue
        total = low + edge
        part = total - low
        error = (low - (total - part)) + (edge - part)
        own = (total - high) + error
        if own == 0.0 or (low == high and low == -math.inf):  # tight to the last bit
            continue
        above = math.nextafter(high, math.inf)
        if own < 0.0 or total > above or (total == above and error >= 0.0):
            loose = dataset if loose < 0 else loose
        elif math.isnan(own):  # the exact sum lies beyond the largest float
            own = math.inf
        if own > 0.0:
            kind = math.frexp(high - low)[1] + SMALLEST_RISE if high > low else 0
            counts[kind] += 1
            gaps[kind] = max(gaps[kind], own)
    return missing, loose, tied, crossed


def scan_links_by_numpy(
    start: int,
    stop: int,
    better: Floats,
    pinned: Mask,
    links: Indices,
    epsilon: Floats,
    ties: Indices,
    crossings: Indices,
    counts: Floats,
    gaps: Floats,
    halved: bool,
) -> tuple[int, int, int, int]:
    """Does the same as `scan_links`."""
    held = start + np.flatnonzero(~pinned[start:stop] & (better[start:stop] != math.inf))
    lost = np.isnan(epsilon[held])
    missing, held = held[lost], held[~lost]
    low, high, edge = better[links[held]], better[held], epsilon[held]
    crossing = (low < 0.0) & (high > 0.0) & halved
    tied, crossed = held[~(low < high)], held[crossing]
    ties[: len(tied)], crossings[: len(crossed)] = tied, crossed
    total = low + edge
    error = _rounding(low, edge, total)
    own = (total - high) + error
    open_ = ~crossing & (own != 0.0) & ~((low == high) & (low == -math.inf))  # not tight to the last bit
    above = np.nextafter(high, math.inf)
    loose = open_ & ((own < 0.0) | (total > above) | ((total == above) & (error >= 0.0)))
    own[open_ & ~loose & np.isnan(own)] = math.inf  # the exact sum lies beyond the largest float
    wide = np.flatnonzero(open_ & (own > 0.0))
    rises = high[wide] - low[wide]
    kinds = np.where(rises > 0.0, np.frexp(rises)[1] + SMALLEST_RISE, 0)
    np.add.at(counts, kinds, 1.0)
    np.maximum.at(gaps, kinds, own[wide])
    first_loose = int(held[np.argmax(loose)]) if loose.any() else -1
    return int(missing[0]) if len(missing) else -1, first_loose, len(tied), len(crossed)


def sift_arcs(
    source: Any, target: Any, epsilon: Any, z: Any, links: Any, below: float, linked: Any, doubtful: Any
) -> tuple[int, int]:
    """Goes through arcs u → v that have an ε for each direction, and leaves out those with room and to spare.

    Where |z(u) − z(v)| is less than ε by more than `below`, and by more than anything that is rounded here, the arc is
    private, with δ or without, and its slack is more than `below`. The others are noted in `doubtful`, and the arcs
    that are some dataset's link in `linked`.

    Returns:
        How many arcs are links, and how many are doubtful.
    """
    found, doubts = 0, 0
    for arc in range(len(source)):
        u, v = source[arc], target[arc]
        if links[u] == v:
            linked[found] = arc
            found += 1
        room = epsilon[arc] - abs(z[u] - z[v])
        if not room - MARGIN * (1.0 + abs(z[u]) + abs(z[v])) > below:
            doubtful[doubts] = arc
            doubts += 1
    return found, doubts


def sift_arcs_by_numpy(
    source: Indices,
    target: Indices,
    epsilon: Floats,
    z: Floats,
    links: Indices,
    below: float,
    linked: Indices,
    doubtful: Indices,
) -> tuple[int, int]:
    """Does the same as `sift_arcs`."""
    low, high = z[source], z[target]
    found = np.flatnonzero(links[source] == target)
    room = epsilon - np.abs(low - high)
    doubts = np.flatnonzero(~(room - MARGIN * (1.0 + np.abs(low) + np.abs(high)) > below))
    linked[: len(found)], doubtful[: len(doubts)] = found, doubts
    return len(found), len(doubts)

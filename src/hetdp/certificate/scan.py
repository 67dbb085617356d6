"""The loops of the verifier, in plain arithmetic: over arcs, for privacy, and over links, for optimality.

Two serve every notion with one number for each edge that is added to z. With `halved`, as for pure ε, sums are the
whole truth on either side of p = ½ only, and what crosses it is left to others; without, they are so everywhere.

They run as they are on the lists of a small problem, and compiled on the arrays of a large one (`compiled.py`). All
arithmetic is on floats, and exact: the error of a sum is itself a float, found by Knuth's two-sum.
"""

from __future__ import annotations

import math
from typing import Any

SMALLEST_RISE = 1075  # the class of a rise r with 2^(k−1) ≤ r < 2^k is k plus this; class 0 is for no rise at all
RISES = 2100
MARGIN = 1e-9  # far more than the rounding of two sums


def scan_arcs(
    source: Any, target: Any, epsilon: Any, z: Any, links: Any, link_epsilon: Any, doubtful: Any, halved: bool
) -> tuple[float, int, float, int, int]:
    """Goes through arcs u → v and decides z(v) ≤ z(u) + ε, which is privacy, or enough for it (`halved`, across ½).

    Notes the least ε of every dataset's link in `link_epsilon`, and the arcs that fail the test across ½ in `doubtful`.

    Returns:
        The least slack beside ½ and the arc that has it (−1: none has any), a number that no slack across ½ is below
        (but for the doubtful), how many arcs beside ½ are violated, and how many arcs are doubtful.
    """
    least, worst, across, violations, doubts = math.inf, -1, math.inf, 0, 0
    for arc in range(len(source)):
        u, v, edge = source[arc], target[arc], epsilon[arc]
        if links[u] == v and not link_epsilon[u] <= edge:  # NaN at first; of parallel edges the tightest counts
            link_epsilon[u] = edge
        total = z[u] + edge
        slack = total - z[v]
        if slack > 0.0 and slack >= least:
            continue
        if halved and z[u] < 0.0 and z[v] > 0.0:
            if slack > 0.0:
                across = min(across, slack)
            else:
                doubtful[doubts] = arc
                doubts += 1
            continue
        if slack == 0.0:  # equal after rounding: the rounding decides
            part = total - z[u]
            slack = (z[u] - (total - part)) + (edge - part)
        elif math.isnan(slack):  # p = 0 or p = 1 at both ends, or a sum beyond the largest float beside p = 1
            slack = math.inf if z[u] == z[v] else -math.inf
        if slack < 0.0:
            violations += 1
        if slack < least:
            least, worst = slack, arc
    return least, worst, across, violations, doubts


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
        above = math.nextafter(high, math.inf)
        if low == high and low == -math.inf:
            own = 0.0
        elif own < 0.0 or total > above or (total == above and error >= 0.0):
            loose = dataset if loose < 0 else loose
        elif math.isnan(own):  # the exact sum lies beyond the largest float
            own = math.inf
        if own > 0.0:
            kind = math.frexp(high - low)[1] + SMALLEST_RISE if high > low else 0
            counts[kind] += 1
            gaps[kind] = max(gaps[kind], own)
    return missing, loose, tied, crossed


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

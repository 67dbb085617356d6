"""Notions that add to z: pure ε, bounded range and Gaussian privacy, from the definition.

Gaussian privacy, where z is the probit of p, and bounded range, where z is its logit, ask of an arc from u to v for
z(v) ≤ z(u) + μ and no more. Pure ε, where z is the Laplace coordinate, needs a second look at p = ½. There the arc is
private when p(v) ≤ e^ε p(u) and 1 − p(u) ≤ e^ε (1 − p(v)). Where both ends lie on one side of ½ this is
z(v) ≤ z(u) + ε. Where z(u) < 0 < z(v), that inequality is still enough (the definition allows more there), so only arcs
that fail it need the enclosures. Both directions of each edge are checked.

A mechanism is optimal if from every free dataset a chain of tight links leads to a pinned one. "Some neighbour is
tight" would not do, since two datasets can hold each other up; so the links must form no cycle. For chains, all values
are signed so that larger is better: z where the answer is 1, −z where it is 2. Values never fall along a link, so a
cycle could only run through links between equal values.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, cast

import numpy as np
from flint import arb, fmpq

from hetdp.certificate import scan
from hetdp.certificate.enclosure import crossing_gap, crossing_holds, crossing_slack, path_is_below
from hetdp.certificate.products import NO_STATES, as_readonly, list_arcs, rows_of
from hetdp.certificate.rule import (
    CYCLE,
    LOOSE,
    MISSING,
    Chains,
    Losses,
    Rule,
    Steps,
    Survey,
    WorstEdge,
    WorstGaussianEdge,
    pick,
)
from hetdp.compilation import SUMS, uses_compiled
from hetdp.interrupts import delay_interrupts
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.space import SMALL_SPACE, EdgeBlock, Floats, Indices, Mask, Space, cuts_of
from hetdp.threads import run_in_threads


def survey_sums(space: Space, z: Floats, links: Indices, halved: bool) -> Survey:
    """Looks at every arc of the space; `halved`: p = ½ is special, as it is for pure ε."""
    seen = Survey(links=np.full(space.size, np.nan))
    scan_arcs: Callable[..., Any] = scan.scan_arcs_by_numpy
    pieces, arcs_of = list_arcs(space)
    if space.arc_count > SMALL_SPACE and uses_compiled(SUMS, space.arc_count):
        with delay_interrupts():
            from hetdp.certificate.compiled import scan_arcs, scan_rows
        if type(space) is DatasetGraph:  # a subclass may list other arcs than it stores
            pieces, arcs_of = cuts_of(space.indptr, space.targets), partial(_stored_arcs, space)
            scan_arcs = scan_rows

    def scan_block(block: EdgeBlock, doubts: Doubts) -> Any:
        bits = block.parameters[0].view(np.int64), z.view(np.int64)
        source: Any = block.source
        sources = source.stored if isinstance(source, RowSources) else (source,)
        values = *sources, block.target, block.parameters[0], z, bits
        with np.errstate(all="ignore"):
            return scan_arcs(*values, links, seen.links, *doubts, halved)

    def look(piece: Any) -> None:
        block = arcs_of(piece)
        _judge(block, scan_block, z, seen, len(block.target))

    run_in_threads(look, pieces, space.arc_count)
    return seen


class RowSources:
    """The datasets that consecutive stored arcs lead from, looked up when they are asked for: few ever are.

    Attributes:
        stored: where rows begin and end, the first dataset, and the place of the first arc, as `scan_rows` takes them.
    """

    def __init__(self, indptr: Indices, start: int) -> None:
        self.stored = indptr, int(np.searchsorted(indptr, start, side="right")) - 1, start

    def __getitem__(self, arcs: Any) -> Any:
        indptr, _, start = self.stored
        return np.searchsorted(indptr, start + arcs, side="right") - 1


def _stored_arcs(graph: DatasetGraph, piece: tuple[int, int]) -> EdgeBlock:
    """The arcs of a graph from one place to another; unlike `edge_blocks`, their sources are not written down."""
    cut, source = slice(*piece), cast(Any, RowSources(graph.indptr, piece[0]))
    return EdgeBlock(source, graph.targets[cut], (graph.parameters[0][cut],))


Doubts = tuple[Indices, Indices, Indices, Indices]  # arcs, their sources, how many each stands for; a table
Scan = Callable[[EdgeBlock, Doubts], tuple[float, int, float, int, int]]


def _judge(block: EdgeBlock, scan_block: Scan, z: Floats, seen: Survey, arcs: int) -> None:
    """Decides the arcs of a block and adds the findings; `arcs` is the number of arcs that each stands for."""
    doubtful, sources, alike = np.empty((3, len(block.target)), dtype=np.int64)
    table = np.zeros(scan.SLOTS, dtype=np.int64)
    least, worst, across, violations, doubts = scan_block(block, (doubtful, sources, alike, table))
    seen.add(arcs, int(np.sum(alike[:doubts])), violations)
    if worst >= 0:
        seen.offer(block, worst, least)
    if doubts:
        _decide(pick(block, doubtful[:doubts]), alike[:doubts], z, seen)
    if across < seen.slack:
        _offer_across(block, z, seen)


def _decide(block: EdgeBlock, alike: Indices, z: Floats, seen: Survey) -> None:
    """Settles the arcs across ½ that failed the simple test; each stands for all that are alike."""
    holds, slack = crossing_holds(z[block.source], z[block.target], block.parameters[0])
    slack = np.where(holds, np.maximum(slack, 0.0), np.minimum(slack, -np.finfo(float).tiny))
    seen.add(0, 0, int(np.sum(alike[~holds])))
    least = int(np.argmin(slack))
    seen.offer(block, least, float(slack[least]))


def _offer_across(block: EdgeBlock, z: Floats, seen: Survey) -> None:
    """Offers the arc with the least slack among those across ½ that passed the simple test."""
    block = pick(block, np.flatnonzero(z[block.target] > 0.0))
    with np.errstate(invalid="ignore", over="ignore"):
        passed = (z[block.source] + block.parameters[0]) > z[block.target]
    block = pick(block, np.flatnonzero((z[block.source] < 0.0) & passed))
    slack = crossing_slack(z[block.source], z[block.target], block.parameters[0])
    least = int(np.argmin(slack))
    seen.offer(block, least, float(slack[least]))


# Optimality.


CROSSING_ULPS = 128.0  # how far below its exact bound a label on a crossing edge may be rounded
BLOCK = 1 << 16
LOSS_MARGIN = 2.0**-45  # many times the relative error of a loss in floats
ROUNDING = 2.0**-30  # relative; more than a sum of gaps is rounded by


@dataclass
class Tally:
    """Findings about the links: faults, ties, crossings and, by class of rise, the number of gaps and the largest."""

    missing: list[int] = field(default_factory=list)
    loose: list[int] = field(default_factory=list)
    ties: list[Indices] = field(default_factory=list)
    crossings: list[Indices] = field(default_factory=list)
    counts: Floats = field(default_factory=lambda: np.zeros(scan.RISES))
    gaps: Floats = field(default_factory=lambda: np.zeros(scan.RISES))
    lock: threading.Lock = field(default_factory=threading.Lock)


def follow_sums(better: Floats, pinned: Mask, links: Indices, epsilon: Floats, halved: bool) -> Chains:
    """Checks every link by itself, then that no cycle is among them, then bounds the gaps along the chains.

    Args:
        better: the values, signed so that larger is better.
        pinned: where chains may end.
        links: for each free dataset the neighbour that holds it down.
        epsilon: ε of each dataset's link, NaN where the space has no such edge.
        halved: whether p = ½ is special, as it is for pure ε.
    """
    seen = survey_links(better, pinned, links, epsilon, halved)
    above = concatenate_indices(seen.crossings)
    crossings = above, better[links[above]], better[above], epsilon[above]
    return _chains(seen, pinned, links, crossings, partial(reach_of, better))


def _chains(
    seen: Tally,
    pinned: Mask,
    links: Indices,
    crossings: tuple[Indices, Floats, Floats, Floats],
    reach: Callable[[], tuple[float, float]],
) -> Chains:
    """Combines the findings about single links into chains.

    Args:
        seen: what was seen of each link by itself.
        pinned: where chains may end.
        links: for each free dataset the neighbour that holds it down.
        crossings: the datasets whose link crosses ½, and of each the value of its link, its own, and ε.
        reach: computes the least and the greatest finite value.
    """
    above, low, high, epsilon = crossings
    room = find_loose_crossings(seen, above, low, high, epsilon)
    if seen.missing:
        return Chains(MISSING, min(seen.missing))
    if seen.loose:
        return Chains(LOOSE, min(seen.loose))
    if (dataset := _on_a_cycle(concatenate_indices(seen.ties), links)) >= 0:
        return Chains(CYCLE, dataset)
    plain = gap_of_a_chain(reach(), seen.counts, seen.gaps) if seen.counts.any() else 0.0
    if plain > 0.0:
        further = ~pinned[links[above]]  # a pinned parent lacks nothing
        room = max(room, largest_gap_beyond(low[further], high[further], epsilon[further], plain))
    return Chains("", gap=(plain + room) * (1.0 + ROUNDING))


def concatenate_indices(found: list[Indices]) -> Indices:
    """Joins the indices that several blocks found."""
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


def find_loose_crossings(seen: Tally, above: Indices, low: Floats, high: Floats, epsilon: Floats) -> float:
    """Notes which links across ½ are loose; returns how much room the others may have, at most.

    Args:
        seen: takes the datasets with a loose link.
        above: the datasets whose link crosses ½.
        low: the value that each link leads to.
        high: the value of each dataset.
        epsilon: ε of each link.
    """
    if not len(above):
        return 0.0
    room = CROSSING_ULPS * np.spacing(high)
    seen.loose += above[crossing_holds(low, high + room, epsilon)[0]].tolist()
    return float(np.max(room))


def largest_gap_beyond(low: Floats, high: Floats, epsilon: Floats, plain: float) -> float:
    """The largest gap behind links across ½ whose parents may have a gap themselves."""
    links = zip(low.tolist(), high.tolist(), epsilon.tolist(), strict=True)
    return max([0.0, *(crossing_gap(*link, plain) for link in links)])


def survey_links(better: Floats, pinned: Mask, links: Indices, epsilon: Floats, halved: bool) -> Tally:
    """Goes through the links of all free datasets, one by one."""
    seen, columns = Tally(), (better, pinned, links, epsilon)
    scan_links: Callable[..., Any] = scan.scan_links_by_numpy
    if len(better) > SMALL_SPACE and uses_compiled(SUMS, len(better)):
        with delay_interrupts():
            from hetdp.certificate.compiled import scan_links

    def look(start: int) -> None:
        _look_at_links(scan_links, start, min(start + BLOCK, len(better)), columns, halved, seen)

    run_in_threads(look, range(0, len(better), BLOCK), len(better))
    return seen


def _look_at_links(
    scan_links: Callable[..., Any], start: int, stop: int, columns: Any, halved: bool, seen: Tally, first: int = 0
) -> Indices:
    """Goes through the links of some datasets, the first of which has the number `first`; those that cross ½."""
    ties, crossings = np.empty(stop - start, dtype=np.int64), np.empty(stop - start, dtype=np.int64)
    counts, gaps = np.zeros(scan.RISES), np.zeros(scan.RISES)
    with np.errstate(all="ignore"):
        missing, loose, tied, crossed = scan_links(start, stop, *columns, ties, crossings, counts, gaps, halved)
    with seen.lock:
        seen.missing += [first + missing] * (missing >= 0)
        seen.loose += [first + loose] * (loose >= 0)
        seen.ties.append(first + ties[:tied])  # a new array: a view would keep the whole block
        seen.crossings.append(first + crossings[:crossed])
        seen.counts += counts
        np.maximum(seen.gaps, gaps, out=seen.gaps)
    return crossings[:crossed]


def _on_a_cycle(ties: Indices, links: Indices) -> int:
    """A dataset on a cycle of links between equal values, found by pointer doubling; −1 if there is none."""
    ends = np.searchsorted(ties := np.sort(ties), links[ties])
    inside = np.append(ties, -1)[ends] == links[ties]
    ends = np.append(np.where(inside, ends, len(ties)), len(ties))
    for _ in range(len(ties).bit_length()):
        ends = ends[ends]
    circling = np.flatnonzero(ends[:-1] < len(ties))
    return int(ties[circling[0]]) if len(circling) else -1


def reach_of(better: Floats) -> tuple[float, float]:
    """The least and the greatest of 0 and all finite values."""
    if np.isinf(np.min(better, initial=0.0)) or np.isinf(np.max(better, initial=0.0)):
        better = better[np.isfinite(better)]
    return float(np.min(better, initial=0.0)), float(np.max(better, initial=0.0))


def gap_of_a_chain(reach: tuple[float, float], counts: Floats, gaps: Floats) -> float:
    """A bound on the gaps along one chain: it has few links that rise by much, since it rises by the range at most."""
    classes = np.flatnonzero(counts > 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        most = np.ldexp(np.float64(reach[1]) - reach[0], scan.SMALLEST_RISE + 1 - classes) + 1.0
    most[classes == 0] = np.inf  # no rise at all
    return float(np.minimum(counts[classes], most) @ gaps[classes]) * (1.0 + ROUNDING)


# Spaces of people, row by row.


ROW = 1 << 10  # arcs of a row that are looked at together
CACHED_DATASETS = 1 << 12  # datasets whose values stay in a core's cache while all changes are looked at


def survey_rows(
    space: ProductSpace, z: Floats, links: Indices, pinned: Mask | None, answers: Answers, halved: bool
) -> tuple[Survey, Callable[[], Chains]]:
    """Looks at every arc and every link of a large space of people, a block of datasets at a time.

    No array of the size of the space is made. Links are left out if nothing says what is pinned.

    Returns:
        What was seen of the arcs, and a function that says what the links prove.
    """
    with delay_interrupts():
        from hetdp.certificate.compiled import scan_arcs, scan_links, sift_rows
    seen, tally = Survey(links=None), Tally()
    crossings = [(np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0))]
    rows, states = tuple(rows_of(space, ROW)), NO_STATES if space.states is None else space.states
    values, scan_block = (as_readonly(states), as_readonly(z)), partial(_scan_arc_list, scan_arcs, z, halved)
    unused = list[BlockBuffers]()  # those that no thread uses now

    def look(start: int) -> None:
        buffers = unused.pop() if unused else BlockBuffers()
        stop = min(start + BLOCK, space.size)
        count, place = stop - start, np.array([start, 0])
        notes = buffers.notes[0][:count], buffers.notes[1][:count]
        notes[0][:] = np.nan
        own_links = links[start:stop] if pinned is not None else links[:0]
        while place[0] < stop:
            own = start, stop, rows, values, own_links, *seen.least(space.size), halved
            with np.errstate(all="ignore"):  # matters only where the compiler is switched off
                arcs, found = sift_rows(*own, place, notes, buffers.listed, buffers.epsilon, CACHED_DATASETS)
            if not found:
                seen.add(arcs, 0, 0)
                continue
            source, target, epsilon = (column[:found] for column in buffers.listed)
            order = np.lexsort((target, source))
            _judge(EdgeBlock(source[order], target[order], (epsilon[order],)), scan_block, z, seen, arcs)
        if pinned is not None:
            better = buffers.sign(z[start:stop], answers[start:stop])
            columns = better, pinned[start:stop], buffers.ends, notes[0]
            above = _look_at_links(scan_links, 0, count, columns, halved, tally, start)
            if len(above):
                crossings.append((start + above, better[buffers.ends[above]], better[above], notes[0][above]))
        unused.append(buffers)

    def follow() -> Chains:
        assert pinned is not None
        above, low, high, epsilon = (np.concatenate(columns) for columns in zip(*crossings, strict=True))
        reach = partial(_signed_reach, z, answers)
        return _chains(tally, pinned, links, (above, low, high, epsilon), reach)

    run_in_threads(look, range(0, space.size, BLOCK), space.size)
    return seen, follow


class BlockBuffers:
    """Arrays for the notes on a block of datasets, used again for the next block: new memory is slow to write.

    Attributes:
        ends: the place in the result of `sign` of the dataset that each link leads to.
        notes: ε of each link, and z at its end.
        listed: source, target and ε of the arcs that are left to be decided.
        epsilon: ε of a row.
    """

    def __init__(self) -> None:
        self.ends = np.arange(BLOCK, 2 * BLOCK)
        self.notes = np.empty(BLOCK), np.zeros(BLOCK)
        self.listed: Any = (np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64), np.empty(BLOCK))
        self.epsilon = np.empty(ROW)
        self._signs, self._better = np.empty(BLOCK), np.empty(2 * BLOCK)

    def sign(self, z: Floats, answers: Answers) -> Floats:
        """The values of a block, and from BLOCK on those at the ends of its links, signed so that larger is better."""
        count = len(z)
        signs = np.multiply(answers, -2.0, out=self._signs[:count])
        signs += 3.0
        np.multiply(z, signs, out=self._better[:count])
        np.multiply(self.notes[1][:count], signs, out=self._better[BLOCK : BLOCK + count])
        return self._better


def _signed_reach(z: Floats, answers: Answers) -> tuple[float, float]:
    """The least and the greatest finite value, signed so that larger is better."""
    low, high = 0.0, 0.0
    for start in range(0, len(z), BLOCK):
        block = slice(start, start + BLOCK)
        own = reach_of(np.where(answers[block] == 2, -z[block], z[block]))
        low, high = min(low, own[0]), max(high, own[1])
    return low, high


def _scan_arc_list(scan_arcs: Any, z: Floats, halved: bool, block: EdgeBlock, doubts: Doubts) -> Any:
    """Decides listed arcs; every one has ends of its own, so that none is a link."""
    count, epsilon = len(block.source), block.parameters[0]
    values, ends = np.concatenate([z[block.source], z[block.target]]), np.arange(2 * count)
    bits = epsilon.view(np.int64), values.view(np.int64)
    nowhere = np.full(count, -1), np.empty(count)  # no links
    with np.errstate(all="ignore"):
        return scan_arcs(ends[:count], ends[count:], epsilon, values, bits, *nowhere, *doubts, halved)


# Contradiction and loss.


def sum_is_below(first: float, steps: Steps, last: float) -> bool | None:
    """True if a path allows less than z = `last` at its end, where all of it is one sum."""
    shifts = [next(iter(step.values())) for step in steps]
    if math.inf in shifts or math.inf in (first, -last):
        return False
    if -math.inf in (first, -last):
        return True
    room = sum(map(arb, shifts), arb(first)) - arb(last)
    return True if room < 0 else False if room >= 0 else None


def differences(one: Floats, other: Floats) -> Floats:
    """The difference of each pair of z."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.asarray(np.abs(one - other))
    found[one == other] = 0.0  # p = 0 or p = 1 at both ends
    return found


def ratios(one: Floats, other: Floats) -> Floats:
    """The largest of |log p/p'| and |log q/q'| of each pair of Laplace coordinates."""
    found = differences(one, other)
    low, high = np.minimum(one, other), np.maximum(one, other)
    across = np.flatnonzero((low < 0.0) & (high > 0.0))
    found[across] = -crossing_slack(low[across], high[across], np.zeros(len(across)))
    return found


def difference_is_at_most(low: float, high: float, bound: Fraction) -> bool:
    """True if two values of z differ by at most the given amount."""
    return Fraction(high) - Fraction(low) <= bound


def ratio_is_at_most(low: float, high: float, bound: Fraction) -> bool:
    """The same for ratios of probabilities: on one side of ½ a difference is a fraction, across ½ balls enclose it."""
    if not low < 0.0 < high:
        return difference_is_at_most(low, high, bound)
    most = arb(fmpq(bound.numerator, bound.denominator))
    return bool((2 - arb(-high).exp()).log() - low <= most and (2 - arb(low).exp()).log() + high <= most)


DIFFERENCES = Losses(differences, LOSS_MARGIN, difference_is_at_most)
RATIOS = Losses(ratios, LOSS_MARGIN, ratio_is_at_most)


def _rule(halved: bool, worst: Callable[..., Any], is_below: Callable[..., bool | None], losses: Losses) -> Rule:
    def survey_arcs(space: Space, z: Floats, links: Indices, _: Floats) -> Survey:
        return survey_sums(space, z, links, halved)

    rows = partial(survey_rows, halved=halved)
    return Rule(survey_arcs, partial(follow_sums, halved=halved), worst, is_below, losses, halved=halved, rows=rows)


PURE = _rule(True, WorstEdge, path_is_below, RATIOS)
BOUNDED_RANGE = _rule(False, WorstEdge, sum_is_below, DIFFERENCES)
GAUSSIAN = _rule(False, WorstGaussianEdge, sum_is_below, DIFFERENCES)

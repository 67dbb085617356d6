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
from typing import Any

import numpy as np
from flint import arb, fmpq

from hetdp.certificate import scan
from hetdp.certificate.enclosure import crossing_gap, crossing_holds, crossing_slack
from hetdp.certificate.paths import path_is_below
from hetdp.certificate.products import list_arcs
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
from hetdp.interrupts import uninterrupted
from hetdp.problem.space import SMALL, EdgeBlock, Floats, Indices, Mask, Space
from hetdp.threads import run_in_threads


def survey_sums(space: Space, z: Floats, links: Indices, halved: bool) -> Survey:
    """Looks at every arc of the space; `halved`: p = ½ is special, as it is for pure ε."""
    seen = Survey(links=np.full(space.size, np.nan))
    scan_with = _compiled_scan if space.arc_count > SMALL else _plain_scan
    scan_block = scan_with(z, links, seen, halved)

    pieces, arcs_of = list_arcs(space)

    def look(piece: Any) -> None:
        block = arcs_of(piece)
        doubtful = np.empty(len(block.source), dtype=np.int64)
        least, worst, across, violations, doubts = scan_block(block, doubtful)
        seen.add(len(block.source), doubts, violations)
        if worst >= 0:
            seen.offer(block, worst, least)
        if doubts:
            _decide(pick(block, doubtful[:doubts]), z, seen)
        if across < seen.slack:
            _offer_across(block, z, seen)

    run_in_threads(look, pieces, space.arc_count)
    seen.links = np.asarray(seen.links)
    return seen


Scan = Callable[[EdgeBlock, Indices], tuple[float, int, float, int, int]]


def _compiled_scan(z: Floats, links: Indices, seen: Survey, halved: bool) -> Scan:
    with uninterrupted():
        from hetdp.certificate.compiled import scan_arcs

    def scan_block(block: EdgeBlock, doubtful: Indices) -> Any:
        with np.errstate(all="ignore"):  # matters only where the compiler is switched off
            return scan_arcs(block.source, block.target, block.parameters[0], z, links, seen.links, doubtful, halved)

    return scan_block


def _plain_scan(z: Floats, links: Indices, seen: Survey, halved: bool) -> Scan:
    values, neighbours = z.tolist(), links.tolist()
    seen.links = seen.links.tolist()

    def scan_block(block: EdgeBlock, doubtful: Indices) -> Any:
        source, target, epsilon = (part.tolist() for part in (block.source, block.target, block.parameters[0]))
        return scan.scan_arcs(source, target, epsilon, values, neighbours, seen.links, doubtful, halved)

    return scan_block


def _decide(block: EdgeBlock, z: Floats, seen: Survey) -> None:
    """Settles the arcs across ½ that failed the simple test."""
    holds, slack = crossing_holds(z[block.source], z[block.target], block.parameters[0])
    slack = np.where(holds, np.maximum(slack, 0.0), np.minimum(slack, -np.finfo(float).tiny))
    seen.add(0, 0, len(slack) - int(np.count_nonzero(holds)))
    least = int(np.argmin(slack))
    seen.offer(block, least, float(slack[least]))


def _offer_across(block: EdgeBlock, z: Floats, seen: Survey) -> None:
    """Offers the arc with the least slack among those across ½ that passed the simple test."""
    with np.errstate(invalid="ignore", over="ignore"):
        passed = (z[block.source] + block.parameters[0]) > z[block.target]
    block = pick(block, np.flatnonzero((z[block.source] < 0.0) & (z[block.target] > 0.0) & passed))
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
    """What was seen of the links: faults, ties, crossings; by class of rise, how many have a gap, and the largest."""

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
    above, ties = concatenate_indices(seen.crossings), concatenate_indices(seen.ties)
    room = find_loose_crossings(seen, above, better, links, epsilon)
    if seen.missing:
        return Chains(MISSING, min(seen.missing))
    if seen.loose:
        return Chains(LOOSE, min(seen.loose))
    if (dataset := _on_a_cycle(ties, links)) >= 0:
        return Chains(CYCLE, dataset)
    plain = gap_of_a_chain(reach_of(better), seen.counts, seen.gaps)
    further = above[~pinned[links[above]]] if plain > 0.0 else above[:0]  # a pinned parent lacks nothing
    more = max(largest_gap_beyond(further, better, links, epsilon, plain), room)
    return Chains("", gap=(plain + more) * (1.0 + ROUNDING))


def concatenate_indices(found: list[Indices]) -> Indices:
    """What several blocks found."""
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


def find_loose_crossings(seen: Tally, above: Indices, better: Floats, links: Indices, epsilon: Floats) -> float:
    """Notes which links across ½ are loose; returns how much room the others may have, at most."""
    room = CROSSING_ULPS * np.spacing(better[above])
    seen.loose += above[crossing_holds(better[links[above]], better[above] + room, epsilon[above])[0]].tolist()
    return float(np.max(room, initial=0.0))


def largest_gap_beyond(further: Indices, better: Floats, links: Indices, epsilon: Floats, plain: float) -> float:
    """The largest gap behind links across ½ whose parents may have a gap themselves."""
    gaps = [crossing_gap(better[links[at]], better[at], epsilon[at], plain) for at in further.tolist()]
    return max([0.0, *gaps])


def survey_links(better: Floats, pinned: Mask, links: Indices, epsilon: Floats, halved: bool) -> Tally:
    """Goes through the links of all free datasets, one by one."""
    seen, columns = Tally(), (better, pinned, links, epsilon)
    scan_links: Callable[..., Any] = scan.scan_links
    if len(better) > SMALL:
        with uninterrupted():
            from hetdp.certificate.compiled import scan_links
    else:
        columns = tuple(column.tolist() for column in columns)

    def look(start: int) -> None:
        stop = min(start + BLOCK, len(better))
        ties, crossings = np.empty(stop - start, dtype=np.int64), np.empty(stop - start, dtype=np.int64)
        counts, gaps = np.zeros(scan.RISES), np.zeros(scan.RISES)
        with np.errstate(all="ignore"):  # matters only where the compiler is switched off
            missing, loose, tied, crossed = scan_links(start, stop, *columns, ties, crossings, counts, gaps, halved)
        with seen.lock:
            seen.missing += [missing] * (missing >= 0)
            seen.loose += [loose] * (loose >= 0)
            seen.ties.append(ties[:tied].copy())  # a view would keep the whole block
            seen.crossings.append(crossings[:crossed].copy())
            seen.counts += counts
            np.maximum(seen.gaps, gaps, out=seen.gaps)

    run_in_threads(look, range(0, len(better), BLOCK), len(better))
    return seen


def _on_a_cycle(ties: Indices, links: Indices) -> int:
    """A dataset from which links between equal values lead round for ever, by pointer doubling; −1 if there is none."""
    ends = np.searchsorted(ties := np.sort(ties), links[ties])
    inside = np.append(ties, -1)[ends] == links[ties]
    ends = np.append(np.where(inside, ends, len(ties)), len(ties))
    for _ in range(len(ties).bit_length()):
        ends = ends[ends]
    circling = np.flatnonzero(ends[:-1] < len(ties))
    return int(ties[circling[0]]) if len(circling) else -1


def reach_of(better: Floats) -> tuple[float, float]:
    """The least and the greatest finite value, with 0 among them."""
    finite = np.isfinite(better)
    return float(np.min(better, initial=0.0, where=finite)), float(np.max(better, initial=0.0, where=finite))


def gap_of_a_chain(reach: tuple[float, float], counts: Floats, gaps: Floats) -> float:
    """A bound on the gaps along one chain: it has few links that rise by much, since it rises by the range at most."""
    rises = np.arange(scan.RISES) - (scan.SMALLEST_RISE + 1)
    with np.errstate(over="ignore", invalid="ignore"):
        links = np.minimum(counts, np.ldexp(np.float64(reach[1]) - reach[0], -rises) + 1.0)
    links[0] = counts[0]
    some = counts > 0.0
    return float(links[some] @ gaps[some]) * (1.0 + ROUNDING)


# Contradiction and loss.


def sum_is_below(first: float, steps: Steps, last: float) -> bool | None:
    """Whether a path allows less than z = `last` at its end, where all of it is one sum."""
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
    """Whether z differs by at most a number."""
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

    return Rule(survey_arcs, partial(follow_sums, halved=halved), worst, is_below, losses, halved=halved)


PURE = _rule(True, WorstEdge, path_is_below, RATIOS)
BOUNDED_RANGE = _rule(False, WorstEdge, sum_is_below, DIFFERENCES)
GAUSSIAN = _rule(False, WorstGaussianEdge, sum_is_below, DIFFERENCES)

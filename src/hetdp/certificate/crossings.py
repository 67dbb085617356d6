"""Chains of links that lead from partition to partition.

Each partition follows them to where they end or leave it, then learns from others what became of those that left, round
by round. What never ends is a cycle.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetdp.certificate.chains import ADDED_UP, depth_of, joined, too_wide
from hetdp.certificate.claims import claimed
from hetdp.certificate.links import Chains
from hetdp.certificate.rules import HALVED
from hetdp.problem.local import LocalGraph
from hetdp.problem.partitioned import PartitionedProblem
from hetdp.problem.parts import Part
from hetdp.problem.space import Floats, Indices

CYCLE = "links form a cycle"


class Ends(NamedTuple):
    """What is known of the chains of a partition.

    Attributes:
        open: how many have no end yet.
        first: the first of these.
        loose: once all have ends, the first dataset that lacks too much; −1 if there is none.
        gap: the most that any lacks.
    """

    open: int
    first: int
    loose: int
    gap: float


def chains_across(problem: PartitionedProblem, name: str) -> Chains:
    """Follows all chains to their ends."""
    notion = problem.notion.name
    ends: list[Ends] = problem.run(follow_within, name, notion, words="proving chains of links")
    turn, before = 0, -1
    while (count := sum(one.open for one in ends)) not in (0, before):
        turn, before = turn + 1, count
        words = f"proving chains between partitions, round {turn}"
        ends = problem.run(follow_on, name, turn, words=words)
    if count:
        return Chains(CYCLE, min(one.first for one in ends if one.open))
    if any(one.loose >= 0 for one in ends):
        return Chains(ADDED_UP, min(one.loose for one in ends if one.loose >= 0))
    return Chains("", gap=max(one.gap for one in ends) * (1.0 + 2.0**-20))


def follow_within(part: Part, name: str, notion: str) -> Ends:
    """Follows chains to where they end, or to a ghost, and adds up what they lack on the way."""
    graph = LocalGraph(part)
    ends, gaps, slopes, depths = _links_to_follow(part, graph, name, notion)
    is_own = np.zeros(graph.size + 1, dtype=np.bool_)
    is_own[graph.own] = True
    for _ in range(graph.size.bit_length() + 1):
        on = np.flatnonzero(is_own[ends] & is_own)
        if not len(on):
            break
        joined(gaps, slopes, depths, on, ends[on])
        ends[on] = ends[ends[on]]
    own = graph.own
    gaps[is_own[ends] & is_own] = np.nan  # these go round and round
    for kind, values in (("end", ends), ("gap", gaps), ("slope", slopes), ("deep", depths)):
        part.save(f"{name}/chain-{kind}", values[own])
    left = ends[own] < graph.size
    return _kept(part, name, 0, np.where(left, np.nan, gaps[own]), depths[own])


def _links_to_follow(part: Part, graph: LocalGraph, name: str, notion: str) -> tuple[Indices, Floats, Floats, Floats]:
    """Where each chain goes next, what the link lacks and passes on, and |z|; for notions that add, ties are enough."""
    size = graph.size
    ends, gaps, slopes = np.full(size + 1, size), np.zeros(size + 1), np.zeros(size + 1)
    if notion in HALVED:
        ties = part.load(f"{name}/proof-ties")
        ends[ties] = graph.places(part.load(f"{name}/links")[ties - graph.before])
        return ends, gaps, slopes, np.ones(size + 1)
    claim = claimed(part, name)
    gaps[graph.own], slopes[graph.own] = part.load(f"{name}/proof-gaps"), part.load(f"{name}/proof-slopes")
    held = np.flatnonzero(~claim.skipped & (claim.better < np.inf))
    ends[held] = claim.links[held]
    return ends, gaps, slopes, np.append(depth_of(claim.better), 1.0)


def follow_on(part: Part, name: str, turn: int) -> Ends:
    """Takes over what the owners of ghosts know of the chains that left."""
    graph = LocalGraph(part)
    known = [graph.gather(f"{name}/chain-{kind}-{turn - 1}") for kind in ("gap", "deep")]
    ends, gaps, slopes, depths = (part.load(f"{name}/chain-{kind}") for kind in ("end", "gap", "slope", "deep"))
    left = ends < graph.size
    gap, deep = (np.append(values, 0.0)[np.where(left, ends, graph.size)] for values in known)
    with np.errstate(over="ignore", invalid="ignore"):
        passed = np.where(gap > 0.0, slopes * gap, gap)
    return _kept(part, name, turn, gaps + np.where(left, passed, 0.0), np.where(left, np.fmax(depths, deep), depths))


def _kept(part: Part, name: str, turn: int, gaps: Any, depths: Any) -> Ends:
    """Writes what is known after a round."""
    part.save(f"{name}/chain-gap-{turn}", gaps)
    part.save(f"{name}/chain-deep-{turn}", depths)
    unknown = np.flatnonzero(np.isnan(gaps))
    if len(unknown):
        return Ends(len(unknown), part.first + int(unknown[0]), -1, 0.0)
    loose = np.flatnonzero(too_wide(gaps, depths))
    return Ends(0, -1, part.first + int(loose[0]) if len(loose) else -1, float(np.max(gaps, initial=0.0)))

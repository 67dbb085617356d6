"""verify on partitions: every arc is looked at by the owner of its source, with the verifier's own code.

What a partition needs of others are the values of its ghosts, read from their owners' files. Then the proofs of all
partitions are put together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetdp.certificate.chains import link_gaps
from hetdp.certificate.claims import Claimed, claimed
from hetdp.certificate.crossings import chains_across
from hetdp.certificate.links import ROUNDING, Chains, gap_of_a_chain, joined, loosen, passed_on, reach_of, seen_links
from hetdp.certificate.rules import HALVED, RULES
from hetdp.problem.local import LocalGraph
from hetdp.problem.partitioned import PartitionedProblem
from hetdp.problem.parts import Part
from hetdp.problem.space import Floats

FREE = "a boundary dataset is not pinned"


class Seen(NamedTuple):
    """What was seen in one partition; datasets by their numbers among all, −1 where there is none.

    Attributes:
        arcs: how many arcs were looked at.
        enclosed: how many comparisons took the full formula.
        violations: how many arcs are violated.
        slack: the least slack.
        worst: the arc that has it.
        free_boundary: the first dataset of the boundary that is not pinned.
        missing: the first dataset without a link.
        loose: the first with a loose one.
        counts: how many links of each rise have a gap (notions that add to z).
        gaps: the largest gap of each rise.
        reach: the least and the greatest value.
        room: how much room links across ½ may have.
        further: how many of these have a free parent.
    """

    arcs: int
    enclosed: int
    violations: int
    slack: float
    worst: tuple[Any, ...] | None
    free_boundary: int
    missing: int = -1
    loose: int = -1
    counts: Any = 0.0
    gaps: Any = 0.0
    reach: tuple[float, float] = (0.0, 0.0)
    room: float = 0.0
    further: int = 0


def look_at_part(part: Part, name: str, notion: str, with_links: bool) -> Seen:
    """Goes through the arcs of a partition, and through its links."""
    claim = claimed(part, name)
    graph, rule = claim.graph, RULES[notion]
    found = rule.survey(graph, claim.z, claim.links, claim.better)
    worst = None
    if found.worst is not None:
        source, target, *allowed = found.worst
        worst = (*graph.numbers(np.array([source, target])).tolist(), *allowed)
    free = np.flatnonzero(part.load("boundary") & ~claim.pinned[graph.own])
    first = part.first + int(free[0]) if len(free) else -1
    seen = Seen(found.arcs, found.enclosed, found.violations, found.slack, worst, first)
    if not with_links:
        return seen
    part.save(f"{name}/proof-links", np.asarray(found.links)[..., graph.own])
    return _look_at_links(claim, seen, found.links, notion, name)


def _look_at_links(claim: Claimed, seen: Seen, parameters: Floats, notion: str, name: str) -> Seen:
    """The links of notions that add to z; of the others, those that follow no edge."""
    graph, part = claim.graph, claim.graph.part
    if notion not in HALVED:
        held = ~claim.skipped & (claim.better < np.inf)
        missing = np.flatnonzero(held & np.isnan(parameters[0]))
        gaps, slopes = np.zeros(graph.size), np.zeros(graph.size)
        links = np.flatnonzero(held & ~np.isnan(parameters[0]))
        gaps[links], slopes[links] = link_gaps(
            claim.better[claim.links[links]], claim.better[links], *parameters[:, links]
        )
        part.save(f"{name}/proof-gaps", gaps[graph.own])
        part.save(f"{name}/proof-slopes", slopes[graph.own])
        return seen._replace(missing=_number(graph, missing), loose=_number(graph, np.flatnonzero(np.isinf(gaps))))
    tally = seen_links(claim.better, claim.skipped, claim.links, parameters, HALVED[notion])
    above = joined(tally.crossings)
    room = loosen(tally, above, claim.better, claim.links, parameters)
    part.save(f"{name}/proof-ties", joined(tally.ties))
    further = above[~claim.pinned[claim.links[above]]]
    part.save(f"{name}/proof-further", further)
    own = claim.better[graph.own]
    return seen._replace(
        missing=_number(graph, np.sort(tally.missing)),
        loose=_number(graph, np.sort(tally.loose)),
        counts=tally.counts,
        gaps=tally.gaps,
        reach=reach_of(own),
        room=room,
        further=len(further),
    )


def _number(graph: LocalGraph, places: Any) -> int:
    return int(graph.numbers(np.asarray(places[:1], dtype=np.int64))[0]) if len(places) else -1


def gap_passed_on(part: Part, name: str, plain: float) -> float:
    """The largest gap behind the links across ½ of one partition."""
    claim = claimed(part, name)
    parameters = np.full(claim.graph.size, np.nan)
    parameters[claim.graph.own] = part.load(f"{name}/proof-links")
    return passed_on(part.load(f"{name}/proof-further"), claim.better, claim.links, parameters, plain)


def survey_parts(problem: PartitionedProblem, name: str, with_links: bool) -> list[Seen]:
    """What was seen in each partition."""
    words = "proving every edge"
    found: list[Seen] = problem.run(look_at_part, name, problem.notion.name, with_links, words=words)
    return found


def follow_parts(problem: PartitionedProblem, name: str, seen: list[Seen]) -> Chains:
    """What the links of all partitions prove together."""
    for fault, numbers in (
        (FREE, [one.free_boundary for one in seen]),
        ("a link is missing or follows no edge", [one.missing for one in seen]),
        ("a link is not tight", [one.loose for one in seen]),
    ):
        if any(number >= 0 for number in numbers):
            return Chains(fault, min(number for number in numbers if number >= 0), np.inf)
    ended = chains_across(problem, name)
    if ended.fault or problem.notion.name not in HALVED:
        return ended
    reach = min(one.reach[0] for one in seen), max(one.reach[1] for one in seen)
    counts, gaps = sum(one.counts for one in seen), np.maximum.reduce([one.gaps for one in seen])
    plain = gap_of_a_chain(reach, counts, gaps)
    more = 0.0
    if plain > 0.0 and any(one.further for one in seen):
        more = max(problem.run(gap_passed_on, name, plain))
    return Chains("", gap=(plain + max(more, *(one.room for one in seen))) * (1.0 + ROUNDING))

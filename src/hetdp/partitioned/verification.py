"""`verify` on partitions: the owner of an arc's source checks it, with the verifier's own code.

`survey_partitions` merges what all partitions find on their arcs and links. Chains of links may lead from partition to
partition; `chains_across` follows them to their ends. Like `certificate`, this module imports neither engines nor
theory nor mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from hetdp.certificate.additive import (
    ROUNDING,
    concatenate_indices,
    find_loose_crossings,
    gap_of_a_chain,
    largest_gap_beyond,
    reach_of,
    survey_links,
)
from hetdp.certificate.rule import (
    ADDED_UP,
    CYCLE,
    LOOSE,
    MISSING,
    Chains,
    Rule,
    Survey,
    append_chains,
    depth_of,
    free_boundary,
    too_wide,
)
from hetdp.certificate.rules import rule_of
from hetdp.partitioned.partition import LocalGraph, Partition
from hetdp.problem.space import Floats, Indices, Mask


class PartitionRunner(Protocol):
    """A problem that runs tasks on all its partitions."""

    notion: Any

    def run(self, task: Callable[..., Any], *arguments: Any, words: str = "") -> list[Any]:
        """Runs a task on every partition and returns the results."""


class PartitionClaim(NamedTuple):
    """The values that a mechanism claims for one partition's datasets and ghosts."""

    graph: LocalGraph
    z: Floats
    better: Floats
    pinned: Mask
    links: Indices

    @property
    def skipped(self) -> Mask:
        """A mask of the datasets whose links are not checked: pins, and ghosts, which their owners check."""
        skipped = np.ones(self.graph.size, dtype=np.bool_)
        skipped[self.graph.own] = self.pinned[self.graph.own]
        return skipped


def load_claim(partition: Partition, name: str) -> PartitionClaim:
    """Loads the values of a mechanism, including those of ghosts."""
    graph = LocalGraph(partition)
    z, answers = graph.gather(f"{name}/z"), graph.gather("answers")
    links = np.full(graph.size, -1, dtype=np.int64)
    links[graph.own] = graph.places(partition.load(f"{name}/links"))
    better = np.negative(z, out=z.copy(), where=answers == 2)
    return PartitionClaim(graph, z, better, graph.gather(f"{name}/pinned"), links)


# Chains of links across partitions ------------------------------------------------------------------------------------


class ChainEnds(NamedTuple):
    """The state of the chains of a partition.

    Attributes:
        open: number of chains whose end is not known yet.
        first: the first dataset with such a chain.
        loose: once all ends are known, the first dataset whose total gap is too large; −1 if there is none.
        gap: the largest total gap.
    """

    open: int
    first: int
    loose: int
    gap: float


def chains_across(problem: PartitionRunner, name: str) -> Chains:
    """Follows all chains to their ends, in rounds."""
    notion = problem.notion
    ends: list[ChainEnds] = problem.run(follow_within, name, notion, words="proving chains of links")
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


def follow_within(partition: Partition, name: str, notion: Any) -> ChainEnds:
    """Follows chains to their ends or to a ghost, and adds up their gaps."""
    graph = LocalGraph(partition)
    ends, gaps, slopes, depths = _links_to_follow(partition, graph, name, notion)
    is_own = np.zeros(graph.size + 1, dtype=np.bool_)
    is_own[graph.own] = True
    for _ in range(graph.size.bit_length() + 1):
        on = np.flatnonzero(is_own[ends] & is_own)
        if not len(on):
            break
        append_chains(gaps, slopes, depths, on, ends[on])
        ends[on] = ends[ends[on]]
    own = graph.own
    gaps[is_own[ends] & is_own] = np.nan  # these chains are cycles
    for kind, values in (("end", ends), ("gap", gaps), ("slope", slopes), ("deep", depths)):
        partition.save(f"{name}/chain-{kind}", values[own])
    left = ends[own] < graph.size
    return _save_chains(partition, name, 0, np.where(left, np.nan, gaps[own]), depths[own])


def _links_to_follow(
    partition: Partition, graph: LocalGraph, name: str, notion: Any
) -> tuple[Indices, Floats, Floats, Floats]:
    """The next dataset, gap and slope of each link, and |z|; for notions that add to z, ties are enough."""
    size = graph.size
    ends, gaps, slopes = np.full(size + 1, size), np.zeros(size + 1), np.zeros(size + 1)
    rule = rule_of(notion)
    if rule.gaps is None:
        ties = partition.load(f"{name}/proof-ties")
        ends[ties] = graph.places(partition.load(f"{name}/links")[ties - graph.before])
        return ends, gaps, slopes, np.ones(size + 1)
    claim = load_claim(partition, name)
    gaps[graph.own], slopes[graph.own] = partition.load(f"{name}/proof-gaps"), partition.load(f"{name}/proof-slopes")
    held = np.flatnonzero(~claim.skipped & (claim.better < np.inf))
    ends[held] = claim.links[held]
    return ends, gaps, slopes, np.append(rule.coarse * depth_of(claim.better), 1.0)


def follow_on(partition: Partition, name: str, turn: int) -> ChainEnds:
    """Takes over the gaps of chains that continue at ghosts from the owners of these."""
    graph = LocalGraph(partition)
    known = [graph.gather(f"{name}/chain-{kind}-{turn - 1}") for kind in ("gap", "deep")]
    ends, gaps, slopes, depths = (partition.load(f"{name}/chain-{kind}") for kind in ("end", "gap", "slope", "deep"))
    left = ends < graph.size
    gap, deep = (np.append(values, 0.0)[np.where(left, ends, graph.size)] for values in known)
    with np.errstate(over="ignore", invalid="ignore"):
        passed = np.where(gap > 0.0, slopes * gap, gap)
    return _save_chains(
        partition, name, turn, gaps + np.where(left, passed, 0.0), np.where(left, np.fmax(depths, deep), depths)
    )


def _save_chains(partition: Partition, name: str, turn: int, gaps: Any, depths: Any) -> ChainEnds:
    """Writes the state of the chains after a round."""
    partition.save(f"{name}/chain-gap-{turn}", gaps)
    partition.save(f"{name}/chain-deep-{turn}", depths)
    unknown = np.flatnonzero(np.isnan(gaps))
    if len(unknown):
        return ChainEnds(len(unknown), partition.first + int(unknown[0]), -1, 0.0)
    loose = np.flatnonzero(too_wide(gaps, depths))
    return ChainEnds(0, -1, partition.first + int(loose[0]) if len(loose) else -1, float(np.max(gaps, initial=0.0)))


class PartitionSurvey(NamedTuple):
    """The survey of one partition. Datasets are given by their numbers in the whole problem; −1 stands for none.

    Attributes:
        arcs: number of arcs checked.
        enclosed: number of comparisons that took the full formula.
        violations: number of violated arcs.
        slack: the smallest slack.
        worst: the arc with the smallest slack.
        free_boundary: the first boundary dataset that is not pinned.
        missing: the first dataset without a link.
        loose: the first dataset with a loose link.
        counts: number of links of each rise that have a gap (notions that add to z).
        gaps: the largest gap of each rise.
        reach: the smallest and the largest value.
        room: how much room links across ½ may have.
        further: number of links across ½ with a free parent.
        is_pinned: True if a dataset of the partition is pinned.
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
    is_pinned: bool = False


def survey_partition(partition: Partition, name: str, notion: Any, with_links: bool) -> PartitionSurvey:
    """Checks the arcs of a partition, and its links if `with_links`."""
    claim = load_claim(partition, name)
    graph, rule = claim.graph, rule_of(notion)
    found = rule.survey(graph, claim.z, claim.links, claim.better)
    worst = None
    if found.worst is not None:
        source, target, *allowed = found.worst
        worst = (*graph.numbers(np.array([source, target])).tolist(), *allowed)
    free = np.flatnonzero(partition.load("boundary") & ~claim.pinned[graph.own])
    first = partition.first + int(free[0]) if len(free) else -1
    seen = PartitionSurvey(found.arcs, found.enclosed, found.violations, found.slack, worst, first)
    seen = seen._replace(is_pinned=bool(claim.pinned[graph.own].any()))
    if not with_links:
        return seen
    partition.save(f"{name}/proof-links", np.asarray(found.links)[..., graph.own])
    return _look_at_links(claim, seen, found.links, rule, name)


def _look_at_links(
    claim: PartitionClaim, seen: PartitionSurvey, parameters: Floats, rule: Rule, name: str
) -> PartitionSurvey:
    """Checks the links of notions that add to z; for other notions, only that links follow edges."""
    graph, partition = claim.graph, claim.graph.partition
    if rule.gaps is not None:
        held = ~claim.skipped & (claim.better < np.inf)
        missing = np.flatnonzero(held & np.isnan(parameters[0]))
        gaps, slopes = np.zeros(graph.size), np.zeros(graph.size)
        links = np.flatnonzero(held & ~np.isnan(parameters[0]))
        gaps[links], slopes[links] = rule.gaps(
            claim.better[claim.links[links]], claim.better[links], *parameters[:, links]
        )
        partition.save(f"{name}/proof-gaps", gaps[graph.own])
        partition.save(f"{name}/proof-slopes", slopes[graph.own])
        return seen._replace(missing=_number(graph, missing), loose=_number(graph, np.flatnonzero(np.isinf(gaps))))
    tally = survey_links(claim.better, claim.skipped, claim.links, parameters, bool(rule.halved))
    above = concatenate_indices(tally.crossings)
    low, high = claim.better[claim.links[above]], claim.better[above]
    room = find_loose_crossings(tally, above, low, high, parameters[above])
    partition.save(f"{name}/proof-ties", concatenate_indices(tally.ties))
    further = above[~claim.pinned[claim.links[above]]]
    partition.save(f"{name}/proof-further", further)
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


def gap_passed_on(partition: Partition, name: str, plain: float) -> float:
    """The largest gap behind the links across ½ of one partition."""
    claim = load_claim(partition, name)
    parameters = np.full(claim.graph.size, np.nan)
    parameters[claim.graph.own] = partition.load(f"{name}/proof-links")
    further = partition.load(f"{name}/proof-further")
    low, high = claim.better[claim.links[further]], claim.better[further]
    return largest_gap_beyond(low, high, parameters[further], plain)


def survey_partitions(problem: PartitionRunner, name: str, with_links: bool) -> tuple[Survey, Callable[[], Chains]]:
    """Surveys all edges; returns the survey and a function that follows all chains of links.

    Args:
        problem: the problem.
        name: name of the mechanism's arrays.
        with_links: whether to check links, too.
    """
    found: list[PartitionSurvey] = problem.run(
        survey_partition, name, problem.notion, with_links, words="proving every edge"
    )
    return _merge(found), lambda: _follow_links(problem, name, found)


def _merge(seen: list[PartitionSurvey]) -> Survey:
    """Merges the surveys of all partitions; among equally bad arcs the first is the worst."""
    whole = Survey(links=None)
    for one in seen:
        whole.add(one.arcs, one.enclosed, one.violations)
        if one.worst is not None and (whole.worst is None or (one.slack, one.worst) < (whole.slack, whole.worst)):
            whole.slack, whole.worst = one.slack, one.worst
    return whole


def _follow_links(problem: PartitionRunner, name: str, seen: list[PartitionSurvey]) -> Chains:
    """Follows the links of all partitions and returns what they prove together."""
    free = [one.free_boundary for one in seen if one.free_boundary >= 0]
    if free:
        return free_boundary(min(free), any(one.is_pinned for one in seen))
    for fault, numbers in (
        (MISSING, [one.missing for one in seen]),
        (LOOSE, [one.loose for one in seen]),
    ):
        if any(number >= 0 for number in numbers):
            return Chains(fault, min(number for number in numbers if number >= 0), np.inf)
    ended = chains_across(problem, name)
    if ended.fault or rule_of(problem.notion).gaps is not None:
        return ended
    reach = min(one.reach[0] for one in seen), max(one.reach[1] for one in seen)
    counts, gaps = sum(one.counts for one in seen), np.maximum.reduce([one.gaps for one in seen])
    plain = gap_of_a_chain(reach, counts, gaps)
    more = 0.0
    if plain > 0.0 and any(one.further for one in seen):
        more = max(problem.run(gap_passed_on, name, plain))
    return Chains("", gap=(plain + max(more, *(one.room for one in seen))) * (1.0 + ROUNDING))

"""The contract of a proof: what the verifier needs to know of one notion of privacy.

Each notion, or family of notions, has a module here that is written from the definition, and `rules.py` lists them.
Nothing is imported from theory/: a mistake there must not be repeated here unseen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from hetdp.problem.space import EdgeBlock, Floats, Indices, Mask
from hetdp.problem.spelling import shorten_label

Gaps = Callable[..., tuple[Floats, Floats]]
Steps = list[dict[str, float]]

MISSING = "a link is missing or follows no edge"
LOOSE = "a link is not tight"
CYCLE = "links form a cycle"
ADDED_UP = "rounding errors add up along a chain"
UNPINNED = "a boundary dataset is not pinned"
NOTHING_GIVEN = "nothing says which values were given"
LARGEST_GAP = 1e-9  # at the end of a chain; times |z| where that is above 1, since floats lie further apart there


class Losses(NamedTuple):
    """The privacy loss of an edge: the least parameter that it would keep.

    Attributes:
        estimate: the losses of pairs of z in ordinary floats.
        margin: a bound on their relative error.
        is_at_most: whether the loss between two finite z, the smaller one first, is at most a fraction, in exact
            arithmetic; false where that cannot be decided. It runs at the precision that its caller sets.
    """

    estimate: Callable[[Floats, Floats], Floats]
    margin: float
    is_at_most: Callable[[float, float, Fraction], bool]


@dataclass(frozen=True)
class Rule:
    """The functions that prove a notion.

    Attributes:
        survey: looks at every arc (privacy), given the space, z, links, and z signed so that larger is better.
        follow: looks at every chain of links (optimality), given these values, what is pinned, the links, and what
            the survey noted of each link.
        worst: makes the edge with the least slack from its ends, what it allows, and the slack.
        is_below: whether z at the start of a path allows less than z at its end, given both and the parameters of each
            step; None where the precision set by the caller does not decide.
        losses: the loss of an edge; None where it is not one number, as with a δ.
        halved: for notions that add the parameter itself, unchanged, to z, as partitions and GPUs then do, too: whether
            p = ½ is special; None for all others.
        gaps: for notions that do not add to z, a bound on the gap and on the slope of each link.
        coarse: how many times LARGEST_GAP a chain may lack, for notions whose steps are rounded more coarsely.
        rows: looks at every arc and link of a large space of people, and makes no array of its size; given the space,
            z, links, what is pinned (None to leave out the links), and the answers. None where `survey` does it.
    """

    survey: Callable[[Any, Floats, Indices, Floats], Survey]
    follow: Callable[[Floats, Mask, Indices, Any], Chains]
    worst: Callable[..., Any]
    is_below: Callable[[float, Steps, float], bool | None]
    losses: Losses | None
    halved: bool | None = None
    gaps: Gaps | None = None
    coarse: float = 1.0
    rows: Callable[[Any, Floats, Indices, Mask | None, Any], tuple[Survey, Callable[[], Chains]]] | None = None

    def __post_init__(self) -> None:
        if (self.halved is None) == (self.gaps is None):
            raise TypeError("a rule has `halved`, if it adds its parameter to z, or `gaps`, and never both")


@dataclass
class Survey:
    """The findings on all arcs: counts, and the arc with the least slack and its parameters.

    `links` has what the link of each dataset allows, NaN if it follows no edge: one array of ε where the rule has
    `halved`; one row for each parameter where it has `gaps`.
    """

    links: Any
    arcs: int = 0
    enclosed: int = 0
    violations: int = 0
    slack: float = np.inf
    worst: tuple[Any, ...] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, arcs: int, enclosed: int, violations: int) -> None:
        """Counts of one block."""
        with self.lock:
            self.arcs += arcs
            self.enclosed += enclosed
            self.violations += violations

    def least(self, size: int) -> tuple[float, int]:
        """The slack from which on arcs need not be offered, and the last dataset at which an equal slack would win."""
        with self.lock:
            if self.worst is None:
                return self.slack, size
            return (self.slack, int(self.worst[0])) if self.slack >= 0.0 else (0.0, -1)

    def offer(self, block: EdgeBlock, at: int, slack: float) -> None:
        """Offers a candidate for the worst arc. Ties go to the first arc, independent of thread timing."""
        own = block.parameters[::2]  # of a parameter for each direction, that of this one
        place = int(block.source[at]), int(block.target[at]), *(float(column[at]) for column in own)
        with self.lock:
            if self.worst is None or (slack, place) < (self.slack, self.worst):
                self.slack, self.worst = slack, place


def pick(block: EdgeBlock, chosen: Indices) -> EdgeBlock:
    """Some arcs of a block."""
    return EdgeBlock(block.source[chosen], block.target[chosen], tuple(x[chosen] for x in block.parameters))


# Chains of links.


@dataclass(frozen=True)
class Chains:
    """The proof from the chains of links.

    Attributes:
        fault: why they prove nothing; empty if they hold.
        dataset: where the fault is, −1 if nowhere.
        gap: a bound on how far any free dataset stays below the exact bound along its chain.
    """

    fault: str
    dataset: int = -1
    gap: float = np.inf


def free_boundary(dataset: int, is_any_pinned: bool) -> Chains:
    """What follows if a dataset of the boundary is not pinned: nothing can be shown optimal."""
    return Chains(UNPINNED, dataset) if is_any_pinned else Chains(NOTHING_GIVEN)


def follow_chains(
    better: Floats, pinned: Mask, links: Indices, parameters: Floats, gaps_of: Gaps, coarse: float = 1.0
) -> Chains:
    """Bounds the gap of every link, follows the links to where they end, and adds up the gaps on the way.

    Args:
        better: the values, signed so that larger is better.
        pinned: where chains may end; they may also end where the right answer is certain.
        links: for each free dataset the neighbour that holds it down.
        parameters: what each dataset's link allows, one row for each parameter; NaN where the space has no such edge.
        gaps_of: a bound on the gap and on the slope of each link, from the values of both ends and the parameters.
        coarse: how many times LARGEST_GAP a chain may lack.
    """
    size = len(better)
    held = np.flatnonzero(~pinned & (better < np.inf))
    missing = held[np.isnan(parameters[0, held])]
    if len(missing):
        return Chains(MISSING, int(missing[0]))
    gaps, slopes, ends = np.zeros(size + 1), np.zeros(size + 1), np.full(size + 1, size)
    gaps[held], slopes[held] = gaps_of(better[links[held]], better[held], *parameters[:, held])
    ends[held] = links[held]
    if np.isinf(gaps).any():
        return Chains(LOOSE, int(np.argmax(np.isinf(gaps))))
    depths = np.append(coarse * depth_of(better), 1.0)
    for _ in range(size.bit_length() + 1):
        on = np.flatnonzero(ends < size)
        if not len(on):
            break
        append_chains(gaps, slopes, depths, on, ends[on])
        ends[on] = ends[ends[on]]
    if (ends < size).any():
        return Chains(CYCLE, int(np.argmax(ends < size)))
    wide = np.flatnonzero(too_wide(gaps, depths))
    if len(wide):
        return Chains(ADDED_UP, int(wide[0]))
    return Chains("", gap=float(np.max(gaps)) * (1.0 + 2.0**-20))  # more than the rounding of the sums


def append_chains(gaps: Floats, slopes: Floats, depths: Floats, on: Indices, ends: Indices) -> None:
    """Extends chains by those that begin where they end; the gap there is multiplied by the slope."""
    with np.errstate(over="ignore", invalid="ignore"):
        gaps[on] += np.where(gaps[ends] > 0.0, slopes[on] * gaps[ends], 0.0)
        slopes[on] = np.where(slopes[ends] > 0.0, slopes[on] * slopes[ends], 0.0)
    depths[on] = np.maximum(depths[on], depths[ends])


def depth_of(better: Floats) -> Floats:
    """|z|, at least 1; it is 1 where p is 0 or 1, which are exact."""
    return np.where(np.isfinite(better), np.maximum(1.0, np.abs(better)), 1.0)


def too_wide(gaps: Floats, depths: Floats) -> Mask:
    """Marks gaps that are larger than roundings may leave."""
    return ~(gaps <= LARGEST_GAP * depths)


# The edge with the least slack, in the words of each notion. Every kind has an `epsilon`, the main parameter.


class WorstEdge(NamedTuple):
    """The edge with the least slack: Pr at `target` is bounded by Pr at `source`; ε as used, floored to its decimal."""

    source: Any
    target: Any
    epsilon: float
    slack: float

    place = " across ½"  # type: ignore[misc]  # where the full formula is needed

    def __str__(self) -> str:
        return sentence_of(self.source, self.target, f"ε = {self.epsilon:g}", self.slack)


class WorstGaussianEdge(NamedTuple):
    """The same for Gaussian privacy: the edge has μ."""

    source: Any
    target: Any
    mu: float
    slack: float

    place = " across ½"  # type: ignore[misc]

    @property
    def epsilon(self) -> float:
        """The main parameter of the edge, under the name that it has for most notions."""
        return self.mu

    def __str__(self) -> str:
        return sentence_of(self.source, self.target, f"μ = {self.mu:g}", self.slack)


class WorstDirectedEdge(WorstEdge):
    """The direction with the least slack: Pr at `source` is bounded by Pr at `target`, with the ε of that direction."""

    __slots__ = ()
    place = ""


class WorstApproximateEdge(NamedTuple):
    """The same with δ: Pr at `source` is at most e^ε times Pr at `target`, plus δ."""

    source: Any
    target: Any
    epsilon: float
    delta: float
    slack: float

    place = ""  # type: ignore[misc]

    def __str__(self) -> str:
        return sentence_of(self.source, self.target, f"ε = {self.epsilon:g}, δ = {self.delta:g}", self.slack)


AnyWorstEdge = WorstEdge | WorstGaussianEdge | WorstDirectedEdge | WorstApproximateEdge


def sentence_of(source: Any, target: Any, allowed: str, slack: float) -> str:
    """An edge, what it allows and its slack, for people."""
    return f"{shorten_label(source)} to {shorten_label(target)}, {allowed}, slack {slack:.2g}"

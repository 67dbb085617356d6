"""The edge with the least slack, in the words of each notion of privacy. Every kind has an `epsilon`, the main one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from hetdp.certificate import chains, directed, edges, links
from hetdp.errors import UsageError
from hetdp.problem.space import Floats, Indices, Space
from hetdp.problem.spelling import shorten_label


class WorstEdge(NamedTuple):
    """The edge with the least slack: Pr at `target` is bounded by Pr at `source`; ε as used, floored to its decimal."""

    source: Any
    target: Any
    epsilon: float
    slack: float

    def __str__(self) -> str:
        return _sentence(self.source, self.target, f"ε = {self.epsilon:g}", self.slack)


class WorstGaussianEdge(NamedTuple):
    """The same for Gaussian privacy: the edge has μ."""

    source: Any
    target: Any
    mu: float
    slack: float

    @property
    def epsilon(self) -> float:
        """What the edge allows, under the name that it has for most notions."""
        return self.mu

    def __str__(self) -> str:
        return _sentence(self.source, self.target, f"μ = {self.mu:g}", self.slack)


class WorstDirectedEdge(WorstEdge):
    """The direction with the least slack: Pr at `source` is bounded by Pr at `target`, with the ε of that direction."""

    __slots__ = ()


class WorstApproximateEdge(NamedTuple):
    """The same with δ: Pr at `source` is at most e^ε times Pr at `target`, plus δ."""

    source: Any
    target: Any
    epsilon: float
    delta: float
    slack: float

    def __str__(self) -> str:
        return _sentence(self.source, self.target, f"ε = {self.epsilon:g}, δ = {self.delta:g}", self.slack)


AnyWorstEdge = WorstEdge | WorstGaussianEdge | WorstDirectedEdge | WorstApproximateEdge


def _sentence(source: Any, target: Any, allowed: str, slack: float) -> str:
    return f"{shorten_label(source)} to {shorten_label(target)}, {allowed}, slack {slack:.2g}"


# Which proof belongs to which notion of privacy: the one place that knows them by name.


class Rule(NamedTuple):
    """How a notion is proved.

    Attributes:
        survey: looks at every arc (privacy), given the space, z, links, and z signed so that larger is better.
        follow: looks at every chain of links (optimality).
        worst: what the edge with the least slack is called.
    """

    survey: Callable[..., edges.Survey]
    follow: Callable[..., links.Chains]
    worst: Callable[..., AnyWorstEdge]


def _added(halved: bool, worst: Callable[..., AnyWorstEdge]) -> Rule:
    def survey(space: Space, z: Floats, links: Indices, _: Floats) -> edges.Survey:
        return edges.survey(space, z, links, halved)

    return Rule(survey, partial(links.follow, halved=halved), worst)


def _gaps(*link: Floats) -> Floats:
    return chains.link_gaps(*link)[0]


_survey_directed = partial(directed.survey_directed, gaps=_gaps)

HALVED = {"pure": True, "bounded-range": False, "gaussian": False}  # that add to z: whether p = ½ is special
RULES = {
    "pure": _added(HALVED["pure"], WorstEdge),
    "bounded-range": _added(HALVED["bounded-range"], WorstEdge),
    "gaussian": _added(HALVED["gaussian"], WorstGaussianEdge),
    "directed": Rule(_survey_directed, chains.follow_directed, WorstDirectedEdge),
    "approximate": Rule(_survey_directed, chains.follow_directed, WorstApproximateEdge),
}


def rule_of(notion: Any) -> Rule:
    """The proof for a notion, or a refusal."""
    if notion.name not in RULES:
        known = ", ".join(repr(name) for name in RULES)
        raise UsageError(f"no proof is known for the notion {notion.name!r}", f"verify knows {known}")
    return RULES[notion.name]

"""Which proof belongs to which notion of privacy: the one place that knows them by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from hetdp.certificate import chains, directed, edges, links
from hetdp.certificate.worst import (
    AnyWorstEdge,
    WorstApproximateEdge,
    WorstDirectedEdge,
    WorstEdge,
    WorstGaussianEdge,
)
from hetdp.errors import UsageError
from hetdp.problem.space import Floats, Indices, Space


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

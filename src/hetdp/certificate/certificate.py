"""verify: is a mechanism private, exactly, and is it the best one for its pins?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from hetdp.certificate.edges import Survey, survey
from hetdp.certificate.links import Chains, follow
from hetdp.errors import Fault, InputError
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices, Mask


class Claim(Protocol):
    """What a mechanism claims: its values, which of them were given, and what holds the others down."""

    @property
    def coordinates(self) -> Floats:
        """The Laplace coordinate of each dataset."""

    @property
    def pinned(self) -> Mask:
        """Which values were given."""

    @property
    def links(self) -> Indices:
        """For each free dataset the neighbour that binds it, −1 elsewhere."""


class WorstEdge(NamedTuple):
    """The edge with the least slack: Pr at `target` is bounded by Pr at `source`; ε as used, floored to its decimal."""

    source: Any
    target: Any
    epsilon: float
    slack: float


@dataclass(frozen=True)
class Certificate:
    """What `verify` found, in exact arithmetic.

    Attributes:
        private: every edge holds, both ways.
        optimal: no free dataset can be more accurate while the pins stay: every one has a chain of tight links to a
            pinned dataset, and the whole boundary is pinned.
        worst_edge: the edge with the least slack, or the most violated one; None without edges.
        slack: ε minus the privacy loss on that edge; negative exactly if the mechanism is not private.
        gap: a bound on how far in z any free dataset stays below the exact bound along its chain, because labels are
            rounded toward privacy; infinite if `optimal` is false.
        edges: how many edges were checked.
        enclosed: how many of them cross p = ½ so closely that enclosures decided.
        violations: how many arcs (edge and direction) are violated.
        shortfall: why `optimal` is false; empty if it is true.
        method: how the proof was made.
    """

    private: bool
    optimal: bool
    worst_edge: WorstEdge | None
    slack: float
    gap: float
    edges: int
    enclosed: int
    violations: int
    shortfall: str
    method: str = "every edge checked"

    def __str__(self) -> str:
        if not self.private:
            worst = self.worst_edge
            return f"NOT PRIVATE: {self.violations} violations in {self.edges} edges; the worst is {worst}."
        optimal = f"optimal (gap {self.gap:.1e})" if self.optimal else f"not shown optimal: {self.shortfall}"
        across = f"{self.enclosed} closely across ½, least slack {self.slack:.1e}"
        return f"private on all {self.edges} edges ({across}); {optimal}."


def verify(problem: Problem, mechanism: Claim) -> Certificate:
    """Proves or refutes that a mechanism is private on every edge, and that it is optimal given its pins.

    It shares no code with the engines: only the numbers of the mechanism and the edges of the problem come in.

    Args:
        problem: the datasets, edges and answers.
        mechanism: anything with `coordinates`, `pinned` and `links`.

    Paper: Definition 8 (every initial DP condition), Definition 6 (optimal) among mechanisms that agree on the pins.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0)
    >>> problem = hetdp.Problem(graph, [1, 1, 2])
    >>> certificate = hetdp.verify(problem, hetdp.extend(problem, {1: 0.7, 2: 0.3}))
    >>> certificate.private, certificate.optimal
    (True, True)
    """
    z, pinned, links = mechanism.coordinates, mechanism.pinned, mechanism.links
    _refuse_misfit(problem, z, pinned, links)
    seen = survey(problem.graph, z, links)
    better = np.where(problem.answers == 1, z, -z)
    if (problem.boundary_mask & ~pinned).any():
        free = int(np.flatnonzero(problem.boundary_mask & ~pinned)[0])
        chains = Chains("a boundary dataset is not pinned", free, np.inf)
    else:
        chains = follow(better, pinned, links, seen.link_epsilon)
    return _certificate(problem, seen, chains)


def is_private(problem: Problem, mechanism: Claim) -> bool:
    """Whether every edge holds, without asking for the best."""
    return survey(problem.graph, mechanism.coordinates, mechanism.links).violations == 0


def _certificate(problem: Problem, seen: Survey, chains: Chains) -> Certificate:
    label = problem.graph.label
    worst = None
    if seen.worst is not None:
        source, target, epsilon = seen.worst
        worst = WorstEdge(label(source), label(target), epsilon, seen.slack)
    private = seen.violations == 0 and seen.arcs == problem.graph.arc_count
    shortfall = f"{chains.fault} (dataset {label(chains.dataset)!r})" if chains.fault else ""
    if not private:
        shortfall = "it is not private"
    return Certificate(
        private=private,
        optimal=private and not shortfall,
        worst_edge=worst,
        slack=seen.slack,
        gap=np.inf if shortfall else chains.gap,
        edges=seen.arcs // 2,
        enclosed=seen.enclosed,
        violations=seen.violations,
        shortfall=shortfall,
    )


def _refuse_misfit(problem: Problem, z: Floats, pinned: Mask, links: Indices) -> None:
    size = problem.graph.size
    faults = [
        Fault("wrong length", name, str(len(array)), f"the problem has {size} datasets")
        for name, array in (("coordinates", z), ("pinned", pinned), ("links", links))
        if len(array) != size
    ]
    if not faults and np.isnan(z).any():
        at = int(np.flatnonzero(np.isnan(z))[0])
        faults.append(Fault("no value", f"dataset {problem.graph.label(at)!r}", "nan", "every dataset has a value"))
    if faults:
        raise InputError("mechanism", faults)

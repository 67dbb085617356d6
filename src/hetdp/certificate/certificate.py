"""verify: is a mechanism private, exactly, and is it the best one for its pins?"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from hetdp.certificate.rule import AnyWorstEdge, Chains, Survey, WorstEdge
from hetdp.certificate.rules import rule_of
from hetdp.errors import Fault, InputError
from hetdp.problem.labels import Labels
from hetdp.problem.notebook import html_table
from hetdp.problem.partial import PartialMechanism, pins_of
from hetdp.problem.problem import Problem, require_problem
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.problem.spelling import shorten_label
from hetdp.text import pluralize, round_up

EVERY = "every edge checked"
ROUNDED = "every edge checked, for z as rounded from the given values"


class Claim(Protocol):
    """What a mechanism claims: its values, which of them were given, and what holds the others down."""

    @property
    def coordinates(self) -> Floats:
        """The coordinate of each dataset: Laplace, or as the problem's notion has it."""

    @property
    def pinned(self) -> Mask:
        """Which values were given."""

    @property
    def links(self) -> Indices:
        """For each free dataset the neighbour that binds it, −1 elsewhere."""


class EdgeCounts(Protocol):
    """How large the graph of a problem is."""

    @property
    def size(self) -> int:
        """How many datasets there are."""

    @property
    def arc_count(self) -> int:
        """Twice the number of edges that constrain."""

    @property
    def edge_count(self) -> int:
        """How many edges there are, those without a constraint included."""


class SelfSurveying(ABC):
    """A problem whose edges are not in this process: it looks at them itself, with the verifier's code.

    Attributes:
        graph: how many datasets and edges there are.
        notion: the notion of privacy.
        labels: the names of the datasets, both ways.
    """

    graph: EdgeCounts
    notion: Any

    @property
    @abstractmethod
    def labels(self) -> Labels:
        """The names of the datasets, both ways."""

    @abstractmethod
    def label(self, number: int) -> Hashable:
        """The label of a dataset."""

    @abstractmethod
    def survey(self, mechanism: Any, with_links: bool = True) -> tuple[Survey, Callable[[], Chains]]:
        """What is seen on all edges, and a function that follows all chains of links.

        Raises:
            UsageError: the mechanism is not one of this problem.
        """


@dataclass(frozen=True)
class Certificate:
    """What `verify` found, in exact arithmetic.

    Attributes:
        private: every edge holds, both ways.
        optimal: no free dataset can be more accurate while the pins stay: every one has a chain of tight links to a
            pinned dataset, and the whole boundary is pinned.
        worst_edge: the edge with the least slack, or the most violated one; None without edges.
        slack: ε minus the privacy loss on that edge, given its δ if it has one; negative exactly if the mechanism is
            not private.
        gap: a bound on how far any free dataset stays below the exact bound along its chain, because labels are
            rounded toward privacy; infinite if `optimal` is false. It is in z, which keeps both tails: a small error
            is at most e^gap times the least possible one (for the notion gaussian, e^(|z|·gap), about).
        edges: how many edges were checked.
        enclosed: how many comparisons plain addition could not settle, such as those across p = ½; there the full
            formula did, with enclosures where it is close.
        violations: how many arcs (edge and direction) are violated.
        shortfall: why `optimal` is false; empty if it is true.
        method: how the proof was made.
    """

    private: bool
    optimal: bool
    worst_edge: AnyWorstEdge | None
    slack: float
    gap: float
    edges: int
    enclosed: int
    violations: int
    shortfall: str
    method: str = EVERY

    @property
    def violated(self) -> str:
        """How often and where most, in words."""
        found = f"{pluralize(self.violations, 'violation')} in {pluralize(self.edges, 'edge')}"
        return f"{found}; the worst is {self.worst_edge}"

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows: list[tuple[str, Any]] = [("private", self.private), ("optimal", self.optimal)]
        rows += [("edges checked", self.edges), ("violations", self.violations), ("least slack", f"{self.slack:.1e}")]
        rows += [("on the edge", str(self.worst_edge))] if self.worst_edge is not None else []
        rows += [("gap", f"{round_up(self.gap, 2):.1e}")] if self.optimal else [("not shown optimal", self.shortfall)]
        return html_table("Certificate", [], [*rows, ("method", self.method)])

    def __str__(self) -> str:
        if not self.private:
            return f"NOT PRIVATE: {self.violated}."
        gap = round_up(self.gap, 2)
        optimal = f"optimal (gap {gap:.1e})" if self.optimal else f"not shown optimal: {self.shortfall}"
        place = WorstEdge.place if self.worst_edge is None else self.worst_edge.place
        across = f"{self.enclosed}{place} by the full formula, least slack {self.slack:.1e}"
        every = "its one edge" if self.edges == 1 else f"all {self.edges:,} edges"
        how = "" if self.method == EVERY else f" ({self.method})"
        return f"private on {every} ({across}); {optimal}{how}."


def verify(problem: Problem | SelfSurveying, mechanism: Any) -> Certificate:
    """Proves or refutes that a mechanism is private on every edge, and that it is optimal given its pins.

    It shares no code with the engines: only the numbers of the mechanism and the edges of the problem come in.

    Args:
        problem: the datasets, edges and answers.
        mechanism: anything with `coordinates`, `pinned` and `links`; or the values alone, one for each dataset, as
            `extend` takes them: a mapping label → p, an array, or a PartialMechanism. Values alone can be shown
            private, but not optimal, since nothing says which were given; and what is proved of p is proved of the z
            that p is rounded to, as `method` then says.

    Paper: Definition 8 (every initial DP condition), Definition 6 (optimal) among mechanisms that agree on the pins.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0)
    >>> problem = hetdp.Problem(graph, [1, 1, 2])
    >>> certificate = hetdp.verify(problem, hetdp.extend(problem, {1: 0.7, 2: 0.3}))
    >>> certificate.private, certificate.optimal
    (True, True)
    """
    if isinstance(problem, SelfSurveying):
        survey, follow = problem.survey(mechanism)
        return _certificate(problem, survey, follow())
    require_problem(problem)
    if not hasattr(mechanism, "coordinates"):
        certificate = verify(problem, _values(problem, mechanism))
        exact = isinstance(mechanism, PartialMechanism) and mechanism.p is None and mechanism.error is None
        return certificate if exact else replace(certificate, method=ROUNDED)
    z, pinned, links = _columns(problem, mechanism)
    rule = rule_of(problem.notion)
    better = np.negative(z, out=z.copy(), where=problem.answers == 2)
    seen = rule.survey(problem.graph, z, links, better)
    if (problem.boundary_mask & ~pinned).any():
        free = int(np.flatnonzero(problem.boundary_mask & ~pinned)[0])
        chains = Chains("a boundary dataset is not pinned", free, np.inf)
    else:
        chains = rule.follow(better, pinned, links, seen.links)
    return _certificate(problem, seen, chains)


class _Values(NamedTuple):
    """Values of which none is said to have been given."""

    coordinates: Floats
    pinned: Mask
    links: Indices


def _values(problem: Problem, values: Any) -> _Values:
    size = problem.graph.size
    return _Values(pins_of(values, problem), np.zeros(size, dtype=np.bool_), np.full(size, -1))


def values_of(problem: Problem, mechanism: Any) -> Floats:
    """z of a mechanism, or of values alone as `verify` takes them: one for each dataset, or a refusal."""
    require_problem(problem)
    return _columns(problem, mechanism if hasattr(mechanism, "coordinates") else _values(problem, mechanism))[0]


def is_private(problem: Problem | SelfSurveying, mechanism: Claim) -> bool:
    """True if every edge holds; it does not matter whether the mechanism is the best one."""
    if isinstance(problem, SelfSurveying):
        return _holds_everywhere(problem, problem.survey(mechanism, with_links=False)[0])
    z, _, links = _columns(problem, mechanism)
    return _holds_everywhere(problem, rule_of(problem.notion).survey(problem.graph, z, links, z))


def _holds_everywhere(problem: Problem | SelfSurveying, seen: Survey) -> bool:
    return seen.violations == 0 and seen.arcs == problem.graph.arc_count


def _certificate(problem: Problem | SelfSurveying, seen: Survey, chains: Chains) -> Certificate:
    label = problem.graph.label if isinstance(problem, Problem) else problem.label
    worst = None
    if seen.worst is not None:
        source, target, *allowed = seen.worst
        worst = rule_of(problem.notion).worst(label(source), label(target), *allowed, seen.slack)
    private = _holds_everywhere(problem, seen)
    shortfall = (
        f"{chains.fault} (dataset {shorten_label(label(chains.dataset), problem.labels)})" if chains.fault else ""
    )
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


def _other_datasets(problem: Problem, mechanism: Claim) -> list[Fault]:
    """A mechanism that knows its datasets, and says they are others or come in another order."""
    labels = getattr(getattr(mechanism, "problem", None), "labels", problem.labels)
    if labels is problem.labels or labels.names == problem.labels.names:
        return []
    hint = "hetdp.read_mechanism(path, problem) brings a saved mechanism into the problem's order"
    return [Fault("other datasets, or in another order", "datasets", "", "they are those of the problem", hint)]


def _columns(problem: Problem, mechanism: Claim) -> tuple[Floats, Mask, Indices]:
    """The numbers of a mechanism as 64-bit floats, booleans and integers, one for each dataset, or a refusal."""
    require_problem(problem)
    rule_of(problem.notion)  # or a refusal
    size, faults = problem.graph.size, _other_datasets(problem, mechanism)
    given = {name: getattr(mechanism, name, None) for name in ("coordinates", "pinned", "links")}
    arrays = {name: np.asarray(values) for name, values in given.items()}
    for name, kinds, rule in (
        ("coordinates", "f", "numbers"),
        ("pinned", "b", "booleans"),
        ("links", "iu", "integers"),
    ):
        if arrays[name].shape != (size,) or (size and arrays[name].dtype.kind not in kinds):
            value = f"{arrays[name].dtype} of shape {arrays[name].shape}"
            faults.append(Fault("misfit", name, value, f"the problem needs {size} {rule}"))
    if not faults and np.isnan(arrays["coordinates"]).any():
        place = f"dataset {shorten_label(problem.graph.label(int(np.argmax(np.isnan(arrays['coordinates'])))))}"
        faults.append(Fault("no value", place, "nan", "every dataset has a value"))
    if faults:
        raise InputError("mechanism", faults)
    return arrays["coordinates"].astype(np.float64, copy=False), arrays["pinned"].astype(np.bool_), arrays["links"]

"""verify: is a mechanism private, exactly, and is it the best one for its pins? Or do pins contradict each other?"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from flint import ctx

from hetdp.certificate.enclosure import FINER_PRECISIONS, FIRST_PRECISION, precision
from hetdp.certificate.products import as_readonly, has_rows
from hetdp.certificate.rule import AnyWorstEdge, Chains, Survey, WorstEdge, free_boundary
from hetdp.certificate.rules import rule_of
from hetdp.errors import Fault, FaultCollector, InputError
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.labels import Labels
from hetdp.problem.partial import PartialMechanism, values_on
from hetdp.problem.problem import Problem, require_problem
from hetdp.problem.space import BLOCK, EdgeBlock, Floats, Indices, Mask
from hetdp.problem.spelling import shorten_label
from hetdp.text import html_table, pluralize, round_up
from hetdp.threads import run_in_threads, slices

EVERY_EDGE = "every edge checked"
NEAR = 1e-9  # largest slack of a violation that is called a rounding error
ROUNDING_WORDS = " It misses by a rounding error only; polish, accuracy and extend make such values private."
ROWS_AT_ONCE = 1 << 10  # datasets whose edges are looked at together
EVERY_EDGE_ROUNDED = "every edge checked, for z as rounded from the given values"


@runtime_checkable
class Claim(Protocol):
    """The claim of a mechanism: its values, which of them were given, and the links that hold the others down."""

    @property
    def coordinates(self) -> Floats:
        """The coordinate of each dataset: Laplace, or as the problem's notion has it."""

    @property
    def pinned(self) -> Mask:
        """Marks the values that were given."""

    @property
    def links(self) -> Indices:
        """For each free dataset the neighbour that binds it, −1 elsewhere."""


class Labelled(Protocol):
    """An object with datasets."""

    @property
    def labels(self) -> Labels:
        """The names of the datasets, both ways."""


@runtime_checkable
class ClaimOnProblem(Claim, Protocol):
    """A claim that knows its problem, and so the order of its datasets."""

    @property
    def problem(self) -> Labelled:
        """The problem."""


class EdgeCounts(Protocol):
    """The size of a problem's graph."""

    @property
    def size(self) -> int:
        """The number of datasets."""

    @property
    def arc_count(self) -> int:
        """Twice the number of edges that constrain."""

    @property
    def edge_count(self) -> int:
        """The number of edges, including those without a constraint."""


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
        """The survey of all edges, and a function that follows all chains of links.

        Raises:
            UsageError: the mechanism is not one of this problem.
        """


class RemoteClaim(ABC):
    """A mechanism whose values are not in this process: the verifier's code looks at them where they are."""

    @abstractmethod
    def survey(self, problem: Problem) -> tuple[Survey, Chains]:
        """The findings on all arcs of a problem, and the proof that no free dataset can be more accurate.

        Raises:
            UsageError: it is not a mechanism of this problem.
        """

    @abstractmethod
    def losses_along(self, allowed: Floats) -> Floats:
        """The largest loss along each axis, rounded up to nine places, and never above what is allowed."""


@dataclass(frozen=True, repr=False)
class Certificate:
    """The result of `verify`, in exact arithmetic.

    Attributes:
        private: every edge holds, both ways.
        optimal: no free dataset can be more accurate while the pins stay: every one has a chain of tight links to a
            pinned dataset, and the whole boundary is pinned.
        worst_edge: the edge with the least slack, or the most violated one; None without edges. It has `source`,
            `target`, `epsilon` (as used; also `delta`, or `mu`, as the notion has it) and `slack`.
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
    method: str = EVERY_EDGE

    @property
    def violated(self) -> str:
        """The number of violations and the worst one, in words."""
        found = f"{pluralize(self.violations, 'violation')} in {pluralize(self.edges, 'edge')}"
        return f"{found}; the worst is {self.worst_edge}"

    def __repr__(self) -> str:
        private = "private" if self.private else "NOT PRIVATE"
        optimal = "optimal" if self.optimal else "not shown optimal"
        return (
            f"Certificate({private}, {optimal}, {pluralize(self.edges, 'edge')} checked, least slack {self.slack:.1e})"
        )

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows: list[tuple[str, Any]] = [("private", self.private), ("optimal", self.optimal)]
        rows += [("edges checked", self.edges), ("violations", self.violations), ("least slack", f"{self.slack:.1e}")]
        rows += [("on the edge", str(self.worst_edge))] if self.worst_edge is not None else []
        rows += [("gap", f"{round_up(self.gap, 2):.1e}")] if self.optimal else [("not shown optimal", self.shortfall)]
        return html_table("Certificate", [], [*rows, ("method", self.method)])

    def __str__(self) -> str:
        if not self.private:
            is_near = self.method == EVERY_EDGE_ROUNDED and self.slack > -NEAR
            return f"NOT PRIVATE: {self.violated}.{ROUNDING_WORDS if is_near else ''}"
        gap = round_up(self.gap, 2)
        optimal = f"optimal (gap {gap:.1e})" if self.optimal else f"not shown optimal: {self.shortfall}"
        place = WorstEdge.place if self.worst_edge is None else self.worst_edge.place
        enclosed = (
            f"; {pluralize(self.enclosed, 'comparison')}{place} needed the exact formula" if self.enclosed else ""
        )
        every = "its one edge" if self.edges == 1 else f"all {self.edges:,} edges"
        how = "" if self.method == EVERY_EDGE else f" ({self.method})"
        return f"private on {every} (least slack {self.slack:.1e}{enclosed}); {optimal}{how}."


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
        return certificate_of(problem, survey, follow())
    require_problem(problem)
    if isinstance(mechanism, RemoteClaim):
        return certificate_of(problem, *mechanism.survey(problem))
    if not isinstance(mechanism, Claim):
        certificate = verify(problem, _values(problem, mechanism))
        exact = isinstance(mechanism, PartialMechanism) and mechanism.p is None and mechanism.error is None
        return certificate if exact else replace(certificate, method=EVERY_EDGE_ROUNDED)
    z, pinned, links = _columns(problem, mechanism)
    rule, free = rule_of(problem.notion), _first_free(problem, pinned)
    if rule.rows is not None and has_rows(problem.graph):
        seen, follow = rule.rows(problem.graph, z, links, pinned if free < 0 else None, problem.answers)
    else:
        better = z * (3 - 2 * problem.answers)  # signed so that larger is better
        seen = rule.survey(problem.graph, z, links, better)
        follow = partial(rule.follow, better, pinned, links, seen.links)
    chains = follow() if free < 0 else free_boundary(free, bool(pinned.any()))
    return certificate_of(problem, seen, chains)


def _first_free(problem: Problem, pinned: Mask) -> int:
    """The first dataset of the boundary that is not pinned, −1 if all are."""
    for start in range(0, len(pinned), BLOCK):
        free = problem.boundary_mask[start : start + BLOCK] > pinned[start : start + BLOCK]
        if free.any():
            return start + int(np.argmax(free))
    return -1


class _Values(NamedTuple):
    """Values without information about which were given."""

    coordinates: Floats
    pinned: Mask
    links: Indices


def _values(problem: Problem, values: Any) -> _Values:
    size = problem.graph.size
    return _Values(values_on(problem, values), np.zeros(size, dtype=np.bool_), np.full(size, -1))


def values_of(problem: Problem, mechanism: Any) -> Floats:
    """z of a mechanism, or of values alone as `verify` takes them: one for each dataset, or a refusal."""
    require_problem(problem)
    return _columns(problem, mechanism if isinstance(mechanism, Claim) else _values(problem, mechanism))[0]


def is_private(problem: Problem | SelfSurveying, mechanism: Claim) -> bool:
    """True if every edge holds; it does not matter whether the mechanism is the best one."""
    if isinstance(problem, SelfSurveying):
        return _holds_everywhere(problem, problem.survey(mechanism, with_links=False)[0])
    z, _, links = _columns(problem, mechanism)
    rule = rule_of(problem.notion)
    if rule.rows is not None and has_rows(problem.graph):
        return _holds_everywhere(problem, rule.rows(problem.graph, z, links, None, problem.answers)[0])
    return _holds_everywhere(problem, rule.survey(problem.graph, z, links, z))


def sees_violation(problem: Problem, z: Floats, datasets: Indices) -> bool:
    """True if an edge of some datasets is violated, in exact arithmetic; looks no further than the first that is.

    Edges to datasets without a value, NaN, are left out. Nothing is looked at if edges are not stored: False proves
    nothing, and callers prove all edges later.
    """
    graph, rule = problem.graph, rule_of(problem.notion)
    if not isinstance(graph, DatasetGraph):
        return False
    for block in slices(len(datasets), ROWS_AT_ONCE):
        rows = datasets[block]
        counts = graph.indptr[rows + 1] - graph.indptr[rows]
        arcs = np.repeat(graph.indptr[rows] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        ends = z[np.repeat(rows, counts)], z[graph.targets[arcs]]
        valued = np.flatnonzero(~np.isnan(ends[1]))
        columns = tuple(column[arcs[valued]] for column in graph.parameters)
        back = tuple(columns[place ^ 1] for place in range(len(columns))) if len(columns) > 1 else columns
        both = tuple(np.concatenate([own, other]) for own, other in zip(columns, back, strict=True))
        some = _ListedArcs(len(valued), graph.targets.dtype, both)
        values = as_readonly(np.concatenate([end[valued] for end in ends]))
        if rule.survey(some, values, as_readonly(np.full(some.size, -1, dtype=some.number)), values).violations:
            return True
    return False


class _ListedArcs:
    """Arcs both ways between pairs of datasets; of each pair, the first is numbered before all second ones.

    Its arrays are of the types that those of a graph have, so that the same compiled loops serve them.
    """

    def __init__(self, count: int, number: Any, parameters: tuple[Floats, ...]) -> None:
        self.size = self.arc_count = 2 * count
        self.number = number
        self._parameters = tuple(map(as_readonly, parameters))

    def edge_blocks(self) -> Iterator[EdgeBlock]:
        """All arcs, in one block."""
        if self.size:
            source = np.arange(self.size, dtype=self.number)
            yield EdgeBlock(source, as_readonly(np.roll(source, self.size // 2)), self._parameters)


def _holds_everywhere(problem: Problem | SelfSurveying, seen: Survey) -> bool:
    return seen.violations == 0 and seen.arcs == problem.graph.arc_count


def certificate_of(problem: Problem | SelfSurveying, seen: Survey, chains: Chains) -> Certificate:
    """The certificate that follows from what was seen on all arcs and along the links."""
    label = problem.graph.label if isinstance(problem, Problem) else problem.label
    worst = None
    if seen.worst is not None:
        source, target, *allowed = seen.worst
        worst = rule_of(problem.notion).worst(label(source), label(target), *allowed, seen.slack)
    private = _holds_everywhere(problem, seen)
    shortfall = chains.fault
    if chains.dataset >= 0:
        shortfall += f" (dataset {shorten_label(label(chains.dataset), problem.labels)})"
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
    if not isinstance(mechanism, ClaimOnProblem):
        return []
    labels = mechanism.problem.labels
    if labels is problem.labels or labels.names == problem.labels.names:
        return []
    hint = "hetdp.read_mechanism(path, problem) brings a saved mechanism into the problem's order"
    return [Fault("other datasets, or in another order", "datasets", "", "they are those of the problem", hint)]


def _columns(problem: Problem, mechanism: Claim) -> tuple[Floats, Mask, Indices]:
    """The numbers of a mechanism as 64-bit floats, booleans and integers, one for each dataset, or a refusal."""
    require_problem(problem)
    rule_of(problem.notion)  # or a refusal
    size, faults = problem.graph.size, _other_datasets(problem, mechanism)
    given = {"coordinates": mechanism.coordinates, "pinned": mechanism.pinned, "links": mechanism.links}
    arrays = {name: np.asarray(values) for name, values in given.items()}
    for name, kinds, rule in (
        ("coordinates", "f", "numbers"),
        ("pinned", "b", "booleans"),
        ("links", "iu", "integers"),
    ):
        if arrays[name].shape != (size,) or (size and arrays[name].dtype.kind not in kinds):
            value = f"{arrays[name].dtype} of shape {arrays[name].shape}"
            faults.append(Fault("misfit", name, value, f"the problem needs {size} {rule}"))
    if faults:
        raise InputError("mechanism", faults)
    if _has_nan(arrays["coordinates"]):
        collector, rule = FaultCollector("mechanism"), "every dataset has a value"
        hint = "hetdp.extend finds the best values of datasets that have none"

        def fault_at(at: int) -> Fault:
            return Fault("no value", f"dataset {shorten_label(problem.graph.label(at))}", "", rule, hint)

        collector.add_where(np.isnan(arrays["coordinates"]), fault_at)
        collector.raise_if_any()
    types = {"coordinates": np.float64, "pinned": np.bool_, "links": np.int32 if size < 2**31 else np.int64}
    z, pinned, links = (as_readonly(np.ascontiguousarray(arrays[name], kind)) for name, kind in types.items())
    return z, pinned, links


def _has_nan(values: Floats) -> bool:
    """True if some dataset has no value."""
    found = list[bool]()

    def look(block: slice) -> None:
        found.append(bool(np.isnan(values[block]).any()))

    run_in_threads(look, slices(len(values), BLOCK), len(values))
    return any(found)


def contradicts(notion: Any, first: float, steps: Iterable[Mapping[str, float]], last: float) -> bool:
    """True if z = `first` at the start of a path allows less than z = `last` at its end, in exact arithmetic.

    If so, two given values cannot both stand. A path on which the balls do not decide proves nothing.

    Args:
        notion: the notion of privacy, with its name and settings.
        first: z of the first dataset.
        steps: what each edge of the path promises, by the names of the parameters, seen from its start.
        last: z that is given at the last dataset.
    """
    edges, rule = [dict(step) for step in steps], rule_of(notion)
    with precision():
        for bits in (FIRST_PRECISION, *FINER_PRECISIONS):
            ctx.prec = bits
            decided = rule.is_below(first, edges, last)
            if decided is not None:
                return decided
    return False

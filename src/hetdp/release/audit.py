"""audit: many exact draws at both ends of some edges, and what they say about the promise, with confidence.

An outside check of the whole chain (mechanism, lookup, draw): it looks at frequencies alone. It can contradict a
promise; it can never prove one. `verify` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

from hetdp import progress
from hetdp.certificate.certificate import values_of
from hetdp.errors import UsageError, counted, shown
from hetdp.problem.problem import Problem
from hetdp.problem.spelling import brief
from hetdp.release.confidence import bounds_of
from hetdp.release.draw.bernoulli import Coin
from hetdp.release.losses import Arc, arcs_between, loss_of, worst_edges
from hetdp.release.simulation import whole

DRAWS, MOST_DRAWS = 100_000, 100_000_000
CONFIDENCE = 0.999999
EDGES = 10

Toss = Callable[[str, float], Callable[[], bool]]


class AuditedEdge(NamedTuple):
    """One direction of an edge, and the answer that speaks most against it.

    Attributes:
        source: the dataset whose probability is bounded.
        target: the dataset that bounds it.
        answer: 1 or 2.
        promised: ε of this direction, or μ.
        delta: δ of this direction; 0 where the notion has none.
        source_count: how many draws at `source` gave the answer.
        target_count: how many at `target`.
        observed: the ε, or μ, that the two frequencies differ by.
        at_least: what it really is, at least; may be −inf, when nothing can be said.
        edge_class: the class of the edge; None if it has none.
    """

    source: Any
    target: Any
    answer: int
    promised: float
    delta: float
    source_count: int
    target_count: int
    observed: float
    at_least: float
    edge_class: Any = None

    @property
    def contradicted(self) -> bool:
        """Whether more is lost than was promised."""
        return self.at_least > self.promised

    def __str__(self) -> str:
        delta = f", δ = {self.delta:g}" if self.delta else ""
        whose = "" if self.edge_class is None else f" to class {shown(self.edge_class)}"
        return (
            f"{brief(self.source)} to {brief(self.target)}, answer {self.answer}: at least {self.at_least:.4g},"
            f" promised {self.promised:g}{delta}{whose}"
        )


@dataclass(frozen=True)
class Audit:
    """What the draws say. That they contradict nothing is no proof.

    Attributes:
        draws: how many at each dataset.
        datasets: at how many datasets.
        confidence: with at least this probability all bounds hold together, so that a sound mechanism with a sound
            draw is contradicted with at most the rest.
        edges: both directions of each edge, with what was counted and what it shows.
    """

    draws: int
    datasets: int
    confidence: float
    edges: tuple[AuditedEdge, ...]

    @property
    def contradictions(self) -> tuple[AuditedEdge, ...]:
        """The directions in which more is lost than was promised."""
        return tuple(edge for edge in self.edges if edge.contradicted)

    @property
    def worst(self) -> AuditedEdge | None:
        """The direction that comes nearest to what was promised, or exceeds it most; None if nothing is promised."""
        return max(self.edges, key=lambda edge: edge.at_least - edge.promised, default=None)

    def __str__(self) -> str:
        if not self.edges:
            return "no edge promises anything, so that nothing can be contradicted."
        seen = f"{counted(self.draws, 'draw')} at each of {counted(self.datasets, 'dataset')}"
        sure = f"confidence {self.confidence:.10g}"
        if found := len(self.contradictions):
            of = f"{found} of {counted(len(self.edges), 'direction')}"
            return f"CONTRADICTED: more is lost than promised in {of}, most from {self.worst} ({seen}, {sure})."
        return f"no contradiction found, which proves nothing ({seen}, {sure}); nearest is {self.worst}."


def audit(
    problem: Problem,
    mechanism: Any,
    *,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
    edges: int | Iterable[tuple[Any, Any]] = EDGES,
) -> Audit:
    """Draws many exact answers at neighbouring datasets, and bounds the privacy that is really lost.

    The answers are drawn as a release draws them, and thrown away. Nothing is spent, since nobody's data is looked at:
    which datasets are drawn at depends on the mechanism alone, or on the pairs that you name.

    Args:
        problem: the datasets, edges and answers.
        mechanism: a mechanism for it, proved or not, or the values alone, as `verify` takes them.
        draws: how many answers at each dataset.
        confidence: of all bounds together, between ½ and 1.
        edges: how many edges to look at, those that would speak most against the mechanism; or pairs of labels.

    Raises:
        UsageError: a number out of range, or a pair that no edge with a promise joins.
        InputError: the mechanism does not fit the problem.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 2})
    >>> bool(hetdp.audit(problem, hetdp.design(problem), draws=2000).contradictions)
    False
    >>> bool(hetdp.audit(problem, {"a": 0.9, "b": 0.1}, draws=2000).contradictions)
    True
    """
    return audited(problem, mechanism, draws, confidence, edges, lambda coordinate, z: Coin(coordinate, z).toss)


def audited(
    problem: Problem, mechanism: Any, draws: int, confidence: float, edges: int | Iterable[tuple[Any, Any]], toss: Toss
) -> Audit:
    """The same with any coin: what takes a coordinate's name and z, and gives something to toss."""
    z = values_of(problem, mechanism)
    draws = whole("draws", draws, 1, MOST_DRAWS)
    if not isinstance(confidence, Real) or not 0.5 < confidence < 1.0:
        raise UsageError(f"confidence={shown(confidence)}", "it is a number between 0.5 and 1")
    if isinstance(edges, Iterable):
        pairs = _named(problem, edges)
    else:
        pairs = worst_edges(problem, z, whole("edges", edges, 1), draws)
    arcs = [arc for pair in pairs for arc in arcs_between(problem, *pair)]
    progress.stage("drawing")
    name = problem.notion.coordinate.name
    places = sorted({end for arc in arcs for end in (arc.source, arc.target)})
    ones = {at: sum(tosses() for _ in range(draws)) for at in places for tosses in [toss(name, float(z[at]))]}
    doubt = (1.0 - confidence) / (2 * max(1, len(places)))  # for each of two bounds, the others follow from them
    bounds = {at: bounds_of(count, draws, doubt) for at, count in ones.items()}
    found = tuple(_judged(problem, arc, draws, ones, bounds) for arc in arcs)
    return Audit(draws, len(places), confidence, found)


def _named(problem: Problem, edges: Iterable[Any]) -> list[tuple[int, int]]:
    """Pairs of labels as pairs of numbers."""
    pairs = []
    for pair in edges:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise UsageError(f"edges with {shown(pair)}", "each is a pair of labels")
        pairs.append((problem.labels.index(pair[0]), problem.labels.index(pair[1])))
    return pairs


Bounds = tuple[tuple[float, float], tuple[float, float]]


def _judged(problem: Problem, arc: Arc, draws: int, ones: dict[int, int], bounds: dict[int, Bounds]) -> AuditedEdge:
    """One direction, by the answer that speaks most against it."""
    loss, label = loss_of(problem.notion.name), problem.graph.label

    def by(answer: int) -> AuditedEdge:
        source, target = (ones[end] if answer == 1 else draws - ones[end] for end in (arc.source, arc.target))
        least, most = bounds[arc.source][answer - 1][0], bounds[arc.target][answer - 1][1]
        return AuditedEdge(
            source=label(arc.source),
            target=label(arc.target),
            answer=answer,
            promised=arc.promised,
            delta=arc.delta,
            source_count=source,
            target_count=target,
            observed=loss(source / draws, target / draws, arc.delta),
            at_least=loss(least, most, arc.delta),
            edge_class=arc.edge_class,
        )

    return max(by(1), by(2), key=lambda edge: (edge.at_least, edge.observed))

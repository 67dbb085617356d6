"""audit: many exact draws at both ends of some edges, and a confidence bound on the privacy that is lost.

The bounds on a probability are exact (Clopper and Pearson, 1934).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import values_of
from hetdp.errors import UsageError
from hetdp.problem.problem import Problem
from hetdp.problem.space import EdgeBlock, Floats
from hetdp.problem.spelling import shorten_label
from hetdp.releases.draw import Coin
from hetdp.releases.simulation import check_whole
from hetdp.text import format_value, pluralize


class Arc(NamedTuple):
    """One direction of an edge of a class: Pr at source is bounded by Pr at target, by ε or μ, and δ."""

    source: int
    target: int
    promised: float
    delta: float
    edge_class: Any = None


def arcs_between(problem: Problem, source: int, target: int) -> list[Arc]:
    """Both directions of every edge between two datasets that promises something.

    Raises:
        UsageError: no edge joins the two.
    """
    arcs = [arc for ends in ((source, target), (target, source)) for arc in _arcs(problem, *ends)]
    if not arcs:
        pair = " and ".join(shorten_label(problem.graph.label(end), problem.labels) for end in (source, target))
        raise UsageError(f"nothing is promised between {pair}", "an audit looks at neighbours with a finite ε or μ")
    return arcs


def _arcs(problem: Problem, source: int, target: int) -> list[Arc]:
    """One direction of every edge between two datasets."""
    names = problem.notion.parameters
    neighbours, parameters = problem.graph.neighbours(source)
    found = np.flatnonzero(np.asarray(neighbours) == target)
    if not len(found):
        return []
    promised, deltas = parameters[0][found], np.zeros(len(found))
    if "delta" in names:
        deltas = parameters[names.index("delta")][found]
    edges = problem.graph.edges_between(source, target)
    arcs = zip(promised.tolist(), deltas.tolist(), edges, strict=True)
    return [
        Arc(source, target, epsilon, delta, edge.edge_class)
        for epsilon, delta, edge in arcs
        if not math.isinf(epsilon) and delta < 1.0
    ]


def worst_edges(problem: Problem, z: Floats, wanted: int, draws: int) -> list[tuple[int, int]]:
    """The edges at which so many draws would contradict the mechanism most, if its values are as stated.

    The values rank edges only; the draws alone decide what is found there.
    """
    best: dict[tuple[int, int], float] = {}
    for block in problem.graph.edge_blocks():
        scores = np.maximum(_suspicion(problem, block, z, draws), _suspicion(problem, block, -z, draws))
        scores = _merge_parallel(block, scores)
        most = np.argsort(-scores, kind="stable")[: 2 * wanted]
        ends = np.sort(np.column_stack([block.source[most], block.target[most]]), axis=1)
        for score, (source, target) in zip(scores[most].tolist(), ends.tolist(), strict=True):
            if score > -math.inf:
                best[source, target] = max(score, best.get((source, target), -math.inf))
        best = dict(sorted(best.items(), key=lambda item: (-item[1], item[0]))[:wanted])
    return list(best)


def _merge_parallel(block: EdgeBlock, scores: Floats) -> Floats:
    """The scores of arcs; of parallel arcs, which are adjacent, only the highest is kept."""
    first = np.append(True, (np.diff(block.source) != 0) | (np.diff(block.target) != 0))[: len(scores)]
    starts = np.flatnonzero(first)
    if len(starts) == len(scores):
        return scores
    found = np.full(len(scores), -np.inf)
    found[starts] = np.maximum.reduceat(scores, starts)
    return found


def _suspicion(problem: Problem, block: EdgeBlock, z: Floats, draws: int) -> Floats:
    """By about how many standard deviations Pr at the source would exceed what its neighbour allows."""
    notion, promised = problem.notion, block.parameters[0]
    coordinate, (above, below) = notion.coordinate, (z[block.source], z[block.target])
    high, low = coordinate.probability(above), coordinate.probability(below)
    delta = block.parameters[notion.parameters.index("delta")] if "delta" in notion.parameters else np.zeros(1)
    with np.errstate(over="ignore", invalid="ignore"):
        if notion.curve is not None:
            allowed = coordinate.probability(notion.curve.reach(below, promised))
        else:
            allowed = np.minimum(1.0, np.where(low > 0.0, np.exp(promised) * low, 0.0) + delta)
        spread = high * (1.0 - high) + allowed**2 / np.maximum(low, 1.0 / draws) + 1.0 / draws
    return np.where(np.isinf(promised) | (delta >= 1.0), -np.inf, (high - allowed) / np.sqrt(spread))


ROUNDING_FACTOR = 1.0 - 1e-6  # covers the rounding of the logarithms below
SEARCH_TOLERANCE = 1e-9  # relative distance from the exact bound at which the search stops
SERIES_TOLERANCE = 1e-18  # relative rest of a series at which the sum stops


def lower_bound(count: int, draws: int, doubt: float) -> float:
    """A lower confidence bound on a probability: it is wrong with a chance of at most `doubt`.

    It is the p at which `count` or more of `draws` have that chance, rounded down.

    Args:
        count: how often the event occurred.
        draws: the number of draws.
        doubt: the chance of being wrong, below ½.

    >>> lower_bound(0, 100, 0.01), round(lower_bound(100, 100, 0.01), 4), round(lower_bound(60, 100, 0.01), 4)
    (0.0, 0.955, 0.4789)
    """
    if count == 0:
        return 0.0
    low, high = 0.0, count / draws
    while high - low > SEARCH_TOLERANCE * high:
        middle = 0.5 * (low + high)
        if log_tail(count, draws, middle) <= math.log(doubt * ROUNDING_FACTOR):
            low = middle
        else:
            high = middle
    return low


def bounds_of(count: int, draws: int, doubt: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Lower and upper bounds on a probability, and on its complement, each with the same doubt.

    >>> bounds_of(100, 100, 0.01)[0][1], round(bounds_of(100, 100, 0.01)[1][1], 4)
    (1.0, 0.045)
    """
    seen, missed = lower_bound(count, draws, doubt), lower_bound(draws - count, draws, doubt)
    return (seen, _complement_up(missed)), (missed, _complement_up(seen))


def _complement_up(p: float) -> float:
    """1 − p, rounded up."""
    return min(1.0, math.nextafter(1.0 - p, 2.0))


def log_tail(count: int, draws: int, p: float) -> float:
    """The logarithm of the chance of `count` ≥ 1 or more in `draws`, for p ≤ count / draws; rounded up.

    It sums the terms of the binomial distribution from `count` on, whose ratio is below 1 and decreases.
    """
    if p <= 0.0:
        return -math.inf
    if p >= 1.0:
        return 0.0
    others = draws - count
    first = math.lgamma(draws + 1) - math.lgamma(count + 1) - math.lgamma(others + 1)
    first += count * math.log(p) + others * math.log1p(-p)
    odds, total, term = p / (1.0 - p), 1.0, 1.0
    for step in range(1, others + 1):
        factor = odds * (others - step + 1) / (count + step)
        term *= factor
        total += term
        if term < SERIES_TOLERANCE * total * (1.0 - factor):
            total += term / (1.0 - factor)  # more than all that follow
            break
    return first + math.log(total)


DRAWS, MOST_DRAWS = 100_000, 100_000_000
CONFIDENCE = 0.999999
EDGES = 10

Toss = Callable[[str, float], Callable[[], bool]]


class AuditedEdge(NamedTuple):
    """One direction of an edge, and the answer that contradicts it most.

    Attributes:
        source: the dataset whose probability is bounded.
        target: the dataset that bounds it.
        answer: 1 or 2.
        promised: ε of this direction, or μ.
        delta: δ of this direction; 0 where the notion has none.
        source_count: how many draws at `source` gave the answer.
        target_count: how many at `target`.
        observed: the ε, or μ, of the two frequencies.
        at_least: a lower bound on the true ε, or μ; −inf if the draws show nothing.
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
        """True if more is lost than was promised."""
        return self.at_least > self.promised

    def __str__(self) -> str:
        delta = f", δ = {self.delta:g}" if self.delta else ""
        class_words = "" if self.edge_class is None else f" to class {format_value(self.edge_class)}"
        return (
            f"{shorten_label(self.source)} to {shorten_label(self.target)}, answer {self.answer}:"
            f" at least {self.at_least:.4g}, promised {self.promised:g}{delta}{class_words}"
        )


@dataclass(frozen=True)
class Audit:
    """The result of an audit. No contradiction is not a proof of privacy.

    Attributes:
        draws: the number of draws at each dataset.
        datasets: the number of datasets.
        confidence: all bounds hold together with at least this probability, so that a private mechanism with an exact
            draw is contradicted with at most the rest.
        edges: both directions of each edge, with counts and bounds.
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
        """The direction that comes nearest to its promise, or exceeds it most; None if nothing is promised."""
        return max(self.edges, key=lambda edge: edge.at_least - edge.promised, default=None)

    def __str__(self) -> str:
        if not self.edges:
            return "no edge promises anything, so nothing can be contradicted."
        seen = f"{pluralize(self.draws, 'draw')} at each of {pluralize(self.datasets, 'dataset')}"
        sure = f"confidence {self.confidence:.10g}"
        if found := len(self.contradictions):
            of = f"{found} of {pluralize(len(self.edges), 'direction')}"
            return (
                f"CONTRADICTED: the loss exceeds the promise in {of}, most of all from {self.worst} ({seen}, {sure})."
            )
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

    The answers are drawn as a release draws them, and discarded. Nothing is spent, since no true data is involved: the
    datasets are chosen by the mechanism alone, or by the pairs that you name.

    Args:
        problem: the datasets, edges and answers.
        mechanism: a mechanism for it, proved or not, or the values alone, as `verify` takes them.
        draws: the number of answers at each dataset.
        confidence: of all bounds together, between ½ and 1.
        edges: how many edges to audit, those that could contradict the mechanism most; or pairs of labels.

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
    return audit_with(problem, mechanism, draws, confidence, edges, lambda coordinate, z: Coin(coordinate, z).toss)


def audit_with(
    problem: Problem, mechanism: Any, draws: int, confidence: float, edges: int | Iterable[tuple[Any, Any]], toss: Toss
) -> Audit:
    """An audit with any coin: `toss` takes the name of a coordinate and z, and returns a function that draws."""
    z = values_of(problem, mechanism)
    draws = check_whole("draws", draws, 1, MOST_DRAWS)
    if not isinstance(confidence, Real) or not 0.5 < confidence < 1.0:
        raise UsageError(f"confidence={format_value(confidence)}", "it must be a number between 0.5 and 1")
    if isinstance(edges, Iterable):
        pairs = _index_pairs(problem, edges)
    else:
        pairs = worst_edges(problem, z, check_whole("edges", edges, 1), draws)
    arcs = [arc for pair in pairs for arc in arcs_between(problem, *pair)]
    progress.report_stage("drawing")
    name = problem.notion.coordinate.name
    places = sorted({end for arc in arcs for end in (arc.source, arc.target)})
    ones = {at: sum(tosses() for _ in range(draws)) for at in places for tosses in [toss(name, float(z[at]))]}
    doubt = (1.0 - confidence) / (2 * max(1, len(places)))  # for each of two bounds, the others follow from them
    bounds = {at: bounds_of(count, draws, doubt) for at, count in ones.items()}
    found = tuple(_judge(problem, arc, draws, ones, bounds) for arc in arcs)
    return Audit(draws, len(places), confidence, found)


def _index_pairs(problem: Problem, edges: Iterable[Any]) -> list[tuple[int, int]]:
    """Pairs of labels as pairs of indices."""
    pairs = []
    for pair in edges:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise UsageError(f"edges with {format_value(pair)}", "each must be a pair of labels")
        pairs.append((problem.labels.index(pair[0]), problem.labels.index(pair[1])))
    return pairs


Bounds = tuple[tuple[float, float], tuple[float, float]]


def _judge(problem: Problem, arc: Arc, draws: int, ones: dict[int, int], bounds: dict[int, Bounds]) -> AuditedEdge:
    """One direction, by the answer that contradicts it most."""
    loss, label = problem.notion.loss, problem.graph.label

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

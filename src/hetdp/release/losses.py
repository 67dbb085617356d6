"""What an audit compares: the loss between two probabilities under each notion, and the edges worth looking at."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import UsageError
from hetdp.problem.problem import Problem
from hetdp.problem.space import EdgeBlock, Floats
from hetdp.problem.spelling import brief

Loss = Callable[[float, float, float], float]


class Arc(NamedTuple):
    """One direction of an edge of a class: Pr at source is bounded by Pr at target, by ε or μ, and δ."""

    source: int
    target: int
    promised: float
    delta: float
    edge_class: Any = None


def _ratio(high: float, low: float, delta: float) -> float:
    """The ε in high = e^ε · low + δ."""
    if high <= delta:
        return -math.inf
    return math.log((high - delta) / low) if low > 0.0 else math.inf


def _shift(of: Callable[[float], float]) -> Loss:
    """The difference in a coordinate that is −inf at 0 and inf at 1."""

    def loss(high: float, low: float, _: float) -> float:
        above, below = (-math.inf if p <= 0.0 else math.inf if p >= 1.0 else of(p) for p in (high, low))
        return -math.inf if above == -math.inf or below == math.inf else above - below

    return loss


LOSSES: dict[str, Loss] = {
    "pure": _ratio,
    "directed": _ratio,
    "approximate": _ratio,
    "gaussian": _shift(NormalDist().inv_cdf),
    "bounded-range": _shift(lambda p: math.log(p) - math.log1p(-p)),
}


def loss_of(notion: str) -> Loss:
    """The ε, or μ, that a probability shows against another one and δ: larger with the first, smaller with the second.

    >>> loss_of("approximate")(0.5, 0.25, 0.25), loss_of("pure")(0.1, 0.0, 0.0)
    (0.0, inf)
    """
    if notion not in LOSSES:
        raise UsageError(f"no audit is known for the notion {notion!r}", f"audit knows {', '.join(LOSSES)}")
    return LOSSES[notion]


def arcs_between(problem: Problem, source: int, target: int) -> list[Arc]:
    """Both directions of every edge between two datasets, those that promise something.

    Raises:
        UsageError: no edge joins the two.
    """
    arcs = [arc for ends in ((source, target), (target, source)) for arc in _arcs(problem, *ends)]
    if not arcs:
        pair = " and ".join(brief(problem.graph.label(end), problem.labels) for end in (source, target))
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
    """The edges that an audit of so many draws would find most suspect, by the values that are said to be drawn from.

    These rank edges only; what is found there is judged by the draws alone.
    """
    best: dict[tuple[int, int], float] = {}
    for block in problem.graph.edge_blocks():
        scores = np.maximum(_suspicion(problem, block, z, draws), _suspicion(problem, block, -z, draws))
        scores = _once(block, scores)
        most = np.argsort(-scores, kind="stable")[: 2 * wanted]
        ends = np.sort(np.column_stack([block.source[most], block.target[most]]), axis=1)
        for score, (source, target) in zip(scores[most].tolist(), ends.tolist(), strict=True):
            if score > -math.inf:
                best[source, target] = max(score, best.get((source, target), -math.inf))
        best = dict(sorted(best.items(), key=lambda item: (-item[1], item[0]))[:wanted])
    return list(best)


def _once(block: EdgeBlock, scores: Floats) -> Floats:
    """The scores of arcs, where of parallel ones only the most suspect keeps its own; they stand together."""
    first = np.append(True, (np.diff(block.source) != 0) | (np.diff(block.target) != 0))[: len(scores)]
    starts = np.flatnonzero(first)
    if len(starts) == len(scores):
        return scores
    found = np.full(len(scores), -np.inf)
    found[starts] = np.maximum.reduceat(scores, starts)
    return found


def _suspicion(problem: Problem, block: EdgeBlock, z: Floats, draws: int) -> Floats:
    """By how many standard deviations, about, Pr at the source would be seen above what its neighbour allows."""
    notion, promised = problem.notion, block.parameters[0]
    coordinate, (above, below) = notion.coordinate, (z[block.source], z[block.target])
    high, low = coordinate.probability(above), coordinate.probability(below)
    delta = block.parameters[notion.parameters.index("delta")] if "delta" in notion.parameters else np.zeros(1)
    with np.errstate(over="ignore", invalid="ignore"):
        if notion.name in ("gaussian", "bounded-range"):
            allowed = coordinate.probability(below + promised)
        else:
            allowed = np.minimum(1.0, np.where(low > 0.0, np.exp(promised) * low, 0.0) + delta)
        spread = high * (1.0 - high) + allowed**2 / np.maximum(low, 1.0 / draws) + 1.0 / draws
    return np.where(np.isinf(promised) | (delta >= 1.0), -np.inf, (high - allowed) / np.sqrt(spread))

"""What an audit compares: the loss between two probabilities under each notion, and the edges worth looking at."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from hetdp.errors import UsageError
from hetdp.problem.problem import Problem
from hetdp.problem.space import EdgeBlock, Floats
from hetdp.problem.spelling import brief

Loss = Callable[[float, float, float], float]


class Arc(NamedTuple):
    """One direction of an edge: Pr at source is bounded by Pr at target, by ε or μ, and δ."""

    source: int
    target: int
    promised: float
    delta: float


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
    """Both directions of an edge, those that promise something.

    Raises:
        UsageError: no edge joins the two.
    """
    arcs = [_arc(problem, *ends) for ends in ((source, target), (target, source))]
    if arcs == [None, None]:
        pair = " and ".join(brief(problem.graph.label(end), problem.labels) for end in (source, target))
        raise UsageError(f"nothing is promised between {pair}", "an audit looks at neighbours with a finite ε or μ")
    return [arc for arc in arcs if arc is not None]


def _arc(problem: Problem, source: int, target: int) -> Arc | None:
    names = problem.notion.parameters
    neighbours, parameters = problem.graph.neighbours(source)
    found = np.flatnonzero(np.asarray(neighbours) == target)
    if not len(found):
        return None
    promised = float(parameters[0][found[0]])
    delta = float(parameters[names.index("delta")][found[0]]) if "delta" in names else 0.0
    return None if math.isinf(promised) or delta >= 1.0 else Arc(source, target, promised, delta)


def worst_edges(problem: Problem, z: Floats, wanted: int, draws: int) -> list[tuple[int, int]]:
    """The edges that an audit of so many draws would find most suspect, by the values that are said to be drawn from.

    These rank edges only; what is found there is judged by the draws alone.
    """
    best: list[tuple[float, int, int]] = []
    for block in problem.graph.edge_blocks():
        scores = np.maximum(_suspicion(problem, block, z, draws), _suspicion(problem, block, -z, draws))
        most = np.argsort(-scores, kind="stable")[: 2 * wanted]
        ends = np.sort(np.column_stack([block.source[most], block.target[most]]), axis=1)
        best += [(-score, *pair) for score, pair in zip(scores[most].tolist(), ends.tolist(), strict=True)]
        best = sorted(best)[: 2 * wanted]
    pairs = dict.fromkeys((source, target) for score, source, target in best if score < math.inf)
    return list(pairs)[:wanted]


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

"""Problems of every notion, built by hand: the verifier needs only the arcs of a space and their parameters."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
from flint import arb

import hetdp
from hetdp.problem.space import EdgeBlock
from tests.theory.exact import precision

ADDITIVE_NOTIONS = ("gaussian", "bounded-range")
BLOCK_SIZE = 50


class ArcGraph(hetdp.DatasetGraph):
    """A graph whose arcs carry the parameters of any notion and come in small blocks."""

    def edge_blocks(self):
        whole = self.__dict__["block"]
        for start in range(0, len(whole.source), BLOCK_SIZE):
            piece = slice(start, start + BLOCK_SIZE)
            yield EdgeBlock(whole.source[piece], whole.target[piece], tuple(x[piece] for x in whole.parameters))


def problem_of(notion: str, source: Any, target: Any, parameters: Any, answers: Any) -> Any:
    """A problem from edges and, for each of them, the parameters in the direction from source to target."""
    source, target = np.asarray(source), np.asarray(target)
    columns = [np.broadcast_to(np.asarray(column, dtype=np.float64), source.shape) for column in parameters]
    turned = columns if len(columns) == 1 else [columns[at ^ 1] for at in range(len(columns))]
    both = tuple(np.concatenate([column, other]) for column, other in zip(columns, turned, strict=True))
    graph = ArcGraph.from_edges(source, target, 1.0, datasets=range(len(answers)))
    graph.__dict__["block"] = EdgeBlock(np.concatenate([source, target]), np.concatenate([target, source]), both)
    problem = hetdp.Problem(graph, answers)
    problem.__dict__["notion"] = SimpleNamespace(name=notion, parameters=(), coordinate=problem.notion.coordinate)
    return problem


def doubled_p(z: float) -> Any:
    """2 p as a ball."""
    if z == -np.inf:
        return arb(0)
    return arb(z).exp() if z <= 0.0 else 2 - (arb(0) if z == np.inf else arb(-z).exp())


def comparison(a: float, b: float, epsilon: float, delta: float) -> bool:
    """Decides A(a) ≤ e^ε A(b) + δ from the probabilities; equality must show as an exact point or as an exact sum."""
    if epsilon == np.inf or a <= b:
        return True
    if epsilon == 0.0 and delta == 0.0:
        return False
    if a <= 0.0 and b <= 0.0 and delta == 0.0:
        return a == -np.inf or (b > -np.inf and Fraction(a) <= Fraction(b) + Fraction(epsilon))
    for bits in (200, 2000, 8000):
        with precision(bits):
            difference = (2 * arb(delta) - doubled_p(a)) + arb(epsilon).exp() * doubled_p(b)
            if difference > 0 or difference < 0 or difference.rad() == 0:
                return bool(difference >= 0)
    assert a > 0.0
    return Fraction(epsilon) + Fraction(b) == 0 and delta == 0.5  # then the right side is 1


def private_arc(source: float, target: float, epsilon: float, delta: float) -> bool:
    return comparison(source, target, epsilon, delta) and comparison(-source, -target, epsilon, delta)


def bound(x: Any, epsilon: float, epsilon_back: float, delta: float, delta_back: float) -> Any:
    """f(x) of a ball or number x, with ε and δ from child to parent and ε', δ' back."""
    found = arb(1)
    if epsilon < np.inf:
        found = found.min(arb(epsilon).exp() * x + delta)
    if epsilon_back < np.inf:
        found = found.min(1 - (arb(-epsilon_back)).exp() * (1 - x - delta_back))
    return found


def z_below(p: Any, ulps: int = 4) -> float:
    """A Laplace z a few floats below that of a ball p."""
    if not p > 0:
        return -np.inf
    if p >= 1:
        return np.inf
    assert p < 1
    z = float(((2 * p).log() if p <= arb(0.5) else -(2 * (1 - p)).log()).mid())
    for _ in range(ulps):
        z = float(np.nextafter(z, -np.inf))
    return z

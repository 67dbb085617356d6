"""The edge with the least slack, in the words of each notion of privacy. Every kind has an `epsilon`, the main one."""

from __future__ import annotations

from typing import Any, NamedTuple

from hetdp.problem.spelling import brief


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
    return f"{brief(source)} to {brief(target)}, {allowed}, slack {slack:.2g}"

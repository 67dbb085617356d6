"""Claimed mechanisms, right or wrong, for the verifier to judge."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import hetdp
from hetdp.certificate.certificate import Certificate


@dataclass(frozen=True)
class Claim:
    """Values, which of them are pins, and the links that are claimed to bind the others."""

    coordinates: np.ndarray
    pinned: np.ndarray
    links: np.ndarray


def claim(z, pinned=None, links=None) -> Claim:
    z = np.array(z, dtype=np.float64)
    pinned = np.ones(len(z), np.bool_) if pinned is None else np.array(pinned, dtype=np.bool_)
    return Claim(z, pinned, np.full(len(z), -1) if links is None else np.array(links))


def claim_of(mechanism: hetdp.Mechanism) -> Claim:
    return Claim(mechanism.coordinates.copy(), mechanism.pinned.copy(), mechanism.links.copy())


def verify_edge(epsilon: float, source: float, target: float, answers=(1, 1)) -> Certificate:
    """The certificate of two pinned neighbours."""
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([0], [1], [epsilon]), answers)
    return hetdp.verify(problem, claim([source, target]))


def path_problem(epsilons, answer: int = 1) -> hetdp.Problem:
    size = len(epsilons) + 1
    graph = hetdp.DatasetGraph.from_edges(np.arange(size - 1), np.arange(1, size), epsilons)
    return hetdp.Problem(graph, np.full(size, answer))


def next_float(x: float, floats: int = 1) -> float:
    for _ in range(abs(floats)):
        x = math.nextafter(x, math.copysign(math.inf, floats))
    return x

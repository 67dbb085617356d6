"""From a solver's values to a private mechanism: what contradicts is left aside, the rest closed and filled in."""

from __future__ import annotations

import numpy as np

from hetdp.engines.contract import Engine, Growth
from hetdp.mechanism.compatibility import drops
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices

NOISE = 1e-5  # in z; a solver's tolerance, along a path
NOISE_IN_P = (
    1e-8  # what that tolerance may be in p where z has a tail that no tolerance keeps: next to one that is not small
)
ROUNDS = 20


def filled_in(problem: Problem, pins: Floats, z: Floats, weights: Floats, engine: Engine) -> Floats:
    """A private mechanism near the values, NaN where there are none: closed downward, the rest filled in fairly."""
    graph, notion, ones = problem.graph, problem.notion, problem.answers == 1
    kept, growth = _without_contradictions(problem, pins, z, weights, engine)
    given = ~np.isnan(kept)
    closed = np.where(given, growth.labels, np.nan)
    signed = np.where(ones, closed, -closed)
    labels = engine.settle(graph, notion, problem.answers, signed if given.any() else None).labels
    return engine.grow(graph, notion, np.where(ones, labels, -labels) + 0.0).labels


def _without_contradictions(
    problem: Problem, pins: Floats, z: Floats, weights: Floats, engine: Engine
) -> tuple[Floats, Growth]:
    """The values without those that contradict others by more than noise, and the growth from what is left.

    A value that lies too low pulls down all that it is connected to: one that weighs less than what it pulls down goes;
    otherwise, what it pulls down. Such values are of datasets whose neighbours were left out of the program.
    """
    free = np.isnan(pins)
    kept = np.where(free, z, pins)
    for _ in range(ROUNDS):
        growth = engine.grow(problem.graph, problem.notion, np.where(np.isnan(kept), np.inf, kept))
        fell = drops(kept, growth.labels) > NOISE
        if problem.notion.is_directed:
            probability = problem.notion.coordinate.probability
            fell &= ~(probability(kept) - probability(growth.labels) <= NOISE_IN_P)
        if not fell.any():
            return kept, growth
        origin = _origins(growth)
        harm = np.bincount(origin[fell], np.where(free, weights, np.inf)[fell], len(kept))
        harmful = free & (harm > weights)
        kept[free & (harmful | (fell & ~harmful[origin]))] = np.nan
    kept = pins
    return kept, engine.grow(problem.graph, problem.notion, np.where(free, np.inf, kept))


def _origins(growth: Growth) -> Indices:
    """For each dataset the one from which its label came in the end."""
    origin = np.where(growth.links < 0, np.arange(len(growth.links)), growth.links)
    while True:
        further = origin[origin]
        if np.array_equal(further, origin):
            return origin
        origin = further

"""Problems with compatible pins of every kind, drawn by Hypothesis or from a seed, and an exact check of privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import hetdp
from hetdp.engines.registry import engine_for
from hetdp.theory.pure import PURE
from tests.theory.exact import is_at_most_bound

ENGINES = ["reference", "cpu"]
EPSILON = st.one_of(st.sampled_from([0.0, math.inf, 1e-12, 0.1, 0.5, 1e3]), st.floats(0.0, 3.0), st.floats(1e-12, 1e3))
VALUE = st.one_of(st.sampled_from([0.0, math.inf, -math.inf, -0.25]), st.floats(-4.0, 4.0), st.floats(-1e3, 1e3))


@dataclass(frozen=True)
class Case:
    """Datasets 0 … n − 1, edges (u, v, ε), answers, and z where pinned, NaN elsewhere."""

    edges: list[tuple[int, int, float]]
    answers: np.ndarray
    pins: np.ndarray

    @property
    def graph(self) -> hetdp.DatasetGraph:
        return graph_of(self.edges, len(self.answers))

    @property
    def problem(self) -> hetdp.Problem:
        return hetdp.Problem(self.graph, self.answers)

    def extend(self, engine: Any = "reference", **options) -> hetdp.Mechanism:
        return hetdp.extend(self.problem, hetdp.PartialMechanism(z=self.pins), engine=engine, **options)


def graph_of(edges: list[tuple[int, int, float]], size: int) -> hetdp.DatasetGraph:
    source, target = (np.array([edge[i] for edge in edges], dtype=np.int64) for i in (0, 1))
    epsilon = np.array([edge[2] for edge in edges], dtype=np.float64)
    return hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=range(size), duplicates="min")


def private_values(graph: hetdp.DatasetGraph, upper: np.ndarray) -> np.ndarray:
    """The greatest private z that is nowhere above `upper`."""
    return engine_for("reference", graph, PURE, "grow").grow(graph, PURE, upper).labels


@st.composite
def cases(draw: st.DrawFn, max_size: int = 8, epsilon: st.SearchStrategy[float] = EPSILON, value=VALUE) -> Case:
    """Cases whose pins, on the boundary and some more datasets, are values of a private mechanism."""
    size = draw(st.integers(1, max_size))
    vertex = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex, epsilon), max_size=3 * size))
    answers = np.array(draw(st.lists(st.sampled_from([1, 2]), min_size=size, max_size=size)))
    graph = graph_of(edges, size)
    z = private_values(graph, np.array(draw(st.lists(value, min_size=size, max_size=size))))
    extra = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    pinned = hetdp.Problem(graph, answers).boundary_mask | extra
    return Case(edges, answers, np.where(pinned, z, np.nan))


def ordinary_cases(max_size: int = 8) -> st.SearchStrategy[Case]:
    """Cases with ε and values of moderate size, which plain floating point can handle too."""
    return cases(max_size, st.floats(0.05, 2.0), st.floats(-3.0, 3.0))


def violated_arcs(problem: hetdp.Problem, z: np.ndarray) -> list[tuple[int, int]]:
    """Every arc on which z is not private, one at a time and in exact arithmetic."""
    values = z.tolist()
    return [
        (source, target)
        for block in problem.graph.edge_blocks()
        for source, target, epsilon in zip(*(x.tolist() for x in (*block[:2], block[2][0])), strict=True)
        if not is_at_most_bound(values[target], values[source], epsilon)
    ]


def signed_z(problem: hetdp.Problem, z: np.ndarray) -> np.ndarray:
    """z where the answer is 1, −z where it is 2: larger is better."""
    return np.where(problem.answers == 1, z, -z)


def bits(z: np.ndarray) -> list[int]:
    return (z + 0.0).view(np.int64).tolist()

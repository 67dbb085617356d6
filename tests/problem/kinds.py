"""Edges of every kind: ε, ε in each direction, δ in each direction, μ."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

import hetdp

ListedEdge = tuple[int, int, dict[str, float]]

EPSILONS = st.sampled_from([0.0, 0.1, 0.3, 1.0, 1e-10, math.inf]) | st.floats(0.0, 40.0)
DELTAS = st.sampled_from([0.0, 0.1, 1e-10, 1.0, 5e-324]) | st.floats(0.0, 1.0)
VALUES = {"epsilon": EPSILONS, "epsilon_back": EPSILONS, "delta": DELTAS, "delta_back": DELTAS, "mu": EPSILONS}
BACK = {"epsilon": "epsilon_back", "epsilon_back": "epsilon", "delta": "delta_back", "delta_back": "delta"}
FREE = {"epsilon": math.inf, "mu": math.inf, "delta": 1.0}


def edges_of_kind(kind: tuple[str, ...], size: int, max_size: int) -> st.SearchStrategy[list[ListedEdge]]:
    """Edges with the parameters of a kind, some of them listed twice, with equal or different parameters."""
    ends = st.integers(0, size - 1)
    values = st.fixed_dictionaries({name: VALUES[name] for name in kind})
    return st.lists(st.tuples(ends, ends, values), max_size=max_size)


def reverse_parameters(values: dict[str, float]) -> dict[str, float]:
    """The parameters of an edge as they are seen from its other end."""
    return {name: values.get(BACK.get(name, name), x) for name, x in values.items()}


def reverse_some(listed: list[ListedEdge], is_reversed: list[bool]) -> list[ListedEdge]:
    """The same edges, some of them listed from their other end."""
    return [
        (v, u, reverse_parameters(values)) if reverse else (u, v, values)
        for (u, v, values), reverse in zip(listed, is_reversed, strict=False)
    ]


def columns_of(kind: tuple[str, ...], listed: list[ListedEdge]) -> dict[str, Any]:
    """The columns by name."""
    return {name: [values[name] for _, _, values in listed] for name in kind}


def graph_of(
    kind: tuple[str, ...], listed: list[ListedEdge], size: int, duplicates: Any = "error", classes: Any = None
) -> hetdp.DatasetGraph:
    """The graph of these edges, on datasets 0 … size − 1."""
    source, target = ([edge[end] for edge in listed] for end in (0, 1))
    return hetdp.DatasetGraph.from_edges(
        source, target, datasets=range(size), duplicates=duplicates, classes=classes, **columns_of(kind, listed)
    )

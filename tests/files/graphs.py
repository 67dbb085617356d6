"""Helpers for the tests of graphs from other libraries."""

from __future__ import annotations

import math

import networkx
import pytest
from hypothesis import strategies as st

import hetdp

EPSILON = st.one_of(st.sampled_from([0.0, math.inf, 0.1, 0.3, 1e-12, 1e3]), st.floats(0.0, 1e6))
PAIRS = st.dictionaries(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda p: (min(p), max(p))), EPSILON)


def edges_of(graph: hetdp.DatasetGraph) -> list[list]:
    return [column.tolist() for column in graph.edges()]


def graph_from_pairs(pairs: dict[tuple[int, int], float], datasets=range(10)) -> hetdp.DatasetGraph:
    names = list(datasets)
    source, target = ([names[pair[end]] for pair in pairs] for end in (0, 1))
    return hetdp.DatasetGraph.from_edges(source, target, list(pairs.values()), datasets)


def networkx_graph(*edges, kind=networkx.Graph, nodes=()):
    graph = kind()
    graph.add_nodes_from(nodes)
    for source, target, attributes in edges:
        graph.add_edge(source, target, **attributes)
    return graph


def error_message(call, *arguments, error: type[Exception] = hetdp.InputError, **options) -> str:
    with pytest.raises(error) as caught:
        call(*arguments, **options)
    return str(caught.value)

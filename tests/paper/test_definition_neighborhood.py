"""Definition 2: N(S), the datasets outside S with a neighbour in S."""

from __future__ import annotations

import math

import hetdp
from tests.oracle.literal import neighbourhoods
from tests.oracle.random_problems import compatible_problems
from tests.paper.library import graph_of


def test_the_graph_knows_the_neighbourhood_of_every_dataset():
    for small in compatible_problems(seed=23, count=40):
        graph, near = graph_of(small), neighbourhoods(small)
        for v in small.datasets:
            found, _ = graph.neighbours(graph.index(v))
            assert {graph.label(int(i)) for i in found} == near[v].keys()


def test_being_neighbours_is_symmetric_and_no_dataset_is_its_own_neighbour():
    graph = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "c"], [0.5, 0.25, 1.0])
    named = {v: [graph.label(int(i)) for i in graph.neighbours(graph.index(v))[0]] for v in "abc"}
    assert named["a"] == ["b"]
    assert sorted(map(str, named["b"])) == ["a", "c"]
    assert named["c"] == ["b"]


def test_an_edge_without_a_constraint_makes_no_neighbours():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.5, math.inf])
    assert len(graph.neighbours(graph.index("c"))[0]) == 0

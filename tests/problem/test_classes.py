"""Edges know whose data they are about."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hetdp


def classes_by_edge(graph: hetdp.DatasetGraph) -> dict:
    source, target, _ = graph.edges()
    pairs = [(graph.label(int(a)), graph.label(int(b))) for a, b in zip(source, target, strict=True)]
    return dict(zip(pairs, graph.edge_classes() or [], strict=True))


def test_classes_follow_their_edges_through_sorting_and_unconstrained_edges():
    graph = hetdp.DatasetGraph.from_edges(
        ["c", "b", "a", "d"], ["d", "a", "c", "a"], [1.0, 0.5, math.inf, 2.0], classes=["ann", None, "bob", "ann"]
    )
    known = classes_by_edge(graph)
    assert {frozenset(pair): name for pair, name in known.items()} == {
        frozenset("cd"): "ann",
        frozenset("ab"): None,
        frozenset("ac"): "bob",
        frozenset("ad"): "ann",
    }


def test_without_classes_there_are_none():
    assert hetdp.DatasetGraph.from_edges([0], [1], 1.0).edge_classes() is None


def test_classes_may_be_an_array():
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0, classes=np.array([7, 8]))
    assert graph.edge_classes() == [7, 8]


def test_of_edges_of_one_class_the_smallest_epsilon_is_kept_and_no_class_is_lost():
    graph = hetdp.DatasetGraph.from_edges(
        [0, 1, 0, 1], [1, 0, 1, 0], [1.0, 0.5, 0.5, 0.2], duplicates="min", classes=["ann", "bob", "cid", "ann"]
    )
    assert graph.edge_classes() == ["ann", "bob", "cid"]
    assert graph.edges()[2].tolist() == [0.2, 0.5, 0.5]


def test_a_column_of_classes_of_another_length_is_refused():
    with pytest.raises(
        hetdp.InputError, match="source, target, epsilon, classes: columns of different lengths 2, 2, 2, 1"
    ):
        hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0, classes=["ann"])

"""Definition 3: the boundary, every dataset with a neighbour of a different true answer."""

from __future__ import annotations

import math

import pytest

import hetdp
from tests.oracle.random_problems import compatible_problems
from tests.paper.library import problem_of


def test_the_boundary_is_both_ends_of_every_edge_across_in_graph_order():
    graph = hetdp.DatasetGraph.from_edges("abcd", "bcde", 0.5)
    assert hetdp.Problem(graph, dict(zip("abcde", [1, 1, 2, 2, 2], strict=True))).boundary == ["b", "c"]


def test_the_boundary_is_what_the_definition_says_on_random_graphs():
    for small in compatible_problems(seed=31, count=100):
        expected = [v for v in small.datasets if v in small.boundary]
        assert list(problem_of(small).boundary) == expected


def test_a_query_with_one_answer_has_no_boundary():
    graph = hetdp.DatasetGraph.from_edges("abcd", "bcde", 0.5)
    for answer in (1, 2):
        assert hetdp.Problem(graph, [answer] * 5).boundary == []


def test_an_edge_with_infinite_epsilon_makes_no_boundary():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [math.inf, 0.5])
    assert hetdp.Problem(graph, {"a": 1, "b": 2, "c": 2}).boundary == []


def test_an_edge_with_epsilon_zero_makes_a_boundary():
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], [0.0])
    assert hetdp.Problem(graph, {"a": 1, "b": 2}).boundary == ["a", "b"]


def test_a_boundary_dataset_without_p_is_refused():
    graph = hetdp.DatasetGraph.from_edges("ab", "bc", 0.5)
    problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    with pytest.raises(hetdp.InputError, match="dataset c:"):
        hetdp.extend(problem, {"b": 0.6})

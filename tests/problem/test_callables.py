"""Queries that are functions, and edges that are triples."""

from __future__ import annotations

import pytest

import hetdp

GRAPH = hetdp.DatasetGraph.from_edges([("00", "01", 0.5), ("01", "11", 1.0), ["11", "10", 2]])


def test_triples_make_the_same_graph_as_columns():
    columns = hetdp.DatasetGraph.from_edges(["00", "01", "11"], ["01", "11", "10"], [0.5, 1.0, 2.0])
    assert hetdp.Problem(GRAPH, [1, 1, 2, 2]).identity == hetdp.Problem(columns, [1, 1, 2, 2]).identity
    assert hetdp.DatasetGraph.from_edges([], datasets=["a"]).size == 1


def test_values_that_are_not_triples_are_listed():
    with pytest.raises(hetdp.InputError, match="2 faults") as refusal:
        hetdp.DatasetGraph.from_edges([("a", "b"), ("a", "b", 1.0), 3])
    assert "edge 0: not a triple: ('a', 'b'); without target=" in str(refusal.value)
    with pytest.raises(hetdp.UsageError, match="epsilon= without target="):
        hetdp.DatasetGraph.from_edges([("a", "b")], epsilon=1.0)
    with pytest.raises(hetdp.UsageError, match="is not a sequence of edges"):
        hetdp.DatasetGraph.from_edges("abc")


def test_a_function_answers_each_dataset_once():
    asked = []

    def majority(label: str) -> bool:
        asked.append(label)
        return label.count("1") >= 1

    problem = hetdp.Problem(GRAPH, majority)
    assert asked == ["00", "01", "11", "10"]
    assert problem.answers.tolist() == [2, 1, 1, 1]


def test_the_answers_of_a_function_are_checked_like_any_query():
    with pytest.raises(hetdp.InputError, match="a third answer"):
        hetdp.Problem(GRAPH, lambda label: len(set(label)) + int(label, 2))
    with pytest.raises(hetdp.InputError, match="no answer"):
        hetdp.Problem(GRAPH, lambda label: None)


def test_an_exception_of_the_function_names_the_dataset():
    with pytest.raises(ZeroDivisionError) as raised:
        hetdp.Problem(GRAPH, lambda label: 1 // int(label))
    assert raised.value.__notes__ == ["raised by the query at dataset 00"]


def test_a_function_with_the_wrong_number_of_parameters_is_refused_before_it_is_called():
    grid = hetdp.spaces.grid((3, 3), 1.0)
    with pytest.raises(hetdp.UsageError, match=r"query .* \(x, y\): missing a required argument: 'y'") as refusal:
        hetdp.Problem(grid, lambda x, y: x + y > 2)
    assert refusal.value.hint == "labels are tuples here; lambda label: f(*label) passes the entries of a label to f"
    with pytest.raises(hetdp.UsageError, match="called with 1 argument: the label of a dataset") as refusal:
        hetdp.Problem(GRAPH, lambda: True)
    assert refusal.value.hint == ""
    with pytest.raises(hetdp.UsageError, match=r"epsilon .* called with 2 arguments"):
        hetdp.spaces.grid((3, 3), lambda one: 1.0)
    with pytest.raises(hetdp.UsageError, match=r"distance .* called with 2 arguments"):
        hetdp.spaces.metric([0, 1], lambda one: 1.0, 1.0)
    with pytest.raises(hetdp.UsageError, match=r"epsilon .* called with 3 arguments"):
        hetdp.Problem(GRAPH, [1, 1, 2, 2]).with_epsilon(lambda one, other: 1.0)
    assert hetdp.Problem(grid, lambda label, least=2: sum(label) > least).answers.sum() > 0
    assert hetdp.Problem(GRAPH, "10".__contains__).answers.tolist() == [2, 2, 2, 1]  # C tells no parameter names

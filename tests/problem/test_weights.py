"""Weights, descriptions, and the identity of problems."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest

import hetdp
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.problem.decimals import round_down_to_grid
from hetdp.problem.problem import EdgelessProblem
from hetdp.problem.values import Factors
from hetdp.theory.catalogue import find_notion
from tests.loops import for_each

GRAPH = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.1, 1.0])
ANSWERS = {"a": 1, "b": 1, "c": 2}


def problem(graph=GRAPH, answers=ANSWERS, **options) -> hetdp.Problem:
    return hetdp.Problem(graph, answers, **options)


def test_weights_are_kept_in_graph_order():
    given = problem(weights={"c": 3.0, "a": 1, "b": 2.5}).weights
    assert given is not None
    assert given.tolist() == [1.0, 2.5, 3.0]
    assert problem(weights=[1, 2, 3]).weights.tolist() == [1.0, 2.0, 3.0]
    assert problem().weights is None


@for_each(
    ("weights", "message"),
    [
        ({"a": 1.0, "b": 1.0}, "weights: dataset c: no weight; every dataset has a weight."),
        ([1.0, -1.0, 1.0], "weights: dataset b: weight out of range: -1.0; a weight is a finite number ≥ 0."),
        ([1.0, 1.0, np.inf], "weights: dataset c: weight out of range: inf; a weight is a finite number ≥ 0."),
        (["x", 1.0, 1.0], "weights: weights['a']: non-numeric weight 'x'; a weight is a number."),
        (
            [1.0],
            "weights: wrong number of weights 1 for 3 datasets;"
            " a sequence has one entry for each dataset, in graph order.",
        ),
        (
            {"a": 1, "b": 1, "c": 1, "x": 1},
            "weights: weights['x']: unknown dataset; only datasets of the graph have a weight.",
        ),
    ],
)
def test_a_faulty_weight_is_named(weights, message):
    with pytest.raises(hetdp.InputError) as refusal:
        problem(weights=weights)
    assert str(refusal.value) == message


def test_descriptions_are_kept():
    assert problem(about={"title": "three"}).about == {"title": "three"}
    assert problem().about == {}


def test_the_identity_depends_on_what_is_constrained_only():
    same = hetdp.DatasetGraph.from_edges(
        ["b", "c", "a", "a"],
        ["c", "b", "b", "c"],
        [1.0, 1.0, 0.1, np.inf],
        datasets=["a", "b", "c"],
        classes="ssua",
        duplicates="min",
    )
    known = problem().identity
    assert known.startswith("sha256:")
    assert problem(same, weights=[1, 2, 3], about={"title": "x"}).identity == known
    assert problem(answers=[True, True, False]).identity == known


@for_each(
    ("source", "target", "epsilon", "datasets", "answers"),
    [
        ("ab", "bc", [0.1, 1.5], "abc", [1, 1, 2]),
        ("ab", "bc", [0.1, 1.0], "abc", [1, 2, 2]),
        ("ab", "bc", [0.1, 1.0], "abcd", [1, 1, 2, 2]),
        ("ab", "bc", [0.1, 1.0], "bac", [1, 1, 2]),
        ("aa", "bc", [0.1, 1.0], "abc", [1, 1, 2]),
        ([0, 1], [1, 2], [0.1, 1.0], range(3), [1, 1, 2]),
        (["0", "1"], ["1", "2"], [0.1, 1.0], ["0", "1", "2"], [1, 1, 2]),
    ],
)
def test_any_other_constraint_dataset_or_answer_is_another_problem(source, target, epsilon, datasets, answers):
    graph = hetdp.DatasetGraph.from_edges(list(source), list(target), epsilon, datasets=list(datasets))
    assert problem(graph, answers).identity != problem().identity


def test_labels_that_cannot_be_serialised_have_no_identity():
    graph = hetdp.DatasetGraph.from_edges([1, "b"], ["b", frozenset("a")], 1.0)
    with pytest.raises(hetdp.UsageError, match=r"the label frozenset\({'a'}\) cannot be saved"):
        _ = problem(graph, [1, 2, 2]).identity


def test_nothing_can_be_proved_on_a_problem_without_edges():
    known = problem()
    mechanism = hetdp.extend(known, {"b": 0.55, "c": 0.45})
    outline = EdgelessProblem(known.labels, known.answers, known.notion, known.identity)
    with pytest.raises(hetdp.UsageError, match="expected a Problem, got a"):
        hetdp.verify(outline, mechanism)
    alone = LocalMechanism(outline, mechanism.coordinates, mechanism.pinned, mechanism.links)
    assert dict(alone) == dict(mechanism)
    with pytest.raises(hetdp.UsageError, match="read without its problem"):
        alone.explain("a")


def test_one_number_of_one_edge_is_replaced():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.1, 1.0], delta=[0.5, 0.25], classes=["x", "y"])
    before = problem(graph, weights=[1, 2, 3], about={"title": "t"})
    after = before.with_parameter(1, "delta_back", 1.0)
    assert [column.tolist() for column in after.graph.edges()[2:]] == [[0.1, 1.0], [0.1, 1.0], [0.5, 0.25], [0.5, 1.0]]
    assert before.graph.edges()[5].tolist() == [0.5, 0.25]
    assert after.graph.edge_classes() == ["x", "y"]
    assert (after.weights.tolist(), after.about, after.notion) == ([1, 2, 3], {"title": "t"}, before.notion)
    assert before.with_parameter(0, "epsilon", 0.1) is before
    assert before.with_parameter(0, "epsilon", 0.0).graph.edges()[2].tolist() == [0.0, 1.0]
    assert before.with_parameter(0, "epsilon", np.inf).graph.edges()[2].tolist() == [np.inf, 1.0]
    assert not after.graph.on_grid


@for_each(
    ("edge", "name", "value", "message"),
    [
        (2, "epsilon", 1.0, "there is no edge 2; edges are numbered from 0 to 1"),
        (-1, "epsilon", 1.0, "there is no edge -1"),
        (0, "mu", 1.0, r"unknown parameter 'mu'; the edges have epsilon\.$"),
        (0, "epsilom", 1.0, "did you mean 'epsilon'"),
        (0, "epsilon", -0.1, "epsilon = -0.1"),
        (0, "epsilon", np.nan, "epsilon = nan"),
    ],
)
def test_a_number_that_no_edge_has_room_for_is_refused(edge, name, value, message):
    with pytest.raises(hetdp.UsageError, match=message):
        problem().with_parameter(edge, name, value)


def test_people_keep_their_grid_where_one_epsilon_is_replaced():
    people = hetdp.spaces.votes(["Ann", "Bob"], hetdp.questions.majority(), 0.5)
    after = people.with_parameter(0, "epsilon", 0.1)
    assert after.graph.on_grid
    assert after.with_parameter(0, "epsilon", 0.3).graph.on_grid
    assert sorted(after.graph.edges()[2].tolist()) == [0.1, 0.5, 0.5, 0.5]
    assert after.graph.parameters[0].min() == round_down_to_grid(0.1)


def test_the_identity_is_that_of_the_bytes_of_its_parts(monkeypatch):
    """It is stored in files, so it stays the same on every machine and in every version."""

    def digest(*parts: bytes) -> str:
        pieces = [part[at : at + 16] for part in parts[1:] for at in range(0, len(part), 16)]
        inner = b"".join(hashlib.sha256(piece).digest() for piece in (parts[0], *pieces))
        return "sha256:" + hashlib.sha256(inner).hexdigest()

    monkeypatch.setattr("hetdp.problem.identity.PIECE", 16)
    stored = problem().graph
    columns = [array.tobytes() for array in (stored.indptr, stored.targets, *stored.parameters)]
    title = b'hetdp problem 1\npure 3 4\n["a", "b", "c"]\n'
    assert problem().identity == digest(title, b"\1\1\2", *columns)
    integers = hetdp.Problem(hetdp.DatasetGraph.from_edges([0, 1], [1, 2], [0.1, 1.0]), [1, 1, 2])
    assert integers.identity == digest(b"hetdp problem 1\npure 3 4\n0 to n - 1\n", b"\1\1\2", *columns)
    monkeypatch.setattr("hetdp.problem.product.MOST_WRITTEN", 1)
    people = hetdp.spaces.votes(["Ann"], hetdp.questions.majority(), 0.5)
    title = b'hetdp product 1\npure 2\n[["value", 1, 2, 1, 1, 1]]\n["yes", "no"]\n'
    assert people.identity == digest(title, people.answers.tobytes(), np.array([0.5]).tobytes())


def test_a_table_or_a_name_that_is_not_text_is_no_notion():
    for wrong in (3, ["pure"], None.__class__):
        with pytest.raises(hetdp.UsageError, match="a notion is named by a text"):
            problem(notion=wrong)
    with pytest.raises(hetdp.UsageError, match="the notion 'gaussian' on edges with epsilon; its edges have mu"):
        problem(notion="gaussian")
    with pytest.raises(hetdp.UsageError, match="its edges have epsilon, epsilon_back"):
        problem(notion=find_notion("directed"))


def test_scores_have_a_row_for_each_axis_and_an_entry_for_each_value():
    people = hetdp.spaces.votes(["Ann", "Bob"], hetdp.questions.majority(), 0.5)
    assert people.scores is not None
    hetdp.Problem(people.graph, people.answers, scores=people.scores)
    fewer = replace(people.scores, scores=people.scores.scores[:1])
    for graph, scores in ((people.graph, fewer), (GRAPH, people.scores)):
        with pytest.raises(hetdp.UsageError, match="scores that do not fit the people"):
            hetdp.Problem(graph, [1, 1, 2, 2][: graph.size], scores=scores)


def test_weights_are_a_copy_that_cannot_be_written_to():
    given = np.array([1.0, 2.0, 3.0])
    weights = problem(weights=given).weights
    given[0] = 9.0
    assert weights.tolist() == [1.0, 2.0, 3.0]
    assert not weights.flags.writeable
    assert not Factors((np.array([0.5, 0.5]),)).product().flags.writeable


def test_the_boundary_of_a_problem_of_the_limit_is_counted(monkeypatch):
    for limit, counted in ((3, True), (2, False)):
        monkeypatch.setattr("hetdp.problem.problem.MOST_COUNTED", limit)
        assert ("on the boundary" in problem()._repr_html_()) == counted

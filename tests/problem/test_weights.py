"""Weights, words, and what makes two problems the same."""

from __future__ import annotations

import numpy as np
import pytest

import hetdp
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.problem.problem import EdgelessProblem

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


@pytest.mark.parametrize(
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


def test_words_are_kept():
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


@pytest.mark.parametrize(
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


def test_labels_that_cannot_be_written_down_have_no_identity():
    graph = hetdp.DatasetGraph.from_edges([frozenset("a")], [frozenset("b")], 1.0)
    with pytest.raises(hetdp.UsageError, match=r"the label frozenset\({'a'}\) cannot be written down"):
        _ = problem(graph, [1, 2]).identity


def test_an_outline_is_no_problem_to_prove_anything_on():
    known = problem()
    mechanism = hetdp.extend(known, {"b": 0.55, "c": 0.45})
    outline = EdgelessProblem(known.labels, known.answers, known.notion, known.identity)
    with pytest.raises(hetdp.UsageError, match="expected a Problem, got a"):
        hetdp.verify(outline, mechanism)
    alone = LocalMechanism(outline, mechanism.coordinates, mechanism.pinned, mechanism.links)
    assert dict(alone) == dict(mechanism)
    with pytest.raises(hetdp.UsageError, match="read without its problem"):
        alone.explain("a")

"""The forms of a query: which answer is 1, and when it must be given."""

from __future__ import annotations

import numpy as np
import pytest

import hetdp
from tests.loops import for_each

GRAPH = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
INTEGERS = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0)

FORMS = {
    "1 and 2": ([1, 2, 2], None, [1, 2, 2]),
    "0 and 1": ([1, 0, 0], None, [1, 2, 2]),
    "booleans": ([True, False, False], None, [1, 2, 2]),
    "floats": ([1.0, 2.0, 2.0], None, [1, 2, 2]),
    "an integer array": (np.array([1, 2, 2]), None, [1, 2, 2]),
    "a small integer array": (np.array([1, 0, 0], dtype=np.uint8), None, [1, 2, 2]),
    "a boolean array": (np.array([True, False, False]), None, [1, 2, 2]),
    "a float array": (np.array([1.0, 0.0, 0.0]), None, [1, 2, 2]),
    "an array of objects": (np.array(["yes", "no", "no"], dtype=object), "yes", [1, 2, 2]),
    "an array of text": (np.array(["yes", "no", "no"]), "yes", [1, 2, 2]),
    "text": (["yes", "no", "no"], "yes", [1, 2, 2]),
    "the other text": (["yes", "no", "no"], "no", [2, 1, 1]),
    "2 counts as positive": ([1, 2, 2], 2, [2, 1, 1]),
    "False counts as positive": ([True, False, False], False, [2, 1, 1]),
    "only 1": ([1, 1, 1], None, [1, 1, 1]),
    "only 2": ([2, 2, 2], None, [2, 2, 2]),
    "only 0": ([0, 0, 0], None, [2, 2, 2]),
    "only True": ([True, True, True], None, [1, 1, 1]),
    "only one text": (["no", "no", "no"], "yes", [2, 2, 2]),
    "a mapping": ({"c": 2, "a": 1, "b": 2}, None, [1, 2, 2]),
    "a mapping to booleans": ({"c": False, "a": True, "b": False}, None, [1, 2, 2]),
    "a mapping to text": ({"c": "x", "a": "y", "b": "x"}, "y", [1, 2, 2]),
    "an iterator": (iter([1, 2, 2]), None, [1, 2, 2]),
    "tuples": ([(1,), (2,), (2,)], (1,), [1, 2, 2]),
}


@for_each(("given", "positive", "answers"), FORMS.values())
def test_queries_are_accepted_in_every_form(given, positive, answers):
    problem = hetdp.Problem(GRAPH, given, positive=positive)
    assert problem.answers.tolist() == answers
    assert problem.answers.dtype == np.int8


def test_swapping_what_is_positive_swaps_p():
    yes = hetdp.Problem(GRAPH, ["yes", "yes", "no"], positive="yes")
    no = hetdp.Problem(GRAPH, ["yes", "yes", "no"], positive="no")
    one, other = hetdp.extend(yes, {"b": 0.6, "c": 0.3}), hetdp.extend(no, {"b": 0.4, "c": 0.7})
    assert one.probabilities == pytest.approx(1 - other.probabilities)
    assert one.errors == pytest.approx(other.errors)


def test_integer_labels_are_looked_up_in_a_mapping():
    assert hetdp.Problem(INTEGERS, {2: 1, 0: 2, 1: 2}).answers.tolist() == [2, 2, 1]


def test_the_boundary_is_where_answers_meet_in_graph_order():
    graph = hetdp.DatasetGraph.from_edges([3, 2, 0], [2, 1, 1], [1.0, 0.0, 1.0])
    assert hetdp.Problem(graph, [1, 1, 2, 2]).boundary == [1, 2]
    assert hetdp.Problem(graph, [1, 2, 1, 2]).boundary == [0, 1, 2, 3]
    assert hetdp.Problem(graph, [1, 1, 1, 1]).boundary == []


@pytest.mark.parametrize("positive", [float("nan"), np.array([1, 2]), [1], {}])
def test_a_positive_that_is_not_one_answer_is_a_fault(positive):
    with pytest.raises(hetdp.InputError, match=r"positive: not one answer: .*; an answer is one number, text or truth"):
        hetdp.Problem(GRAPH, [1, 2, 2], positive=positive)


def test_a_positive_that_is_not_among_the_answers_is_a_fault():
    with pytest.raises(hetdp.InputError, match="no such answer: 3; positive is one of the answers, 1 and 2"):
        hetdp.Problem(GRAPH, [1, 2, 2], positive=3)


def test_a_third_answer_is_a_fault_even_with_positive():
    with pytest.raises(hetdp.InputError, match="a third answer"):
        hetdp.Problem(GRAPH, [1, 2, 3], positive=3)


@for_each("answers", [["1", "2", "2"], ["true", "false", "true"], [2, 3, 3], [-1, 1, 1], ["x", "x", "x"]])
def test_an_unknown_pair_of_answers_needs_positive(answers):
    with pytest.raises(hetdp.InputError, match="unclear which answer is 1"):
        hetdp.Problem(GRAPH, answers)


def test_a_problem_is_immutable():
    answers = np.array([1, 1, 2], dtype=np.int8)
    problem = hetdp.Problem(GRAPH, answers)
    answers[:] = 2
    assert problem.answers.tolist() == [1, 1, 2]
    for array in (problem.answers, problem.boundary_mask):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2


def test_the_repr_of_a_problem_describes_it():
    assert repr(hetdp.Problem(GRAPH, [1, 1, 2])) == "Problem(3 datasets, 2 with answer 1, notion 'pure')"


def test_a_table_in_place_of_a_column_of_answers_is_refused():
    with pytest.raises(hetdp.InputError):
        hetdp.Problem(GRAPH, np.array([[1], [1], [2]]))


@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_a_third_answer_in_an_array_is_named_where_it_is(kind):
    with pytest.raises(hetdp.InputError, match="dataset c: a third answer 3"):
        hetdp.Problem(GRAPH, np.array([1, 2, 3], dtype=kind))
    with pytest.raises(hetdp.InputError, match="dataset b: a third answer 2"):
        hetdp.Problem(GRAPH, np.array([3, 2, 1], dtype=kind), positive=3)


def test_beside_the_positive_answer_the_first_other_one_counts():
    with pytest.raises(hetdp.InputError, match="dataset c: a third answer 'maybe'"):
        hetdp.Problem(GRAPH, ["yes", "no", "maybe"], positive="yes")


def test_a_text_is_not_taken_for_a_sequence_of_answers():
    with pytest.raises(hetdp.InputError, match="expected answers, got text 'yny'"):
        hetdp.Problem(GRAPH, "yny")

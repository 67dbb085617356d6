"""design: values for the boundary when none are given, or only some."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.cli import design as verb
from hetdp.cli.demo import voters
from hetdp.mechanism.design import OBJECTIVES, largest_error, prior_of, require_possible, shares_of
from hetdp.mechanism.steps import distance, drops
from tests.files.problems import problems_with_pins
from tests.loops import for_each
from tests.mechanism.problems import graph_of
from tests.oracle.leximin import fair_problems
from tests.oracle.linear import conditions, number_columns, solve


@given(problems_with_pins(anything=True))
def test_fair_is_proved_private_and_best_and_nowhere_worse_than_balanced(state):
    problem, _ = state
    fair, balanced = hetdp.design(problem), hetdp.design(problem, "balanced")
    for mechanism in (fair, balanced):
        assert mechanism.certificate is not None
        assert mechanism.certificate.private
        assert mechanism.certificate.optimal
        assert mechanism.moved == 0.0
    assert (fair.objective, balanced.objective) == ("fair", "balanced")
    assert (fair.errors <= balanced.errors * (1 + 1e-12)).all()
    if len(fair):
        assert fair.errors.max() == pytest.approx(balanced.errors.max(), rel=1e-12)


@settings(max_examples=30)
@given(problems_with_pins(anything=True), st.data())
def test_values_that_a_fair_mechanism_has_may_be_given_and_change_nothing(state, data):
    problem, _ = state
    fair = hetdp.design(problem)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(fair), max_size=len(fair))), dtype=np.bool_)
    again = hetdp.design(problem, partial=hetdp.PartialMechanism(z=np.where(chosen, fair.coordinates, np.nan)))
    assert np.allclose(again.probabilities, fair.probabilities, rtol=0.0, atol=1e-12)


def test_both_engines_design_the_same_bits():
    problem = voters(5, "first, when deciding")
    one, other = (hetdp.design(problem, engine=engine) for engine in ("reference", "cpu"))
    assert one.coordinates.tobytes() == other.coordinates.tobytes()


def test_fair_is_strictly_better_than_balanced_where_the_first_voter_is_in_the_minority():
    problem = voters(3, "first, when deciding")
    fair, balanced = hetdp.design(problem), hetdp.design(problem, "balanced")
    assert fair["211"] == pytest.approx(0.7977, abs=1e-4)
    assert balanced["211"] == pytest.approx(0.7311, abs=1e-4)


def test_given_values_stay_and_the_rest_is_filled_in():
    problem = voters(3, "first, when deciding")
    mechanism = hetdp.design(problem, partial={"112": 0.5})
    assert mechanism["112"] == 0.5
    assert mechanism.certificate is not None
    assert mechanism.certificate.optimal


def test_values_that_cannot_be_private_together_are_refused_with_a_witness():
    problem = voters(3, "first, when deciding")
    with pytest.raises(hetdp.NoExtensionError) as refusal:
        hetdp.design(problem, partial={"112": 0.99, "212": 0.01})
    assert refusal.value.witness.path.datasets == ["212", "112"]


def test_unknown_objectives_are_refused():
    problem = voters(3, "everyone")
    with pytest.raises(
        hetdp.UsageError, match="unknown objective 'best'; an objective is one of fair, balanced, average"
    ):
        hetdp.design(problem, "best")
    with pytest.raises(hetdp.UsageError, match=r"\['fair', 'balanced'\].*Hint: hetdp.accuracy compares several"):
        hetdp.design(problem, ["fair", "balanced"])


def test_the_command_line_knows_the_same_objectives():
    assert verb.OBJECTIVES == OBJECTIVES


def test_the_objective_is_stored_in_files(tmp_path):
    problem = voters(3, "everyone")
    hetdp.save(hetdp.design(problem), tmp_path / "m.parquet")
    assert hetdp.read_mechanism(tmp_path / "m.parquet", problem).objective == "fair"


def test_under_fair_no_dataset_can_be_answered_better_unless_another_is_answered_worse():
    problems = list(fair_problems(5, 200))
    found, cost, bounds, rows = [], [], [], []
    for small, column in zip(problems, number_columns(problems), strict=True):
        graph = graph_of(list(small.edges), len(small.answers))
        problem = hetdp.Problem(graph, np.array([small.answers[v] for v in range(len(small.answers))]))
        mechanism = hetdp.design(problem, partial=small.pins, engine="reference")
        rows += conditions(small, column)
        for v, answer in small.answers.items():
            error = min(1.0, float(mechanism.errors[v]) + 1e-11)
            cost.append(1.0 if answer == 2 else -1.0)
            free = (0.0, error) if answer == 2 else (1.0 - error, 1.0)
            bounds.append((small.pins[v], small.pins[v]) if v in small.pins else free)
            found.append(float(mechanism.probabilities[v]))
    assert solve(cost, rows, bounds) == pytest.approx(np.array(found), abs=1e-7)


@for_each("wrong", [-0.1, 1.1, True, "0.5", float("nan")])
def test_a_largest_error_is_a_number_from_zero_to_one(wrong):
    with pytest.raises(hetdp.UsageError, match="it must be a number from 0 to 1"):
        largest_error(wrong)
    assert [largest_error(fine) for fine in (None, 0, 1, 0.25)] == [None, 0.0, 1.0, 0.25]


def test_an_error_that_is_out_of_reach_is_named_rounded_up():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0), [1, 2])
    smallest = 1 / (1 + np.exp(1.0))  # 0.26894142…
    z, free = np.array([0.6201145069582775, -0.6201145069582775]), np.full(2, np.nan)
    require_possible(problem, z, free, smallest)
    require_possible(problem, z, free, None)
    with pytest.raises(hetdp.InputError, match=r"the smallest possible worst error is 0\.268942"):
        require_possible(problem, z, free, smallest * (1 - 1e-9))
    with pytest.raises(hetdp.InputError, match=r"mine worst error with the given values is 0\.268942"):
        require_possible(problem, z, np.array([np.nan, 0.0]), 0.1, "mine")
    require_possible(problem, z, np.zeros(2), 0.1)  # all values are given


def test_a_prior_is_scaled_and_needs_some_weight():
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
    problem, weighted = hetdp.Problem(graph, [1, 2]), hetdp.Problem(graph, [1, 2], weights=[1, 3])
    assert [name for name, _ in (prior_of(problem, None), prior_of(weighted, None), prior_of(problem, [1, 1]))] == [
        "uniform", "weight", "given"
    ]  # fmt: skip
    assert prior_of(weighted, None)[1].tolist() == [1 / 3, 1.0]
    assert prior_of(weighted, "uniform")[1].tolist() == [1.0, 1.0]
    assert shares_of(weighted, None).tolist() == [0.25, 0.75]
    assert shares_of(problem, {"a": 1e308, "b": 1e308}).tolist() == [0.5, 0.5]
    for wrong, message in (("weight", "the problem has no weights"), ("even", "unknown prior 'even'")):
        with pytest.raises(hetdp.UsageError, match=message):
            prior_of(problem, wrong)


def test_how_far_pins_moved_is_measured_both_ways():
    pins, nan, inf = np.array([1.0, -2.0, np.nan, np.inf]), np.nan, np.inf
    assert drops(pins, np.array([0.5, -1.0, 0.0, inf])).tolist() == [0.5, 0.0, 0.0, 0.0]
    assert distance(pins, np.array([0.5, -1.0, nan, inf])) == 1.0
    assert distance(pins, np.array([2.5, -1.0, nan, inf])) == 1.5
    assert distance(pins, pins) == 0.0
    assert distance(pins[:0], pins[:0]) == 0.0

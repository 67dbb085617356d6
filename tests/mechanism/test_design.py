"""design: values for the boundary when none are given, or only some."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.cli import design as verb
from hetdp.cli.demo import voters
from hetdp.mechanism.design import OBJECTIVES
from tests.files.problems import written
from tests.mechanism.problems import graph_of
from tests.oracle.leximin import fair_problems
from tests.oracle.linear import conditions, numbered, solve


@given(written(anything=True))
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
@given(written(anything=True), st.data())
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


def test_the_command_line_knows_the_same_objectives():
    assert verb.OBJECTIVES == OBJECTIVES


def test_the_objective_is_kept_in_files(tmp_path):
    problem = voters(3, "everyone")
    hetdp.save(hetdp.design(problem), tmp_path / "m.parquet")
    assert hetdp.read_mechanism(tmp_path / "m.parquet", problem).objective == "fair"


def test_under_fair_no_dataset_can_be_answered_better_unless_another_is_answered_worse():
    problems = list(fair_problems(5, 200))
    found, cost, bounds, rows = [], [], [], []
    for small, column in zip(problems, numbered(problems), strict=True):
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

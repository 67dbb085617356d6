"""accuracy: each measure against a plain computation, and all accepted arguments."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pandas
import polars
import pytest
from hypothesis import assume, given, settings

import hetdp
from hetdp.cli.demo import voters
from hetdp.mechanism import design
from hetdp.mechanism.accuracy import baselines
from hetdp.mechanism.accuracy import report as subjects
from hetdp.mechanism.accuracy.measures import steps_to_the_other_answer
from tests.files.problems import problems_with_pins
from tests.loops import for_each
from tests.mechanism.tallies import random_problem, steps_one_by_one, tallies

BOTH = ("fair", "balanced")
METHODS = [
    *BOTH,
    "one ε",
    "geometric noise",
    "Laplace noise",
    "exponential mechanism",
    "personalised exponential",
    "randomised response",
]


def mean(errors: list[float], weights: list[float]) -> Fraction | None:
    pairs = [(Fraction(error), Fraction(weight)) for error, weight in zip(errors, weights, strict=True)]
    total = sum(weight for _, weight in pairs)
    return sum(error * weight for error, weight in pairs) / total if total else None


@for_each("seed", range(40))
def test_every_measure_is_what_counting_one_by_one_gives(seed):
    problem = random_problem(seed)
    weights, steps = list(problem.weights), steps_one_by_one(problem)
    assert [step or None for step in steps_to_the_other_answer(problem).tolist()] == steps
    for method in hetdp.accuracy(problem).methods:
        errors = method.mechanism.errors.tolist()
        assert method.worst_error == max(errors)
        assert type(method.worst_error) is type(method.mean_error) is float, "not NumPy's, which prints otherwise"
        assert errors[method.worst_at] == method.worst_error
        assert method.mean_error == pytest.approx(float(mean(errors, weights)), rel=1e-14)
        assert (method.worst_accuracy, method.mean_accuracy) == (1 - method.worst_error, 1 - method.mean_error)
        assert [level.steps for level in method.by_steps] == sorted(set(steps), key=lambda step: (step is None, step))
        for level in method.by_steps:
            here = [at for at, step in enumerate(steps) if step == level.steps]
            assert level.datasets == len(here)
            assert level.worst_error == max(errors[at] for at in here)
            exact = mean([errors[at] for at in here], [weights[at] for at in here])
            assert level.mean_error == (None if exact is None else pytest.approx(float(exact), rel=1e-14))


@settings(max_examples=40)
@given(problems_with_pins(anything=True))
def test_every_problem_has_a_table_and_nothing_in_it_is_unproved(state):
    problem, _ = state
    assume(problem.weights is None or problem.weights.any())
    result = hetdp.accuracy(problem, objectives=BOTH)
    for method in result.methods:
        certificate = hetdp.verify(problem, method.mechanism)
        assert certificate.private
        assert method.mechanism.certificate.private
        assert 0.0 <= method.mean_error <= method.worst_error * (1 + 1e-12) <= 1.0
    assert str(result).count("\n") >= len(result.methods)
    for fair, balanced in zip(result["fair"].by_steps, result["balanced"].by_steps, strict=True):
        assert fair.worst_error <= balanced.worst_error * (1 + 1e-12)
        assert (fair.mean_error or 0.0) <= (balanced.mean_error or 0.0) * (1 + 1e-12)
    best = result["fair"].worst_error
    assert all(method.worst_error >= best * (1 - 1e-9) for method in result.methods)


def test_deciding_votes_reach_eighty_percent_where_one_epsilon_reaches_seventy():
    result = hetdp.accuracy(tallies(21, 0.3, 1.0), objectives=BOTH)
    assert [method.name for method in result.methods] == METHODS
    assert result["fair"].mean_accuracy == pytest.approx(0.799, abs=5e-4)
    assert result["one ε"].mean_accuracy == pytest.approx(0.695, abs=5e-4)
    assert (result.prior, result.threshold) == ("weight", True)
    assert "geometric noise ties fair: worst, 1 step" in map(str, result.comparisons)


def test_errors_are_kept_where_accuracy_is_next_to_one():
    graph = hetdp.DatasetGraph.from_edges([0], [1], 50.0)
    method = hetdp.accuracy(hetdp.Problem(graph, [1, 2]), objectives="fair")["fair"]
    assert method.worst_accuracy == math.nextafter(1.0, 0.0)
    assert method.worst_error == pytest.approx(math.exp(-50), rel=1e-12)
    assert method.mean_error == method.worst_error


def test_large_weights_do_not_overflow():
    problem = hetdp.Problem(tallies(3, 1.0, 1.0).graph, [2, 2, 1, 1], weights=[1e308] * 4)
    assert hetdp.accuracy(problem)["fair"].mean_error == hetdp.accuracy(problem, prior="uniform")["fair"].mean_error


def test_a_given_prior_is_used():
    problem = tallies(3, 1.0, 1.0)
    fair = hetdp.design(problem)
    for prior in ({0: 0, 1: 0, 2: 0, 3: 5}, [0, 0, 0, 5], np.array([0.0, 0.0, 0.0, 5.0])):
        result = hetdp.accuracy(problem, fair, prior=prior)
        assert result.prior == "given"
        assert result["fair"].mean_error == fair.errors[3]
        assert [level.mean_error for level in result["fair"].by_steps] == [None, fair.errors[3]]
    uniform = hetdp.accuracy(problem, fair, prior="uniform")["fair"].mean_error
    assert uniform == pytest.approx(fair.errors.mean())


def test_the_columns_make_a_data_frame_of_either_kind():
    result = hetdp.accuracy(tallies(3, 1.0, 1.0), objectives=BOTH)
    for library in (pandas, polars):
        frame = library.DataFrame(result.columns())
        assert frame.shape == (3 * len(METHODS), 9)
        assert list(frame["steps"]) == ["all", "1", "2"] * len(METHODS)
        assert list(frame["mean_error"]) == result.columns()["mean_error"]


def test_invalid_priors_are_refused():
    problem = hetdp.Problem(tallies(3, 1.0, 1.0).graph, [2, 2, 1, 1])
    with pytest.raises(hetdp.InputError, match="prior: every weight is 0; some dataset has a weight above 0"):
        hetdp.accuracy(problem, prior=[0, 0, 0, 0])
    with pytest.raises(hetdp.InputError, match=r"prior: .*: weight out of range"):
        hetdp.accuracy(problem, prior=[0, 0, -1, 1])
    with pytest.raises(hetdp.UsageError, match="baselines='all'; it is True or False"):
        hetdp.accuracy(problem, baselines="all")
    with pytest.raises(hetdp.UsageError, match="unknown prior 'best'; a prior is 'uniform'"):
        hetdp.accuracy(problem, prior="best")
    with pytest.raises(hetdp.UsageError, match=r"the problem has no weights; .* Hint: 'uniform' counts every dataset"):
        hetdp.accuracy(problem, prior="weight")


def test_mechanisms_are_taken_in_every_form():
    problem = tallies(3, 1.0, 1.0)
    fair = hetdp.design(problem)
    assert hetdp.accuracy(problem, fair).methods[0].name == "fair"
    for values in (dict(fair), fair.probabilities, hetdp.PartialMechanism(z=fair.coordinates)):
        method = hetdp.accuracy(problem, values, baselines=False)["mechanism"]
        assert method.worst_error == pytest.approx(fair.errors.max(), rel=1e-9)
        assert method.mechanism.certificate.private
    several = hetdp.accuracy(problem, {"ours": fair, "coin": [0.5] * 4}, baselines=False)
    assert [method.name for method in several.methods] == ["ours", "coin"]
    assert several["coin"].mean_error == 0.5


def test_a_mechanism_of_another_problem_is_judged_on_this_one():
    problem, other = tallies(3, 1.0, 1.0), tallies(3, 2.0, 2.0)
    fair = hetdp.design(problem)
    flipped = hetdp.Problem(problem.graph, [1, 1, 2, 2])
    assert hetdp.accuracy(flipped, fair, baselines=False)["fair"].worst_error == pytest.approx(fair.probabilities.max())
    with pytest.raises(hetdp.InputError, match=r"mechanism 'fair': not private: .*only a private mechanism"):
        hetdp.accuracy(problem, hetdp.design(other))


@pytest.mark.parametrize(("notion", "most"), [("pure", 30_000), ("gaussian", 1_000)])
def test_an_average_that_would_take_minutes_is_omitted_unless_requested(notion, most):
    column = "mu" if notion == "gaussian" else "epsilon"
    for size in (most, most + 1):
        graph = hetdp.DatasetGraph.from_edges(range(size - 1), range(1, size), **{column: np.full(size - 1, 0.5)})
        problem = hetdp.Problem(graph, np.where(np.arange(size) < 5, 1, 2), notion)
        assert ("average" in subjects.objectives_of(None, problem)) == (size == most)
        assert subjects.objectives_of("average", problem) == ("average",)


def test_invalid_calls_are_refused():
    problem = tallies(3, 1.0, 1.0)
    with pytest.raises(hetdp.UsageError, match="an objective together with a mechanism"):
        hetdp.accuracy(problem, hetdp.design(problem), objectives="fair")
    with pytest.raises(hetdp.UsageError, match="no objective; an objective is one of fair, balanced"):
        hetdp.accuracy(problem, objectives=[])
    for names in ("fair", ["fair", "average"]):
        with pytest.raises(hetdp.UsageError, match="objectives= names what is designed"):
            hetdp.accuracy(problem, names)
    with pytest.raises(hetdp.UsageError, match="unknown objective 'best'"):
        hetdp.accuracy(problem, objectives="best")
    with pytest.raises(hetdp.UsageError, match=r"there is no method 'best'; the methods are 'fair'\.$"):
        hetdp.accuracy(problem, objectives="fair", baselines=False)["best"]
    with pytest.raises(hetdp.UsageError, match="expected a Problem, got a"):
        hetdp.accuracy(problem.graph)


def test_a_result_cannot_be_changed():
    result = hetdp.accuracy(tallies(3, 1.0, 1.0), objectives=BOTH)
    with pytest.raises(FrozenInstanceError):
        result.prior = "uniform"
    assert repr(result) == "Accuracy(fair, balanced beside 6 baselines)"


def test_no_accuracy_is_1_if_the_error_is_not_0():
    graph = hetdp.DatasetGraph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 50.0, 700.0])
    document = hetdp.accuracy(hetdp.Problem(graph, [1, 2, 2, 2]), objectives="fair", baselines=False).to_dict()
    levels = document["methods"][0]["by_steps"]
    assert [level["worst_error"] < 1e-16 for level in levels] == [False, True, True]
    assert all(level[name] < 1.0 for level in levels for name in ("worst_accuracy", "mean_accuracy"))


@pytest.mark.parametrize("answers", [[1, 1, 1], [2, 2, 2]])
def test_with_one_answer_only_everything_is_exact(answers):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 0.1), answers)
    result = hetdp.accuracy(problem)
    assert {method.worst_error for method in result.methods} == {0.0}
    assert [level.steps for level in result["fair"].by_steps] == [None]


def test_without_edges_or_datasets_there_is_a_table_too():
    alone = hetdp.Problem(hetdp.DatasetGraph.from_edges([], [], [], datasets=["a", "b"]), [1, 2])
    assert {method.mean_error for method in hetdp.accuracy(alone).methods} == {0.0}
    nobody = hetdp.Problem(hetdp.DatasetGraph.from_edges([], [], []), [])
    result = hetdp.accuracy(nobody)
    assert (result["fair"].worst_at, result["fair"].mean_error, result["fair"].by_steps) == (None, 0.0, [])
    assert "fair" in str(result)


def test_both_engines_measure_the_same():
    problem = voters(5, "first, when deciding")
    one, other = (hetdp.accuracy(problem, engine=engine).to_dict() for engine in ("reference", "cpu"))
    assert one == other


def test_the_best_mean_is_compared_with_the_best_mean_of_one_epsilon(monkeypatch: pytest.MonkeyPatch):
    """A fake `design` takes the place of `average` and records its arguments."""
    calls = []

    def fake_design(problem, objective="fair", partial=None, engine="auto", prior=None):
        if objective == "average":
            calls.append((problem.graph.edges()[2].tolist(), prior.tolist()))
        return design.design(problem, "balanced" if objective == "average" else objective, partial, engine=engine)

    problem = tallies(3, 0.5, 1.0)
    monkeypatch.setattr(
        subjects, "designing", type("Designing", (), {"OBJECTIVES": ("fair", "average"), "design_local": fake_design})
    )
    monkeypatch.setattr(baselines, "design_local", fake_design)
    result = hetdp.accuracy(problem)
    assert [method.name for method in result.methods][:3] == ["fair", "average", "one ε (average)"]
    weights = [1 / 3, 1.0, 1.0, 1 / 3]
    assert calls == [([1.0, 0.5, 1.0], weights), ([0.5, 0.5, 0.5], weights)]


def test_a_large_gap_is_shown_below_the_table_and_stored_in_the_document(monkeypatch):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0), [1, 1, 2])
    found = hetdp.accuracy(problem, objectives="average", baselines=False)
    assert found.to_dict()["methods"][0]["objective_gap"] < 1e-9
    assert "some private mechanism" not in str(found)
    object.__setattr__(found.methods[0].mechanism, "objective_gap", 2.0**-7)
    line = "average: some private mechanism may have a mean accuracy larger by up to 7.9e-03"
    assert line in str(found)
    assert line in found.latex()


@pytest.mark.parametrize("wrong", [3, ["fair", 4], "nonsense"])
def test_an_unknown_objective_is_refused(wrong):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([0], [1], 1.0), [1, 2])
    with pytest.raises(hetdp.UsageError, match="unknown objective"):
        hetdp.accuracy(problem, objectives=wrong)


def test_where_no_method_errs_baselines_are_not_compared_line_by_line():
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
    report = hetdp.accuracy(hetdp.Problem(graph, [1, 1]))
    assert report.comparisons
    assert str(report).splitlines()[-1] == "every method is always right"
    assert "ties" not in str(report)


def test_partial_mechanisms_may_be_given_by_name_beside_mechanisms():
    problem = random_problem(3)
    values = hetdp.PartialMechanism(z=dict(zip(problem.graph.datasets, hetdp.design(problem).coordinates, strict=True)))
    given = {"mine": values, "timid": [0.5] * problem.graph.size}
    for named in ({"mine": values}, given):
        methods = {method.name: method for method in hetdp.accuracy(problem, named).methods}
        assert methods["mine"].worst_error == hetdp.design(problem).errors.max()


def test_python_prints_labels_as_python_writes_them():
    result = hetdp.accuracy(hetdp.Problem(hetdp.spaces.grid((2, 3), 1.0), lambda label: sum(label) > 1))
    label = result["fair"].worst_at
    assert isinstance(label, tuple)
    for table in (str(result), result.latex(), result._repr_html_()):
        assert repr(label) in table
    assert f'"{list(label)}"' in result.csv()  # files have JSON, which the shell reads

"""solve_epsilon: the smallest multiple of ε that reaches an accuracy, by closed forms, and proved on both sides."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import hetdp
from hetdp.mechanism import solve as solving
from hetdp.mechanism.scaling import Pattern, unconstrained_directions
from tests.loops import for_each
from tests.mechanism.test_balanced import random_problem

PATH = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [2.0, 1.0])
ANSWERS = {"a": 1, "b": 1, "c": 2}
PROBLEM = hetdp.Problem(PATH, ANSWERS)
ZERO_BETWEEN_ANSWERS = hetdp.Problem(
    hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], [1.0, 0.0, 1.0]), {"a": 1, "b": 1, "c": 2, "d": 2}
)


def errors_on_the_path(multiple: float) -> np.ndarray:
    """The closed form on PATH: b and c meet, and a is 2 further away."""
    met = 1.0 / (1.0 + math.exp(multiple))
    return np.array([met * math.exp(-2.0 * multiple), met, met])


def log_odds(target: float) -> float:
    return math.log(target / (1.0 - target))


def accuracy(problem: hetdp.Problem, multiple: float, objective: Any) -> np.ndarray:
    return 1.0 - hetdp.design(Pattern(problem).times(multiple), objective).errors


@for_each("objective", ["fair", "balanced"])
@for_each("seed", range(8))
def test_the_worst_case_follows_the_closed_form_of_the_least_epsilon_between_the_answers(seed: int, objective: Any):
    problem = random_problem(seed)
    source, target, epsilon = problem.graph.edges()
    across = problem.answers[source] != problem.answers[target]
    solved = hetdp.solve_epsilon(problem, 0.8, objective=objective)
    if not across.any():
        assert (solved.multiple, solved.reached, solved.below) == (0.0, 1.0, None)
        return
    assert solved.multiple == pytest.approx(log_odds(0.8) / epsilon[across].min(), abs=1e-6)
    assert solved.reached >= 0.8
    assert solved.below is not None
    assert solved.multiple - 1e-6 <= solved.below < solved.multiple
    assert accuracy(problem, solved.multiple, objective).min() >= 0.8
    assert accuracy(problem, solved.below, objective).min() < 0.8


@for_each("target", [0.5000001, 0.51, 0.9, 0.999, 1.0 - 1e-12, 1.0 - 2.0**-52])
def test_any_target_is_found_to_a_millionth(target: float):
    allowed = float(1 - Fraction(repr(target)))
    expected = math.log1p(-allowed) - math.log(allowed)
    solved = hetdp.solve_epsilon(PROBLEM, target)
    assert solved.multiple == pytest.approx(expected, rel=1e-6)
    assert solved.below is not None
    assert solved.multiple - solved.below <= 1e-6 * min(1.0, solved.multiple)


@pytest.mark.parametrize("target", [0.6, 0.9, 0.99999])
def test_one_dataset_follows_its_own_closed_form(target: float):
    expected = brentq(lambda s: 1.0 - errors_on_the_path(s)[0] - target, 1e-9, 50.0, xtol=1e-12)
    for at in ("a", ["a"], ("a",), {"a"}):
        solved = hetdp.solve_epsilon(PROBLEM, target, at=at)
        assert solved.multiple == pytest.approx(expected, abs=1e-6)
        assert solved.at == ("a",)


@pytest.mark.parametrize(("weights", "prior"), [(None, None), ([5, 1, 0], None), ([1, 1, 1], {"a": 9, "b": 0, "c": 1})])
def test_the_mean_uses_the_prior_or_the_weights_or_equal_weights(weights, prior):
    share = np.array(list(prior.values()) if prior else weights or [1.0, 1.0, 1.0])
    share = share / share.sum()
    expected = brentq(lambda s: 1.0 - share @ errors_on_the_path(s) - 0.9, 0.0, 50.0, xtol=1e-12)
    problem = hetdp.Problem(PATH, ANSWERS, weights=weights)
    solved = hetdp.solve_epsilon(problem, 0.9, at="mean", prior=prior)
    assert solved.multiple == pytest.approx(expected, abs=1e-6)
    assert solved.reached == pytest.approx(0.9, abs=1e-6)


@for_each("seed", range(6))
def test_the_mean_and_datasets_of_any_problem_are_reached_and_not_before(seed: int):
    problem = random_problem(100 + seed)
    several = list(range(min(2, problem.graph.size)))
    for at, measure in (("mean", np.mean), (several, lambda accuracies: accuracies[several].min())):
        solved = hetdp.solve_epsilon(problem, 0.9, at=at)
        assert measure(accuracy(problem, solved.multiple, "fair")) >= 0.9 - 1e-15
        assert solved.below is None or measure(accuracy(problem, solved.below, "fair")) < 0.9


def test_several_datasets_need_what_the_worst_of_them_needs():
    alone = [hetdp.solve_epsilon(PROBLEM, 0.9, at=label).multiple for label in ("a", "c")]
    assert hetdp.solve_epsilon(PROBLEM, 0.9, at=["a", "c"]).multiple == pytest.approx(max(alone), abs=1e-6)


def test_a_dataset_called_worst_is_asked_about_in_a_list():
    graph = hetdp.DatasetGraph.from_edges(["worst", "b"], ["b", "c"], [2.0, 1.0])
    problem = hetdp.Problem(graph, {"worst": 1, "b": 1, "c": 2})
    assert hetdp.solve_epsilon(problem, 0.9, at=["worst"]).multiple < hetdp.solve_epsilon(problem, 0.9).multiple - 0.5


def test_only_the_proportions_of_the_epsilons_count():
    tenfold = Pattern(PROBLEM).times(10.0)
    ours, theirs = (hetdp.solve_epsilon(problem, 0.9, at="mean").multiple for problem in (PROBLEM, tenfold))
    assert theirs == pytest.approx(ours / 10.0, rel=2e-6)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 1e6])
def test_epsilons_of_any_size_are_scaled(epsilon: float):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], epsilon), [1, 2])
    assert hetdp.solve_epsilon(problem, 0.9).multiple * epsilon == pytest.approx(log_odds(0.9), rel=1e-6)


def test_the_result_is_proved_and_belongs_to_the_scaled_problem():
    solved = hetdp.solve_epsilon(PROBLEM, 0.9)
    assert solved.mechanism.is_as_proved
    assert solved.mechanism.problem is solved.problem
    assert hetdp.verify(solved.problem, solved.mechanism).optimal
    assert solved.reached == 1.0 - solved.mechanism.errors.max()
    assert (solved.target, solved.at) == (0.9, "worst")
    assert str(solved) == "2.19722458 times ε: accuracy 0.9 in the worst case; the target is 0.9."
    with pytest.raises(FrozenInstanceError):
        solved.multiple = 1.0
    better = replace(solved.mechanism, coordinates=solved.mechanism.coordinates * (1.0 + 1e-12))
    assert not hetdp.verify(solved.problem, better).private
    assert not hetdp.verify(Pattern(PROBLEM).times(solved.below), solved.mechanism).private


def test_a_target_that_needs_no_epsilon_takes_none():
    solved = hetdp.solve_epsilon(PROBLEM, 0.5)
    assert (solved.multiple, solved.below, solved.reached) == (0.0, None, 0.5)
    assert solved.problem.graph.edges()[2].tolist() == [0.0, 0.0]
    same = hetdp.Problem(PATH, {"a": 1, "b": 1, "c": 1})
    assert hetdp.solve_epsilon(same, 1.0).multiple == 0.0


def test_few_designs_are_made(monkeypatch):
    made = []
    monkeypatch.setattr(
        solving, "design_local", lambda *given, **named: made.append(1) or hetdp.design(*given, **named)
    )
    hetdp.solve_epsilon(PROBLEM, 0.9)
    assert len(made) == 3
    made.clear()
    hetdp.solve_epsilon(PROBLEM, 0.9, at="mean")
    assert len(made) <= 12


@for_each("seed", range(20))
def test_no_dataset_gets_worse_as_all_epsilons_grow(seed: int):
    problem = random_problem(seed)
    for objective in ("fair", "balanced"):
        accuracies = [accuracy(problem, multiple, objective) for multiple in (0.0, 0.2, 0.7, 1.0, 2.5)]
        assert np.diff(accuracies, axis=0).min() >= -1e-15


class TestValuesGivenBeforehand:
    def test_given_values_may_determine_the_multiple(self):
        solved = hetdp.solve_epsilon(PROBLEM, 0.7, partial={"b": 0.9, "c": 0.1})
        assert solved.multiple == pytest.approx(log_odds(0.9), abs=1e-6)
        assert solved.mechanism["b"] == pytest.approx(0.9)
        with pytest.raises(hetdp.NoExtensionError):
            hetdp.design(Pattern(PROBLEM).times(solved.below), partial={"b": 0.9, "c": 0.1})

    def test_a_target_that_given_values_meet_exactly_is_reached(self):
        solved = hetdp.solve_epsilon(PROBLEM, 0.9, partial={"b": 0.9, "c": 0.1})
        assert solved.reached == pytest.approx(0.9, abs=1e-15)

    def test_a_target_above_the_given_values_is_refused(self):
        with pytest.raises(hetdp.InputError, match=r"stays at or below 0\.7, since p\(b\) = 0\.7 is given, whatever"):
            hetdp.solve_epsilon(PROBLEM, 0.8, partial={"b": 0.7})

    def test_values_that_contradict_an_epsilon_of_zero_fit_at_no_multiple(self):
        with pytest.raises(hetdp.NoExtensionError):
            hetdp.solve_epsilon(ZERO_BETWEEN_ANSWERS, 0.8, partial={"b": 0.9, "c": 0.1})

    def test_an_empty_mapping_means_no_given_values(self):
        empty = hetdp.PartialMechanism()
        assert hetdp.solve_epsilon(PROBLEM, 0.9, at="a", partial=empty).multiple > 0.0

    def test_a_target_at_a_dataset_that_may_get_worse_is_refused(self):
        graph = hetdp.DatasetGraph.from_edges(["given", "u"], ["u", "v"], [5.0, 0.1])
        problem = hetdp.Problem(graph, {"given": 2, "u": 2, "v": 1})
        low, high = (hetdp.design(Pattern(problem).times(s), partial={"given": 0.9})["v"] for s in (0.1, 0.3))
        assert high < low - 0.2  # "v" has answer 1
        message = "accuracy at 'v', objective fair with given values; only the worst case is sure to grow"
        with pytest.raises(hetdp.UsageError, match=message):
            hetdp.solve_epsilon(problem, 0.9, at="v", partial={"given": 0.9})


class TestOutOfReach:
    @pytest.mark.parametrize("at", ["worst", "b", ["a", "c"]])
    def test_an_edge_with_epsilon_zero_between_the_answers_is_named(self, at):
        message = r"stays at or below 0\.5, since the edge \((b, c|c, b)\) lies between the answers and has ε = 0"
        with pytest.raises(hetdp.InputError, match=message):
            hetdp.solve_epsilon(ZERO_BETWEEN_ANSWERS, 0.6, at=at)

    def test_away_from_that_edge_the_target_is_reached(self):
        assert hetdp.solve_epsilon(ZERO_BETWEEN_ANSWERS, 0.9, at="a").multiple == pytest.approx(math.log(5.0), abs=1e-6)
        assert hetdp.solve_epsilon(ZERO_BETWEEN_ANSWERS, 0.7, at="mean").multiple == pytest.approx(
            math.log(5.0), abs=1e-6
        )

    def test_a_mean_that_is_only_approached_is_refused(self):
        with pytest.raises(
            hetdp.InputError, match=r"target in the mean: out of reach: 0\.75; the accuracy stays below"
        ):
            hetdp.solve_epsilon(ZERO_BETWEEN_ANSWERS, 0.75, at="mean")
        with pytest.raises(hetdp.InputError, match=r"out of reach: 0\.8; the accuracy stays at or below 0\.75"):
            hetdp.solve_epsilon(ZERO_BETWEEN_ANSWERS, 0.8, at="mean")

    def test_certainty_is_refused(self):
        message = r"out of reach: 1\.0; no finite ε makes an answer certain .* such as the edge \(b, c\)"
        with pytest.raises(hetdp.InputError, match=message):
            hetdp.solve_epsilon(PROBLEM, 1.0)


@for_each("target", ["0.9", None, True, math.nan, -0.1, 1.5, [0.9]])
def test_a_target_that_is_not_an_accuracy_is_refused(target):
    with pytest.raises(hetdp.InputError, match=r"not an accuracy: .*; an accuracy is a number from 0 to 1"):
        hetdp.solve_epsilon(PROBLEM, target)


@for_each("at", ["z", ["a", "z"], 7, None, ("a", "z"), ([],)])
def test_an_unknown_dataset_is_refused(at):
    with pytest.raises(hetdp.UnknownDatasetError, match="did you mean 'worst'"):
        hetdp.solve_epsilon(PROBLEM, 0.9, at="wrost")
    with pytest.raises(hetdp.UnknownDatasetError):
        hetdp.solve_epsilon(PROBLEM, 0.9, at=at)


@for_each(
    ("options", "message"),
    [
        ({"at": []}, "nothing to measure at"),
        ({"prior": [1, 1, 1]}, "prior= requires at='mean'"),
        ({"objective": "nonsense"}, "unknown objective 'nonsense'"),
        (
            {"objective": "balanced", "partial": {"b": 0.6}, "at": "mean"},
            "objective balanced with given values",
        ),
        ({"objective": "average"}, "only the mean is sure to grow with ε under average"),
        ({"engine": "nonsense"}, "nonsense"),
    ],
)
def test_invalid_arguments_are_refused(options, message):
    with pytest.raises(hetdp.UsageError, match=message):
        hetdp.solve_epsilon(PROBLEM, 0.9, **options)


def test_a_prior_without_any_weight_is_refused():
    with pytest.raises(hetdp.InputError, match="every weight is 0"):
        hetdp.solve_epsilon(PROBLEM, 0.9, at="mean", prior=[0, 0, 0])
    with pytest.raises(hetdp.UsageError, match="expected a Problem or people, got a DatasetGraph"):
        hetdp.solve_epsilon(PATH, 0.9)


def test_the_average_is_designed_with_the_same_prior(monkeypatch):
    report = []

    def design(problem, objective, *, partial, engine, prior):
        report.append((objective, prior))
        return hetdp.design(problem, "fair", partial=partial, engine=engine)

    monkeypatch.setattr(solving, "design_local", design)
    hetdp.solve_epsilon(PROBLEM, 0.9, at="mean", objective="average", prior=[1, 2, 3])
    assert set(map(str, report)) == {"('average', [1, 2, 3])"}


def test_a_mechanism_without_a_proof_is_never_returned(monkeypatch):
    unproved = replace(hetdp.design(PROBLEM), certificate=None)
    monkeypatch.setattr(solving, "design_local", lambda *given, **named: unproved)
    with pytest.raises(hetdp.VerificationError):
        hetdp.solve_epsilon(PROBLEM, 0.9)


class TestScaling:
    def test_scaling_changes_only_the_epsilons(self):
        graph = hetdp.DatasetGraph.from_edges(
            ["a", "b", "c"], ["b", "c", "d"], [0.1, math.inf, 0.0], datasets="edcba", classes=["x", None, "y"]
        )
        problem = hetdp.Problem(graph, [1, 2, 1, 2, 1], weights=[1, 2, 3, 4, 5], about={"title": "words"})
        scaled = Pattern(problem).times(3.0)
        assert scaled.labels is problem.labels
        assert scaled.graph.edge_classes() == problem.graph.edge_classes()
        assert scaled.answers.tolist() == problem.answers.tolist()
        assert (scaled.weights.tolist(), scaled.about) == ([1, 2, 3, 4, 5], {"title": "words"})
        assert scaled.graph.edges()[2].tolist() == [{0.1: 0.3}.get(e, e) for e in problem.graph.edges()[2].tolist()]

    @pytest.mark.parametrize("seed", range(5))
    def test_one_times_a_problem_is_that_problem(self, seed):
        problem = random_problem(seed)
        assert Pattern(problem).times(1.0).identity == problem.identity

    def test_nothing_but_zero_binds_at_the_limit(self):
        assert Pattern(ZERO_BETWEEN_ANSWERS).limit().graph.edges()[2].tolist() == [0.0, math.inf, math.inf]


def test_only_epsilon_is_scaled_and_parallel_edges_keep_their_classes():
    columns = {"delta": [0.25, 0.25, 1.0], "epsilon_back": [1.0, 2.0, 0.0]}
    graph = hetdp.DatasetGraph.from_edges(
        ["a", "a", "b"], ["b", "b", "c"], [0.5, 1.0, 2.0], classes=["x", "y", "x"], **columns
    )
    pattern = Pattern(hetdp.Problem(graph, [1, 2, 2], weights=[1, 2, 3], about={"title": "t"}))
    for with_classes in (True, False):
        scaled = pattern.times(2.0, with_classes)
        assert [column.tolist() for column in scaled.graph.edges()[2:4]] == [[1.0, 2.0, 4.0], [2.0, 4.0, 0.0]]
        assert scaled.graph.edges()[4].tolist() == [0.25, 0.25, 1.0]
        assert scaled.graph.edge_classes() == ["x", "y", "x"]  # they tell parallel edges apart
        assert (scaled.weights.tolist(), scaled.about) == ([1, 2, 3], {"title": "t"})
    limit = pattern.limit().graph.edges()
    assert sorted(limit[3].tolist()) == [0.0, math.inf, math.inf]
    assert sorted(limit[4].tolist()) == [0.25, 0.25, 1.0]
    single = Pattern(hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 0.5, classes=["x"]), [1, 2]))
    assert single.times(2.0, with_classes=False).graph.edge_classes() is None
    assert single.times(2.0).graph.edge_classes() == ["x"]


def test_a_direction_is_free_where_one_of_its_parameters_has_its_largest_value():
    columns = {
        "epsilon": np.array([1.0, math.inf, 1.0]),
        "epsilon_back": np.array([1.0, 1.0, 1.0]),
        "delta": np.array([0.5, 0.0, 1.0]),
        "delta_back": np.array([0.5, 1.0, 0.999]),
    }
    assert [mask.tolist() for mask in unconstrained_directions(columns)] == [[False, True, True], [False, True, False]]


@for_each("solution", [1e-5, 0.3, 1.0, 7.5, 1e7])
@for_each("shape", [lambda x: 1 / (1 + math.exp(min(x, 700))), lambda x: 1 / (1 + x) ** 3, lambda x: 1.0])
def test_a_bracket_is_narrowed_to_a_millionth_in_few_attempts(solution, shape):
    tried = []

    def attempt(multiple):
        tried.append(multiple)
        enough = multiple >= solution
        error = shape(multiple / solution) if shape(2.0) < 1.0 else 0.2 + 0.6 * (not enough)
        return solving.Attempt(multiple, None, error, error, enough)

    allowed = shape(1.0) if shape(2.0) < 1.0 else 0.5
    low, high = solving.narrow_bracket(attempt, attempt(0.0), attempt(3.0 * solution), allowed)
    assert low.multiple < solution <= high.multiple
    assert not low.enough
    assert high.enough
    assert high.multiple - low.multiple <= max(1e-6 * min(1.0, high.multiple), 8 * math.ulp(high.multiple))
    assert len(tried) <= (20 if shape(2.0) < 1.0 else 60)


def test_a_multiple_is_lowered_until_it_is_proved_too_small():
    tried = []

    def attempt(multiple):
        tried.append(multiple)
        return solving.Attempt(multiple, None, 0.4, 0.4 - multiple / 10, False)

    ends = [solving.Attempt(multiple, None, 0.4, 0.4 - multiple / 10, multiple > 1) for multiple in (0.99, 1.0)]
    proved = solving.prove_too_small(attempt, *ends, lambda error: error <= 0.35)
    assert [1.0 - one for one in tried] == pytest.approx([0.08, 0.64])
    assert proved.multiple == tried[-1]
    assert solving.prove_too_small(attempt, *ends, lambda error: True).multiple == 0.0
    assert solving.prove_too_small(attempt, *ends, lambda error: False) is ends[0]


def test_a_goal_is_met_up_to_the_rounding_of_a_logarithm_only():
    goal = solving.Goal(0.9, "worst")
    assert goal.allowed == 0.1
    assert goal.is_met(0.1)
    assert goal.is_just_met(0.1)
    assert goal.is_met(0.1 * (1 + 2**-52))
    assert not goal.is_met(0.1 * (1 + 1e-14))
    assert goal.is_met(0.09)
    assert not goal.is_just_met(0.09)
    assert not goal.is_just_met(0.1 * (1 - 1e-14))
    certain = solving.Goal(1.0, "worst")
    assert (certain.allowed, certain.rounding, certain.is_met(0.0), certain.is_met(5e-324)) == (0.0, 0.0, True, False)

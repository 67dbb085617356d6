"""The baselines: their formulas, their proofs, and the remarks where they tie or win."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import hetdp
from hetdp.cli.demo import voters
from hetdp.errors import VerificationError
from hetdp.mechanism.accuracy import baselines
from hetdp.mechanism.accuracy.baselines import BASELINES, BaselineSetting
from hetdp.mechanism.accuracy.measures import steps_to_the_other_answer, with_one_epsilon
from hetdp.mechanism.accuracy.tables import Comparison, compare
from hetdp.theory import pure
from hetdp.theory.directed import DIRECTED
from hetdp.theory.gaussian import GAUSSIAN
from tests.loops import for_each
from tests.mechanism.problems import graph_of
from tests.mechanism.tallies import random_problem, steps_one_by_one, tallies
from tests.oracle.linear import conditions, solve
from tests.oracle.random_problems import SmallProblem

FORMULAS = {
    "one ε": lambda epsilon, steps: math.exp(-epsilon * (steps - 1)) / (1 + math.exp(epsilon)),
    "geometric": lambda epsilon, steps: math.exp(-epsilon * (steps - 1)) / (1 + math.exp(epsilon)),
    "Laplace": lambda epsilon, steps: math.exp(-epsilon * (steps - 0.5)) / 2,
    "exponential mechanism": lambda epsilon, steps: 1 / (1 + math.exp(epsilon * steps / 2)),
}


def setting_of(problem: hetdp.Problem) -> BaselineSetting:
    return BaselineSetting(problem, steps_to_the_other_answer(problem), "auto")


def find_baseline(result: hetdp.Accuracy, begins: str):
    return next(method for method in result.methods if method.baseline and method.name.startswith(begins))


def epsilons(problem: hetdp.Problem, across: bool = False) -> list[float]:
    source, target, values = problem.graph.edges()
    chosen = np.isfinite(values) & ((problem.answers[source] != problem.answers[target]) | (not across))
    return values[chosen].tolist()


def least_sum_of_epsilon(problem: hetdp.Problem) -> list[float]:
    """The least sum of ε to a dataset of the other answer, by relaxing every edge as often as there are datasets."""
    source, target, values = (column.tolist() for column in problem.graph.edges())
    found, answers = [math.inf] * problem.graph.size, problem.answers.tolist()
    for _ in range(problem.graph.size):
        for u, v, epsilon in zip(source, target, values, strict=True):
            for one, other in ((u, v), (v, u)):
                found[one] = min(found[one], epsilon + (found[other] if answers[one] == answers[other] else 0.0))
    return found


@for_each("seed", range(30))
def test_each_formula_holds_at_every_dataset(seed):
    problem = random_problem(seed)
    result, steps = hetdp.accuracy(problem, objectives="fair"), steps_one_by_one(problem)
    least, weakest = (min(epsilons(problem, across), default=math.inf) for across in (False, True))
    for begins, formula in FORMULAS.items():
        expected = [0.0 if step is None else formula(least, step) for step in steps]
        assert find_baseline(result, begins).mechanism.errors == pytest.approx(expected, rel=1e-12)
    flips = find_baseline(result, "randomised").mechanism.errors
    assert flips == pytest.approx([1 / (1 + math.exp(min(weakest, 700)))] * len(steps), rel=1e-12, abs=1e-300)
    expected = [1 / (1 + math.exp(total / 2)) if total < math.inf else 0.0 for total in least_sum_of_epsilon(problem)]
    assert find_baseline(result, "personalised").mechanism.errors == pytest.approx(expected, rel=1e-12)


@for_each("seed", range(15))
def test_one_epsilon_is_what_fair_and_balanced_find_with_it(seed):
    problem = random_problem(seed)
    setting = setting_of(problem)
    one = hetdp.Problem(with_one_epsilon(problem.graph, setting.least[0]), problem.answers)
    labels = baselines.one_epsilon(setting)
    z = np.where(problem.answers == 1, labels, -labels)
    for objective in ("fair", "balanced"):
        assert hetdp.design(one, objective).coordinates == pytest.approx(z, rel=1e-12)


@pytest.mark.parametrize("problem", [tallies(21, 0.3, 0.3), tallies(4, 1.0, 1.0), voters(5, "everyone")], ids=repr)
def test_with_one_epsilon_and_a_count_geometric_noise_is_the_optimum_and_the_table_says_so(problem):
    result = hetdp.accuracy(problem, objectives=("fair", "balanced"))
    assert result.threshold
    noise = result["geometric noise"]
    for objective in ("fair", "balanced"):
        assert noise.worst_error == pytest.approx(result[objective].worst_error, rel=1e-12)
        assert noise.mean_error == pytest.approx(result[objective].mean_error, rel=1e-12)
        words = f"geometric noise ties {objective}: worst, mean, any number of steps"
        assert words in map(str, result.comparisons)
    assert re.search("geometric noise.* tie fair and balanced in worst and mean$", str(result).splitlines()[-1])
    assert not [each for each in result.comparisons if each.outcome == "beats"]


def test_no_mean_with_one_epsilon_is_better_than_that_of_geometric_noise_where_the_prior_is_even():
    """0.695, the best that ε = 0.3 can do for the majority of 21, by linear program."""
    problem = tallies(21, 0.3, 1.0)
    source, target, _ = (column.tolist() for column in problem.graph.edges())
    small = SmallProblem(
        tuple((u, v, 0.3) for u, v in zip(source, target, strict=True)), dict(enumerate(problem.answers))
    )
    weights = problem.weights / problem.weights.sum()
    signed = np.where(problem.answers == 1, -weights, weights)
    p = solve(signed.tolist(), conditions(small, {at: at for at in range(22)}), [(0.0, 1.0)] * 22)
    best = float((weights * np.where(problem.answers == 1, 1 - p, p)).sum())
    assert hetdp.accuracy(problem)["geometric noise"].mean_error == pytest.approx(best, abs=1e-8)


def test_noise_is_named_for_the_distance_where_the_query_is_not_a_threshold_along_the_graph():
    triangle = hetdp.Problem(graph_of([(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)], 3), [1, 1, 2])
    result = hetdp.accuracy(triangle)
    assert not result.threshold
    assert result["geometric noise"].worst_error == pytest.approx(1 / (1 + math.e))
    assert result["Laplace noise"].worst_error == pytest.approx(math.exp(-0.5) / 2)
    apart = graph_of([(0, 1, 1.0), (2, 3, 1.0), (3, 4, 1.0), (2, 4, 1.0)], 5)
    assert hetdp.accuracy(hetdp.Problem(apart, [1, 2, 1, 1, 1])).threshold  # the triangle has no boundary


@pytest.mark.parametrize("at", range(len(BASELINES)))
def test_a_baseline_that_is_too_accurate_is_never_shown(at, monkeypatch: pytest.MonkeyPatch):
    kept = BASELINES[at]
    wrong = kept._replace(labels=lambda setting: 1.01 * kept.labels(setting) + 0.3)
    monkeypatch.setattr(baselines, "BASELINES", (*BASELINES[:at], wrong, *BASELINES[at + 1 :]))
    with pytest.raises(VerificationError, match="NOT PRIVATE") as refusal:
        hetdp.accuracy(tallies(3, 0.3, 0.3))
    assert not refusal.value.certificate.private


def test_a_rounding_in_a_baseline_is_closed_and_proved():
    problem = tallies(3, 0.3, 0.3)
    setting = setting_of(problem)
    labels = baselines.geometric(setting) * (1 + 1e-14)
    assert not hetdp.verify(problem, hetdp.PartialMechanism(z=np.where(problem.answers == 1, labels, -labels))).private
    assert baselines.prove_labels(setting, labels, "noise").certificate.private


def test_a_baseline_that_wins_is_mentioned():
    problem = tallies(4, 1.0, 1.0)
    report = hetdp.accuracy(problem, {"timid": [0.5] * 5})
    lines = list(map(str, report.comparisons))
    assert "one ε beats timid: worst, mean, any number of steps" in lines
    assert "exponential mechanism beats timid: worst, mean, any number of steps" in lines
    remark = str(report).splitlines()[-1]
    assert all(name in remark.partition("beat timid")[0] for name in ("one ε", "exponential mechanism"))
    leaning = np.where(problem.answers == 1, 0.95, 0.9)  # perfect for 1 at the cost of 2
    comparisons = hetdp.accuracy(problem, {"leaning": leaning}, prior=[1, 1, 1, 3, 3]).comparisons
    assert ("randomised response", "beats", ("worst", "mean")) in [each[:2] + each[3:4] for each in comparisons]


def test_wins_and_ties_are_reported_for_each_measure():
    levels = SimpleNamespace(steps=np.array([1, 2, 3, 0]))

    def method(name, baseline, worst, mean, worsts, means):
        facts = {"worst_errors": np.array(worsts), "mean_errors": np.array(means), "levels": levels}
        return SimpleNamespace(name=name, baseline=baseline, worst_error=worst, mean_error=mean, **facts)

    ours = method("ours", False, 0.4, 0.2, [0.4, 0.2, 0.1, 0.0], [0.3, 0.2, 0.1, 0.0])
    theirs = method("theirs", True, 0.4 * (1 + 1e-10), 0.1, [0.4, 0.1, 0.2, 0.0], [0.3, math.nan, 0.05, 0.0])
    assert list(compare([ours, theirs])) == [
        Comparison("theirs", "ties", "ours", ("worst",), (1,), False),
        Comparison("theirs", "beats", "ours", ("mean",), (), False),
    ]
    assert not list(compare([theirs]))
    close = method("close", True, 0.4 * (1 + 1e-8), 0.2 * (1 - 1e-8), [0.5] * 4, [0.5] * 4)
    assert list(compare([ours, close])) == [Comparison("close", "beats", "ours", ("mean",), (), False)]


def test_many_numbers_of_steps_are_counted():
    words = str(Comparison("noise", "ties", "ours", (), tuple(range(1, 10)), False))
    assert words == "noise ties ours: 1, 2, 3, 4, 5, 6 and 3 more steps"
    assert str(Comparison("noise", "beats", "ours", ("mean",), (2,), False)) == "noise beats ours: mean, 2 steps"


def test_errors_too_small_for_a_float_do_not_tie():
    result = hetdp.accuracy(tallies(1001, 2.0, 3.0))
    assert result["one ε"].by_steps[-1].worst_error < 1e-323  # the smallest float, and not 0
    ties = [each for each in result.comparisons if each.method == "fair" and each.baseline == "one ε"]
    assert [(each.measures, each.steps) for each in ties] == [(("worst",), (1,))]


def test_other_notions_have_the_baselines_that_are_known_for_them():
    """A notion with two parameters, the smaller of which counts on each edge: a disguised pure ε."""

    def of_smaller(function):
        return lambda *numbers: function(*numbers[:-2], min(numbers[-2:]))

    functions = {name: of_smaller(getattr(pure, name)) for name in ("step", "quick", "meet", "across")}
    notion = replace(pure.PURE, name="two", columns=DIRECTED.columns, **functions)
    problem = tallies(5, 0.3, 1.0)

    def blocks():
        for block in problem.graph.edge_blocks():
            yield block._replace(parameters=(block.parameters[0] + 0.1, block.parameters[0]))

    graph = SimpleNamespace(size=problem.graph.size, edge_blocks=blocks)
    other = SimpleNamespace(graph=graph, answers=problem.answers, notion=notion)
    setting, plain = BaselineSetting(other, steps_to_the_other_answer(problem), "auto"), setting_of(problem)
    for baseline in BASELINES:
        if not baseline.pure_only:
            assert baseline.labels(setting).tolist() == baseline.labels(plain).tolist()
    assert [baseline.name for baseline in BASELINES if not baseline.pure_only] == ["one ε", "randomised response"]
    assert BASELINES[0].name_on(setting) == "one ε"
    other.notion = GAUSSIAN
    assert BASELINES[0].name_on(setting) == "one μ"


def test_the_steps_are_the_same_whichever_way_the_graph_is_searched():
    problem = tallies(101, 0.3, 1.0)
    one, other = (steps_to_the_other_answer(problem, engine).tolist() for engine in ("reference", "cpu"))
    assert one == other == [abs(ones - 50) + 1 if ones <= 50 else ones - 50 for ones in range(102)]


def test_a_mechanism_that_was_proved_here_is_not_proved_again():
    problem = tallies(3, 1.0, 1.0)
    fair = hetdp.design(problem)
    assert hetdp.accuracy(problem, fair).methods[0].mechanism is fair


def test_numbers_of_steps_are_listed_up_to_a_limit():
    def words(*steps, everywhere=False, measures=()):
        return str(Comparison("one ε", "ties", "fair", measures, steps, everywhere))

    assert words(3) == "one ε ties fair: 3 steps"
    assert words(1, 2, measures=("worst",)) == "one ε ties fair: worst, 1, 2 steps"
    assert words(*range(1, 7)) == "one ε ties fair: 1, 2, 3, 4, 5, 6 steps"
    assert words(*range(1, 8)) == "one ε ties fair: 1, 2, 3, 4, 5, 6 and 1 more steps"
    assert words(1, 2, everywhere=True, measures=("mean",)) == "one ε ties fair: mean, any number of steps"
    assert words(everywhere=True, measures=("mean",)) == "one ε ties fair: mean"

"""Accuracy as curves: by distance beside the baselines, and by margin for populations."""

from __future__ import annotations

import math

import numpy as np
import pandas
import pytest

import hetdp
from hetdp.plots.curves import Curve, merge_equal, words_of
from hetdp.plots.plot import drawing_of
from tests.plots.shown import council, majority, senate, words

MAJORITY = hetdp.questions.majority()
PERSONALISED = "personalised exponential"


def curves_of(what, baselines=True):
    return {name: curve for curve in drawing_of(what, None, None, baselines, True).data for name in curve.names}


def test_curves_are_the_rows_of_the_report():
    report = hetdp.accuracy(council())
    curves = curves_of(report)
    assert set(curves) == {method.name for method in report.methods}
    for method in report.methods:
        rows = [level for level in method.by_steps if level.steps is not None]
        assert curves[method.name].across.tolist() == [level.steps for level in rows]
        assert np.allclose(curves[method.name].accuracy, [1 - level.mean_error for level in rows], atol=1e-9)
        assert curves[method.name].baseline == method.baseline


def test_the_axes_show_these_curves():
    report = hetdp.accuracy(council())
    axes = hetdp.plot(report)
    drawn = {tuple(line.get_ydata().tolist()) for line in axes.lines}
    assert drawn == {tuple(curve.accuracy.tolist()) for curve in curves_of(report).values()}


def test_methods_that_coincide_are_one_curve_with_all_their_names():
    report = hetdp.accuracy(majority())
    curves = drawing_of(report, None, None, True, True).data
    assert curves[0].names == ("fair", "balanced", "average")
    assert "fair / balanced / average" in words(hetdp.plot(report))
    assert not any(curve.baseline for curve in curves[:1])
    assert all(curve.baseline for curve in curves[1:])


def test_datasets_without_a_path_to_the_other_answer_are_omitted():
    graph = hetdp.DatasetGraph.from_edges(["a", "c"], ["b", "d"], 1.0)
    report = hetdp.accuracy(hetdp.Problem(graph, {"a": 1, "b": 2, "c": 1, "d": 1}), objectives="fair", baselines=False)
    (curve,) = drawing_of(report, None, None, True, True).data
    assert curve.across.tolist() == [1]


@pytest.mark.parametrize(
    ("edges", "epsilon", "answers"),
    [((["a"], ["b"]), 1.0, [1, 1]), (([], []), 1.0, [1]), (([], []), 1.0, [1, 2]), ((["a"], ["b"]), math.inf, [1, 2])],
)
def test_where_no_path_leads_to_the_other_answer_the_picture_says_so(edges, epsilon, answers):
    graph = hetdp.DatasetGraph.from_edges(*edges, [epsilon] * len(edges[0]), datasets=["a", "b"][: len(answers)])
    problem = hetdp.Problem(graph, answers)
    for what in (problem, hetdp.design(problem)):
        axes = hetdp.plot(what, "accuracy")
        axes.get_figure().canvas.draw()
        assert "no dataset has a path to the other answer" in words(axes)
        assert not axes.lines


def test_a_population_with_one_answer_beside_others_is_not_a_failure():
    never = hetdp.spaces.population(hetdp.questions.count("yes", at_least=0), 0.5, size=9)
    axes = hetdp.plot({"both": senate().design(), "one answer": never.design()}, baselines=False)
    assert "one answer" in words(axes)


def test_a_mechanism_can_be_shown_by_its_accuracy():
    mechanism = hetdp.design(council(), "balanced")
    shown = drawing_of(mechanism, "accuracy", None, False, True)
    assert [curve.names for curve in shown.data] == [("balanced",)]
    assert "randomised response" in words(hetdp.plot(mechanism, "accuracy"))
    assert {"fair", "balanced", "average"} <= set(curves_of(hetdp.accuracy(council())))


def test_margins_and_accuracies_are_those_of_the_population():
    mechanism = senate().design()
    curve = curves_of(mechanism, baselines=False)["balanced"]
    assert curve.across.tolist()[:5] == [1, 2, 3, 4, 5]
    assert (np.diff(curve.across) > 0).all()
    assert curve.accuracy.tolist() == [mechanism.accuracy(int(margin)) for margin in curve.across]
    assert curve.accuracy[-1] > 0.9999


def test_populations_are_drawn_beside_their_baselines():
    mechanism = senate().design()
    curves = curves_of(mechanism)
    assert {"balanced", "one ε", "personalised exponential", "weighted-vote"} <= set(curves)
    assert not curves["balanced"].baseline
    for margin, accuracy in zip(
        curves[PERSONALISED].across.tolist(),
        curves[PERSONALISED].accuracy.tolist(),
        strict=True,
    ):
        assert accuracy == mechanism.population.baselines(int(margin))[PERSONALISED]


def test_several_populations_are_drawn_by_name():
    axes = hetdp.plot({f"$ε = {size}": senate(size).design() for size in (0.1, 1.0)}, baselines=False)
    axes.get_figure().canvas.draw()
    assert "$ε = 0.1" in words(axes)
    assert len(axes.lines) == 2


def asked(question=MAJORITY, **more):
    rows = {"id": list(range(40)), "vote": ["yes", "no"] * 20, "town": ["North"] * 20 + ["South"] * 20}
    table = pandas.DataFrame(rows)
    return hetdp.ask(table, "vote = 'yes'", question=question, epsilon=0.5, person="id", dry_run=True, **more)


def test_promises_are_shown_by_area():
    promises = asked(by="town").promises
    for given in (list(promises), asked(by="town")):
        assert [curve.names for curve in drawing_of(given, None, None, False, True).data] == [("North", "South")]
    each = curves_of({promise.area: promise for promise in promises})
    assert {"North", "South", "personalised exponential"} <= set(each)


def test_the_result_of_ask_is_drawn_by_its_promises():
    curves = curves_of(asked())
    assert curves["answer 1"].across[0] == 1
    assert {"one ε", "personalised exponential"} <= set(curves)


def test_a_mechanism_on_tallies_is_shown_at_the_margins_of_its_promise():
    result = asked(design="fair")
    (promise,) = result.promises
    (curve,) = drawing_of(result, None, None, True, True).data
    assert list(zip(curve.across, curve.accuracy, strict=True)) == [row[:2] for row in promise.accuracy]
    assert not curve.baseline


def test_a_question_that_is_not_a_count_has_no_baselines_and_no_failure():
    weighted = hetdp.questions.weighted_sum({"a": 2, "b": 1}, at_least=10)
    people = hetdp.spaces.population(weighted, [0.5] * 20, groups=["a", "b"] * 10)
    assert set(curves_of(people.design())) == {"balanced"}


def test_a_question_with_one_answer_has_no_margins():
    people = hetdp.spaces.population(hetdp.questions.count("yes", at_least=0), 0.5, size=9)
    with pytest.raises(hetdp.UsageError, match="no margins"):
        hetdp.plot(people.design())


def test_curves_coincide_if_kind_places_and_values_do():
    x, y = np.array([1.0, 2.0]), np.array([0.6, np.nan])
    same = Curve(("b",), False, x, y + 1e-10)
    others = [
        Curve(("c",), True, x, y),
        Curve(("d",), False, x + 1, y),
        Curve(("e",), False, x, y + 1e-6),
        Curve(("f",), False, x[:1], y[:1]),
    ]
    merged = merge_equal([Curve(("a",), False, x, y), same, *others, same])
    assert [curve.names for curve in merged] == [("a", "b", "b"), ("c",), ("d",), ("e",), ("f",)]
    curves = [Curve(tuple("abc"), False, x, y), Curve(tuple("vwxyz"), False, x, y)]
    assert words_of(curves) == ["a / b / c", "v / w / x and 2 more"]


def test_long_names_of_curves_stay_distinct():
    x = np.array([1.0])
    names = [f"{'mechanisms/' * 5}{kind}/{'of the same long name' * 3}.csv" for kind in ("fair", "balanced")]
    shown = words_of([Curve((name,), False, x, x) for name in names])
    assert len(set(shown)) == 2
    assert max(map(len, shown)) <= 30

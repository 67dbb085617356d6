"""sweep: the accuracy of methods while every ε of a problem grows together."""

from __future__ import annotations

import math
from decimal import Decimal

import matplotlib as mpl
import pytest

import hetdp
from hetdp.plots.curves import curves_by_scale
from tests.loops import for_each

mpl.use("Agg")


def poll(epsilon=0.5):
    return hetdp.Problem(hetdp.spaces.path(5, [1, epsilon, 1, 1]), [2, 2, 1, 1, 1])


@pytest.fixture(scope="module")
def swept():
    return hetdp.sweep(poll(), [2, 0.5, 1, 0])


def test_each_scale_has_the_accuracy_of_the_scaled_problem(swept):
    for scale in (0, 0.5, 1, 2):
        report = hetdp.accuracy(poll().scaled(scale))
        rows = {row.method: row for row in swept.rows if row.scale == scale}
        assert list(rows) == [method.name for method in report.methods]
        for method in report.methods:
            row = rows[method.name]
            assert (row.worst_error, row.mean_error, row.baseline) == (
                method.worst_error,
                method.mean_error,
                method.baseline,
            )
            assert (row.worst_accuracy, row.mean_accuracy) == (method.worst_accuracy, method.mean_accuracy)


def test_rows_are_in_the_order_of_the_scales_and_name_the_epsilon(swept):
    assert swept.scales == [0.0, 0.5, 1.0, 2.0]
    assert swept.methods[:3] == ["fair", "balanced", "average"]
    assert [(row.least, row.largest) for row in swept["fair"]] == [(0.0, 0.0), (0.25, 0.5), (0.5, 1.0), (1.0, 2.0)]


def test_columns_fit_a_data_frame(swept):
    columns = swept.columns()
    assert list(columns) == [
        "scale", "least_epsilon", "largest_epsilon", "method", "baseline",
        "worst_accuracy", "worst_error", "mean_accuracy", "mean_error",
    ]  # fmt: skip
    assert {len(column) for column in columns.values()} == {len(swept.rows)}


def test_accuracy_grows_with_the_scale(swept):
    for name in ("fair", "balanced"):
        accuracies = [row.mean_accuracy for row in swept[name]]
        assert accuracies == sorted(accuracies)


def test_the_prior_and_the_objectives_are_those_of_accuracy():
    result = hetdp.sweep(poll(), [Decimal("0.3"), 1], ["balanced", "fair"], baselines=False, prior=[1, 0, 0, 0, 0])
    assert result.methods == ["balanced", "fair"]
    assert result.prior == "given"
    assert result["fair"][1].mean_error == hetdp.design(poll()).errors[0]
    assert repr(result) == "Sweep(2 scales from 0.3 to 1, 2 methods)"
    lines = [line.split() for line in str(result).splitlines()]
    assert [line[0] for line in lines] == ["mean", "balanced", "fair", "worst", "balanced", "fair"]
    assert lines[0][2:] == lines[3][1:] == ["0.3", "1"]


def test_spaces_of_people_and_other_notions_are_swept():
    voters = hetdp.spaces.votes(3, hetdp.questions.majority(), hetdp.privacy.rules(1, deciding=0.2))
    (row,) = hetdp.sweep(voters, [2], "balanced", baselines=False).rows
    assert (row.least, row.largest) == (0.4, 2.0)
    gaussian = hetdp.Problem(hetdp.DatasetGraph.from_edges([0, 1], [1, 2], mu=[0.5, math.inf]), [1, 2, 2])
    result = hetdp.sweep(gaussian, [1, 3], "fair", baselines=False)
    assert [(row.least, row.largest) for row in result.rows] == [(0.5, 0.5), (1.5, 1.5)]
    assert result.letter == "μ"
    free = hetdp.Problem(hetdp.DatasetGraph.from_edges([0], [1], math.inf), [1, 2])
    assert hetdp.sweep(free, [1], "fair", baselines=False).rows[0].least is None


@for_each("scales", [[], [1, -1], [math.inf], [math.nan], ["1"], "12", 3, [True]])
def test_wrong_scales_are_refused(scales):
    with pytest.raises(hetdp.UsageError, match="scales are one or more finite numbers ≥ 0"):
        hetdp.sweep(poll(), scales)


def test_an_unknown_method_is_refused_with_the_closest(swept):
    with pytest.raises(hetdp.UsageError, match="Hint: did you mean 'fair'"):
        swept["fare"]


def test_curves_are_drawn_against_the_scale_or_the_one_epsilon(swept):
    curves, across = curves_by_scale(swept, "mean")
    assert across == "scale: every ε is multiplied by it"
    fair = next(curve for curve in curves if "fair" in curve.names)
    assert fair.across.tolist() == swept.scales
    assert fair.accuracy.tolist() == [1.0 - row.mean_error for row in swept["fair"]]
    alike = hetdp.sweep(poll(1.0), [0.1, 0.2, 10], "fair")
    curves, across = curves_by_scale(alike, "worst")
    assert (across, curves[0].across.tolist()) == ("ε", [0.1, 0.2, 10.0])
    assert curves[0].accuracy.tolist() == [1.0 - row.worst_error for row in alike["fair"]]
    axes = hetdp.plot(alike, measure="worst", title="a title")
    words = " ".join(axes.get_ylabel().split())  # a long label may take two lines
    assert (axes.get_xlabel(), words, axes.get_xscale()) == ("ε", "right answer (worst case)", "log")
    assert hetdp.plot(swept).get_xscale() == "linear"
    with pytest.raises(hetdp.UsageError, match=r"a sweep has the measures 'mean' and 'worst'"):
        hetdp.plot(swept, measure="best")
    with pytest.raises(hetdp.UsageError, match="it is for the result of hetdp"):
        hetdp.plot(poll(), measure="worst")


def test_a_notebook_shows_the_mean_accuracy_by_method_and_scale(swept):
    html = swept._repr_html_()
    assert "Accuracy while every ε is scaled" in html
    assert html.count("<tr>") == 1 + len(swept.methods)

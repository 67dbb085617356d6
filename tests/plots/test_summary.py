"""The summary by distance of a graph with too many datasets to draw."""

from __future__ import annotations

import numpy as np
import pytest

import hetdp
from hetdp.plots.plot import drawing_of
from hetdp.plots.summary import position_of, positions_of, summary, tick_labels
from tests.mechanism.tallies import random_problem, steps_one_by_one
from tests.plots.shown import line, words


@pytest.mark.parametrize("seed", range(12))
def test_bands_are_those_of_the_datasets_at_each_distance(seed):
    problem = random_problem(seed, 30)
    p = np.random.default_rng(seed).random(problem.graph.size)
    found, by_level = summary(problem, p), {}
    for value, answer, far in zip(p.tolist(), problem.answers.tolist(), steps_one_by_one(problem), strict=True):
        by_level.setdefault(((far or 0) * (1 if answer == 1 else -1), -answer), []).append(value)
    columns = list(zip(found.levels.tolist(), (-found.answers).tolist(), strict=True))
    assert columns == sorted(by_level)
    for column, count, band in zip(columns, found.counts, found.quantiles, strict=True):
        values = sorted(by_level[column])
        assert count == len(values)
        assert band[[0, 4]].tolist() == [values[0], values[-1]]
        assert band[1] == np.quantile(values, 0.25, method="lower")
        assert band[3] == np.quantile(values, 0.75, method="higher")  # so that the other answer has the mirror image
        assert band[2] == np.median(values)  # of two in the middle, neither


def test_a_million_datasets_are_summarised():
    problem = line(1_000_000, 0.25)
    mechanism = hetdp.design(problem, "balanced")
    drawing = drawing_of(mechanism, None, None, True, True)
    assert drawing.name == "summary"
    found = drawing.data
    assert found.counts.sum() == 1_000_000
    assert len(found.levels) <= 400
    middle = found.levels.searchsorted(0)
    near = slice(middle - 8, middle + 8)
    assert found.levels[near].tolist() == [*range(-8, 0), *range(1, 9)]  # near the boundary each has its own place
    assert found.counts[near].tolist() == [1] * 16
    assert found.quantiles[near, 2].tolist() == [mechanism[at] for at in range(499_992, 500_008)]
    assert found.counts.max() == found.share == found.counts[-1]
    axes = hetdp.plot(mechanism)
    assert "1,000,000 datasets" in words(axes)
    assert "far distances on a logarithmic scale" in words(axes)


@pytest.mark.parametrize("size", [300, 5_000, 1_000_000])
def test_small_distances_get_room_where_there_are_many(size):
    problem = line(size)
    shown = summary(problem, np.where(problem.answers == 1, 1.0, 0.0))
    places = positions_of(shown)
    assert (np.diff(places) > 0).all()
    near = np.abs(shown.levels) <= 10
    assert np.ptp(places[near]) > 0.15 * np.ptp(places)
    marks = dict(tick_labels(shown))
    assert "10" in marks.values()
    for at, word in marks.items():
        assert at == pytest.approx(np.sign(at) * position_of(np.float64(word.replace(",", "")), False))


def test_few_distances_are_evenly_spaced_without_a_note():
    axes = hetdp.plot(line(40), "summary")
    assert "closer together" not in words(axes)
    shown = summary(line(40), np.zeros(40))
    assert set(np.diff(positions_of(shown))) == {1.0}


def test_datasets_without_a_path_are_drawn_apart_by_their_answer():
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 0.5, datasets=range(6))
    shown = summary(hetdp.Problem(graph, [1, 1, 2, 1, 2, 1]), np.array([0.9, 0.6, 0.4, 1.0, 0.0, 1.0]))
    assert shown.levels.tolist() == [-1, 0, 0, 1, 2]
    assert shown.answers.tolist() == [2, 2, 1, 1, 1]
    assert shown.counts.tolist() == [1, 1, 2, 1, 1]
    assert positions_of(shown).tolist() == [-0.5, -2.5, 2.5, 0.5, 1.5]
    assert tick_labels(shown) == [(-2.5, "no path"), (-0.5, "1"), (0.5, "1"), (1.5, "2"), (2.5, "no path")]
    apart = hetdp.DatasetGraph.from_edges([], [], [], datasets=range(4))
    axes = hetdp.plot(hetdp.Problem(apart, [1, 2, 1, 2]), "summary")
    assert words(axes).count("no path") == 2
    assert not [each for each in axes.lines if set(each.get_xdata()) == {0.0}]  # there is no boundary to draw
    assert [each.get_offsets().tolist() for each in axes.collections if each.get_array() is not None] == [
        [[-1.0, 0.0]],
        [[1.0, 1.0]],
    ]


def test_distances_are_omitted_where_there_are_too_many_edges(monkeypatch):
    monkeypatch.setattr("hetdp.plots.summary.MOST_ARCS", 10)
    found = summary(line(20), np.linspace(0, 1, 20))
    assert found.levels.tolist() == [0, 0]
    seen = words(hetdp.plot(line(20), "summary"))
    assert "19 edges are too many to count steps" in seen
    assert "true answer:\nanswer 2" in seen
    assert "no path" not in seen


def test_a_problem_without_a_mechanism_shows_no_probabilities():
    seen = words(hetdp.plot(line(40), "summary"))
    assert "the true answer" in seen
    assert "no mechanism" in seen
    assert "published" not in seen
    assert "median" not in seen
    mechanism = words(hetdp.plot(hetdp.design(line(40)), "summary"))
    assert "is published" in mechanism
    assert "median" in mechanism
    assert "the true answer" not in mechanism


def test_one_answer_and_one_dataset_have_a_summary():
    for size in (1, 7):
        graph = hetdp.DatasetGraph.from_edges([], [], [], datasets=range(size))
        axes = hetdp.plot(hetdp.Problem(graph, [1] * size), "summary")
        assert f"{size} dataset" in words(axes)

"""The summary by distance of a graph with too many datasets to draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.plots import summary as summaries
from hetdp.plots.plot import drawing_of
from hetdp.plots.summary import Summary, merge_far, position_of, positions_of, summary, tick_labels, ticks_of
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


def make_summary(levels: list[int], answers: list[int] | None = None, followed: bool = True) -> Summary:
    found = np.array(levels)
    truth = np.where(found > 0, 1, 2) if answers is None else np.array(answers)
    nothing: Any = np.zeros(len(levels))
    return Summary(line(4), found, truth, 1, followed, nothing, nothing)


def test_far_distances_share_places_only_if_there_are_too_many(monkeypatch):
    monkeypatch.setattr(summaries, "MOST_PLACES", 6)
    assert merge_far(np.arange(7))[1] == 1
    steps = np.arange(1001)
    places, share = merge_far(steps)
    assert places[0] == 0
    assert (np.diff(places) >= 0).all()
    assert len(np.unique(places)) <= 7
    widest = max(np.bincount(places)[np.unique(places)])
    assert share == widest
    for place in np.unique(places[1:]):
        members = steps[places == place]
        assert members[0] <= place <= members[-1]
        assert abs(place - (members[0] + members[-1]) / 2) <= 0.5


def test_distances_are_even_up_to_sixty_and_closer_beyond():
    assert position_of([1, 2, 60], True).tolist() == [0.5, 1.5, 59.5]
    far = position_of([1, 3, 4, 100], False)
    assert far[:2].tolist() == [0.5, 2.5]
    assert far[2] == pytest.approx(3.0 * (1 + np.log(3.5 / 3)))
    assert far[3] < 20
    assert summaries.is_even(make_summary([-60, 60]))
    assert not summaries.is_even(make_summary([-61, 1]))
    assert summaries.far_of(make_summary([0], [1])) == 0


def test_datasets_without_a_path_stand_outside_on_their_side():
    assert positions_of(make_summary([-2, -1, 1, 0, 0], [2, 2, 1, 1, 2])).tolist() == [-1.5, -0.5, 0.5, 2.5, -2.5]
    assert positions_of(make_summary([0, 0], [1, 2])).tolist() == [1.0, -1.0]
    assert summaries.room_aside(make_summary([-20, 20])) == pytest.approx(0.22 * 19.5)
    assert tick_labels(make_summary([0, 0], [1, 2])) == [(-1.0, "no path"), (1.0, "no path")]
    named = tick_labels(make_summary([0, 0], [1, 2], followed=False))
    assert [words.partition("\n")[0] for _, words in named] == ["true answer:", "true answer:"]
    assert named[0][1] != named[1][1]


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ([-1, 1], ["1", "1"]),
        ([1, 2, 3], ["1", "2", "3"]),
        ([-9, 9], ["8", "6", "4", "2", "1", "1", "2", "4", "6", "8"]),
        ([-15, 15], ["15", "10", "5", "1", "1", "5", "10", "15"]),
        ([-15, 16], ["15", "10", "5", "5", "10", "15"]),
        ([-60, 60], ["60", "50", "40", "30", "20", "10", "10", "20", "30", "40", "50", "60"]),
    ],
)
def test_ticks_are_round_and_about_a_dozen(levels, words):
    assert [summaries.steps_at(place) for place in ticks_of(np.array(levels))] == words


@pytest.mark.parametrize(
    ("far", "right"),
    [
        (99, ["1", "3", "10", "30"]),
        (999, ["1", "3", "10", "30", "100", "300"]),
        (9_999, ["10", "100", "1,000"]),
        (200_000, ["10", "1,000", "100,000"]),
    ],
)
def test_far_ticks_are_powers_of_ten(far, right):
    marks = tick_labels(make_summary([-5, far]))
    assert [words for place, words in marks if place > 0] == right
    assert [words for place, words in marks if place < 0] == (["3", "1"] if far < 1000 else [])
    assert [place for place, _ in marks] == sorted(place for place, _ in marks)

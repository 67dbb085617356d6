"""Too many datasets to draw: what is said of them by distance."""

from __future__ import annotations

import numpy as np
import pytest

import hetdp
from hetdp.plots.plot import drawing_of
from hetdp.plots.summary import summary
from tests.mechanism.tallies import random_problem, steps_one_by_one
from tests.plots.shown import line, words


@pytest.mark.parametrize("seed", range(12))
def test_bands_are_those_of_the_datasets_at_each_distance(seed):
    problem = random_problem(seed, 30)
    p = np.random.default_rng(seed).random(problem.graph.size)
    found, by_level = summary(problem, p), {}
    for value, answer, far in zip(p.tolist(), problem.answers.tolist(), steps_one_by_one(problem), strict=True):
        by_level.setdefault((far or 0) * (1 if answer == 1 else -1), []).append(value)
    assert found.levels.tolist() == sorted(by_level)
    for level, count, band in zip(found.levels.tolist(), found.counts, found.quantiles, strict=True):
        values = sorted(by_level[level])
        assert count == len(values)
        assert band[[0, 4]].tolist() == [values[0], values[-1]]
        assert band.tolist() == np.quantile(values, [0, 0.25, 0.5, 0.75, 1], method="lower").tolist()


def test_a_million_datasets_are_a_summary():
    problem = line(1_000_000, 0.25)
    mechanism = hetdp.design(problem, "balanced")
    drawing = drawing_of(mechanism, None, None, True, True)
    assert drawing.name == "summary"
    found = drawing.data
    assert found.counts.sum() == 1_000_000
    assert found.share == 2_500
    assert len(found.levels) == 400
    middle = found.levels.searchsorted(0)
    assert found.levels[middle - 1 : middle + 1].tolist() == [-1_250, 1_250]
    assert found.counts.tolist() == [2_500] * 400
    assert found.quantiles[middle, 0] == mechanism[500_000]
    assert "1,000,000 datasets" in words(hetdp.plot(mechanism))


def test_where_edges_are_too_many_to_follow_distances_are_left_out(monkeypatch):
    monkeypatch.setattr("hetdp.plots.summary.MOST_ARCS", 10)
    found = summary(line(20), np.linspace(0, 1, 20))
    assert found.levels.tolist() == [0]
    assert "19 edges are too many to count steps" in words(hetdp.plot(line(20), "summary"))


def test_one_answer_and_one_dataset_have_a_summary():
    for size in (1, 7):
        graph = hetdp.DatasetGraph.from_edges([], [], [], datasets=range(size))
        axes = hetdp.plot(hetdp.Problem(graph, [1] * size), "summary")
        assert f"{size} dataset" in words(axes)
